// Public keys from scalars: additions on edwards25519 in extended coordinates, x = X/Z, y = Y/Z,
// xy = T/Z.
//
// Each window adds an entry of the table, an affine point as (y + x, y - x, 2d xy). The formulas
// are those of H. Hisil, K. Wong, G. Carter, E. Dawson, "Twisted Edwards curves revisited", 2008,
// section 3.1, with Z2 = 1. An addition takes seven products. The formulas hold for all points of
// the curve, so no denominator is ever 0. The last sum needs only y = H/F, which takes three
// products. The sign of x stays open.
//
// The DEPTH keys of a work item share one inversion (Montgomery's trick). This and the quotient
// take four products a key.

typedef struct {
    element x, y, z, t;
} point;

// Reads one of the three elements of an entry. An entry has 24 words, which are read four at a
// time.
FUNCTION void load_part(element *a, GLOBAL const uint4 *fours)
{
    uint4 low = fours[0], high = fours[1];
    a->word[0] = low.x;
    a->word[1] = low.y;
    a->word[2] = low.z;
    a->word[3] = low.w;
    a->word[4] = high.x;
    a->word[5] = high.y;
    a->word[6] = high.z;
    a->word[7] = high.w;
}

// Returns the free bits of a scalar from the first bit of a window up. Free bit i is bit i + 3 of
// the scalar.
FUNCTION uint bits_of(GLOBAL const uint *scalars, uint total, uint at, uint window)
{
    uint from = WINDOW_START[window] + 3;
    uint low = scalars[WORD(at, from / 32)];
    uint high = from < 7 * 32 ? scalars[WORD(at, from / 32 + 1)] : 0;
    return (uint)(((ulong)high << 32 | low) >> (from % 32));
}

// Computes the sum of all windows. Its y is over / under.
CALLED void sum_of_windows(
    element *over, element *under, GLOBAL const uint *scalars, uint total, uint at, GLOBAL const uint4 *table)
{
    // The first entry, (y + x, y - x, 2xy), is a point with Z = 2.
    uint index = bits_of(scalars, total, at, 0) & ((1u << INDEX_BITS[0]) - 1);
    GLOBAL const uint4 *entry = table + 6 * (size_t)index;
    element plus, minus, c;
    point sum;
    load_part(&plus, entry);
    load_part(&minus, entry + 2);
    load_part(&sum.t, entry + 4);
    subtract(&sum.x, &plus, &minus);
    add(&sum.y, &plus, &minus);
    UNROLL for (int word = 0; word < 8; word++)
        sum.z.word[word] = 0;
    sum.z.word[0] = 2;
    for (uint window = 1;; window++) {
        // The leading bit is the sign. The index of a negative digit is the complement of its other
        // bits.
        uint bits = bits_of(scalars, total, at, window);
        uint positive = bits >> INDEX_BITS[window] & 1;
        index = (positive ? bits : ~bits) & ((1u << INDEX_BITS[window]) - 1);
        entry = table + 6 * (size_t)(WINDOW_FIRST[window] + index);
        // The negative of a point has y + x and y - x exchanged, and -xy in the place of xy.
        load_part(&plus, entry + (positive ? 0 : 2));
        load_part(&minus, entry + (positive ? 2 : 0));
        load_part(&c, entry + 4);
        element a, b, e, f, g, h;
        subtract(&a, &sum.y, &sum.x);
        multiply(&a, &a, &minus);
        add(&b, &sum.y, &sum.x);
        multiply(&b, &b, &plus);
        multiply(&c, &c, &sum.t);
        add(&sum.z, &sum.z, &sum.z);
        subtract(&e, &b, &a);
        add(&h, &b, &a);
        subtract(&f, &sum.z, &c);
        add(&g, &sum.z, &c);
        UNROLL for (int word = 0; word < 8; word++) {
            uint one = f.word[word], other = g.word[word];
            f.word[word] = positive ? one : other;
            g.word[word] = positive ? other : one;
        }
        if (window == WINDOWS - 1) {
            *over = h;
            *under = f;
            return;
        }
        multiply(&sum.x, &e, &f);
        multiply(&sum.y, &g, &h);
        multiply(&sum.z, &f, &g);
        multiply(&sum.t, &e, &h);
    }
}

