//! The output for scripts: one JSON object per line.

use std::time::Duration;

use crate::engine::Tuning;
use crate::escape::escaped_json;
use crate::pattern::{Pattern, PatternId};
use crate::search::{End, Measured, Summary};
use serde_json::{Value, json};

use super::forecast::{Forecast, seconds_for};
use super::progress::Status;
use crate::job::{Parcel, Place, Rate};
use crate::ledger::exact;

/// Returns an object as a line, without characters that could control a terminal.
pub(super) fn line(object: &Value) -> String {
    escaped_json(&object.to_string()).into_owned() + "\n"
}

/// Adds a value to an object, if there is one.
pub(super) fn add(object: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[name] = value.into();
    }
}

/// Returns the estimate for a pattern of a search.
pub(super) fn estimate(pattern: &Pattern, forecast: &mut Forecast, rate: Rate) -> Value {
    let odds = pattern.odds();
    let [half, most] = seconds_for(odds, rate);
    let mut estimate = json!({
        "type": "estimate",
        "pattern": pattern.text(),
        "probability": odds.probability(),
        "expected_attempts": odds.expected_attempts(),
        "seconds_50": half,
        "seconds_95": most,
        "keys_per_second": rate.keys_per_second,
        "settled": rate.is_settled,
    });
    add(&mut estimate, "tuning", rate.tuning.map(tuning));
    let any = forecast.any().filter(|(patterns, _)| *patterns > 1);
    add(&mut estimate, "any_probability_min", any.map(|(_, any)| any.at_least.probability()));
    add(&mut estimate, "any_probability_max", any.map(|(_, any)| any.at_most.probability()));
    let [half, most] = of_both(forecast.all().map(|(_, attempts)| attempts));
    add(&mut estimate, "all_seconds_50_max", half.map(|half| half / rate.keys_per_second));
    add(&mut estimate, "all_seconds_95_max", most.map(|most| most / rate.keys_per_second));
    estimate
}

/// Returns the figures for both chances, if there are any.
fn of_both(figures: Option<[f64; 2]>) -> [Option<f64>; 2] {
    figures.map_or([None; 2], |figures| figures.map(Some))
}

/// Returns the object for the settings of an engine.
fn tuning(tuning: Tuning) -> Value {
    json!({
        "windows": tuning.windows,
        "table_bytes": tuning.table_bytes,
        "batch_keys": tuning.batch_keys,
        "prefetch_vectors": tuning.prefetch_vectors,
    })
}

/// Returns the object for a find. `line` is its public line.
pub(super) fn found(patterns: &[Pattern], parcel: &Parcel, line: &str, encrypted: bool) -> Value {
    let find = &parcel.find;
    let matched: Vec<&str> = find.patterns.iter().map(|&id| patterns[id].text()).collect();
    let mut found = json!({
        "type": "found",
        "pattern": matched[0],
        "patterns": matched,
        "public_key": line,
        "fingerprint": find.public_key.fingerprint(),
        "attempts": exact(find.attempts),
        "seconds": find.elapsed.as_secs_f64(),
        "encrypted": encrypted,
    });
    match &parcel.place {
        Place::Files(kept) | Place::Elsewhere(kept) => {
            // With --json, the command line refuses paths that are not text.
            found["private_key_file"] = kept.private_file.to_string_lossy().into();
            found["public_key_file"] = kept.public_file.to_string_lossy().into();
        }
        Place::Memory => found["private_key"] = parcel.private_text().into(),
        Place::Agent | Place::Reported => {}
    }
    add(&mut found, "agent", parcel.added.as_ref().map(Result::is_ok));
    found
}

