// Tables of multiples of the base point, which the device computes and checks by itself.
//
// A clamped scalar is 2^254 + 8k with 251 free bits k (RFC 8032, section 5.1.5). A bit i of 1 gives
// the sign s_i = 1, and a bit of 0 gives s_i = -1. With H_i = 2^i (4B), the public key is H_252 +
// H_251 - H_0 + the sum of s_i H_i over all i < 251. The module `table` of the engines of the CPU
// derives this.
//
// The bits are divided into windows of adjacent bits. Their widths are SHARES / windows, and one
// more for the first SHARES % windows of them. The first window has one bit less than its width.
// The sum over a window that begins at bit s and has w bits is an odd multiple of H_s between
// -(2^w - 1) and 2^w - 1. A table holds the positive ones, 2^(w-1) entries. A leading bit of 0
// stands for the negative of an entry. The first window holds both signs, and includes the constant
// H_252 + H_251 - H_0.
//
// An entry has four elements: (y + x)/2, (y - x)/2, dxy and -dxy. In the first window the last one
// is xy. All of them are reduced.

// The words of an entry and of a point, which is x and y.
#define ENTRY 32
#define POINT 16

// Reads an element of a table or of a list of points.
CALLED void read_element(element *a, GLOBAL const uint *words)
{
    for (int word = 0; word < 8; word++)
        a->word[word] = words[word];
}

// Writes an element, reduced.
CALLED void write_element(GLOBAL uint *words, const element *a)
{
    element reduced = *a;
    reduce(&reduced);
    for (int word = 0; word < 8; word++)
        words[word] = reduced.word[word];
}

// Sets an element to a constant.
#define SET(a, constant) \
    for (int word = 0; word < 8; word++) \
        a.word[word] = constant[word];

// Returns 1 if two tight elements are equal modulo p.
CALLED uint is_equal(const element *a, const element *b)
{
    element difference;
    subtract_called(&difference, a, b);
    reduce(&difference);
    uint bits = 0;
    for (int word = 0; word < 8; word++)
        bits |= difference.word[word];
    return bits == 0;
}

// A window of the table.
typedef struct {
    uint start, bits, first;
} window;

// Returns window `number`: its first bit, the number of bits of its index, and its first entry.
CALLED window window_of(uint windows, uint number)
{
    uint width = SHARES / windows, wider = SHARES % windows;
    window w = {0, 0, 0};
    for (uint before = 0; before < number; before++) {
        uint bits = width - 1 + (before < wider);
        w.start += bits + (before > 0);
        w.first += 1u << bits;
    }
    w.bits = width - 1 + (number < wider);
    return w;
}

// The numerators and denominators of a sum of two affine points: x = e/g and y = h/f.
typedef struct {
    element e, f, g, h;
} sum;

// Adds a point (x, y) to an entry.
CALLED void add_point(sum *s, GLOBAL const uint *entry, const element *x, const element *y)
{
    element plus, minus, a, b, c, one = {{1, 0, 0, 0, 0, 0, 0, 0}};
    read_element(&plus, entry);
    read_element(&minus, entry + 8);
    read_element(&c, entry + 16);
    // As in point.cl, these are half of A to H in the paper, with Z1 = Z2 = 1.
    subtract_called(&a, y, x);
    multiply_called(&a, &a, &minus);
    add_called(&b, y, x);
    multiply_called(&b, &b, &plus);
    multiply_called(&c, &c, x);
    multiply_called(&c, &c, y);
    subtract_called(&s->e, &b, &a);
    add_called(&s->h, &b, &a);
    subtract_called(&s->f, &one, &c);
    add_called(&s->g, &one, &c);
}

// Writes an entry.
CALLED void write_entry(GLOBAL uint *entry, const element *x, const element *y, uint is_first)
{
    element one_half, d, part, zero = {{0, 0, 0, 0, 0, 0, 0, 0}};
    SET(one_half, HALF)
    SET(d, EDWARDS_D)
    add_called(&part, y, x);
    multiply_called(&part, &part, &one_half);
    write_element(entry, &part);
    subtract_called(&part, y, x);
    multiply_called(&part, &part, &one_half);
    write_element(entry + 8, &part);
    multiply_called(&part, x, y);
    if (is_first)
        write_element(entry + 24, &part);
    multiply_called(&part, &part, &d);
    write_element(entry + 16, &part);
    if (is_first)
        return;
    subtract_called(&part, &zero, &part);
    write_element(entry + 24, &part);
}

