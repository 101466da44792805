// Public keys from seeds: additions on edwards25519 in extended coordinates, x = X/Z, y = Y/Z,
// xy = T/Z.
//
// Each window adds an entry of the table, an affine point as (y + x)/2, (y - x)/2 and dxy
// (kernel/table.cl). The formulas are those of H. Hisil, K. Wong, G. Carter, E. Dawson, "Twisted
// Edwards curves revisited", 2008, section 3.1, with Z2 = 1, and with all of A to H halved, which
// saves the doubling of Z. An addition takes seven products. The formulas hold for all points of
// the curve, so no denominator is ever 0. The last sum needs only y = H/F, which takes three
// products. The sign of x stays open.
//
// The DEPTH keys of a work item share one inversion (Montgomery's trick). This and the quotient
// take four products a key.

// Asks for the memory at an address, which will be read soon.
#ifdef PTX
#define PREFETCH(address) asm volatile("prefetch.global.L2 [%0];" : : "l"(address))
#else
#define PREFETCH(address)
#endif

// Reads one of the four elements of an entry.
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

// Returns the bits of a scalar from bit `from` up. The words of the scalar are GROUP apart.
FUNCTION uint bits_from(LOCAL const uint *scalar, uint from)
{
    uint low = scalar[from / 32 * GROUP];
    // Above the highest word any word will do: no index takes bits from there.
    uint high = scalar[(from < 7 * 32 ? from / 32 + 1 : 7) * GROUP];
    return (uint)(((ulong)high << 32 | low) >> (from % 32));
}

// Returns the index of a digit: its last `bits` bits, or their complement if the bit before them, the
// sign, is 0.
FUNCTION uint index_of(uint digit, uint bits)
{
    return (digit >> bits & 1 ? digit : ~digit) & ((1u << bits) - 1);
}

// Computes the sum of all windows. Its y is over / under, both loose. `windows` is the number of
// windows, whose widths table.cl defines.
FUNCTION void sum_of_windows(
    element *over, element *under, LOCAL const uint *scalar, GLOBAL const uint4 *table, uint windows)
{
    uint width = SHARES / windows, wider = SHARES % windows;
    // Free bit i is bit i + 3 of the scalar. The first window has one bit less than its width.
    uint from = 3, bits = width - 1 + (wider > 0);
    GLOBAL const uint4 *entry = table + 8 * (size_t)(bits_from(scalar, from) & ((1u << bits) - 1));
    element x, y, z, t, plus, minus, c;
    load_part(&plus, entry);
    load_part(&minus, entry + 2);
    load_part(&t, entry + 6);
    subtract(&x, &plus, &minus);
    add(&y, &plus, &minus);
    tighten(&x);
    tighten(&y);
    UNROLL for (int word = 0; word < 8; word++)
        z.word[word] = word == 0;
    table += 8 * ((size_t)1 << bits);
    from += bits;
    bits = width - 1 + (1 < wider);
    uint digit = bits_from(scalar, from);
    LOOP for (uint window = 1;; window++) {
        uint positive = digit >> bits & 1;
        entry = table + 8 * (size_t)index_of(digit, bits);
        // The negative of a point has y + x and y - x exchanged, and -dxy in the place of dxy.
        load_part(&plus, entry + (positive ? 0 : 2));
        load_part(&minus, entry + (positive ? 2 : 0));
        load_part(&c, entry + (positive ? 4 : 6));
        if (window < windows - 1) {
            table += 8 * ((size_t)1 << bits);
            from += bits + 1;
            bits = width - 1 + (window + 1 < wider);
            digit = bits_from(scalar, from);
            PREFETCH(table + 8 * (size_t)index_of(digit, bits));
        }
        element a, b, e, f, g, h;
        subtract(&a, &y, &x);
        multiply(&a, &a, &minus);
        add(&b, &y, &x);
        multiply(&b, &b, &plus);
        multiply(&c, &c, &t);
        subtract(&e, &b, &a);
        add(&h, &b, &a);
        subtract(&f, &z, &c);
        if (window == windows - 1) {
            *over = h;
            *under = f;
            return;
        }
        add(&g, &z, &c);
        multiply(&x, &e, &f);
        multiply(&y, &g, &h);
        multiply(&z, &f, &g);
        multiply(&t, &e, &h);
    }
}

