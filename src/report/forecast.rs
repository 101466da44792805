//! The forecast: how many keys are missing, the chance that the next or the last would have been
//! found by now, and the keys to try until the chance reaches 50% and 95%.
//!
//! A search has no memory, so every find begins it again for all keys that are missing then. All
//! figures are about the attempts since the last find.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use crate::job::Rate;
use crate::pattern::{Bounds, Odds, Pattern, PatternId, any_of};
use crate::search::{Quota, Remaining};

/// The finds so far, and the odds of the missing ones.
pub(super) struct Forecast<'a> {
    patterns: &'a [Pattern],
    remaining: Remaining,
    wanted: u64,
    found: u64,
    /// Whether the odds of all patterns together are computed.
    is_shown: bool,
    /// The chance that a key is the next find, or `None` if no key is missing or it is not shown.
    next: Option<Bounds>,
    /// The number of attempts at the last find of any pattern.
    last_find: u64,
    /// The number of attempts at the last find of each pattern.
    last_of_each: Vec<u64>,
    /// The patterns that each still need keys, the least likely last.
    order: Vec<PatternId>,
    /// The attempts at which all keys are found with the chances [`CHANCES`], or `None` if that is
    /// not known.
    all: Option<[f64; 2]>,
    /// Whether finds have changed `all` since it was computed.
    is_all_old: bool,
}

/// A chance that is known exactly, or within bounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Chance {
    pub(super) at_least: f64,
    pub(super) at_most: f64,
    pub(super) is_exact: bool,
    /// Whether the bounds are so narrow that they say something.
    pub(super) is_known: bool,
}

/// The widest bounds of a chance that say something: the ratio of the upper to the lower one.
const WIDEST: f64 = 2.0;

/// The chances for which times are shown.
const CHANCES: [f64; 2] = [0.50, 0.95];

/// The most missing patterns for which every find changes the forecast of the last key. For longer
/// lists, one find in eight patterns does.
const SHORT_LIST: usize = 1000;

impl<'a> Forecast<'a> {
    /// Returns the forecast before the first find. `existing` of the wanted keys existed before the
    /// search. Computes the odds of all patterns together only if `is_shown`.
    pub(super) fn new(patterns: &'a [Pattern], quota: &Quota, existing: u64, is_shown: bool) -> Self {
        let remaining = Remaining::new(quota, patterns.len());
        let mut order = Vec::new();
        if remaining.is_of_each() {
            let probability = |id: &PatternId| patterns[*id].odds().probability();
            order = (0..patterns.len()).filter(|id| remaining.wants(*id)).collect();
            order.sort_by(|a, b| probability(b).total_cmp(&probability(a)));
        }
        Self {
            patterns,
            is_shown,
            wanted: remaining.total().saturating_add(existing),
            found: existing,
            next: if is_shown { any_of(patterns.iter()) } else { None },
            last_find: 0,
            last_of_each: vec![0; patterns.len()],
            order,
            remaining,
            all: None,
            is_all_old: is_shown,
        }
    }

    pub(super) fn count(&mut self, patterns: &[PatternId], attempts: u64) {
        self.last_find = attempts;
        self.is_all_old |= self.is_shown && self.remaining.patterns() <= SHORT_LIST;
        patterns.iter().for_each(|&id| self.last_of_each[id] = attempts);
        let left = self.remaining.count(patterns);
        if !self.remaining.is_of_each() {
            self.found += 1;
            return;
        }
        self.found += patterns.len() as u64;
        for id in left {
            self.next = self.next.and_then(|next| without(next, self.patterns[id].odds()));
        }
        while self.order.pop_if(|id| !self.remaining.wants(*id)).is_some() {}
        // The bounds are computed again now and then, so that they stay narrow.
        if self.next.is_some() && (self.remaining.take_due() || self.remaining.is_complete()) {
            self.next = any_of(self.wanting().map(|(_, pattern)| pattern));
            self.is_all_old = true;
        }
    }