/// Returns the object for the state of a search.
pub(super) fn progress(status: &Status, devices: &[(String, Duration)]) -> Value {
    let mut progress = json!({
        "type": "progress",
        "seconds": status.elapsed.as_secs_f64(),
        "attempts": exact(status.attempts),
        "keys_per_second": status.keys_per_second,
        "found": exact(status.found),
        "wanted": exact(status.wanted),
    });
    add(&mut progress, "chance", status.chance.map(|chance| chance.at_least));
    add(&mut progress, "chance_exact", status.chance.map(|chance| chance.is_exact));
    let [next, last] = [status.next, status.last].map(of_both);
    add(&mut progress, "next_seconds_50", next[0]);
    add(&mut progress, "next_seconds_95", next[1]);
    add(&mut progress, "last_chance_max", status.chance_of_last);
    add(&mut progress, "last_seconds_50", last[0]);
    add(&mut progress, "last_seconds_95", last[1]);
    progress["devices"] = self::devices(devices);
    progress
}

/// Returns the object for the end of a search.
pub(super) fn summary(
    summary: &Summary,
    given_up: &[PatternId],
    patterns: &[Pattern],
    engine: &str,
    devices: &[(String, Duration)],
) -> Value {
    let given_up: Vec<&str> = given_up.iter().map(|&id| patterns[id].text()).collect();
    json!({
        "type": "summary",
        "found": exact(summary.found),
        "attempts": exact(summary.attempts),
        "seconds": summary.elapsed.as_secs_f64(),
        "keys_per_second": summary.keys_per_second(),
        "engine": engine,
        "threads": summary.threads,
        "reason": match summary.end {
            End::Complete => "complete",
            End::Timeout => "timeout",
            End::Signal(_) => "signal",
        },
        "given_up": given_up,
        "devices": self::devices(devices),
    })
}

/// Returns the devices that search, each with the time of the search since when.
fn devices(devices: &[(String, Duration)]) -> Value {
    let device =
        |(name, since): &(String, Duration)| json!({ "name": name, "since_seconds": since.as_secs_f64() });
    devices.iter().map(device).collect()
}

/// Returns the object for the figures of an engine.
pub(super) fn bench(measured: &Measured) -> Value {
    let mut bench = json!({
        "type": "bench",
        "engine": measured.engine,
        "threads": measured.threads,
        "keys_per_second": measured.rate.median,
        "keys_per_second_min": measured.rate.min,
        "keys_per_second_max": measured.rate.max,
        "ratio": measured.ratio.median,
        "ratio_min": measured.ratio.min,
        "ratio_max": measured.ratio.max,
        "settled": measured.is_settled,
    });
    add(&mut bench, "keys_per_second_one_thread", measured.one_thread.map(|alone| alone.median));
    add(&mut bench, "tuning", measured.tuning.map(tuning));
    bench
}

#[cfg(test)]
mod tests {
    use crate::key::{Format, Seed};
    use crate::pattern::MatchOptions;
    use crate::search::PublicFind;

    use super::*;

    /// No real search tries so many keys.
    #[test]
    fn large_counts_are_text_for_readers_whose_numbers_are_floats() {
        let patterns = [Pattern::new("abc", MatchOptions::default()).unwrap()];
        let seed = Seed::new([7; 32]);
        let public_key = seed.public_key();
        let line = public_key.line("abc");
        let (patterns_of, elapsed) = (vec![0], Duration::from_secs(1));
        let mut find = PublicFind { public_key, patterns: patterns_of, attempts: 1, elapsed };
        for (attempts, text) in [
            (1, "1"),
            ((1 << 53) - 1, "9007199254740991"),
            (1 << 53, "\"9007199254740992\""),
            ((1 << 53) + 1, "\"9007199254740993\""),
            (u64::MAX, "\"18446744073709551615\""),
        ] {
            find.attempts = attempts;
            let private_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
            let seed = Seed::new(*seed.bytes());
            let parcel =
                Parcel::new(find.clone(), String::new(), seed, private_key.to_owned().into(), Format::Pkcs8);
            let found = found(&patterns, &parcel, &line, false);
            let end =
                Summary { found: attempts, attempts, elapsed: Duration::MAX, end: End::Complete, threads: 1 };
            let summary = summary(&end, &[0, 0], &patterns, "portable", &[]);
            for object in [&found, &summary] {
                assert_eq!(object["attempts"].to_string(), text);
            }
            assert_eq!(summary["found"].to_string(), text);
        }
    }
}
