//! Gives two scalar multiplications of curve25519-dalek names that can be found in a disassembly.
//!
//! `cargo run --manifest-path benches/no-vector-field/Cargo.toml <seed in hex>` computes the public
//! key of the seed with both, and prints it. `check.sh` counts the instructions that each of them
//! reaches.

use std::hint::black_box;
use std::process::ExitCode;

use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::edwards::EdwardsPoint;
use sha2::{Digest as _, Sha512};

/// Multiplies the base point, as key generation does.
#[inline(never)]
fn fixed_base_of_key_generation(scalar: [u8; 32]) -> EdwardsPoint {
    EdwardsPoint::mul_base_clamped(scalar)
}

/// Multiplies any point. dalek has a vector back end for this.
#[inline(never)]
fn variable_base_for_control(point: EdwardsPoint, scalar: [u8; 32]) -> EdwardsPoint {
    point.mul_clamped(scalar)
}

fn main() -> ExitCode {
    let Some(seed) = std::env::args().nth(1).and_then(|hex| from_hex(&hex)) else {
        eprintln!("usage: mul_base <seed: 64 hex digits>");
        return ExitCode::from(2);
    };
    let hash: [u8; 64] = Sha512::digest(seed).into();
    let mut scalar = [0; 32];
    scalar.copy_from_slice(&hash[..32]);

    let fixed = fixed_base_of_key_generation(black_box(scalar)).compress();
    let variable = variable_base_for_control(black_box(ED25519_BASEPOINT_POINT), scalar).compress();
    for byte in fixed.as_bytes() {
        print!("{byte:02x}");
    }
    println!();
    if fixed == variable { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn from_hex(hex: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}
