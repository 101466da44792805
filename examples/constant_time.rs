//! Derives public keys from seeds that Valgrind's memcheck takes for undefined.
//!
//! memcheck follows undefined bits through all that is computed from them, and reports every branch and every address that depends
//! on one. So a derivation that is not reported does not show its seed by its time or by the memory that it reads, as compiled here.
//! (Adam Langley, ctgrind, 2010, had the idea.) `tests/all/constant_time.rs` runs this for each derivation, and for two that leak.

#![allow(unsafe_code, reason = "Valgrind is told by instructions that mean nothing elsewhere")]

use std::hint::black_box;
use std::process::ExitCode;

use vanity_ed25519::engine;
use vanity_ed25519::key::{PublicKey, Seed};

/// Requests of Valgrind (`valgrind.h`, `memcheck.h`).
const RUNNING_ON_VALGRIND: usize = 0x1001;
const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
const MAKE_MEM_DEFINED: usize = 0x4d43_0002;
const GET_VBITS: usize = 0x4d43_0008;

/// Makes a request. 0 where nobody listens.
#[cfg(target_arch = "x86_64")]
fn request(code: usize, args: [usize; 3]) -> usize {
    let words = [code, args[0], args[1], args[2], 0, 0];
    let mut answer = 0;
    // SAFETY: the rotations add up to two whole turns, and the exchange is one of a register with itself. Valgrind reads `words` and
    // what they point to, and writes as much as the caller has borrowed.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: usize, _: [usize; 3]) -> usize {
    0
}

fn mark(bytes: &mut [u8; 32], how: usize) {
    request(how, [bytes.as_mut_ptr() as usize, bytes.len(), 0]);
    black_box(bytes);
}

/// Whether memcheck takes every bit for defined.
fn is_defined(bytes: &[u8; 32]) -> bool {
    let mut undefined = [0u8; 32];
    let read = request(GET_VBITS, [bytes.as_ptr() as usize, undefined.as_mut_ptr() as usize, 32]);
    assert_eq!(read, 1, "memcheck does not tell");
    *black_box(&mut undefined) == [0; 32]
}

/// Branches on a bit of the seed.
fn branching(seed: &[u8; 32]) -> PublicKey {
    let mut key = PublicKey(*seed);
    if black_box(seed)[7] & 4 == 0 {
        black_box(&mut key).0[0] ^= 1;
    }
    key
}

/// Reads where a byte of the seed says.
fn indexing(seed: &[u8; 32]) -> PublicKey {
    let table: [u8; 256] = std::array::from_fn(|at| at as u8);
    let mut key = PublicKey(*seed);
    key.0[0] = black_box(&table)[usize::from(black_box(seed)[0])];
    key
}

fn main() -> ExitCode {
    if request(RUNNING_ON_VALGRIND, [0; 3]) == 0 {
        eprintln!("this is of use under Valgrind alone");
        return ExitCode::from(2);
    }
    let name = std::env::args().nth(1).unwrap_or_default();
    let derive: fn(&[u8; 32]) -> PublicKey = match name.as_str() {
        "reference" => engine::derive_by_reference,
        "proof" => |seed| Seed::new(*seed).public_key(),
        "branching" => branching,
        "indexing" => indexing,
        _ => {
            eprintln!("there is no derivation '{name}'");
            return ExitCode::from(2);
        }
    };
    let mut count = 0;
    for number in 0..8u8 {
        let mut seed: [u8; 32] =
            std::array::from_fn(|at| (at as u8).wrapping_mul(37) ^ number.wrapping_mul(101));
        let expected = derive(&seed);
        mark(&mut seed, MAKE_MEM_UNDEFINED);
        let mut key = black_box(derive(black_box(&seed)));
        // It was computed from the seed, and from now on anybody may know it.
        assert!(!is_defined(&key.0));
        mark(&mut key.0, MAKE_MEM_DEFINED);
        assert_eq!(key, expected);
        count += 1;
    }
    println!("{count} keys by {name}");
    ExitCode::SUCCESS
}
