// The device filter, which finds the keys that may match. pattern/matcher/device_filter.rs has the
// tests and the layout of the filter's words.
//
// Characters are read from a stream of bits, with the highest bit of the first byte first. For keys
// the stream begins with the two zero bits that the header leaves. A key is tested with both signs
// of x, and so is its fingerprint.

// The words before the first clause.
#define FILTER_HEAD 4

// Writes SHA-256 of the blob of a key, as little-endian words (FIPS 180-4, section 6.2). The blob
// and its padding fill one block. The key begins at the last byte of word 4.
CALLED void fingerprint(uint *digest, const uint *key)
{
    uint schedule[16], state[8];
    UNROLL for (int at = 0; at < 16; at++)
        schedule[at] = BLOB[at];
    uint before = 0;
    UNROLL for (int at = 0; at < 8; at++) {
        uint word = swapped(key[at]);
        schedule[4 + at] |= before << 8 | word >> 24;
        before = word;
    }
    schedule[12] |= before << 8;
    UNROLL for (int at = 0; at < 8; at++)
        state[at] = (uint)(INITIAL_512[at] >> 32);
    uint a = state[0], b = state[1], c = state[2], d = state[3];
    uint e = state[4], f = state[5], g = state[6], h = state[7];
    LOOP for (int sixteen = 0;; sixteen += 16) {
        UNROLL for (int at = 0; at < 16; at++) {
            uint sum_e = rotated(e, 26) ^ rotated(e, 21) ^ rotated(e, 7);
            uint sum_a = rotated(a, 30) ^ rotated(a, 19) ^ rotated(a, 10);
            SHA2_STEP(uint, sum_a, sum_e, (uint)(ROUND_512[sixteen + at] >> 32) + schedule[at])
        }
        if (sixteen == 48)
            break;
        UNROLL for (int at = 0; at < 16; at++) {
            uint early = schedule[(at + 1) & 15], late = schedule[(at + 14) & 15];
            schedule[at] += (rotated(early, 25) ^ rotated(early, 14) ^ early >> 3) + schedule[(at + 9) & 15]
                + (rotated(late, 15) ^ rotated(late, 13) ^ late >> 10);
        }
    }
    digest[0] = swapped(a + state[0]);
    digest[1] = swapped(b + state[1]);
    digest[2] = swapped(c + state[2]);
    digest[3] = swapped(d + state[3]);
    digest[4] = swapped(e + state[4]);
    digest[5] = swapped(f + state[5]);
    digest[6] = swapped(g + state[6]);
    digest[7] = swapped(h + state[7]);
}

// Writes the stream of bits, six for each character, in nine words.
FUNCTION void stream_of(uint *stream, const uint *bytes, uint lead)
{
    uint before = 0;
    UNROLL for (int at = 0; at < 9; at++) {
        uint word = at < 8 ? swapped(bytes[at]) : 0;
        stream[at] = (uint)(((ulong)before << 32 | word) >> lead);
        before = word;
    }
}

// Returns the value of the character at a position.
FUNCTION uint character(const uint *stream, uint position)
{
    uint bit = 6 * position;
    ulong two = (ulong)stream[bit / 32] << 32 | stream[bit / 32 + 1];
    return (uint)(two >> (58 - bit % 32)) & 63;
}

// Returns 1 if a window of the row in the sieve has a marked value, or if the sieve holds no row. The
// row begins at byte `kind` - 1. No look-up waits for the one before.
FUNCTION uint passes_sieve(const uint *bytes, LOCAL const uint *sieve, uint kind)
{
    if (kind == 0 || kind == SIEVE_OF_HASHES)
        return 1;
    uint from_first[8], marks = 0;
    UNROLL for (int at = 0; at < 8; at++)
        from_first[at] = (uint)(((ulong)(at < 7 ? bytes[at + 1] : 0) << 32 | bytes[at]) >> (8 * (kind - 1)));
    UNROLL for (int window = 0; window < ROW_WINDOWS; window++) {
        int bit = 24 * window;
        ulong two = (ulong)from_first[bit / 32 + 1] << 32 | from_first[bit / 32];
        uint value = (uint)(two >> (bit % 32)) & 0xffff;
        marks |= sieve[value / 32 % SIEVE_WORDS] >> (value % 32);
    }
    return marks & 1;
}

// Returns 1 if a window of the row, which is two bytes, has a marked value.
FUNCTION uint passes_row(const uint *bytes, GLOBAL const uint *row)
{
    GLOBAL const uint *bitmap = row + 1 + ROW_WINDOWS;
    LOOP for (uint window = 0; window < row[0]; window++) {
        uint byte = row[1 + window], word = byte / 4;
        ulong two = (ulong)bytes[word < 7 ? word + 1 : 7] << 32 | bytes[word];
        uint value = (uint)(two >> (8 * (byte % 4))) & 0xffff;
        if (bitmap[value / 32] >> (value % 32) & 1)
            return 1;
    }
    return 0;
}

// Returns 1 if the bytes pass all rows of at least one clause.
CALLED uint passes_rows(const uint *bytes, GLOBAL const uint *filter)
{
    GLOBAL const uint *clause = filter + FILTER_HEAD;
    LOOP for (uint number = 0; number < filter[1]; number++, clause += 4) {
        uint row = 0;
        LOOP while (row < clause[0] && passes_row(bytes, filter + clause[1] + row * ROW_WORDS))
            row++;
        if (row == clause[0])
            return 1;
    }
    return 0;
}

