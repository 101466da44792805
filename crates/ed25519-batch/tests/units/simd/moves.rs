//! Tests of every instruction set against one lane of ordinary words: what moves words, and halves of
//! words. The operations of whole words are compared with their model (`model::instructions`).

use super::on_every_set;
use super::sets::on;
use ed25519_batch::simd::*;
use rand_core::{Rng as _, SeedableRng as _};

/// The number of random operands of each operation.
const TRIES: usize = if cfg!(miri) { 10 } else { 1000 };

/// Returns the words of a vector.
fn words<S: Words>(simd: S, a: S::Word) -> Vec<u64> {
    let mut words = vec![0; S::LANES];
    simd.store(a, &mut words);
    words
}

fn check_u32<S: Halves>(simd: S) {
    let mut random = rand_chacha::ChaCha20Rng::from_seed([5; 32]);
    let halves = |a| {
        let mut halves = [0; 16];
        simd.store_all_u32(a, &mut halves);
        halves[..2 * S::LANES].to_vec()
    };
    for _ in 0..TRIES {
        let [left, right]: [[u32; 16]; 2] = [(); 2].map(|()| [(); 16].map(|()| random.next_u32()));
        let (a, b) = (simd.load_all_u32(&left), simd.load_all_u32(&right));
        let each = |one: &dyn Fn(u32, u32) -> u32| -> Vec<u32> {
            left.iter().zip(right).take(2 * S::LANES).map(|(a, b)| one(*a, b)).collect()
        };
        assert_eq!(halves(a), each(&|a, _| a));
        let pairs = left.as_chunks().0.iter().take(S::LANES);
        let expected: Vec<u64> = pairs.map(|[low, high]| u64::from(*low) | u64::from(*high) << 32).collect();
        assert_eq!(words(simd, a), expected);
        assert_eq!(halves(simd.splat_u32(left[0])), vec![left[0]; 2 * S::LANES]);
        assert_eq!(halves(simd.add_u32(a, b)), each(&|a, b| a.wrapping_add(b)));
        assert_eq!(halves(simd.sub_u32(a, b)), each(&|a, b| a.wrapping_sub(b)));
        assert_eq!(halves(simd.rotl_u32::<1>(a)), each(&|a, _| a.rotate_left(1)));
        assert_eq!(halves(simd.rotl_u32::<31>(a)), each(&|a, _| a.rotate_left(31)));
        assert_eq!(halves(simd.shr_u32::<0>(a)), each(&|a, _| a));
        assert_eq!(halves(simd.shr_u32::<31>(a)), each(&|a, _| a >> 31));
    }
}

