// Arithmetic modulo p = 2^255 - 19 in eight 32-bit words.
//
// A number below 2^255 + 2^11 is tight, and one below 2^256 is loose. Products take loose numbers
// and are tight: 2^256 = 38 folds the upper half to 39 * 2^256 at most, and 2^255 = 19 folds the
// bits from 255 up, at most 77. Sums and differences take tight numbers and are loose. So a
// sum or a difference is never added to another one without `tighten`.
//
// A multiplication is 64 products of words, a square 36, and both need 9 more to fold the upper
// half. On NVIDIA's GPUs PTX keeps the carries in the carry flag (ptx.rs makes its text). On other
// devices 64-bit sums hold the carries.

typedef struct {
    uint word[8];
} element;

#ifdef PTX

#define EIGHT_OUT(a) \
    "=r"((a)->word[0]), "=r"((a)->word[1]), "=r"((a)->word[2]), "=r"((a)->word[3]), \
    "=r"((a)->word[4]), "=r"((a)->word[5]), "=r"((a)->word[6]), "=r"((a)->word[7])
#define EIGHT_IN(a) \
    "r"((a)->word[0]), "r"((a)->word[1]), "r"((a)->word[2]), "r"((a)->word[3]), \
    "r"((a)->word[4]), "r"((a)->word[5]), "r"((a)->word[6]), "r"((a)->word[7])

FUNCTION void multiply(element *product, const element *a, const element *b)
{
    element result;
    asm(PTX_MULTIPLY : EIGHT_OUT(&result) : EIGHT_IN(a), EIGHT_IN(b));
    *product = result;
}

FUNCTION void square(element *product, const element *a)
{
    element result;
    asm(PTX_SQUARE : EIGHT_OUT(&result) : EIGHT_IN(a));
    *product = result;
}

FUNCTION void add(element *sum, const element *a, const element *b)
{
    element result;
    asm(PTX_ADD : EIGHT_OUT(&result) : EIGHT_IN(a), EIGHT_IN(b));
    *sum = result;
}

FUNCTION void subtract(element *difference, const element *a, const element *b)
{
    element result;
    asm(PTX_SUBTRACT : EIGHT_OUT(&result) : EIGHT_IN(a), EIGHT_IN(b));
    *difference = result;
}

#else

FUNCTION void multiply(element *product, const element *a, const element *b)
{
    uint columns[16];
    UNROLL for (int at = 0; at < 8; at++)
        columns[at] = 0;
    UNROLL for (int row = 0; row < 8; row++) {
        ulong sum = 0;
        UNROLL for (int at = 0; at < 8; at++) {
            // The sum is at most (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
            sum += (ulong)a->word[row] * b->word[at] + columns[row + at];
            columns[row + at] = (uint)sum;
            sum >>= 32;
        }
        columns[row + 8] = (uint)sum;
    }
    ulong carry = 0;
    UNROLL for (int at = 0; at < 8; at++) {
        carry += (ulong)38 * columns[at + 8] + columns[at];
        product->word[at] = (uint)carry;
        carry >>= 32;
    }
    carry = 19 * (carry << 1 | product->word[7] >> 31);
    product->word[7] &= 0x7fffffff;
    UNROLL for (int at = 0; at < 8; at++) {
        carry += product->word[at];
        product->word[at] = (uint)carry;
        carry >>= 32;
    }
}

FUNCTION void square(element *product, const element *a)
{
    multiply(product, a, a);
}

FUNCTION void add(element *sum, const element *a, const element *b)
{
    ulong carry = 0;
    UNROLL for (int at = 0; at < 8; at++) {
        carry += (ulong)a->word[at] + b->word[at];
        sum->word[at] = (uint)carry;
        carry >>= 32;
    }
    // If this carries, the remaining number is below 2^12.
    sum->word[0] += 38 * (uint)carry;
}

