//! What a script reads: one JSON object a line.

use serde_json::{Value, json};
use vanity_ed25519::pattern::{Odds, Pattern};
use vanity_ed25519::search::{End, Find, Measured, Summary};

use super::{Delivered, Several};

/// About one pattern, which may be one of several.
pub(super) fn estimate(pattern: &Pattern, several: Option<&Several>, keys_per_second: f64) -> Value {
    let odds = pattern.odds();
    let mut estimate = json!({
        "type": "estimate",
        "pattern": pattern.text(),
        "probability": odds.probability(),
        "expected_attempts": odds.expected_attempts(),
        "seconds_50": seconds_for(odds, 0.50, keys_per_second),
        "seconds_95": seconds_for(odds, 0.95, keys_per_second),
        "keys_per_second": keys_per_second,
    });
    if let Some(several) = several {
        estimate["any_probability_min"] = several.any.at_least.probability().into();
        estimate["any_probability_max"] = several.any.at_most.probability().into();
        if let Some([half, most]) = several.attempts_for_all {
            estimate["all_seconds_50_max"] = (half / keys_per_second).into();
            estimate["all_seconds_95_max"] = (most / keys_per_second).into();
        }
    }
    estimate
}

pub(super) fn found(
    patterns: &[Pattern],
    find: &Find,
    line: &str,
    encrypted: bool,
    delivered: &Delivered,
) -> Value {
    let matched: Vec<&str> = find.patterns.iter().map(|&id| patterns[id].text()).collect();
    let mut found = json!({
        "type": "found",
        "pattern": matched[0],
        "patterns": matched,
        "public_key": line,
        "fingerprint": find.public_key.fingerprint(),
        "attempts": find.attempts,
        "seconds": find.elapsed.as_secs_f64(),
        "encrypted": encrypted,
    });
    match delivered {
        Delivered::Files(kept) => {
            found["private_key_file"] = kept.private_file.to_string_lossy().into();
            found["public_key_file"] = kept.public_file.to_string_lossy().into();
        }
        Delivered::Stdout(private_key) => found["private_key"] = (*private_key).into(),
    }
    found
}

pub(super) fn summary(summary: &Summary, engine: &str, threads: usize) -> Value {
    json!({
        "type": "summary",
        "found": summary.found,
        "attempts": summary.attempts,
        "seconds": summary.elapsed.as_secs_f64(),
        "keys_per_second": summary.keys_per_second(),
        "engine": engine,
        "threads": threads,
        "reason": match summary.end {
            End::Complete => "complete",
            End::Timeout => "timeout",
            End::Signal(_) => "signal",
        },
    })
}

pub(super) fn bench(measured: &Measured, threads: usize) -> Value {
    json!({
        "type": "bench",
        "engine": measured.engine,
        "threads": threads,
        "keys_per_second": measured.rate.median,
        "keys_per_second_min": measured.rate.min,
        "keys_per_second_max": measured.rate.max,
        "ratio": measured.ratio.median,
        "ratio_min": measured.ratio.min,
        "ratio_max": measured.ratio.max,
    })
}

/// How long it takes until the chance of a match reaches `chance`.
pub(super) fn seconds_for(odds: Odds, chance: f64, keys_per_second: f64) -> f64 {
    odds.attempts_for(chance) / keys_per_second
}