// Computes the public keys of `total` scalars, without the sign of x. `total` must be a multiple of
// DEPTH. The scalars are overwritten.
KERNEL derive(GLOBAL uint *scalars, GLOBAL uint *keys, uint total, GLOBAL const uint4 *table)
{
    uint items = total / DEPTH, item = ITEM;
    if (item >= items)
        return;
    element product = {{1, 0, 0, 0, 0, 0, 0, 0}}, over, under;
    for (uint at = item; at < total; at += items) {
        sum_of_windows(&over, &under, scalars, total, at, table);
        // Store the numerator times the product of all earlier denominators.
        multiply_called(&over, &over, &product);
        multiply_called(&product, &product, &under);
        store(keys, total, at, &over);
        store(scalars, total, at, &under);
    }
    invert(&product);
    for (uint left = DEPTH; left > 0; left--) {
        uint at = item + (left - 1) * items;
        load(&over, keys, total, at);
        load(&under, scalars, total, at);
        multiply_called(&over, &over, &product);
        multiply_called(&product, &product, &under);
        reduce(&over);
        store(keys, total, at, &over);
    }
}

// Makes `count` table entries from points in short Weierstrass form. A row has x = u + A/3 and
// v + 9 (curve/table.rs). The Edwards x is c u/v, and y is (u - 1)/(u + 1) (RFC 7748, section 4.1).
// `numbers` are -A/3, c and 2d. The first `doubled` entries have 2 in the place of 2d. The entries
// of a work item share one inversion, for which each has the denominator w = v (u + 1).
KERNEL convert(
    GLOBAL const uint *rows, GLOBAL uint *table, uint count, uint doubled, GLOBAL const uint *numbers, uint items)
{
    uint item = ITEM;
    if (item >= items)
        return;
    element one = {{1, 0, 0, 0, 0, 0, 0, 0}}, nine = {{9, 0, 0, 0, 0, 0, 0, 0}}, product = one;
    element shift, c, d2, two = {{2, 0, 0, 0, 0, 0, 0, 0}}, u, v, w, above, below, inverse;
    for (int word = 0; word < 8; word++) {
        shift.word[word] = numbers[word];
        c.word[word] = numbers[8 + word];
        d2.word[word] = numbers[16 + word];
    }
    // The first steps go forward, and store the product of all earlier w in the entry. The others
    // go backward.
    uint of_item = (count - item + items - 1) / items;
    for (uint step = 0; step < 2 * of_item; step++) {
        uint backward = step >= of_item;
        uint at = item + items * (backward ? 2 * of_item - 1 - step : step);
        GLOBAL const uint *row = rows + 16 * (size_t)at;
        GLOBAL uint *entry = table + 24 * (size_t)at;
        for (int word = 0; word < 8; word++) {
            u.word[word] = row[word];
            v.word[word] = row[8 + word];
        }
        add(&u, &u, &shift);
        subtract(&v, &v, &nine);
        add(&above, &u, &one);
        multiply_called(&w, &v, &above);
        if (!backward) {
            for (int word = 0; word < 8; word++)
                entry[word] = product.word[word];
            multiply_called(&product, &product, &w);
            continue;
        }
        if (step == of_item)
            invert(&product);
        for (int word = 0; word < 8; word++)
            inverse.word[word] = entry[word];
        multiply_called(&inverse, &inverse, &product);
        multiply_called(&product, &product, &w);
        // Now x = c u (u + 1) / w and y = (u - 1) v / w.
        subtract(&below, &u, &one);
        multiply_called(&above, &above, &u);
        multiply_called(&above, &above, &c);
        multiply_called(&above, &above, &inverse);
        multiply_called(&below, &below, &v);
        multiply_called(&below, &below, &inverse);
        add(&u, &below, &above);
        subtract(&v, &below, &above);
        multiply_called(&w, &above, &below);
        if (at < doubled)
            multiply_called(&w, &w, &two);
        else
            multiply_called(&w, &w, &d2);
        reduce(&u);
        reduce(&v);
        reduce(&w);
        for (int word = 0; word < 8; word++) {
            entry[word] = u.word[word];
            entry[8 + word] = v.word[word];
            entry[16 + word] = w.word[word];
        }
    }
}

// Writes, for each work item, the sum of the 64-bit FNV-1a hashes of its keys. So every bit of
// every key counts.
KERNEL digest(GLOBAL const uint *keys, uint total, GLOBAL uint *sums)
{
    uint items = total / DEPTH, item = ITEM;
    if (item >= items)
        return;
    ulong sum = 0;
    for (uint at = item; at < total; at += items) {
        ulong mixed = FNV_OFFSET;
        for (int word = 0; word < 8; word++)
            mixed = (mixed ^ keys[WORD(at, word)]) * FNV_PRIME;
        sum += mixed;
    }
    sums[2 * item] = (uint)sum;
    sums[2 * item + 1] = (uint)(sum >> 32);
}