// Returns 1 if the first characters of a literal may be at position `from` or later. The sieve, if it is
// of this filter, leaves few places, which differ between work items. So they are collected first.
FUNCTION uint passes_bloom(const uint *stream, GLOBAL const uint *bloom, uint from, LOCAL const uint *sieve, uint kind)
{
    uint counts = bloom[2], shift = bloom[3], mask = bloom[4];
    GLOBAL const uint *classes = bloom + 5, *words = bloom + 5 + 16;
    // The classes of the characters, four in a word, the first one in the lowest byte. After the last
    // character they are 0. `last` has the last four.
    uint folded[13] = {0}, last = 0;
    ulong places = 0;
    LOOP for (uint word = from / 4; word < 11; word++) {
        uint at = 24 * word / 32, marks = 0;
        uint four = (uint)(((ulong)stream[at] << 32 | stream[at + 1]) >> (40 - 24 * word % 32));
        UNROLL for (int number = 0; number < 4; number++) {
            uint value = four >> (18 - 6 * number) & 63;
            uint class_of = classes[value / 4] >> (8 * (value % 4)) & 0xff;
            last = last >> 8 | (4 * word + number < BODY_LEN ? class_of << 24 : 0);
            // One of 32 * SIEVE_WORDS, which is 2^15.
            uint place = (last & mask) * (uint)SPREAD >> 17;
            if (kind == SIEVE_OF_HASHES)
                marks |= (sieve[place / 32] >> (place % 32) & 1) << number;
        }
        folded[word] = last;
        places |= (ulong)marks << (4 * word);
    }
    // A mark belongs to the character three places before. The last two characters have no mark.
    places = kind == SIEVE_OF_HASHES ? places >> 3 | (ulong)3 << (BODY_LEN - 2) : ~(ulong)0;
    places &= ((ulong)bloom[1] << 32 | bloom[0]) & ~(ulong)0 << from;
    LOOP for (; places; places &= places - 1) {
        uint place = LOWEST_BIT(places), at = place / 4, bit = 8 * (place % 4);
        // The classes of eight characters.
        ulong window = ((ulong)folded[at + 1] << 32 | folded[at]) >> bit | (ulong)folded[at + 2] << 1 << (63 - bit);
        LOOP for (uint left = counts; left; left >>= 4) {
            uint count = left & 15;
            if (place + count > BODY_LEN)
                continue;
            ulong number = (window & ~(ulong)0 >> (64 - 8 * count)) | (ulong)count << 56;
            ulong spread = HIGH_HALF(number, SPREAD) ^ number * SPREAD;
            uint bits = 1u << (spread >> 16 & 31) | 1u << (spread >> 21 & 31) | 1u << (spread >> 26 & 31)
                | 1u << (spread >> 31 & 31);
            if ((words[spread >> shift] & bits) == bits)
                return 1;
        }
    }
    return 0;
}

// Returns 1 if the automaton accepts the characters.
FUNCTION uint passes_walk(const uint *stream, GLOBAL const uint *walk)
{
    uint state = walk[0];
    GLOBAL const uint *next = walk + 2, *accepts = next + walk[1];
    LOOP for (uint position = 0; position < BODY_LEN; position++)
        state = next[state + character(stream, position)];
    return accepts[state / 64 / 32] >> (state / 64 % 32) & 1;
}

// Returns 1 if the bytes pass at least one clause. They pass a clause if they pass all its tests.
CALLED uint passes(const uint *bytes, GLOBAL const uint *filter, uint from, LOCAL const uint *sieve)
{
    uint stream[9];
    stream_of(stream, bytes, filter[0]);
    GLOBAL const uint *clause = filter + FILTER_HEAD;
    LOOP for (uint number = 0; number < filter[1]; number++, clause += 4) {
        uint passed = 1;
        LOOP for (uint row = 0; passed && row < clause[0]; row++)
            passed = passes_row(bytes, filter + clause[1] + row * ROW_WORDS);
        if (passed && clause[2])
            passed = passes_bloom(stream, filter + clause[2], from, sieve, filter[2]);
        if (passed && clause[3])
            passed = passes_walk(stream, filter + clause[3]);
        if (passed)
            return 1;
    }
    return 0;
}

// Returns 1 if a key may match with one sign of x or the other. The highest bit of the key must be
// 0.
FUNCTION uint may_match(const element *of, GLOBAL const uint *filter, LOCAL const uint *sieve)
{
    element key = *of;
    uint digest[8], kind = filter[2];
    uint is_fingerprint = filter[0] == 0;
    // No window of a row holds the sign.
    if (!is_fingerprint && !(passes_sieve(key.word, sieve, kind) && passes_rows(key.word, filter)))
        return 0;
    LOOP for (uint sign = 0; sign < 2; sign++) {
        key.word[7] |= sign << 31;
        if (is_fingerprint) {
            fingerprint(digest, key.word);
            if (passes_sieve(digest, sieve, kind) && passes_rows(digest, filter) && passes(digest, filter, 0, sieve))
                return 1;
        } else if (passes(key.word, filter, sign ? SIGN_POSITION + 1 - MOST_COUNT : 0, sieve)) {
            // The sign changes only the character at SIGN_POSITION. So the second test for literals
            // begins at the first place from which one can reach it.
            return 1;
        }
    }
    return 0;
}

// Adds a key to the survivors if it may match. survivors[0] is their number. The place and the key
// of each of them follow, at most `room` of them.
FUNCTION void test(
    const element *key, uint place, GLOBAL const uint *filter, LOCAL const uint *sieve, GLOBAL uint *survivors,
    uint room)
{
    if (!may_match(key, filter, sieve))
        return;
    uint slot = NEXT(survivors);
    if (slot >= room)
        return;
    GLOBAL uint *survivor = survivors + 1 + 9 * (size_t)slot;
    survivor[0] = place;
    UNROLL for (int word = 0; word < 8; word++)
        survivor[1 + word] = key->word[word];
}