// Adds two affine points.
CALLED void add_affine(element *x, element *y, const element *x2, const element *y2)
{
    // RFC 8032, section 5.1.4: with k = d x1 x2 y1 y2, the sum is ((x1 y2 + x2 y1)/(1 + k), (y1 y2
    // + x1 x2)/(1 - k)).
    element d, one = {{1, 0, 0, 0, 0, 0, 0, 0}}, a, b, over_x, over_y, under_x, under_y;
    SET(d, EDWARDS_D)
    multiply_called(&a, x, y2);
    multiply_called(&b, x2, y);
    add_called(&over_x, &a, &b);
    multiply_called(&d, &d, &a);
    multiply_called(&d, &d, &b);
    multiply_called(&a, y, y2);
    multiply_called(&b, x, x2);
    add_called(&over_y, &a, &b);
    add_called(&under_x, &one, &d);
    subtract_called(&under_y, &one, &d);
    invert(&under_x);
    invert(&under_y);
    multiply_called(x, &over_x, &under_x);
    multiply_called(y, &over_y, &under_y);
}

// Writes the points H_0 to H_252, and then the constant H_252 + H_251 - H_0. One work item does
// this.
KERNEL multiples(GLOBAL uint *points)
{
    if (ITEM > 0)
        return;
    element x, y, last_x, last_y, zero = {{0, 0, 0, 0, 0, 0, 0, 0}};
    SET(x, BASE_X)
    SET(y, BASE_Y)
    LOOP for (int number = -2; number <= SHARES; number++) {
        if (number >= 0) {
            write_element(points + POINT * number, &x);
            write_element(points + POINT * number + 8, &y);
        }
        last_x = x;
        last_y = y;
        if (number < SHARES)
            add_affine(&x, &y, &last_x, &last_y);
    }
    read_element(&last_x, points + POINT * (SHARES - 1));
    read_element(&last_y, points + POINT * (SHARES - 1) + 8);
    add_affine(&x, &y, &last_x, &last_y);
    read_element(&last_x, points);
    read_element(&last_y, points + 8);
    subtract_called(&last_x, &zero, &last_x);
    add_affine(&x, &y, &last_x, &last_y);
    write_element(points + POINT * (SHARES + 1), &x);
    write_element(points + POINT * (SHARES + 1) + 8, &y);
}

// Writes the first entry of each window, one for each work item.
KERNEL plant(GLOBAL uint *table, uint windows, GLOBAL const uint *points)
{
    if (ITEM >= windows)
        return;
    window w = window_of(windows, ITEM);
    element x, y, other_x, other_y, zero = {{0, 0, 0, 0, 0, 0, 0, 0}};
    read_element(&x, points + POINT * w.start);
    read_element(&y, points + POINT * w.start + 8);
    if (ITEM == 0) {
        // With all s_i = -1, the constant - (2^w - 1) H_0 = H_252 + H_251 - H_w.
        read_element(&other_x, points + POINT * (SHARES + 1));
        read_element(&other_y, points + POINT * (SHARES + 1) + 8);
        add_affine(&x, &y, &other_x, &other_y);
        read_element(&other_x, points + POINT * w.bits);
        read_element(&other_y, points + POINT * w.bits + 8);
        subtract_called(&other_x, &zero, &other_x);
        add_affine(&x, &y, &other_x, &other_y);
    }
    write_entry(table + ENTRY * (size_t)w.first, &x, &y, ITEM == 0);
}