    /// Returns the numbers of keys found and wanted. A key counts once for each pattern that wanted
    /// it.
    pub(super) fn found_of(&self) -> (u64, u64) {
        (self.found, self.wanted)
    }

    /// Returns the chance that the next find would have been made by now.
    pub(super) fn chance_of_next(&self, attempts: u64) -> Option<Chance> {
        let next = self.next?;
        let tried = attempts.saturating_sub(self.last_find) as f64;
        Some(Chance {
            at_least: next.at_least.chance_after(tried),
            at_most: next.at_most.chance_after(tried),
            is_exact: next.is_exact(),
            is_known: next.at_most.probability() <= WIDEST * next.at_least.probability(),
        })
    }

    /// Returns the first `most` patterns that want a key, and the number of all of them. There are none
    /// if the search wants keys of any patterns, or of one alone.
    pub(super) fn missing_patterns(&self, most: usize) -> (Vec<&'a Pattern>, usize) {
        if self.patterns.len() < 2 {
            return (Vec::new(), 0);
        }
        let named = if self.remaining.is_of_each() { most } else { 0 };
        (self.wanting().take(named).map(|(_, pattern)| pattern).collect(), self.remaining.patterns())
    }

    /// Returns the patterns that still want a key.
    fn wanting(&self) -> impl Iterator<Item = (PatternId, &'a Pattern)> + Clone {
        (0..).zip(self.patterns).filter(|(id, _)| self.remaining.wants(*id))
    }

    /// Returns the number of patterns of which the next find can be, and the chance that a key is one, if it
    /// is known.
    pub(super) fn any(&self) -> Option<(usize, Bounds)> {
        let is_of_each = self.remaining.is_of_each();
        let patterns = if is_of_each { self.remaining.patterns() } else { self.patterns.len() };
        Some((patterns, self.next?))
    }

    /// Returns the keys that are missing, and the attempts from now on until they are found with the chances
    /// [`CHANCES`]. `None` as for [`attempts_for_last`](Self::attempts_for_last).
    pub(super) fn all(&mut self) -> Option<(u64, [f64; 2])> {
        let attempts = self.attempts_for_last()?;
        Some((self.remaining.total(), attempts.map(|attempts| attempts - self.last_find as f64)))
    }

    /// Whether the attempts for the last key are exact, and not upper bounds.
    pub(super) fn is_all_exact(&self) -> bool {
        if self.remaining.is_of_each() {
            self.remaining.patterns() == 1
        } else {
            self.next.is_some_and(|next| next.is_exact())
        }
    }

    /// Returns the attempts at which the chance that the next find is made reaches each of
    /// [`CHANCES`]: upper bounds if the chance per key is not exact.
    pub(super) fn attempts_for_next(&self) -> Option<[f64; 2]> {
        let odds = self.next?.at_least;
        Some(CHANCES.map(|chance| self.last_find as f64 + odds.attempts_for(chance)))
    }

    /// Returns the attempts at which the chance that all keys are found reaches each of
    /// [`CHANCES`]: upper bounds if several patterns want keys. Returns `None` if fewer than
    /// two keys are missing.
    pub(super) fn attempts_for_last(&mut self) -> Option<[f64; 2]> {
        if self.remaining.total() < 2 {
            return None;
        }
        if std::mem::take(&mut self.is_all_old) {
            let attempts = if self.remaining.is_of_each() {
                attempts_for_all(
                    self.wanting().map(|(id, pattern)| (pattern.odds(), self.remaining.left(id))),
                )
            } else {
                attempts_for_all(std::iter::once((self.next?.at_least, self.remaining.total())))
            };
            self.all = Some(attempts.map(|attempts| self.last_find as f64 + attempts));
        }
        self.all
    }