fn check_bytes64<S: Bytes64>(simd: S) {
    let mut random = rand_chacha::ChaCha20Rng::from_seed([6; 32]);
    let bytes = |a| {
        let mut bytes = [0; 64];
        simd.store_bytes(a, &mut bytes);
        bytes
    };
    let words =
        |a| -> Vec<u32> { bytes(a).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect() };
    let halves = |a| -> Vec<u16> {
        words(a).into_iter().flat_map(|word| [word as u16, (word >> 16) as u16]).collect()
    };
    let mut bitmap = [0u32; 1 << 12];
    let mut texts = Vec::new();
    for number in 0..2 * TRIES {
        let mut held = [0; 32];
        random.fill_bytes(&mut held);
        let mut table = [0; 64];
        random.fill_bytes(&mut table);
        table = table.map(|byte| byte % 192);
        bitmap.fill_with(|| random.next_u32());
        for lead in [0, 2, 5, 8] {
            let a = simd.sextets(&held, lead);
            let bit = |at: usize| {
                at.checked_sub(lead as usize)
                    .is_some_and(|at| held.get(at / 8).is_some_and(|byte| byte << (at % 8) & 0x80 != 0))
            };
            let sextet = |at: usize| (0..6).fold(0, |sextet, of| sextet << 1 | u8::from(bit(6 * at + of)));
            let sextets: Vec<u8> = (0..44).chain(36..44).map(sextet).collect();
            assert_eq!(bytes(a)[..52], sextets, "round {number}, lead {lead}");

            let other = [(); 16].map(|()| random.next_u32());
            let all: Vec<u32> = words(a).into_iter().zip(other).map(|(a, b)| a | b).collect();
            let other_bytes: Vec<u8> = other.iter().flat_map(|word| word.to_le_bytes()).collect();
            let other_vector = simd.load_bytes(other_bytes.first_chunk().unwrap());
            assert_eq!(words(simd.or_bytes(a, other_vector)), all);
            let sextets = bytes(a);
            let seen: Vec<u8> = sextets.iter().map(|sextet| table[usize::from(*sextet)]).collect();
            let a = simd.look_up(&table, a);
            assert_eq!(bytes(a)[..], seen);

            // Masks of few bits, so that both answers occur.
            let mask = other.map(|word| if random.next_u32() % 8 == 0 { 1 << (word % 32) } else { 0 });
            let meets = words(a).iter().zip(mask).any(|(a, mask)| a & mask != 0);
            assert_eq!(simd.meets(a, &mask), meets);

            let high = seen.as_chunks::<4>().0.iter().map(|four| four.iter().any(|byte| *byte >= 128));
            let high = high.rev().fold(0, |bits, is| bits << 1 | u16::from(is));
            assert_eq!(simd.high_bits(a), high);

            let weight = 1 + (random.next_u32() % 127) as u8;
            let pairs = simd.weigh_bytes(a, weight);
            let expected: Vec<u16> = seen
                .as_chunks()
                .0
                .iter()
                .map(|[first, second]| u16::from(*first) * u16::from(weight) + u16::from(*second))
                .collect();
            assert_eq!(halves(pairs), expected);
            assert_eq!(halves(simd.next_u16(pairs))[..31], expected[1..]);
            let weight = (random.next_u32() % (1 << 15)) as u16;
            let fours = simd.weigh_u16(pairs, weight);
            let sum = |[low, high]: &[u16; 2]| u32::from(*low) * u32::from(weight) + u32::from(*high);
            let expected: Vec<u32> = expected.as_chunks().0.iter().map(sum).collect();
            assert_eq!(words(fours), expected);
            let mut all = [0u16; 2];
            for (at, number) in expected.iter().enumerate() {
                let pair = bitmap[(number / 16) as usize % (1 << 12)] >> (2 * (number % 16));
                all[0] |= ((pair & 1) as u16) << at;
                all[1] |= ((pair >> 1 & 1) as u16) << at;
            }
            let mask = random.next_u32() as u16;
            assert_eq!(simd.bit_pairs(&bitmap, fours, mask), all.map(|bits| bits & mask));
            let masks = [mask, random.next_u32() as u16];
            texts.push(([fours, pairs], masks));
        }
    }
    // Some texts have no word to look up, and some have all.
    for (text, mask) in [(3, 0), (33, 0), (34, u16::MAX)] {
        texts[text].1 = [mask; 2];
    }
    let one_by_one: Vec<[u32; 2]> = texts
        .iter()
        .map(|([a, b], masks)| {
            let (a, b) = (simd.bit_pairs(&bitmap, *a, masks[0]), simd.bit_pairs(&bitmap, *b, masks[1]));
            [0, 1].map(|bit| u32::from(a[bit]) | u32::from(b[bit]) << 16)
        })
        .collect();
    for count in [0, 1, 31, 32, 33, texts.len()] {
        let mut found = vec![[u32::MAX; 2]; count];
        simd.bit_pairs_of_each(&bitmap, |text| texts[text], &mut found);
        assert_eq!(found, one_by_one[..count]);
    }
}

fn check_transpose<S: Words>(simd: S) {
    let rows: [CacheLine; 8] =
        std::array::from_fn(|row| CacheLine(std::array::from_fn(|at| (10 * row + at) as u64)));
    let columns = simd.transpose(|lane| &rows[7 - lane]);
    for (at, column) in columns.into_iter().enumerate() {
        let expected: Vec<u64> = (0..S::LANES).map(|lane| (10 * (7 - lane) + at) as u64).collect();
        assert_eq!(words(simd, column), expected);
    }
    // The lowest six bits of an offset do not count.
    let offsets: [u32; 8] = std::array::from_fn(|lane| 64 * (7 - lane as u32) + 9 * lane as u32);
    for (a, b) in simd.transpose_at(&rows, &offsets).into_iter().zip(columns) {
        assert_eq!(words(simd, a), words(simd, b));
    }
    let rows: [[u8; 32]; 8] = std::array::from_fn(|row| std::array::from_fn(|at| (32 * row + at) as u8));
    let columns = simd.transpose_bytes(|lane| &rows[7 - lane]);
    for (at, column) in columns.into_iter().enumerate() {
        let word = |lane: usize| u64::from_le_bytes(*rows[7 - lane][8 * at..].first_chunk().unwrap());
        assert_eq!(words(simd, column), (0..S::LANES).map(word).collect::<Vec<_>>());
    }
    let mut stored = [[0; 32]; 8];
    simd.store_rows(columns, &mut stored);
    assert!(stored[..S::LANES].iter().eq(rows.iter().rev().take(S::LANES)), "{stored:x?}");
    assert_eq!(stored[S::LANES..], [[0; 32]; 8][S::LANES..]);
}

#[test]
fn every_set_moves_words_like_one_lane() {
    on_every_set!(check_u32);
    on_every_set!(check_transpose);
    check_bytes64(Scalar::detect());
    #[cfg(target_arch = "x86_64")]
    {
        on(Avx2::detect(), check_bytes64);
        on(Avx512f::detect(), check_bytes64);
    }
    #[cfg(target_arch = "aarch64")]
    on(Neon::detect(), check_bytes64);
}

