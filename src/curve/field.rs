//! Arithmetic modulo p = 2^255 - 19: the seam between instruction sets, and what every processor can do.
//!
//! A back end is a type that implements [`Field`]. It works on vectors of [`Field::LANES`] independent elements, in
//! whatever radix suits its instructions. How far its limbs have grown is told by types: a [`Field::Tight`]
//! element has just been carried; sums and differences are [`Field::Loose`], and only a carry or a product
//! makes them tight again. So nothing that could overflow can be written down.

use std::fmt::Debug;

use super::table::Entry;

/// A back end.
pub trait Field: Copy + Send + Sync + 'static {
    /// Elements in a vector.
    const LANES: usize;
    /// Carried: may be added and subtracted.
    type Tight: Copy + Debug + Send;
    /// Not carried: may be multiplied.
    type Loose: Copy + Debug + From<Self::Tight>;
    /// A sign in every lane.
    type Signs: Copy;

    /// The same small number in every lane.
    fn small(self, number: u32) -> Self::Tight;
    /// The points of one window, an entry for each lane; of a marked digit, y stands for -y.
    fn fetch(self, window: &[Entry], digits: &[Digit]) -> Fetched<Self>;
    /// a + b
    fn add(self, a: &Self::Tight, b: &Self::Tight) -> Self::Loose;
    /// a - b
    fn sub(self, a: &Self::Tight, b: &Self::Tight) -> Self::Loose;
    /// a - b - c
    fn sub_both(self, a: &Self::Tight, b: &Self::Tight, c: &Self::Tight) -> Self::Loose;
    /// y - b, where y is a fetched one with its sign
    fn sub_from_fetched(self, fetched: &Fetched<Self>, b: &Self::Tight) -> Self::Loose;
    /// a
    fn carry(self, a: &Self::Loose) -> Self::Tight;
    /// a b
    fn mul(self, a: &Self::Loose, b: &Self::Loose) -> Self::Tight;
    /// a^2
    fn square(self, a: &Self::Loose) -> Self::Tight;
    /// 1 / a in every lane, or `None` if a lane is 0. Variable-time.
    fn invert(self, a: &Self::Tight) -> Option<Self::Tight>;
    /// The 32 bytes of every lane (RFC 8032, section 5.1.2), below p.
    fn encode(self, a: &Self::Tight, bytes: &mut [[u8; 32]]);
}

/// A signed odd digit of one window: which entry, and whether the point is its negative.
#[derive(Clone, Copy, Default)]
pub struct Digit {
    /// The entry.
    pub index: u32,
    /// All ones for the negative, else 0.
    pub negative: u32,
}

/// A point of the table in every lane.
#[derive(Clone, Copy)]
pub struct Fetched<F: Field> {
    /// x.
    pub x: F::Tight,
    /// y, its sign left out.
    pub y: F::Tight,
    /// In which lanes y stands for -y.
    pub negative: F::Signs,
}

/// One lane of five 51-bit limbs with 64 x 64 -> 128 bit products: any 64-bit processor.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

const LIMB: u64 = (1 << 51) - 1;

/// Tight limbs stay below this: a carried limb, and what the last carry may add.
const TIGHT: u64 = (1 << 51) + (1 << 14);

/// Loose limbs stay below this, which is what a product can take.
const LOOSE: u64 = 1 << 54;

/// 2p and 4p, limb by limb: added before a subtraction, so that no limb goes below 0.
const TWO_P: [u64; 5] = [2 * (LIMB - 18), 2 * LIMB, 2 * LIMB, 2 * LIMB, 2 * LIMB];
const FOUR_P: [u64; 5] = [4 * (LIMB - 18), 4 * LIMB, 4 * LIMB, 4 * LIMB, 4 * LIMB];

// A difference of tight limbs is positive and loose.
const _: () = assert!(TIGHT <= TWO_P[0] && TIGHT + TWO_P[1] < LOOSE);
const _: () = assert!(2 * TIGHT <= FOUR_P[0] && TIGHT + FOUR_P[1] < LOOSE);