FUNCTION void subtract(element *difference, const element *a, const element *b)
{
    ulong borrow = 0;
    UNROLL for (int at = 0; at < 8; at++) {
        ulong word = (ulong)a->word[at] - b->word[at] - borrow;
        difference->word[at] = (uint)word;
        borrow = word >> 63;
    }
    // If this borrows, the remaining number is above 2^254.
    borrow *= 38;
    UNROLL for (int at = 0; at < 8; at++) {
        ulong word = (ulong)difference->word[at] - borrow;
        difference->word[at] = (uint)word;
        borrow = word >> 63;
    }
}

#endif

// Makes a loose number tight: below 2^255 + 19.
CALLED void tighten(element *a)
{
    ulong carry = 19 * (a->word[7] >> 31);
    a->word[7] &= 0x7fffffff;
    UNROLL for (int at = 0; at < 8; at++) {
        carry += a->word[at];
        a->word[at] = (uint)carry;
        carry >>= 32;
    }
}

// Replaces a loose number by the least number with the same value modulo p, its encoding (RFC 8032,
// section 5.1.2).
CALLED void reduce(element *a)
{
    tighten(a);
    // Adding 19 sets bit 255 if the number is at least p.
    element more;
    ulong carry = 19;
    UNROLL for (int at = 0; at < 8; at++) {
        carry += a->word[at];
        more.word[at] = (uint)carry;
        carry >>= 32;
    }
    uint above = more.word[7] >> 31;
    more.word[7] &= 0x7fffffff;
    UNROLL for (int at = 0; at < 8; at++)
        a->word[at] = above ? more.word[at] : a->word[at];
}

// Squares a repeatedly: the result is a^(2^times).
CALLED void square_times(element *a, int times)
{
    LOOP for (int count = 0; count < times; count++)
        square(a, a);
}

// Multiplies, adds and subtracts without inlining. The sum and the difference are tight.
CALLED void multiply_called(element *product, const element *a, const element *b)
{
    multiply(product, a, b);
}

CALLED void add_called(element *sum, const element *a, const element *b)
{
    add(sum, a, b);
    tighten(sum);
}

CALLED void subtract_called(element *difference, const element *a, const element *b)
{
    subtract(difference, a, b);
    tighten(difference);
}

// Replaces a by 1 / a = a^(p - 2), and 0 by 0, with 254 squares and 11 products. Variables are
// named after exponents: ones_n is a^(2^n - 1).
CALLED void invert(element *a)
{
    element two = *a, nine, eleven, ones_5, ones_10, ones_50, power;
    square_times(&two, 1);
    nine = two;
    square_times(&nine, 2);
    multiply_called(&nine, &nine, a);
    multiply_called(&eleven, &nine, &two);
    power = eleven;
    square_times(&power, 1);
    multiply_called(&ones_5, &power, &nine);
    power = ones_5;
    square_times(&power, 5);
    multiply_called(&ones_10, &power, &ones_5);
    power = ones_10;
    square_times(&power, 10);
    multiply_called(&power, &power, &ones_10);
    element ones_20 = power;
    square_times(&power, 20);
    multiply_called(&power, &power, &ones_20);
    square_times(&power, 10);
    multiply_called(&ones_50, &power, &ones_10);
    power = ones_50;
    square_times(&power, 50);
    multiply_called(&power, &power, &ones_50);
    element ones_100 = power;
    square_times(&power, 100);
    multiply_called(&power, &power, &ones_100);
    square_times(&power, 50);
    multiply_called(&power, &power, &ones_50);
    square_times(&power, 5);
    multiply_called(a, &power, &eleven);
}

// Reads element `at` of a buffer of `total` elements.
FUNCTION void load(element *a, GLOBAL const uint *words, uint total, uint at)
{
    UNROLL for (int word = 0; word < 8; word++)
        a->word[word] = words[WORD(at, word)];
}

// Writes element `at` of a buffer of `total` elements.
FUNCTION void store(GLOBAL uint *words, uint total, uint at, const element *a)
{
    UNROLL for (int word = 0; word < 8; word++)
        words[WORD(at, word)] = a->word[word];
}
