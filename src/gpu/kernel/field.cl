// Arithmetic modulo p = 2^255 - 19 in eight 32-bit words.
//
// An element is any number below 2^256, and 2^256 = 38 modulo p: what a sum carries out of the highest word comes back 38-fold
// at the lowest. So every operation takes whatever another one gives, and no bounds have to be watched.
//
// A multiplication is 64 products of words and 8 to fold the upper half. On NVIDIA's processors PTX keeps the carries in
// their flag (ptx.rs makes its text); elsewhere 64-bit sums carry them.

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

// a + 38 carry, for a carry of at most 38.
FUNCTION void fold(element *a, ulong carry)
{
    carry *= 38;
    UNROLL for (int at = 0; at < 8; at++) {
        carry += a->word[at];
        a->word[at] = (uint)carry;
        carry >>= 32;
    }
    // If this carries once more, what is left is below 38 * 38.
    a->word[0] += 38 * (uint)carry;
}

FUNCTION void multiply(element *product, const element *a, const element *b)
{
    uint columns[16];
    UNROLL for (int at = 0; at < 8; at++)
        columns[at] = 0;
    UNROLL for (int row = 0; row < 8; row++) {
        ulong sum = 0;
        UNROLL for (int at = 0; at < 8; at++) {
            // At most (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
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
    fold(product, carry);
}

FUNCTION void add(element *sum, const element *a, const element *b)
{
    ulong carry = 0;
    UNROLL for (int at = 0; at < 8; at++) {
        carry += (ulong)a->word[at] + b->word[at];
        sum->word[at] = (uint)carry;
        carry >>= 32;
    }
    fold(sum, carry);
}

FUNCTION void subtract(element *difference, const element *a, const element *b)
{
    ulong borrow = 0;
    UNROLL for (int at = 0; at < 8; at++) {
        ulong word = (ulong)a->word[at] - b->word[at] - borrow;
        difference->word[at] = (uint)word;
        borrow = word >> 63;
    }
    borrow *= 38;
    UNROLL for (int at = 0; at < 8; at++) {
        ulong word = (ulong)difference->word[at] - borrow;
        difference->word[at] = (uint)word;
        borrow = word >> 63;
    }
    // If this borrows once more, what is left is above 2^256 - 39.
    difference->word[0] -= 38 * (uint)borrow;
}

#endif

// The least number that stands for the element: its encoding (RFC 8032, section 5.1.2).
CALLED void reduce(element *a)
{
    // Below 2^255 + 19 with bit 255 folded to 19.
    ulong carry = 19 * (a->word[7] >> 31);
    a->word[7] &= 0x7fffffff;
    UNROLL for (int at = 0; at < 8; at++) {
        carry += a->word[at];
        a->word[at] = (uint)carry;
        carry >>= 32;
    }
    // From p on, adding 19 sets bit 255.
    element more;
    carry = 19;
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

// a^(2^times)
CALLED void square_times(element *a, int times)
{
    for (int count = 0; count < times; count++)
        multiply(a, a, a);
}

CALLED void multiply_called(element *product, const element *a, const element *b)
{
    multiply(product, a, b);
}

// 1 / a = a^(p - 2), and 0 for 0: 254 squares and 11 products. The names tell exponents: ones_n is 2^n - 1.
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

FUNCTION void load(element *a, GLOBAL const uint *words, uint total, uint at)
{
    UNROLL for (int word = 0; word < 8; word++)
        a->word[word] = words[WORD(at, word)];
}

FUNCTION void store(GLOBAL uint *words, uint total, uint at, const element *a)
{
    UNROLL for (int word = 0; word < 8; word++)
        words[WORD(at, word)] = a->word[word];
}
