use num_bigint::BigInt;
use rand_core::{Rng as _, SeedableRng as _};

use ed25519_batch::internals::field::Element;
use ed25519_batch::internals::field::invert::*;

use crate::curve::field::bounds::cases;

/// The number of small elements of either sign. Miri is slow.
const SMALL: u64 = if cfg!(miri) { 3 } else { 1000 };

#[test]
fn inverses_times_their_elements_are_one() {
    let mut random = rand_chacha::ChaCha20Rng::from_seed([9; 32]);
    let zero = Element::new(0);
    let mut elements: Vec<Element> = (1..SMALL).map(Element::new).collect();
    elements.extend((1..SMALL).map(|number| zero - Element::new(number)));
    for bit in (0..255).step_by(if cfg!(miri) { 127 } else { 1 }) {
        let mut words = [0; 4];
        words[bit / 64] = 1 << (bit % 64);
        elements.extend([Element(words), zero - Element(words)]);
    }
    for _ in 0..cases() {
        let words = [(); 4].map(|()| random.next_u64());
        elements.push(Element([words[0], words[1], words[2], words[3] >> 1]) - zero);
    }
    for element in elements {
        let inverse = inverse(element);
        assert_eq!(inverse * element, Element::new(1), "{element:x?}");
        assert_eq!(inverse - zero, inverse, "below p");
    }
    assert_eq!(inverse(zero), zero);
}

/// Tests the ends of the ranges, which an inversion almost never reaches.
#[test]
fn the_factors_stay_between_minus_2_p_and_p() {
    let number = |limbs: &Limbs| limbs.iter().rev().fold(BigInt::ZERO, |sum, limb| (sum << STEPS) + limb);
    let p = number(&P);
    let limbs = |number: &BigInt| {
        std::array::from_fn(|at| {
            let low: BigInt = if at < 4 { (number >> (62 * at)) & BigInt::from(LIMB) } else { number >> 248 };
            i64::try_from(low).unwrap()
        })
    };
    let ends = [-2 * &p + 1, -&p - 1, -&p, -&p + 1, (-1).into(), 0.into(), 1.into(), &p - 1];
    let mut random = rand_chacha::ChaCha20Rng::from_seed([10; 32]);
    for _ in 0..cases().div_ceil(ends.len() * ends.len()) {
        // The absolute values of two factors sum to 2^62, the largest possible sum.
        let mut factors = || {
            let one = (random.next_u64() >> 1) as i64 - (1 << 62);
            let other = (1 << 62) - one.abs();
            [one, if random.next_u32() & 1 == 0 { other } else { -other }]
        };
        let ([u, v], [q, r]) = (factors(), factors());
        let matrix = Matrix { u, v, q, r };
        let [u, v, q, r] = [u, v, q, r].map(BigInt::from);
        for (d, e) in ends.iter().flat_map(|d| ends.iter().map(move |e| (d, e))) {
            assert_eq!(number(&limbs(d)), *d);
            let (next_d, next_e) = apply_modulo_p(&matrix, &limbs(d), &limbs(e));
            for (next, sum) in [(next_d, &u * d + &v * e), (next_e, &q * d + &r * e)] {
                let next = number(&next);
                assert!(-2 * &p < next && next < p, "{next} of {d}, {e}");
                assert_eq!(((next << STEPS) - sum) % &p, BigInt::ZERO, "of {d}, {e}");
            }
        }
    }
}
