//! The text of the kernels: the files in `kernel/`, and definitions of the numbers that they use.

use std::fmt::{Display, Write as _};

use super::device::{GROUP, GROUPS};
use super::ptx;
use crate::pattern::DeviceFilter;
use crate::wire::{self, BODY_LEN, KEY_LEN, SIGN_POSITION};
use ed25519_batch::sha2_constants::{SHA512_INITIAL, SHA512_ROUND};

/// The number of bits that the windows share: the 251 free bits of a scalar, and one more, because
/// the first window has one bit less than its width.
pub(super) const SHARES: usize = 252;

/// The kernel keeps the sieve of a filter where the scalars of two keys of each work item were.
const _: () = assert!(DeviceFilter::SIEVE_WORDS <= 2 * 8 * GROUP);

/// The base point and d (RFC 8032, section 5.1), and 1/2 modulo p, in hexadecimal digits.
const CONSTANTS: [(&str, &str); 4] = [
    ("BASE_X", "216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a"),
    ("BASE_Y", "6666666666666666666666666666666666666666666666666666666666666658"),
    ("EDWARDS_D", "52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3"),
    ("HALF", "3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7"),
];

/// Returns the words of 64 hexadecimal digits, the lowest first.
fn words(digits: &str) -> [u32; 8] {
    let word = |at: usize| u32::from_str_radix(&digits[64 - 8 * at - 8..][..8], 16);
    std::array::from_fn(|at| word(at).unwrap_or_else(|_| unreachable!("only digits")))
}

/// Returns the whole text, for an OpenCL or CUDA compiler. `depth` keys share an inversion. `with_ptx` includes assembly for
/// NVIDIA's GPUs.
pub(super) fn text(depth: u32, with_ptx: bool) -> String {
    let mut text = include_str!("kernel/dialect.cl").to_owned();
    let mut define = |name: &str, value: &dyn Display| {
        let _ = writeln!(text, "#define {name} {value}");
    };
    let unsigned = |number: u64| format!("(ulong){number:#x}");
    define("DEPTH", &depth);
    define("GROUP", &GROUP);
    define("GROUPS", &GROUPS);
    define("SHARES", &SHARES);
    define("BODY_LEN", &BODY_LEN);
    define("SIGN_POSITION", &SIGN_POSITION);
    for (name, value) in DeviceFilter::NUMBERS {
        define(name, &unsigned(value));
    }
    if with_ptx {
        text += "#define PTX\n";
        text += &ptx::macros();
    }
    array(&mut text, "ulong", "INITIAL_512", SHA512_INITIAL);
    array(&mut text, "ulong", "ROUND_512", SHA512_ROUND);
    array(&mut text, "uint", "BLOB", blob());
    for (name, digits) in CONSTANTS {
        array(&mut text, "uint", name, words(digits));
    }
    for part in [
        include_str!("kernel/field.cl"),
        include_str!("kernel/scalar.cl"),
        include_str!("kernel/filter.cl"),
        include_str!("kernel/point.cl"),
        include_str!("kernel/table.cl"),
    ] {
        text += part;
    }
    text
}

/// Appends the definition of a constant array.
fn array(
    text: &mut String,
    element: &str,
    name: &str,
    numbers: impl IntoIterator<Item = impl std::fmt::LowerHex>,
) {
    let numbers: Vec<String> = numbers.into_iter().map(|number| format!("{number:#x}")).collect();
    let _ = writeln!(text, "CONSTANT {element} {name}[{}] = {{{}}};", numbers.len(), numbers.join(", "));
}

/// Returns the block of SHA-256 for the blob of a key of zeros, with its padding, as big-endian
/// words.
fn blob() -> [u32; 16] {
    let blob = wire::blob(&[0; KEY_LEN]);
    let mut block = [0; 64];
    block[..blob.len()].copy_from_slice(&blob);
    block[blob.len()] = 0x80;
    block[56..].copy_from_slice(&(8 * blob.len() as u64).to_be_bytes());
    std::array::from_fn(|at| u32::from_be_bytes([0, 1, 2, 3].map(|byte| block[4 * at + byte])))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn the_constants_are_those_of_the_curve() {
        let p: BigUint = (BigUint::from(1u32) << 255) - 19u32;
        let [x, y, d, half] = CONSTANTS.map(|(_, digits)| BigUint::new(words(digits).to_vec()));
        assert!([&x, &y, &d, &half].iter().all(|number| **number < p));
        assert_eq!(&y * 5u32 % &p, BigUint::from(4u32));
        assert_eq!(&d * 121_666u32 % &p, &p - 121_665u32);
        assert_eq!(&half * 2u32 % &p, BigUint::from(1u32));
        assert_eq!((&y * &y + (&p - &x) * &x) % &p, (&d * &x * &x * &y * &y + 1u32) % &p);
        assert!(!x.bit(0), "the base point has the even x");
    }
}
