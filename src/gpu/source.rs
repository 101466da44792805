//! The text of the kernels: the files in `kernel/`, and definitions of the numbers that they use.

use std::fmt::{Display, Write as _};

use super::device::Settings;
use super::ptx;
use crate::wire::{self, BODY_LEN, KEY_LEN, SIGN_POSITION};
use ed25519_batch::sha2_constants::fractions;

/// The start value and the factor of 64-bit FNV-1a.
pub(super) const FNV: [u64; 2] = [0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3];

/// Returns the whole text, for an OpenCL or CUDA compiler. `with_ptx` includes assembly for
/// NVIDIA's GPUs.
pub(super) fn text(settings: &Settings, with_ptx: bool) -> String {
    let mut text = include_str!("kernel/dialect.cl").to_owned();
    let mut define = |name: &str, value: &dyn Display| {
        let _ = writeln!(text, "#define {name} {value}");
    };
    let unsigned = |number: u64| format!("(ulong){number:#x}");
    define("DEPTH", &settings.depth);
    define("WINDOWS", &settings.windows.len());
    define("BODY_LEN", &BODY_LEN);
    define("SIGN_POSITION", &SIGN_POSITION);
    define("FNV_OFFSET", &unsigned(FNV[0]));
    define("FNV_PRIME", &unsigned(FNV[1]));
    for (name, value) in &settings.filter_numbers {
        define(name, &unsigned(*value));
    }
    if with_ptx {
        text += "#define PTX\n";
        text += &ptx::macros();
    }
    let of_each_window = |part: fn(&[u32; 3]) -> u32| settings.windows.iter().map(part);
    array(&mut text, "uint", "WINDOW_START", of_each_window(|window| window[0]));
    array(&mut text, "uint", "INDEX_BITS", of_each_window(|window| window[1]));
    array(&mut text, "uint", "WINDOW_FIRST", of_each_window(|window| window[2]));
    array(&mut text, "ulong", "INITIAL_512", fractions::<8>(2));
    array(&mut text, "ulong", "ROUND_512", fractions::<80>(3));
    array(&mut text, "uint", "BLOB", blob());
    for part in [
        include_str!("kernel/field.cl"),
        include_str!("kernel/scalar.cl"),
        include_str!("kernel/point.cl"),
        include_str!("kernel/filter.cl"),
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
