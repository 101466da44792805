//! Ranges from a digest to a table entry: the scalar, the digits, and the sign of y.

use crate::simd::model::interval::Interval;
use crate::simd::model::ranges::{Ranges, Sums};
use ed25519_batch::internals::addition::negate_y;
use ed25519_batch::internals::field::Portable;
use ed25519_batch::internals::sha512;
use ed25519_batch::internals::table::Table;
use ed25519_batch::simd::CacheLine;

/// Returns the scalars of all digests.
fn scalars() -> [Interval; 4] {
    sha512::clamped(Ranges::<true>(Sums::Wrapping), [Interval::any(); 4])
}

#[test]
fn every_scalar_is_clamped() {
    let [low, second, third, high] = scalars();
    assert_eq!((low.zeros, low.ones), (7, 0), "bits 0 to 2 are clear, and no other");
    assert_eq!([second, third].map(|word| (word.zeros, word.ones)), [(0, 0); 2]);
    assert_eq!((high.zeros, high.ones), (1 << 63, 1 << 62), "bit 255 is clear and bit 254 is set");
}

#[test]
fn every_digit_is_an_entry_of_its_window() {
    let scalar = scalars();
    let mut windows = 0;
    for count in 12..=126 {
        let table = Table::without_entries(count);
        let mut seen = 0;
        table.digits(Ranges::<true>(Sums::Checked), &scalar, |at, digit| {
            let entries = 1 << table.layout()[at].index_bits;
            let lines = i128::from(entries * size_of::<CacheLine>() as u64);
            let sign = u64::from(at > 0);
            let offset = u64::try_from(lines - 64).unwrap();
            assert_eq!(
                digit.zeros,
                !(offset | sign),
                "window {at} of {count}: offset of an entry, and a sign"
            );
            assert_eq!(digit.ones, 0, "window {at} of {count}: every digit may be 0");
            assert!(digit.high < lines && lines <= 1 << 32, "window {at} of {count}: {digit:?} fits 32 bits");
            (windows, seen) = (windows + 1, seen + 1);
        });
        assert_eq!(seen, count);
    }
    println!("digits: {windows} windows of 115 layouts; every offset is that of an entry");
}

#[test]
fn a_negative_y_is_below_2_to_the_255() {
    let field = Portable(Ranges::<true>(Sums::Checked));
    let any = Interval::any();
    let y = [any, any, any, Interval::new(0, (1 << 63) - 1)];
    let [.., top] = negate_y(field, y, any);
    assert_eq!((top.zeros, top.ones), (1 << 63, 0));
}
