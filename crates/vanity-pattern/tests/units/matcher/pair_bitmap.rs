use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use vanity_pattern::internals::Literal;
use vanity_pattern::internals::needle::Needle;
use vanity_pattern::internals::pair_bitmap::{ROWS, Row, WINDOWS, parts};
use vanity_pattern::wire::{KEY_LEN, Symbols, Target};
use vanity_pattern::{Kind, MatchOptions};

/// Compares the share by which rows are chosen with a count.
#[test]
fn the_share_that_passes_a_row_is_known() {
    let mut keys = vec![[0; KEY_LEN]; 200_000];
    ChaCha8Rng::from_seed([4; 32]).fill_bytes(keys.as_flattened_mut());
    // In some rows all windows are tested, and in others a few.
    for kind in [Kind::Anywhere, Kind::Prefix] {
        let literal = Literal::new("kettl", MatchOptions { kind, ..MatchOptions::default() }).unwrap();
        let rows: Vec<Row> =
            (0..ROWS).filter_map(|first| Row::new(Target::Key, first, &[Needle::of(&literal)])).collect();
        for row in &rows {
            let passing = keys.iter().filter(|key| row.passes(key)).count() as f64;
            let expected = row.candidate_share() * keys.len() as f64;
            assert!((passing - expected).abs() < 5.0 * expected.sqrt(), "{passing} instead of {expected}");
        }
        assert_eq!(rows.len(), ROWS);
    }
}

/// Compares the parts of every window with the bytes of a body.
#[test]
fn the_parts_of_a_window_are_its_bytes() {
    for target in [Target::Key, Target::Fingerprint] {
        for byte in 0..ROWS + 3 * (WINDOWS - 1) {
            let mut bytes = [0; KEY_LEN];
            for pattern in [0x0000, 0x1234, 0xa5c3, 0xffff, 0x8001] {
                bytes[byte..byte + 2].copy_from_slice(&u16::to_be_bytes(pattern));
                let body = target.body(&bytes);
                let shown = parts(target, byte, |position| Symbols::of(body[position]));
                let joined: Vec<u16> = shown.map(|part| part.each().sum::<u16>()).collect();
                assert_eq!(joined.iter().sum::<u16>(), pattern, "byte {byte}");
            }
        }
    }
}
