// Seeds by ChaCha20 (RFC 8439, with a 64-bit block counter and a nonce of 0), and scalars from
// seeds by the first half of SHA-512 (FIPS 180-4, section 6.4; RFC 8032, section 5.1.5).
//
// A seed and its padding fill one block. The scalars are not clamped: the code that reads them uses
// only the 251 free bits.

FUNCTION ulong rotated_down(ulong word, uint bits)
{
    return word >> bits | word << (64 - bits);
}

// A step of SHA-512 or SHA-256 (FIPS 180-4, sections 6.2.2 and 6.4.2, step 3). The two differ in
// their words, in their constants, and in the sums of a and e.
#define SHA2_STEP(word, sum_a, sum_e, input) { \
    word first = h + sum_e + (g ^ (e & (f ^ g))) + input; \
    word second = sum_a + ((a & b) | (c & (a | b))); \
    h = g; g = f; f = e; e = d + first; \
    d = c; c = b; b = a; a = first + second; \
}

// Writes the scalar of a seed, word by word at a distance of `stride`. Both are little-endian
// words. Every step replaces its word of the schedule by the word sixteen places later, the last
// sixteen steps, too: one short loop leaves the instruction cache to the windows.
CALLED void hash(LOCAL uint *scalar, uint stride, const uint *seed)
{
    ulong schedule[16];
    UNROLL for (int at = 0; at < 16; at++)
        schedule[at] = 0;
    UNROLL for (int at = 0; at < 4; at++)
        schedule[at] = (ulong)swapped(seed[2 * at]) << 32 | swapped(seed[2 * at + 1]);
    // The padding: a bit of 1 after the message, and the length of the message in bits.
    schedule[4] = (ulong)1 << 63;
    schedule[15] = 256;
    ulong a = INITIAL_512[0], b = INITIAL_512[1], c = INITIAL_512[2], d = INITIAL_512[3];
    ulong e = INITIAL_512[4], f = INITIAL_512[5], g = INITIAL_512[6], h = INITIAL_512[7];
    LOOP for (int done = 0; done < 80; done += 8) {
        UNROLL for (int at = 0; at < 8; at++) {
            ulong sum_e = rotated_down(e, 14) ^ rotated_down(e, 18) ^ rotated_down(e, 41);
            ulong sum_a = rotated_down(a, 28) ^ rotated_down(a, 34) ^ rotated_down(a, 39);
            SHA2_STEP(ulong, sum_a, sum_e, ROUND_512[done + at] + schedule[at])
            ulong early = schedule[at + 1], late = schedule[(at + 14) & 15];
            schedule[at] += (rotated_down(early, 1) ^ rotated_down(early, 8) ^ early >> 7) + schedule[(at + 9) & 15]
                + (rotated_down(late, 19) ^ rotated_down(late, 61) ^ late >> 6);
        }
        UNROLL for (int at = 0; at < 8; at++) {
            ulong later = schedule[at + 8];
            schedule[at + 8] = schedule[at];
            schedule[at] = later;
        }
    }
    ulong sums[4] = {a + INITIAL_512[0], b + INITIAL_512[1], c + INITIAL_512[2], d + INITIAL_512[3]};
    UNROLL for (int at = 0; at < 4; at++) {
        scalar[(2 * at) * stride] = swapped((uint)(sums[at] >> 32));
        scalar[(2 * at + 1) * stride] = swapped((uint)sums[at]);
    }
}

#define QUARTER_ROUND(a, b, c, d) \
    a += b; d = rotated(d ^ a, 16); \
    c += d; b = rotated(b ^ c, 12); \
    a += b; d = rotated(d ^ a, 8); \
    c += d; b = rotated(b ^ c, 7);

// Writes block `number` of a stream. `place` is a key of eight words, then the number of the
// stream's first block, low word first.
CALLED void block_of(uint *block, GLOBAL const uint *place, uint number)
{
    uint state[16];
    ulong counter = ((ulong)place[9] << 32 | place[8]) + number;
    // The constants "expand 32-byte k".
    state[0] = 0x61707865;
    state[1] = 0x3320646e;
    state[2] = 0x79622d32;
    state[3] = 0x6b206574;
    UNROLL for (int at = 0; at < 8; at++)
        state[4 + at] = place[at];
    state[12] = (uint)counter;
    state[13] = (uint)(counter >> 32);
    state[14] = 0;
    state[15] = 0;
    UNROLL for (int at = 0; at < 16; at++)
        block[at] = state[at];
    LOOP for (int twice = 0; twice < 10; twice++) {
        QUARTER_ROUND(block[0], block[4], block[8], block[12])
        QUARTER_ROUND(block[1], block[5], block[9], block[13])
        QUARTER_ROUND(block[2], block[6], block[10], block[14])
        QUARTER_ROUND(block[3], block[7], block[11], block[15])
        QUARTER_ROUND(block[0], block[5], block[10], block[15])
        QUARTER_ROUND(block[1], block[6], block[11], block[12])
        QUARTER_ROUND(block[2], block[7], block[8], block[13])
        QUARTER_ROUND(block[3], block[4], block[9], block[14])
    }
    UNROLL for (int at = 0; at < 16; at++)
        block[at] += state[at];
}

// Overwrites a buffer with zeros.
KERNEL wipe(GLOBAL uint *words, uint total)
{
    if (ITEM < total)
        words[ITEM] = 0;
}
