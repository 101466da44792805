//! Derives public keys from seeds that Valgrind's memcheck treats as undefined.
//!
//! memcheck follows undefined bits through all computations, and reports every branch and every
//! address that depends on one. So a derivation without a report, as compiled here, does not leak
//! its seed through its time or through the addresses that it reads. The idea is that of ctgrind
//! (Adam Langley, 2010). `tests/all/constant_time.rs` runs this for each derivation, and for two
//! that leak.

#![allow(unsafe_code, reason = "requests of Valgrind are instructions without effect elsewhere")]

use std::hint::black_box;
use std::process::ExitCode;

use vanity_search::engine;
use vanity_search::key::{PublicKey, Seed};

/// The codes of Valgrind's requests (`valgrind.h`, `memcheck.h`).
const RUNNING_ON_VALGRIND: usize = 0x1001;
const MAKE_MEM_UNDEFINED: usize = 0x4d43_0001;
const MAKE_MEM_DEFINED: usize = 0x4d43_0002;
const GET_VBITS: usize = 0x4d43_0008;

/// Makes a request of Valgrind. Returns 0 without Valgrind.
#[cfg(target_arch = "x86_64")]
fn request(code: usize, args: [usize; 3]) -> usize {
    let words = [code, args[0], args[1], args[2], 0, 0];
    let mut answer = 0;
    // SAFETY: the rotations add up to two full turns, and the exchange is that of a register with
    // itself. Valgrind reads `words` and the memory that they point to. It writes only memory that
    // the caller has borrowed.
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

/// Makes the request `how` about `bytes`.
fn mark(bytes: &mut [u8; 32], how: usize) {
    request(how, [bytes.as_mut_ptr() as usize, bytes.len(), 0]);
    black_box(bytes);
}

/// Whether memcheck treats every bit as defined.
fn is_defined(bytes: &[u8; 32]) -> bool {
    let mut undefined = [0u8; 32];
    let read = request(GET_VBITS, [bytes.as_ptr() as usize, undefined.as_mut_ptr() as usize, 32]);
    assert_eq!(read, 1, "memcheck does not answer");
    *black_box(&mut undefined) == [0; 32]
}

/// Branches on a bit of the seed, which leaks it.
fn branching(seed: &[u8; 32]) -> PublicKey {
    let mut key = PublicKey(*seed);
    if black_box(seed)[7] & 4 == 0 {
        black_box(&mut key).0[0] ^= 1;
    }
    key
}

/// Reads a table at an index from the seed, which leaks it.
fn indexing(seed: &[u8; 32]) -> PublicKey {
    let table: [u8; 256] = std::array::from_fn(|at| at as u8);
    let mut key = PublicKey(*seed);
    key.0[0] = black_box(&table)[usize::from(black_box(seed)[0])];
    key
}

fn main() -> ExitCode {
    if request(RUNNING_ON_VALGRIND, [0; 3]) == 0 {
        eprintln!("run this program under Valgrind");
        return ExitCode::from(2);
    }
    let name = std::env::args().nth(1).unwrap_or_default();
    let derive: fn(&[u8; 32]) -> PublicKey = match name.as_str() {
        "reference" => engine::derive_by_reference,
        "proof" => |seed| Seed::new(*seed).public_key(),
        "branching" => branching,
        "indexing" => indexing,
        _ => {
            eprintln!("unknown derivation '{name}'");
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
        // The key was computed from the seed, and it is public from here on.
        assert!(!is_defined(&key.0));
        mark(&mut key.0, MAKE_MEM_DEFINED);
        assert_eq!(key, expected);
        count += 1;
    }
    println!("{count} keys by {name}");
    ExitCode::SUCCESS
}
