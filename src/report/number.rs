//! Formats numbers for people, rounded to their significant digits.

use std::time::Duration;

use crate::pattern::Odds;
use crate::words::{counted, grouped};

/// The number of significant digits of an estimate.
const DIGITS: i32 = 3;

/// The least count that is written with a power of ten.
const LARGEST_PLAIN: f64 = 1e15;

/// Formats a large number with three digits: `860,000`, `1.5`, `4.13e21`.
pub(super) fn rough(number: f64) -> String {
    if number >= LARGEST_PLAIN {
        return format!("{:.*e}", DIGITS as usize - 1, number);
    }
    if number < 100.0 {
        let decimals = if number < 10.0 { 2 } else { 1 };
        let text = format!("{number:.decimals$}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let unit = 10f64.powi(number.log10().floor() as i32 + 1 - DIGITS);
    grouped(((number / unit).round() * unit).round() as u64)
}

/// Formats odds: `1 in 860,000`.
pub(super) fn one_in(odds: Odds) -> String {
    format!("1 in {}", rough(odds.expected_attempts()))
}

/// Formats a chance: `63%`, `0.4%`, `below 0.01%`, `above 99.9%`.
pub(super) fn percent(chance: f64) -> String {
    match chance * 100.0 {
        0.0 => "0%".into(),
        percent if percent < 0.01 => "below 0.01%".into(),
        percent if percent < 1.0 => format!("{percent:.2}%"),
        percent if percent < 10.0 => format!("{percent:.1}%"),
        percent if percent < 99.0 => format!("{percent:.0}%"),
        percent if percent < 99.9 => format!("{percent:.1}%"),
        _ => "above 99.9%".into(),
    }
}

/// Formats a time in a suitable unit, at least 1 ms: `4 ms`, `9.3 s`, `12 min`, `3.1 h`, `40 days`,
/// `2.5e9 years`.
pub(super) fn time(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    const YEAR: f64 = 365.25 * DAY;
    let (unit, name) = match seconds {
        _ if seconds < 0.999_5 => (0.001, "ms"),
        _ if seconds < 2.0 * MINUTE => (1.0, "s"),
        _ if seconds < 2.0 * HOUR => (MINUTE, "min"),
        _ if seconds < 2.0 * DAY => (HOUR, "h"),
        _ if seconds < 2.0 * YEAR => (DAY, "days"),
        _ => (YEAR, "years"),
    };
    let amount = (seconds / unit).max(if name == "ms" { 1.0 } else { 0.0 });
    if amount >= 1e6 {
        format!("{amount:.1e} {name}")
    } else if amount >= 10.0 || name == "ms" {
        format!("{} {name}", grouped(amount.round() as u64))
    } else {
        format!("{amount:.1} {name}")
    }
}

/// Formats a time that has passed: `1.2 s`, `45 s`, `2 min 5 s`, `1 h 2 min`, `3 days 4 h`.
pub(super) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..10 => time(elapsed.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes} min {} s", seconds % 60),
        3600..86_400 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} {} h", counted(days, "day"), hours % 24),
    }
}

/// Formats a limit that the user has set, exactly: `1 h 30 min`.
pub(super) fn limit(limit: Duration) -> String {
    let (seconds, nanos) = (limit.as_secs(), u64::from(limit.subsec_nanos()));
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
        (nanos / 1_000_000, "ms"),
        (nanos / 1000 % 1000, "us"),
        (nanos % 1000, "ns"),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number != 0);
    parts.map(|(number, unit)| format!("{} {unit}", grouped(number))).collect::<Vec<_>>().join(" ")
}

/// Returns the lines of a table. All columns but the last are aligned to the right. While the table
/// is wider than `width`, it loses the columns that `droppable` names, in that order.
pub(super) fn table<const N: usize>(
    rows: &[[String; N]],
    droppable: &[usize],
    width: Option<usize>,
) -> Vec<String> {
    let chars = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(chars);
    let mut kept: Vec<usize> = (0..N).collect();
    for column in droppable {
        let whole: usize = kept.iter().map(|&column| widths[column] + GAP.len()).sum();
        if width.is_some_and(|width| whole > width + GAP.len()) {
            kept.retain(|kept| kept != column);
        }
    }
    let line = |row: &[String; N]| {
        let cells = kept.iter().map(|&column| match column {
            last if last == N - 1 => row[last].clone(),
            column => format!("{:>1$}{GAP}", row[column], widths[column]),
        });
        cells.collect()
    };
    rows.iter().map(line).collect()
}

/// The space between two columns of a table.
const GAP: &str = "  ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_203_100), "1,203,100");
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(rough(1.0), "1");
        assert_eq!(rough(1.5), "1.5");
        assert_eq!(rough(26.4), "26.4");
        assert_eq!(rough(812.6), "813");
        assert_eq!(rough(859_963.0), "860,000");
        assert_eq!(rough(999_999.0), "1,000,000");
        assert_eq!(rough(4.13e21), "4.13e21");
    }

    #[test]
    fn chances() {
        let shown = [0.0, 1e-9, 0.004, 0.05, 0.632, 0.985, 0.9951, 0.99999].map(percent);
        let expected = ["0%", "below 0.01%", "0.40%", "5.0%", "63%", "98%", "99.5%", "above 99.9%"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn limits() {
        let shown = [1e-6, 0.25, 5.0, 60.0, 5_400.0, 86_400_001.0]
            .map(|seconds| limit(Duration::from_secs_f64(seconds)));
        assert_eq!(shown, ["1 us", "250 ms", "5 s", "1 min", "1 h 30 min", "24,000 h 1 s"]);
    }

    #[test]
    fn times() {
        let shown = [1e-6, 0.004, 0.9996, 9.31, 75.0, 700.0, 11_000.0, 3.5e6, 1e8, 1e20].map(time);
        let expected = [
            "1 ms",
            "4 ms",
            "1.0 s",
            "9.3 s",
            "75 s",
            "12 min",
            "3.1 h",
            "41 days",
            "3.2 years",
            "3.2e12 years",
        ];
        assert_eq!(shown, expected);
        assert_eq!(clock(Duration::from_millis(1234)), "1.2 s");
        let passed = [45, 125, 3725, 90_000, 273_600].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(passed, ["45 s", "2 min 5 s", "1 h 2 min", "1 day 1 h", "3 days 4 h"]);
    }

    #[test]
    fn columns_are_aligned_and_dropped_if_there_is_no_room() {
        let rows = [["a", "bb", "c"], ["é10", "b", "long"]].map(|row| row.map(str::to_owned));
        let lines = |width| table(&rows, &[1, 0], width).join("\n");
        let whole = "  a  bb  c\né10   b  long";
        assert_eq!((lines(None), lines(Some(13))), (whole.to_owned(), whole.to_owned()));
        assert_eq!((lines(Some(12)), lines(Some(8))), ("  a  c\né10  long".into(), "c\nlong".into()));
    }
}
