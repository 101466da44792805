//! What each method of the instruction sets does with one word of each operand, and two comparisons
//! with it: of every instruction set, and of the ranges.
//!
//! The operands are all pairs of corners, and random words. The variable `VANITY_CASES` sets the
//! number of random ones of each method.

use std::array;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::dyadic::power_of_two;
use super::interval::Interval;
use super::ranges::{Ranges, Sums};
use super::real::Real;
use ed25519_batch::simd::{Doubles, Madd52, Scalar, Wide, Words};

/// The mask of a factor of a 52-bit product.
const LOW_52: u64 = (1 << 52) - 1;

/// Two numbers with roundings on purpose: the constants of the back end for floating point.
const HIGH: f64 = 3.0 * (1u128 << 102) as f64;
const LOW: f64 = 3.0 * (1u64 << 51) as f64;

/// The operands of one lane.
type Operands = [u64; 3];

fn cases() -> usize {
    let default_cases = if cfg!(miri) { 40 } else { 20_000 };
    std::env::var("VANITY_CASES").map_or(default_cases, |cases| cases.parse().unwrap())
}

/// The low 52 bits of two words, multiplied.
fn product_52(a: u64, b: u64) -> u128 {
    u128::from(a & LOW_52) * u128::from(b & LOW_52)
}

/// The results of methods with two or three operands. A number in a name is that of a shift.
fn words_of(name: &str, [a, b, c]: Operands) -> u64 {
    match name {
        "add" => a.wrapping_add(b),
        "sub" => a.wrapping_sub(b),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "majority" => a & b | b & c | c & a,
        "xor_where_odd" => a ^ if b & 1 == 1 { u64::MAX >> 1 } else { 0 },
        "with_top" => a & ((1 << 51) - 1) | 0x866 << 51,
        "swap_bytes" => u64::from_be_bytes(a.to_le_bytes()),
        "opaque" => a,
        "madd52lo" => a.wrapping_add(product_52(b, c) as u64 & LOW_52),
        "madd52hi" => a.wrapping_add((product_52(b, c) >> 52) as u64),
        "carry" => (a.cast_signed() >> 52).cast_unsigned(),
        _ => unreachable!("{name}"),
    }
}

/// Words at the ends of what the algorithms use: 0, powers of two and their neighbors, and limbs.
fn corners() -> Vec<u64> {
    let mut corners = vec![0, u64::MAX, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa];
    for bit in [0, 1, 4, 6, 12, 13, 25, 31, 32, 38, 39, 46, 47, 48, 50, 51, 52, 53, 54, 57, 58, 62, 63] {
        let power: u64 = 1 << bit;
        corners.extend([power, power - 1, power + 1, power.wrapping_neg()]);
    }
    corners.sort_unstable();
    corners.dedup();
    corners
}

/// Calls `check` with the operands of every lane: all pairs of corners, then random words.
///
/// It takes no generic function, because it would be compiled for every instruction set.
fn for_all_operands(lanes: usize, check: &mut dyn FnMut(&[[u64; 8]; 3])) {
    let corners = corners();
    let few = if cfg!(miri) { 3 } else { corners.len() };
    let mut random = ChaCha20Rng::from_seed([23; 32]);
    for a in &corners[..few] {
        for others in corners[..few].chunks(lanes) {
            let b = array::from_fn(|lane| others[lane % others.len()]);
            let third = array::from_fn(|_| corners[random.next_u32() as usize % corners.len()]);
            check(&[[*a; 8], b, third]);
            check(&[third, [*a; 8], b]);
        }
    }
    for _ in 0..cases().div_ceil(lanes) {
        // Some random words are short.
        let mut word = || {
            let shape = random.next_u32();
            random.next_u64() >> if shape & 1 == 0 { 0 } else { shape >> 1 & 63 }
        };
        check(&array::from_fn(|_| array::from_fn(|_| word())));
    }
}

/// Compares the lanes of a vector with what the model gives for each.
#[inline(always)]
fn same<S: Words>(
    simd: S,
    name: &str,
    result: S::Word,
    operands: &[[u64; 8]; 3],
    model: impl Fn(Operands) -> u64,
) {
    let mut lanes = [0; 8];
    simd.store(result, &mut lanes);
    same_lanes(name, &lanes[..S::LANES], operands, &model);
}