// Doubles the number of entries of each window from 2^bit to 2^(bit + 1), if it has so many: the
// new ones are the sums of the old ones and H_(start + bit + 1). `per_window` work items share a
// window. The entries of a work item share one inversion.
KERNEL grow(GLOBAL uint *table, uint windows, GLOBAL const uint *points, uint bit, uint per_window)
{
    if (ITEM >= windows * per_window)
        return;
    uint item = ITEM % per_window, number = ITEM / per_window;
    window w = window_of(windows, number);
    if (bit >= w.bits)
        return;
    GLOBAL uint *old = table + ENTRY * (size_t)w.first;
    GLOBAL uint *sums = old + ENTRY * ((size_t)1 << bit);
    uint count = ((1u << bit) - item + per_window - 1) / per_window;
    element x, y, product = {{1, 0, 0, 0, 0, 0, 0, 0}}, both, inverse;
    read_element(&x, points + POINT * (w.start + bit + 1));
    read_element(&y, points + POINT * (w.start + bit + 1) + 8);
    // The first steps go forward, and store the product of all earlier denominators in the new
    // entry. The others go backward.
    LOOP for (uint step = 0; step < 2 * count; step++) {
        uint backward = step >= count;
        size_t at = item + per_window * (size_t)(backward ? 2 * count - 1 - step : step);
        GLOBAL uint *entry = sums + ENTRY * at;
        sum s;
        add_point(&s, old + ENTRY * at, &x, &y);
        multiply_called(&both, &s.f, &s.g);
        if (!backward) {
            write_element(entry, &product);
            multiply_called(&product, &product, &both);
            continue;
        }
        if (step == count)
            invert(&product);
        read_element(&inverse, entry);
        multiply_called(&inverse, &inverse, &product);
        multiply_called(&product, &product, &both);
        // e/g = e f / (f g), and h/f = h g / (f g).
        multiply_called(&s.e, &s.e, &s.f);
        multiply_called(&s.e, &s.e, &inverse);
        multiply_called(&s.h, &s.h, &s.g);
        multiply_called(&s.h, &s.h, &inverse);
        write_entry(entry, &s.e, &s.h, number == 0);
    }
}

// Checks each entry: it is a point of the curve, its elements agree, and the next entry of its window
// is its sum with H_(start + 1). Counts those that are wrong.
KERNEL check(GLOBAL const uint *table, uint windows, GLOBAL const uint *points, uint count, GLOBAL uint *wrong)
{
    uint at = ITEM;
    if (at >= count)
        return;
    uint number = 0;
    window w = window_of(windows, 0);
    while (at >= w.first + (1u << w.bits))
        w = window_of(windows, ++number);
    GLOBAL const uint *entry = table + ENTRY * (size_t)at, *next = entry + ENTRY;
    element x, y, plus, minus, c, last, xy, d, a, b, one = {{1, 0, 0, 0, 0, 0, 0, 0}}, zero = {{0, 0, 0, 0, 0, 0, 0, 0}};
    read_element(&plus, entry);
    read_element(&minus, entry + 8);
    read_element(&c, entry + 16);
    read_element(&last, entry + 24);
    SET(d, EDWARDS_D)
    subtract_called(&x, &plus, &minus);
    add_called(&y, &plus, &minus);
    multiply_called(&xy, &x, &y);
    multiply_called(&d, &d, &xy);
    uint is_right = is_equal(&c, &d);
    subtract_called(&b, &zero, &c);
    is_right &= number > 0 ? is_equal(&last, &b) : is_equal(&last, &xy);
    // The equation of the curve: y^2 - x^2 = 1 + d (xy)^2.
    multiply_called(&a, &y, &y);
    multiply_called(&b, &x, &x);
    subtract_called(&a, &a, &b);
    multiply_called(&b, &d, &xy);
    add_called(&b, &b, &one);
    is_right &= is_equal(&a, &b);
    if (at + 1 < w.first + (1u << w.bits)) {
        sum s;
        read_element(&x, points + POINT * (w.start + 1));
        read_element(&y, points + POINT * (w.start + 1) + 8);
        add_point(&s, entry, &x, &y);
        read_element(&plus, next);
        read_element(&minus, next + 8);
        subtract_called(&x, &plus, &minus);
        add_called(&y, &plus, &minus);
        multiply_called(&x, &x, &s.g);
        multiply_called(&y, &y, &s.f);
        is_right &= is_equal(&x, &s.e) & is_equal(&y, &s.h);
    }
    if (!is_right)
        NEXT(wrong);
}