/// Five limbs below [`TIGHT`].
#[derive(Clone, Copy, Debug)]
pub struct Tight51([u64; 5]);

/// Five limbs below [`LOOSE`].
#[derive(Clone, Copy, Debug)]
pub struct Loose51([u64; 5]);

impl Tight51 {
    fn new(limbs: [u64; 5]) -> Self {
        debug_assert!(limbs.iter().all(|&limb| limb < TIGHT), "{limbs:x?}");
        Self(limbs)
    }

    /// From four words below 2^255.
    pub(super) fn from_words(words: &[u64; 4]) -> Self {
        let [a, b, c, d] = *words;
        Self::new([
            a & LIMB,
            (a >> 51 | b << 13) & LIMB,
            (b >> 38 | c << 26) & LIMB,
            (c >> 25 | d << 39) & LIMB,
            d >> 12 & LIMB,
        ])
    }

    /// To four words, below p.
    pub(super) fn to_words(self) -> [u64; 4] {
        let [mut a, mut b, mut c, mut d, mut e] = self.0;
        // 1 if the value is at least p, that is if adding 19 carries out of bit 255.
        let mut carry = 19;
        for limb in [a, b, c, d, e] {
            carry = (limb + carry) >> 51;
        }
        a += 19 * carry;
        b += a >> 51;
        c += b >> 51;
        d += c >> 51;
        e += d >> 51;
        [a, b, c, d, e] = [a & LIMB, b & LIMB, c & LIMB, d & LIMB, e & LIMB];
        [a | b << 51, b >> 13 | c << 38, c >> 26 | d << 25, d >> 39 | e << 12]
    }
}

impl Loose51 {
    fn new(limbs: [u64; 5]) -> Self {
        debug_assert!(limbs.iter().all(|&limb| limb < LOOSE), "{limbs:x?}");
        Self(limbs)
    }
}

impl From<Tight51> for Loose51 {
    fn from(tight: Tight51) -> Self {
        Self(tight.0)
    }
}

/// Columns of a product to tight limbs. A column is below 5 * 19 * 2^108, the last one, which has no
/// factor 19, below 5 * 2^108: its carry times 19 fits into a word.
#[inline(always)]
fn reduce(mut columns: [u128; 5]) -> Tight51 {
    let mut limbs = [0; 5];
    for at in 0..4 {
        columns[at + 1] += u128::from((columns[at] >> 51) as u64);
        limbs[at] = columns[at] as u64 & LIMB;
    }
    limbs[4] = columns[4] as u64 & LIMB;
    limbs[0] += 19 * (columns[4] >> 51) as u64;
    limbs[1] += limbs[0] >> 51;
    limbs[0] &= LIMB;
    Tight51::new(limbs)
}

#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

impl Field for Portable {
    const LANES: usize = 1;
    type Tight = Tight51;
    type Loose = Loose51;
    /// All ones or 0.
    type Signs = u64;

    fn small(self, number: u32) -> Tight51 {
        Tight51::new([number.into(), 0, 0, 0, 0])
    }

    #[inline(always)]
    fn fetch(self, window: &[Entry], digits: &[Digit]) -> Fetched<Self> {
        let Digit { index, negative } = digits[0];
        let entry = &window[index as usize];
        let [x, y] = [Tight51::from_words(&entry.x), Tight51::from_words(&entry.y)];
        Fetched { x, y, negative: u64::from(negative & 1).wrapping_neg() }
    }

    #[inline(always)]
    fn add(self, a: &Tight51, b: &Tight51) -> Loose51 {
        Loose51::new(std::array::from_fn(|at| a.0[at] + b.0[at]))
    }

    #[inline(always)]
    fn sub(self, a: &Tight51, b: &Tight51) -> Loose51 {
        Loose51::new(std::array::from_fn(|at| a.0[at] + TWO_P[at] - b.0[at]))
    }

    #[inline(always)]
    fn sub_both(self, a: &Tight51, b: &Tight51, c: &Tight51) -> Loose51 {
        Loose51::new(std::array::from_fn(|at| a.0[at] + FOUR_P[at] - b.0[at] - c.0[at]))
    }