/// A set that extends another one has its methods, not the slower ones that [`Words`] provides.
#[cfg(target_arch = "aarch64")]
#[test]
fn a_set_that_extends_neon_has_its_instructions_for_sha512() {
    on(Neon::detect(), |neon| {
        let extended = super::sets::Emulated::<_, true>(neon);
        assert_eq!(extended.sha512().is_some(), neon.sha512().is_some());
    });
}

/// Checks that every load and store refuses a slice that is shorter than the vector. The slices are
/// parts of longer arrays, so an access without a check does no harm and fails the test.
fn check_lengths<S: Halves>(simd: S, expected: &str) {
    let (words, halves, vector) = ([0; 32], [0; 32], simd.splat(0));
    let ignore = |vector: S::Word| {
        std::hint::black_box(vector);
    };
    // The name of an access, the least length, and a closure that does it with a length.
    type Access<'a> = (&'a str, usize, &'a dyn Fn(usize));
    let accesses: [Access; 7] = [
        ("load", S::LANES, &|len| ignore(simd.load(&words[..len]))),
        ("load_u32", S::LANES, &|len| ignore(simd.load_u32(&halves[..len]))),
        ("load_all_u32", 2 * S::LANES, &|len| ignore(simd.load_all_u32(&halves[..len]))),
        ("store", S::LANES, &|len| simd.store(vector, &mut [0; 32][..len])),
        ("store_u32", S::LANES, &|len| simd.store_u32(vector, &mut [0; 32][..len])),
        ("store_rows", S::LANES, &|len| simd.store_rows([vector; 4], &mut [[0; 32]; 8][..len])),
        ("store_all_u32", 2 * S::LANES, &|len| simd.store_all_u32(vector, &mut [0; 32][..len])),
    ];
    for (name, needed, access) in accesses {
        access(needed);
        for len in 0..needed {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| access(len)));
            let Err(payload) = outcome else {
                panic!("{name} of {} lanes takes a slice of {len}", S::LANES);
            };
            let message = payload.downcast_ref::<&str>().map(|message| (*message).to_owned());
            let message = message.or_else(|| payload.downcast_ref().cloned()).unwrap_or_default();
            assert!(
                message.starts_with(expected),
                "{name} of {} lanes and a slice of {len}: {message}",
                S::LANES
            );
        }
    }
}

/// Checks that no lane reads a row that does not exist. The rows are parts of a longer array, so an
/// access without a check does no harm and fails the test.
fn check_offsets<S: Words>(simd: S, expected: &str) {
    let rows = [CacheLine([1; 8]); 16];
    let outcome = |offsets: &[u32], count: usize| {
        let read = || {
            std::hint::black_box(simd.transpose_at(&rows[..count], offsets));
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).map_err(|payload| {
            payload.downcast_ref::<&str>().map_or_else(
                || payload.downcast_ref::<String>().cloned().unwrap_or_default(),
                |message| (*message).to_owned(),
            )
        })
    };
    for lane in 0..S::LANES {
        let mut offsets = [7 * 64 + 63; 8];
        assert_eq!(outcome(&offsets, 8), Ok(()));
        for beyond in [8 * 64, 8 * 64 + 1, 15 * 64, u32::MAX] {
            offsets[lane] = beyond;
            let message = outcome(&offsets, 8).unwrap_err();
            assert!(message.starts_with(expected), "lane {lane}, offset {beyond}: {message}");
        }
    }
    assert!(outcome(&[0; 8], 0).is_err());
    for len in 0..S::LANES {
        assert!(outcome(&[0; 8][..len], 8).is_err(), "{len} offsets");
    }
}

#[test]
fn a_row_that_does_not_exist_is_refused() {
    check_offsets(Scalar::plain(), "index out of bounds");
    check_offsets(Scalar::detect(), "index out of bounds");
    #[cfg(target_arch = "x86_64")]
    {
        let expected = "an offset beyond the rows";
        on(Avx2::detect(), |simd| check_offsets(simd, expected));
        on(Avx512f::detect(), |simd| check_offsets(simd, expected));
        on(AvxIfma::detect(), |simd| check_offsets(simd, expected));
        on(Avx512ifma::detect(), |simd| check_offsets(simd, expected));
    }
    #[cfg(target_arch = "aarch64")]
    on(Neon::detect(), |simd| check_offsets(simd, "index out of bounds"));
}

#[test]
fn a_short_slice_is_refused_by_loads_and_stores() {
    check_lengths(Scalar::plain(), "index out of bounds");
    check_lengths(Scalar::detect(), "index out of bounds");
    #[cfg(target_arch = "x86_64")]
    {
        let expected = "a vector from or to a slice that is shorter";
        on(Avx2::detect(), |simd| check_lengths(simd, expected));
        on(Avx512f::detect(), |simd| check_lengths(simd, expected));
        on(AvxIfma::detect(), |simd| check_lengths(simd, expected));
        on(Avx512ifma::detect(), |simd| check_lengths(simd, expected));
    }
    #[cfg(target_arch = "aarch64")]
    on(Neon::detect(), |simd| check_lengths(simd, "a vector from or to a slice that is shorter"));
}