// Writes an element to the memory of a group, its words GROUP apart.
FUNCTION void keep(LOCAL uint *kept, const element *a)
{
    UNROLL for (int word = 0; word < 8; word++)
        kept[word * GROUP] = a->word[word];
}

// Derives the public keys of `rounds` times `items` times DEPTH seeds, without the sign of x, and
// finds those that may match.
//
// The seeds are the ChaCha20 stream that begins at `stream`, or the given ones if `is_given` is 1.
// In each round a work item takes DEPTH / 2 blocks of the stream, `items` apart. The keys of a
// round overwrite those of the last one in `over`. `under` and `over` hold denominators and
// numerators meanwhile. Scalars and products stay in the memory of a group, and seeds on the stack,
// until another search overwrites them (BatchQueue::wipe). `items` is a multiple of GROUP.
BOUNDED_KERNEL search(
    GLOBAL uint *over, GLOBAL uint *under, uint items, uint rounds, GLOBAL const uint *stream,
    GLOBAL const uint *given, uint is_given, GLOBAL const uint4 *table, uint windows, GLOBAL const uint *filter,
    GLOBAL uint *survivors, uint room)
{
    SHARED uint scalars[2 * 8 * GROUP], products[8 * GROUP];
    LOCAL uint *scalar = scalars + ITEM_OF_GROUP, *kept = products + ITEM_OF_GROUP;
    uint item = ITEM, total = items * DEPTH;
    LOOP for (uint round = 0; round < rounds; round++) {
        uint first = round * (items * (DEPTH / 2)) + item;
        element product = {{1, 0, 0, 0, 0, 0, 0, 0}}, numerator, denominator;
        // The registers are for the windows, so the product is kept elsewhere meanwhile.
        keep(kept, &product);
        LOOP for (uint pair = 0; pair < DEPTH / 2; pair++) {
            uint block[16];
            if (is_given) {
                uint at = item + 2 * pair * items;
                UNROLL for (int word = 0; word < 8; word++) {
                    block[word] = given[WORD(at, word)];
                    block[8 + word] = given[WORD(at + items, word)];
                }
            } else {
                block_of(block, stream, first + pair * items);
            }
            hash(scalar, GROUP, block);
            hash(scalar + 8 * GROUP, GROUP, block + 8);
            LOOP for (uint second = 0; second < 2; second++) {
                sum_of_windows(&numerator, &denominator, scalar + second * (8 * GROUP), table, windows);
                // Store the numerator times the product of all earlier denominators.
                UNROLL for (int word = 0; word < 8; word++)
                    product.word[word] = kept[word * GROUP];
                multiply(&numerator, &numerator, &product);
                multiply(&product, &product, &denominator);
                keep(kept, &product);
                uint at = item + (2 * pair + second) * items;
                store(over, total, at, &numerator);
                store(under, total, at, &denominator);
            }
        }
        invert(&product);
        // The scalars are done with, so their memory holds the sieve of the filter meanwhile.
        BARRIER;
        if (filter[2]) {
            LOOP for (uint word = ITEM_OF_GROUP; word < SIEVE_WORDS; word += GROUP)
                scalars[word] = filter[filter[3] + word];
        }
        BARRIER;
        LOOP for (uint left = DEPTH; left > 0; left--) {
            uint at = item + (left - 1) * items;
            element y;
            multiply(&y, &numerator, &product);
            multiply(&product, &product, &denominator);
            // Loaded early, because the memory is slow.
            if (left > 1) {
                load(&numerator, over, total, at - items);
                load(&denominator, under, total, at - items);
            }
            reduce(&y);
            store(over, total, at, &y);
            uint place = 2 * (first + (left - 1) / 2 * items) + (left - 1) % 2;
            test(&y, place, filter, PASSED(scalars), survivors, room);
        }
        BARRIER;
    }
}