    #[inline(always)]
    fn sub_from_fetched(self, fetched: &Fetched<Self>, b: &Tight51) -> Loose51 {
        let sign = fetched.negative;
        // (y ^ sign) - sign is y or -y, modulo 2^64; 4p makes the sum positive either way.
        Loose51::new(std::array::from_fn(|at| {
            (fetched.y.0[at] ^ sign).wrapping_sub(sign).wrapping_add(FOUR_P[at] - b.0[at])
        }))
    }

    #[inline(always)]
    fn carry(self, a: &Loose51) -> Tight51 {
        let over = a.0.map(|limb| limb >> 51);
        Tight51::new(std::array::from_fn(|at| {
            (a.0[at] & LIMB) + if at == 0 { 19 * over[4] } else { over[at - 1] }
        }))
    }

    #[inline(always)]
    fn mul(self, a: &Loose51, b: &Loose51) -> Tight51 {
        let (a, b) = (&a.0, &b.0);
        // 2^255 = 19: what lies above column 4 comes back 19-fold.
        let [_, b1, b2, b3, b4] = b.map(|limb| 19 * limb);
        reduce([
            wide(a[0], b[0]) + wide(a[4], b1) + wide(a[3], b2) + wide(a[2], b3) + wide(a[1], b4),
            wide(a[1], b[0]) + wide(a[0], b[1]) + wide(a[4], b2) + wide(a[3], b3) + wide(a[2], b4),
            wide(a[2], b[0]) + wide(a[1], b[1]) + wide(a[0], b[2]) + wide(a[4], b3) + wide(a[3], b4),
            wide(a[3], b[0]) + wide(a[2], b[1]) + wide(a[1], b[2]) + wide(a[0], b[3]) + wide(a[4], b4),
            wide(a[4], b[0]) + wide(a[3], b[1]) + wide(a[2], b[2]) + wide(a[1], b[3]) + wide(a[0], b[4]),
        ])
    }

    #[inline(always)]
    fn square(self, a: &Loose51) -> Tight51 {
        let a = &a.0;
        let (a3, a4) = (19 * a[3], 19 * a[4]);
        let twice = |product: u128| product << 1;
        reduce([
            wide(a[0], a[0]) + twice(wide(a[1], a4) + wide(a[2], a3)),
            wide(a[3], a3) + twice(wide(a[0], a[1]) + wide(a[2], a4)),
            wide(a[1], a[1]) + twice(wide(a[0], a[2]) + wide(a[4], a3)),
            wide(a[4], a4) + twice(wide(a[0], a[3]) + wide(a[1], a[2])),
            wide(a[2], a[2]) + twice(wide(a[0], a[4]) + wide(a[1], a[3])),
        ])
    }

    /// a^(p - 2): 254 squares and 11 products.
    fn invert(self, a: &Tight51) -> Option<Tight51> {
        if a.to_words() == [0; 4] {
            return None;
        }
        let mul = |a: Tight51, b: Tight51| self.mul(&a.into(), &b.into());
        let squares = |a: Tight51, times: usize| (0..times).fold(a, |a, _| self.square(&a.into()));
        let a2 = squares(*a, 1);
        let a9 = mul(squares(a2, 2), *a);
        let a11 = mul(a9, a2);
        // up_to_n is a^(2^n - 1).
        let up_to_5 = mul(squares(a11, 1), a9);
        let up_to_10 = mul(squares(up_to_5, 5), up_to_5);
        let up_to_20 = mul(squares(up_to_10, 10), up_to_10);
        let up_to_40 = mul(squares(up_to_20, 20), up_to_20);
        let up_to_50 = mul(squares(up_to_40, 10), up_to_10);
        let up_to_100 = mul(squares(up_to_50, 50), up_to_50);
        let up_to_200 = mul(squares(up_to_100, 100), up_to_100);
        let up_to_250 = mul(squares(up_to_200, 50), up_to_50);
        Some(mul(squares(up_to_250, 5), a11))
    }

