//! Formats numbers for people, rounded to their significant digits.

use std::time::Duration;

use crate::notice::grouped;
use crate::pattern::Odds;

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

/// Formats a time that has passed: in whole seconds and larger units, or below 10 s with a
/// fraction.
pub(super) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if seconds < 10 {
        return time(elapsed.as_secs_f64());
    }
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// Formats a limit that the user has set: `1h 30m`.
pub(super) fn limit(limit: Duration) -> String {
    humantime::format_duration(limit).to_string()
}

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
        assert_eq!(clock(Duration::from_secs(3725)), "1h 2m 5s");
    }
}
