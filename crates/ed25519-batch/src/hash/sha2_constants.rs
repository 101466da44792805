//! The constants of SHA-2: fractions of roots of the first primes (FIPS 180-4, sections 4.2 and
//! 5.3).

/// The constants of the rounds of SHA-512 (FIPS 180-4, section 4.2.3).
pub const SHA512_ROUND: [u64; 80] = CUBE_ROOTS;

/// The initial state of SHA-512 (FIPS 180-4, section 5.3.5).
pub const SHA512_INITIAL: [u64; 8] = SQUARE_ROOTS;

/// The constants of the rounds of SHA-256 (FIPS 180-4, section 4.2.2).
pub const SHA256_ROUND: [u32; 64] = upper_halves(&SHA512_ROUND);

/// The initial state of SHA-256 (FIPS 180-4, section 5.3.3).
pub const SHA256_INITIAL: [u32; 8] = upper_halves(&SHA512_INITIAL);

// The compiler computes a constant again for each generic function that uses it, but a static once.
static CUBE_ROOTS: [u64; 80] = fractions(3);
static SQUARE_ROOTS: [u64; 8] = fractions(2);

/// Returns the first 32 bits of the first words.
const fn upper_halves<const N: usize>(words: &[u64]) -> [u32; N] {
    let mut halves = [0; N];
    let mut at = 0;
    while at < N {
        halves[at] = (words[at] >> 32) as u32;
        at += 1;
    }
    halves
}

/// Returns the first 64 bits of the fractional parts of the `degree`-th roots of the first `N`
/// primes. `degree` is 2 or 3.
const fn fractions<const N: usize>(degree: u32) -> [u64; N] {
    let mut fractions = [0; N];
    let (mut at, mut number) = (0, 2);
    while at < N {
        if is_prime(number) {
            fractions[at] = root(number, degree) as u64;
            at += 1;
        }
        number += 1;
    }
    fractions
}

const fn is_prime(number: u64) -> bool {
    let mut divisor = 2;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            return false;
        }
        divisor += 1;
    }
    true
}

/// Returns the largest x with x^degree <= number * 2^(64 degree). This is the root times 2^64,
/// rounded down. The root must be below 2^5.
const fn root(number: u64, degree: u32) -> u128 {
    let (mut root, mut bit) = (0u128, 1 << 68);
    while bit > 0 {
        if power_is_at_most(root | bit, degree, number) {
            root |= bit;
        }
        bit >>= 1;
    }
    root
}

/// Returns true if x^degree <= number * 2^(64 degree), for x below 2^69 and a degree of 2 or 3.
const fn power_is_at_most(x: u128, degree: u32, number: u64) -> bool {
    // The power has at most 207 bits.
    let mut power = [x as u64, (x >> 64) as u64, 0, 0];
    let mut times = 1;
    while times < degree {
        power = product(power, x);
        times += 1;
    }
    // Compare with number * 2^(64 degree), whose only word that is not 0 has the index `degree`.
    let mut at = 3;
    while at > degree as usize {
        if power[at] > 0 {
            return false;
        }
        at -= 1;
    }
    let mut rest = 0;
    let mut below = 0;
    while below < degree as usize {
        rest |= power[below];
        below += 1;
    }
    power[at] < number || power[at] == number && rest == 0
}

/// Returns a x modulo 2^256, for little-endian words a and an x below 2^69.
const fn product(a: [u64; 4], x: u128) -> [u64; 4] {
    let (low, high) = (x as u64 as u128, x >> 64);
    let mut product = [0; 4];
    let (mut at, mut carry, mut before) = (0, 0u128, 0u128);
    while at < 4 {
        // The sum is below 2^128: (2^64 - 1)^2 + (2^64 - 1) 2^5 + a carry below 2^65.
        let column = a[at] as u128 * low + before * high + carry;
        product[at] = column as u64;
        carry = column >> 64;
        before = a[at] as u128;
        at += 1;
    }
    product
}