    /// Returns the chance that the least likely of several missing patterns would have been found
    /// by now. The last find comes no sooner. Returns `None` if fewer than two patterns are
    /// missing.
    pub(super) fn chance_of_last(&self, attempts: u64) -> Option<f64> {
        if self.remaining.patterns() < 2 {
            return None;
        }
        let &rarest = self.order.last()?;
        let tried = attempts.saturating_sub(self.last_of_each[rarest]) as f64;
        Some(self.patterns[rarest].odds().chance_after(tried))
    }
}

/// Returns the chance of several patterns without `one` of them. It has bounds, because a key that
/// matches `one` can also match others.
fn without(several: Bounds, one: Odds) -> Option<Bounds> {
    let at_least = several.at_least.probability() - one.probability();
    // If most of the chance was that of `one`, the lower bound is the smallest positive number.
    let at_least = Odds::new(at_least.max(f64::MIN_POSITIVE))?;
    Some(Bounds::between(at_least, several.at_most))
}

/// Returns the keys to try until the chance that every pattern has as many keys as it wants reaches each of
/// [`CHANCES`], as upper bounds.
///
/// The union bound gives them: the chance that some pattern is missing keys is at most the sum of the
/// chances of each, even if the patterns depend on each other. The number of keys that match one
/// pattern is taken as a Poisson variable. For one key for each pattern this is exact, and for more
/// it is right to about the chance per key.
fn attempts_for_all(wanted: impl Iterator<Item = (Odds, u64)>) -> [f64; 2] {
    // Patterns with the same odds that want the same number are counted together: a long list has many.
    let mut alike = BTreeMap::<(u64, u64), f64>::new();
    wanted.for_each(|(odds, keys)| *alike.entry((odds.probability().to_bits(), keys)).or_default() += 1.0);
    let share = |bits: &u64| -(-f64::from_bits(*bits)).ln_1p();
    let patterns: Vec<(f64, u64, f64)> =
        alike.iter().map(|((bits, keys), number)| (share(bits), *keys, *number)).collect();
    let missing = |attempts: f64| -> f64 {
        patterns.iter().map(|(share, keys, number)| number * fewer_than(*keys, attempts * share)).sum()
    };
    CHANCES.map(|chance| {
        let (mut low, mut high) = (1.0, 2.0);
        while missing(high) > 1.0 - chance {
            (low, high) = (high, 2.0 * high);
        }
        // The result is shown with three digits.
        while high > 1.000_1 * low {
            let middle = f64::midpoint(low, high);
            if missing(middle) > 1.0 - chance { low = middle } else { high = middle }
        }
        high
    })
}

/// Returns the seconds until the chance of a match reaches each of [`CHANCES`].
pub(super) fn seconds_for(odds: Odds, rate: Rate) -> [f64; 2] {
    CHANCES.map(|chance| odds.attempts_for(chance) / rate.keys_per_second)
}

/// The number of events from which their mean decides. It is then right to one in 10,000.
const CERTAIN: u64 = 100_000_000;

/// The share of a sum below which its terms do not count.
const NEGLIGIBLE: f64 = 1e-15;

/// Returns the chance of fewer than `events` events, if their number has a Poisson distribution
/// with this mean.
fn fewer_than(events: u64, mean: f64) -> f64 {
    let number = events as f64;
    if events == 1 {
        return (-mean).exp();
    }
    if events >= CERTAIN {
        return if mean < number { 1.0 } else { 0.0 };
    }
    let chance_of = |events: f64| (events * mean.ln() - mean - ln_factorial(events)).exp();
    // Both sums begin with their largest term.
    let sum = |from: f64, next: fn(f64, f64) -> (f64, f64)| {
        let (mut at, mut term, mut sum) = (from, chance_of(from), 0.0);
        while term > NEGLIGIBLE * sum && at >= 0.0 {
            sum += term;
            let (to, factor) = next(at, mean);
            (at, term) = (to, term * factor);
        }
        sum
    };
    if number <= mean {
        sum(number - 1.0, |at, mean| (at - 1.0, at / mean))
    } else {
        1.0 - sum(number, |at, mean| (at + 1.0, mean / (at + 1.0)))
    }
}