    fn encode(self, a: &Tight51, bytes: &mut [[u8; 32]]) {
        let words = a.to_words().map(u64::to_le_bytes);
        bytes[0].copy_from_slice(words.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use rand_core::SeedableRng as _;

    fn p() -> BigUint {
        (BigUint::from(1u8) << 255) - 19u8
    }

    fn value(limbs: [u64; 5]) -> BigUint {
        limbs.iter().rev().fold(BigUint::default(), |sum, &limb| (sum << 51) + limb)
    }

    fn canonical(a: Tight51) -> BigUint {
        let words = a.to_words();
        let value = words.iter().rev().fold(BigUint::default(), |sum, &word| (sum << 64) + word);
        assert!(value < p());
        value
    }

    /// Limbs at both ends of the range, near the middle, and anywhere.
    fn limbs(rng: &mut impl rand_core::Rng, bound: u64) -> [u64; 5] {
        std::array::from_fn(|_| match rng.next_u32() % 6 {
            0 => 0,
            1 | 2 => bound - 1,
            3 => (LIMB - 18).min(bound - 1),
            4 => bound - 1 - rng.next_u64() % 64,
            _ => rng.next_u64() % bound,
        })
    }

    #[test]
    fn operations_equal_big_integers_at_the_bounds() {
        let mut rng = rand_chacha::ChaCha20Rng::from_seed([5; 32]);
        let (p, field) = (p(), Portable);
        for _ in 0..100_000 {
            let [a, b, c] = [(); 3].map(|()| Tight51::new(limbs(&mut rng, TIGHT)));
            let [va, vb, vc] = [a, b, c].map(|tight| value(tight.0));
            let [l, m] = [(); 2].map(|()| Loose51::new(limbs(&mut rng, LOOSE)));
            let [vl, vm] = [l, m].map(|loose| value(loose.0));
            let reduced = |loose: Loose51| value(loose.0) % &p;
            let big = &p << 4;

            assert_eq!(canonical(a), &va % &p);
            assert_eq!(reduced(field.add(&a, &b)), (&va + &vb) % &p);
            assert_eq!(reduced(field.sub(&a, &b)), (&va + &big - &vb) % &p);
            assert_eq!(reduced(field.sub_both(&a, &b, &c)), (&va + &big - &vb - &vc) % &p);
            for (negative, signed) in [(0, va.clone()), (u64::MAX, &big - &va)] {
                let fetched = Fetched { x: c, y: a, negative };
                assert_eq!(reduced(field.sub_from_fetched(&fetched, &b)), (signed + &big - &vb) % &p);
            }
            assert_eq!(canonical(field.carry(&l)), &vl % &p);
            assert_eq!(canonical(field.mul(&l, &m)), &vl * &vm % &p);
            assert_eq!(canonical(field.square(&l)), &vl * &vl % &p);
        }
    }

    #[test]
    fn inverses_times_the_element_are_one() {
        let mut rng = rand_chacha::ChaCha20Rng::from_seed([6; 32]);
        for _ in 0..1000 {
            let a = Tight51::new(limbs(&mut rng, TIGHT));
            match Portable.invert(&a) {
                Some(inverse) => {
                    assert_eq!(Portable.mul(&a.into(), &inverse.into()).to_words(), [1, 0, 0, 0])
                }
                None => assert_eq!(a.to_words(), [0; 4]),
            }
        }
        // 0 in all its forms: 0, p, 2p.
        assert!(Portable.invert(&Portable.small(0)).is_none());
        assert!(Portable.invert(&Tight51([LIMB - 18, LIMB, LIMB, LIMB, LIMB])).is_none());
    }

    #[test]
    fn words_come_back() {
        for words in [[0; 4], [1, 2, 3, 4], [u64::MAX - 19, u64::MAX, u64::MAX, u64::MAX >> 1]] {
            assert_eq!(Tight51::from_words(&words).to_words(), words);
        }
        let mut bytes = [[0; 32]];
        Portable.encode(&Portable.small(0x0102), &mut bytes);
        assert_eq!(bytes[0][..3], [2, 1, 0]);
    }
}
