//! The room's own tests: whole scalars against curve25519-dalek.

use curve25519_dalek::EdwardsPoint;
use rand_core::{Rng as _, SeedableRng as _};

use super::*;

/// What dalek says, without the sign of x.
fn expected(scalar: &[u8; 32]) -> [u8; 32] {
    let mut key = EdwardsPoint::mul_base_clamped(*scalar).compress().to_bytes();
    key[31] &= 0x7f;
    key
}

/// Random scalars among such with long runs of 0 and 1.
fn scalars(count: usize) -> Vec<[u8; 32]> {
    let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
    let mut scalar = || {
        let mut bytes = [0; 32];
        match rng.next_u32() % 4 {
            0 => bytes = [0xff; 32],
            1 => {}
            _ => rng.fill_bytes(&mut bytes),
        }
        for _ in 0..rng.next_u32() % 3 {
            let (from, to) = (rng.next_u32() as usize % 256, rng.next_u32() as usize % 256);
            let ones = rng.next_u32() % 2 == 1;
            for bit in from.min(to)..from.max(to) {
                let mask = 1 << (bit % 8);
                bytes[bit / 8] = if ones { bytes[bit / 8] | mask } else { bytes[bit / 8] & !mask };
            }
        }
        bytes
    };
    (0..count).map(|_| scalar()).collect()
}

fn check<F: Field>(field: F, table: &Table, scalars: &[[u8; 32]]) {
    let mut keys = vec![[0; 32]; scalars.len()];
    Batch::new(field, table, scalars.len()).public_keys(scalars, &mut keys).unwrap();
    for (scalar, key) in scalars.iter().zip(&keys) {
        assert_eq!(*key, expected(scalar), "{} windows, scalar {scalar:02x?}", table.windows());
    }
}

#[test]
fn every_width_of_window_gives_dalek_s_keys() {
    let scalars = scalars(200);
    for windows in [126, 63, 50, 42, 36, 28, 25, 21, 19] {
        check(Portable, &Table::new(windows), &scalars);
    }
}

#[test]
fn every_size_of_batch_gives_dalek_s_keys() {
    let table = Table::new(28);
    for vectors in 1..=5 {
        check(Portable, &table, &scalars(vectors * Portable::LANES));
    }
    check(Portable, &table, &scalars(5000));
}

#[test]
fn a_zero_product_is_noticed() {
    let mut table = Table::new(63);
    table.spoil(5);
    let mut scalar = [0; 32];
    scalar[0] = 5 << 3;
    let scalars = [[9; 32], scalar, [9; 32], [9; 32]];
    let mut keys = [[0; 32]; 4];
    assert_eq!(Batch::new(Portable, &table, 4).public_keys(&scalars, &mut keys), Err(ZeroProduct));
}

#[test]
fn tables_have_the_size_that_is_told_beforehand() {
    for (windows, bytes) in [(63, 63 * 8 * 64), (28, 28 * 256 * 64), (21, 21 * 2048 * 64)] {
        assert_eq!(Table::bytes(windows), bytes);
        let table = Table::new(windows);
        assert_eq!((0..windows).map(|at| size_of_val(table.window(at))).sum::<usize>(), bytes);
    }
    // The largest that is of use: 12 windows of 21 bits.
    assert_eq!(Table::bytes(12), 12 << 26);
}