/// Returns the logarithm of a factorial, by Stirling's series for large numbers.
fn ln_factorial(number: f64) -> f64 {
    if number < 20.0 {
        return (2..=number as u64).map(|factor| (factor as f64).ln()).sum();
    }
    number * number.ln() - number
        + 0.5 * (TAU * number).ln()
        + (1.0 / 12.0 - 1.0 / (360.0 * number * number)) / number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{Kind, MatchOptions};

    fn patterns(texts: &[&str], kind: Kind) -> Vec<Pattern> {
        let options = MatchOptions { kind, ..MatchOptions::default() };
        texts.iter().map(|text| Pattern::new(text, options).unwrap()).collect()
    }

    #[test]
    fn the_forecast_is_about_the_next_find_and_the_least_likely() {
        let patterns = patterns(&["^A", "^A.{3}B", "B$"], Kind::Regex);
        let mut forecast = Forecast::new(&patterns, &Quota::Each(1), 0, true);
        let rarest = |id: usize, attempts| Some(patterns[id].odds().chance_after(attempts));
        let exact =
            |chance| Some(Chance { at_least: chance, at_most: chance, is_exact: true, is_known: true });
        let next =
            |of: &[Pattern], attempts| exact(any_of(of.iter()).unwrap().at_least.chance_after(attempts));
        assert_eq!(forecast.chance_of_next(100), next(&patterns, 100.0));
        assert_eq!(forecast.chance_of_last(100), rarest(1, 100.0));
        forecast.count(&[0, 1], 50);
        assert_eq!(forecast.found_of(), (2, 3));
        assert_eq!(forecast.chance_of_next(150), next(&patterns[2..], 100.0));
        assert_eq!(forecast.chance_of_last(150), None, "the next one is the last");
        forecast.count(&[2], 160);
        assert_eq!((forecast.found_of(), forecast.chance_of_next(200)), ((3, 3), None));
    }

    #[test]
    fn the_forecast_begins_again_after_each_find() {
        let patterns = patterns(&["ab", "cd"], Kind::Prefix);
        let exact =
            |chance| Some(Chance { at_least: chance, at_most: chance, is_exact: true, is_known: true });
        let mut forecast = Forecast::new(&patterns[..1], &Quota::Each(2), 0, true);
        forecast.count(&[0], 70);
        assert_eq!(forecast.chance_of_next(100), exact(patterns[0].odds().chance_after(30.0)));
        let mut left = Forecast::new(&patterns, &Quota::Left(vec![1, 3]), 5, true);
        left.count(&[0, 1], 70);
        assert_eq!(left.found_of(), (7, 9));
        assert_eq!(left.chance_of_next(100), exact(patterns[1].odds().chance_after(30.0)));
        let mut any = Forecast::new(&patterns, &Quota::Any(2), 0, true);
        any.count(&[1], 10);
        assert_eq!(any.chance_of_next(10), exact(0.0));
        assert_eq!((any.found_of(), any.chance_of_last(10)), ((1, 2), None));
    }

    /// While many patterns are missing, the exact chance after a find lies within the bounds.
    #[test]
    fn bounds_are_marked_until_the_chance_is_computed_again() {
        let texts: Vec<String> = (b'a'..=b'p').map(|letter| format!("{}xy", char::from(letter))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let patterns = patterns(&texts, Kind::Prefix);
        let mut forecast = Forecast::new(&patterns, &Quota::Each(1), 0, true);
        forecast.count(&[3], 1);
        let exact = any_of(patterns[..3].iter().chain(&patterns[4..])).unwrap().at_least;
        let next = forecast.next.unwrap();
        assert!(!next.is_exact() && next.at_least <= exact && exact <= next.at_most);
        let chance = forecast.chance_of_next(9).unwrap();
        assert!(!chance.is_exact && chance.is_known);
        forecast.count(&[5], 2);
        assert!(forecast.next.unwrap().is_exact());
    }

    #[test]
    fn all_patterns_are_found_by_the_printed_bound() {
        // One pattern: the bound is exact.
        let attempts_for_all = |patterns: &[Pattern]| {
            super::attempts_for_all(patterns.iter().map(|pattern| (pattern.odds(), 1)))
        };
        let one = patterns(&["abc"], Kind::Prefix);
        let exact = one[0].odds().attempts_for(0.95);
        assert!((attempts_for_all(&one)[1] / exact - 1.0).abs() < 1e-3);
        // Two patterns need a little more than the rarer one alone.
        let two = patterns(&["abc", "abcd"], Kind::Prefix);
        let rarer = two[1].odds().attempts_for(0.5);
        assert!((1.0..1.001).contains(&(attempts_for_all(&two)[0] / rarer)));
        let alike = patterns(&["abc", "abd", "abe", "abf"], Kind::Prefix);
        let each = alike[0].odds().attempts_for(1.0 - 0.05 / 4.0);
        assert!((attempts_for_all(&alike)[1] / each - 1.0).abs() < 1e-3);
    }

    #[test]
    fn the_last_of_several_keys_takes_longer() {
        let patterns = patterns(&["abc", "abd"], Kind::Prefix);
        let odds = patterns[0].odds();
        let mut one = Forecast::new(&patterns[..1], &Quota::Each(1), 0, true);
        assert_eq!(one.attempts_for_next(), Some(CHANCES.map(|chance| odds.attempts_for(chance))));
        assert_eq!(one.attempts_for_last(), None);

        // The median of the time of the third event is 2.674 mean distances.
        let mut three = Forecast::new(&patterns[..1], &Quota::Each(3), 0, true);
        let [half, most] = three.attempts_for_last().unwrap().map(|attempts| attempts * odds.probability());
        assert!((half - 2.674).abs() < 1e-3 && (most - 6.296).abs() < 1e-3, "{half} {most}");
        three.count(&[0], 1000);
        let [half, _] = three.attempts_for_last().unwrap();
        assert!(((half - 1000.0) * odds.probability() - 1.678).abs() < 1e-3, "{half}");
        three.count(&[0], 2000);
        assert_eq!(three.attempts_for_last(), None, "the next is the last");

        let mut any = Forecast::new(&patterns, &Quota::Any(2), 0, true);
        let [half, _] = any.attempts_for_last().unwrap();
        assert!((half * odds.probability() * 2.0 - 1.678).abs() < 1e-3, "{half}");
        let mut quiet = Forecast::new(&patterns, &Quota::Any(2), 0, false);
        assert_eq!((quiet.attempts_for_next(), quiet.attempts_for_last()), (None, None));
    }

    #[test]
    fn the_chances_are_those_of_a_poisson_distribution() {
        for (events, mean, expected) in [
            (1, 2.0, 0.135_335_283_236_612_7),
            (2, 2.0, 0.406_005_849_709_838_1),
            (3, 2.0, 0.676_676_416_183_063_5),
            (5, 20.0, 1.694_474_393_006_737_5e-5),
            (20, 5.0, 0.999_999_654_786_417_4),
            (100, 100.0, 0.486_701_201_720_868_2),
            (1_000_000, 1_000_000.0, 0.499_867_019_039),
        ] {
            let chance = fewer_than(events, mean);
            assert!((chance / expected - 1.0).abs() < 1e-6, "{events} {mean}: {chance}");
        }
        assert_eq!((fewer_than(u64::MAX, 1e19), fewer_than(u64::MAX, 1e20)), (1.0, 0.0));
        assert_eq!((fewer_than(3, 0.0), fewer_than(3, 1e300)), (1.0, 0.0));
    }
}