/// Does [`same`], in code that is compiled once.
#[inline(never)]
fn same_lanes(name: &str, lanes: &[u64], operands: &[[u64; 8]; 3], model: &dyn Fn(Operands) -> u64) {
    for (lane, result) in lanes.iter().enumerate() {
        let of_lane = operands.map(|operand| operand[lane]);
        assert_eq!(*result, model(of_lane), "{name} of {of_lane:x?} in lane {lane}");
    }
}

/// Returns `a`, shifted left, shifted right and rotated right by `N` bits.
fn shifts<S: Words, const N: u32>(simd: S, a: S::Word) -> [S::Word; 3] {
    // The rotation refuses 0.
    [simd.shl::<N>(a), simd.shr::<N>(a), if N > 0 { simd.rotr::<N>(a) } else { a }]
}

/// Evaluates [`shifts`] by one of the numbers of bits.
macro_rules! shifts_by {
    ($simd:expr, $a:expr, $bits:expr; $($n:literal)*) => {
        match $bits { $($n => shifts::<_, $n>($simd, $a),)* _ => unreachable!() }
    };
}

fn check_words<S: Words>(simd: S) {
    let mut round = 0;
    for_all_operands(S::LANES, &mut |all| {
        let [a, b, c] = all.map(|operand| simd.load(&operand));
        let simple = [
            ("add", simd.add(a, b)),
            ("sub", simd.sub(a, b)),
            ("and", simd.and(a, b)),
            ("or", simd.or(a, b)),
            ("xor", simd.xor(a, b)),
            ("majority", simd.majority(a, b, c)),
            ("xor_where_odd", simd.xor_where_odd(a, b, u64::MAX >> 1)),
            ("with_top", simd.with_top::<51>(a, 0x866)),
            ("swap_bytes", simd.swap_bytes(a)),
            ("opaque", simd.opaque(a)),
        ];
        for (name, result) in simple {
            same(simd, name, result, all, |operands| words_of(name, operands));
        }
        let bits = round % 66;
        same(simd, "shl_by", simd.shl_by(a, bits), all, |[a, ..]| if bits < 64 { a << bits } else { 0 });
        same(simd, "shr_by", simd.shr_by(a, bits), all, |[a, ..]| if bits < 64 { a >> bits } else { 0 });
        let bits = round % 64;
        let [up, down, around] = shifts_by!(simd, a, bits;
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
        same(simd, "shl", up, all, |[a, ..]| a << bits);
        same(simd, "shr", down, all, |[a, ..]| a >> bits);
        same(simd, "rotr", around, all, |[a, ..]| a.rotate_right(bits));
        same(simd, "splat", simd.splat(all[0][0]), all, |_| all[0][0]);
        let mut halves = [0; 8];
        simd.store_u32(a, &mut halves);
        same(simd, "load_u32", simd.load_u32(&halves), all, |[a, ..]| a & 0xffff_ffff);
        round += 1;
    });
}

fn check_madd52<S: Madd52>(simd: S) {
    for_all_operands(S::LANES, &mut |all| {
        let [a, b, c] = all.map(|operand| simd.load(&operand));
        same(simd, "madd52lo", simd.madd52lo(a, b, c), all, |operands| words_of("madd52lo", operands));
        same(simd, "madd52hi", simd.madd52hi(a, b, c), all, |operands| words_of("madd52hi", operands));
        let of = |a| if S::SIGNED_CARRY { a } else { a >> 1 };
        let limbs = simd.load(&all[0].map(of));
        same(simd, "carry", simd.carry(limbs), all, |[a, ..]| words_of("carry", [of(a), 0, 0]));
    });
}

fn check_wide<S: Wide<Word = u64>>(simd: S) {
    for_all_operands(1, &mut |[[a, ..], [b, ..], [c, ..]]| {
        let product = u128::from(*a) * u128::from(*b);
        assert_eq!(simd.times(a >> 5, 19), (a >> 5) * 19);
        let wide = simd.wide_product(*a, *b);
        assert_eq!(simd.narrow(wide), product as u64);
        assert_eq!(simd.narrow(simd.wide_shr::<64>(wide)), (product >> 64) as u64);
        assert_eq!(simd.narrow(simd.wide_shr::<51>(wide)), (product >> 51) as u64);
        if let Some(sum) = product.checked_add((*c).into()) {
            let wide = simd.wide_add(wide, simd.widen(*c));
            assert_eq!(
                [simd.narrow(wide), simd.narrow(simd.wide_shr::<64>(wide))],
                [sum as u64, (sum >> 64) as u64]
            );
        }
    });
}

/// Returns the double of a word: its sign, a short exponent and its upper bits, or an integer.
fn double_of(word: u64) -> f64 {
    if word & 1 == 0 {
        return (word >> 11).cast_signed() as f64 - power_of_two(52);
    }
    f64::from_bits(word & !(0x7ff << 52) | (1023 - 128 + (word >> 52 & 255)) << 52)
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn check_doubles<S: Doubles>(simd: S) {
    for_all_operands(S::LANES, &mut |all| {
        let numbers = all.map(|operand| operand.map(|word| double_of(word).to_bits()));
        let [a, b, c] = numbers.map(|operand| simd.double(simd.load(&operand)));
        let of = f64::from_bits;
        let check = |name, result, model: &dyn Fn(f64, f64, f64) -> f64| {
            same(simd, name, simd.bits(result), &numbers, |[a, b, c]| model(of(a), of(b), of(c)).to_bits());
        };
        check("plus", simd.plus(a, b), &|a, b, _| a + b);
        check("minus", simd.minus(a, b), &|a, b, _| a - b);
        check("fma", simd.fma(a, b, c), &f64::mul_add);
        let number = |value: f64| simd.double(simd.splat(value.to_bits()));
        let sums = (simd.load(&all[0]), simd.load(&all[1]));
        let (low, high) = simd.accumulate(sums, a, &b, number(HIGH), number(HIGH + LOW));
        let h = |lane: usize| of(numbers[0][lane]).mul_add(of(numbers[1][lane]), HIGH);
        let l = |lane: usize| of(numbers[0][lane]).mul_add(of(numbers[1][lane]), HIGH + LOW - h(lane));
        let mut lanes = [[0; 8]; 2];
        simd.store(low, &mut lanes[0]);
        simd.store(high, &mut lanes[1]);
        for lane in 0..S::LANES {
            let [low, high] = [lanes[0][lane], lanes[1][lane]];
            assert_eq!(low.wrapping_sub(all[0][lane]), l(lane).to_bits(), "l of lane {lane}: {numbers:x?}");
            assert_eq!(high.wrapping_sub(all[1][lane]), h(lane).to_bits(), "h of lane {lane}: {numbers:x?}");
        }
    });
}

#[test]
fn every_set_does_what_the_model_says() {
    crate::simd::on_every_set!(check_words);
    check_wide(Scalar::plain());
    check_wide(Scalar::detect());
    crate::simd::sets::on_every_madd52!(|simd| check_madd52(simd));
    #[cfg(target_arch = "x86_64")]
    {
        use crate::simd::sets::on;
        on(ed25519_batch::simd::Avx2::detect(), check_doubles);
        on(ed25519_batch::simd::Avx512f::detect(), check_doubles);
    }
    #[cfg(target_arch = "aarch64")]
    crate::simd::sets::on(ed25519_batch::simd::Neon::detect(), check_doubles);
}

/// Returns whether a word is in a range.
fn has(range: &Interval, word: u64) -> bool {
    let from_low = i128::from(word.wrapping_sub(range.ends()[0]));
    range.low + from_low <= range.high && word & range.zeros == 0 && word & range.ones == range.ones
}

/// A range with a word, and ranges of its neighbors.
fn around(word: u64, random: &mut ChaCha20Rng) -> Interval {
    let mut distance =
        || i128::from(random.next_u64() >> (random.next_u32() % 64)) * i128::from(random.next_u32() & 1);
    let word = i128::from(word);
    Interval::new((word - distance()).max(0), (word + distance()).min(u64::MAX.into()))
}

/// The ranges are right: the result of every method is in the range of the results, for all
/// operands in the ranges of the operands.
#[test]
fn ranges_have_what_the_model_gives() {
    let mut random = ChaCha20Rng::from_seed([24; 32]);
    for_all_operands(1, &mut |all| {
        let words = all.map(|operand| operand[0]);
        let ranges = words.map(|word| around(word, &mut random));
        let ([a, b, c], [x, y, z]) = (ranges, words);
        let wrapping = Ranges::<true>(Sums::Wrapping);
        let results = [
            ("add", wrapping.add(a, b)),
            ("sub", wrapping.sub(a, b)),
            ("and", wrapping.and(a, b)),
            ("or", wrapping.or(a, b)),
            ("xor", wrapping.xor(a, b)),
            ("majority", wrapping.majority(a, b, c)),
            ("xor_where_odd", wrapping.xor_where_odd(a, b, u64::MAX >> 1)),
            ("swap_bytes", wrapping.swap_bytes(a)),
            ("madd52lo", wrapping.madd52lo(a, b, c)),
            ("madd52hi", wrapping.madd52hi(a, b, c)),
            ("with_top", wrapping.with_top::<51>(a, 0x866)),
        ];
        for (name, range) in results {
            assert!(
                has(&range, words_of(name, words)),
                "{name} of {ranges:?} lacks that of {words:x?}: {range:?}"
            );
        }
        for bits in [0, 1, 13, 51, 52, 63, 64] {
            let [up, down] = [x.checked_shl(bits), x.checked_shr(bits)].map(|word| word.unwrap_or(0));
            assert!(
                has(&wrapping.shl_by(a, bits), up) && has(&wrapping.shr_by(a, bits), down),
                "{a:?} by {bits}"
            );
        }
        assert!(has(&wrapping.rotr::<41>(a), x.rotate_right(41)));
        // As numbers with a sign.
        let signed = |number: i128| (number - (1 << 62)).min((1 << 63) - 1);
        let word = signed(x.into()) as i64;
        let signed = Interval::new(signed(a.low), signed(a.high));
        let carry = Ranges::<true>(Sums::Checked).carry(signed);
        assert!(has(&carry, (word >> 52).cast_unsigned()), "{signed:?}");
        // Sums of any integers, as in sums of patterns.
        let modular = Ranges::<true>(Sums::Modular);
        let sum = modular.shl::<4>(modular.add(modular.sub(a, b), c));
        assert!(has(&sum, x.wrapping_sub(y).wrapping_add(z) << 4), "{ranges:?}");
        let wide = modular.wide_add(modular.wide_product(a, modular.shr::<1>(b)), modular.widen(c));
        let number = u128::from(x) * u128::from(y >> 1) + u128::from(z);
        assert!((wide.low..=wide.high).contains(&number), "{ranges:?}");
        check_real(words, &mut random);
    });
}

/// The same for doubles, in the ranges of a back end.
fn check_real([x, y, z]: [u64; 3], random: &mut ChaCha20Rng) {
    let modular = Ranges::<true>(Sums::Modular);
    let limbs = [x, y, z].map(|word| i128::from(word.cast_signed() >> 13));
    let [a, b, c] = limbs.map(|limb| {
        let mut distance = || i128::from(random.next_u64() >> (13 + random.next_u32() % 51));
        Real::integers((limb - distance()).max(1 - (1 << 51)), (limb + distance()).min((1 << 51) - 1))
    });
    let [x, y, z] = limbs.map(|limb| limb as f64);
    let among = |range: Real, number: f64| range.ends()[0] <= number && number <= range.ends()[1];
    assert!(among(modular.plus(a, b), x + y) && among(modular.minus(a, b), x - y));
    let (l, h) = a.split(b, Real::constant(HIGH), Real::constant(HIGH + LOW));
    let exact = x.mul_add(y, HIGH);
    assert!(among(h, exact) && among(l, x.mul_add(y, HIGH + LOW - exact)), "{a:?} {b:?}");
    assert!(has(&h.patterns(), exact.to_bits()));
    // Rounded on purpose, as in a carry.
    let high = Real::constant(HIGH);
    let over = modular.minus(modular.plus(c, high), high);
    let rest = modular.minus(c, over);
    let number = (z + HIGH) - HIGH;
    assert!(among(over, number) && among(rest, z - number), "{c:?}: {over:?}, {rest:?}");
    let below = 19.0 * power_of_two(-51);
    assert!(among(modular.fma(over, Real::constant(below), rest), number.mul_add(below, z - number)));
}
