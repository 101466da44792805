//! Tests of public keys against curve25519-dalek.

use std::sync::Arc;

use curve25519_dalek::EdwardsPoint;
use rand_core::{Rng as _, SeedableRng as _};

use ed25519_batch::internals::{Batch, Field, Portable, Table};
use ed25519_batch::simd::{Scalar, Words};

/// Runs `$check` with every back end that the processor supports, and with those that are emulated.
/// Names the others.
macro_rules! on_every_back_end {
    (|$field:ident| $check:expr) => {{
        use ed25519_batch::internals::Portable;
        use ed25519_batch::simd::Scalar;
        for $field in [Portable(Scalar::plain()), Portable(Scalar::detect())] {
            $check;
        }
        #[cfg(target_arch = "x86_64")]
        {
            use ed25519_batch::internals::Fma;
            use ed25519_batch::simd::{Avx2, Avx512f};
            use $crate::simd::sets::on;
            on(Avx2::detect().map(Fma), |$field| $check);
            on(Avx512f::detect().map(Fma), |$field| $check);
        }
        #[cfg(target_arch = "aarch64")]
        {
            use ed25519_batch::internals::Fma;
            use ed25519_batch::simd::Neon;
            use $crate::simd::sets::on;
            on(Neon::detect().map(Fma), |$field| $check);
        }
        $crate::simd::sets::on_every_madd52!(|simd| {
            let $field = ed25519_batch::internals::Ifma(simd);
            $check
        });
    }};
}
pub(crate) use on_every_back_end;

/// Returns dalek's public key, without the sign of x.
fn expected(scalar: &[u8; 32]) -> [u8; 32] {
    let mut key = EdwardsPoint::mul_base_clamped(*scalar).compress().to_bytes();
    key[31] &= 0x7f;
    key
}

/// Returns random scalars, many with long runs of 0 or 1.
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

/// Returns the keys of `scalars`. A copy of the vector's first scalar fills the unused lanes of the
/// last vector.
fn keys<F: Field>(field: F, table: &Arc<Table>, scalars: &[[u8; 32]]) -> Vec<[u8; 32]> {
    let simd = field.simd();
    let lanes = <F::Simd as Words>::LANES;
    let mut batch = Batch::new(field, Arc::clone(table), scalars.len());
    for (vector, scalars) in scalars.chunks(lanes).enumerate() {
        simd.run(|| {
            batch.set(vector, &simd.transpose_bytes(|lane| scalars.get(lane).unwrap_or(&scalars[0])));
        });
    }
    let mut keys = vec![[0; 32]; scalars.len().next_multiple_of(lanes)];
    batch.public_keys(&mut keys);
    keys.truncate(scalars.len());
    keys
}

fn check<F: Field>(field: F, table: &Arc<Table>, scalars: &[[u8; 32]]) {
    for (scalar, key) in scalars.iter().zip(keys(field, table, scalars)) {
        assert_eq!(key, expected(scalar), "{} windows, scalar {scalar:02x?}", table.windows());
    }
}

fn check_all<F: Field>(field: F) {
    let all = scalars(200);
    for windows in [126, 63, 50, 42, 36, 28, 25, 21, 19] {
        check(field, &Arc::new(Table::new(field, windows)), &all);
    }
    let table = Arc::new(Table::new(field, 28));
    for scalars in (1..=2 * <F::Simd as Words>::LANES + 1).map(scalars) {
        check(field, &table, &scalars);
    }
    check(field, &table, &scalars(5000));
    // Every back end builds the same table.
    let other = Table::new(Portable(Scalar::plain()), 28);
    for window in 0..28 {
        for (a, b) in table.window(window).iter().zip(other.window(window)) {
            assert_eq!(a.0, b.0);
        }
    }
}

#[test]
fn every_back_end_gives_dalek_s_keys() {
    on_every_back_end!(|field| check_all(field));
}

#[test]
fn a_table_has_the_predicted_size() {
    for (windows, bytes) in [(63, 63 * 8 * 64), (28, 28 * 256 * 64), (21, 21 * 2048 * 64)] {
        assert_eq!(Table::bytes(windows), bytes);
        let table = Table::new(Portable(Scalar::plain()), windows);
        assert_eq!((0..windows).map(|at| size_of_val(table.window(at))).sum::<usize>(), bytes);
    }
    // The largest table: 12 windows of 21 bits.
    assert_eq!(Table::bytes(12), 12 << 26);
}
