//! Many patterns against batches of bytes.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use regex_syntax::hir::Hir;

use super::costs::WALK;
use super::device_filter::DeviceFilter;
use super::dfa_scan::DfaScan;
use super::literals::Literals;
use super::required_literals;
use super::run_filter::RunFilter;
use super::window_filter::WindowFilter;
use crate::odds::Automaton;
use crate::syntax::{Form, Pattern, PatternId, Regex};
use crate::wire::{Bytes, Target};
use ed25519_batch::simd::InstructionSet;

/// The largest share of random bytes that the filter of expressions may let pass. Above it, the
/// filter costs more than the walks that it saves.
const MOST_PASS: f64 = 0.5;

/// The most expressions behind a filter that a device walks one after the other. For more of them,
/// the filter decides alone.
const MOST_WALKS: usize = 8;

/// A compiled list of patterns, all about the same [`Target`].
pub struct Matcher<'a> {
    /// A number that no other matcher of this process has.
    number: u64,
    target: Target,
    literals: Option<Literals<'a>>,
    /// The expressions, each with its automaton.
    regexes: Vec<(PatternId, DfaScan)>,
    /// The filter of the first expressions, and how many of them it covers.
    filter: Option<(RunFilter, usize)>,
    /// The automata of the other expressions, as few as possible.
    unfiltered: Vec<DfaScan>,
}

impl<'a> Matcher<'a> {
    /// Compiles `patterns`.
    ///
    /// # Panics
    ///
    /// Panics if the patterns have different targets.
    #[must_use]
    pub fn new(patterns: &'a [Pattern]) -> Self {
        Self::of(patterns, 0..patterns.len())
    }

    /// Compiles the patterns with these ids.
    ///
    /// # Panics
    ///
    /// Panics if the patterns have different targets, or if `patterns` has no pattern of an id.
    #[must_use]
    pub fn of(patterns: &'a [Pattern], ids: impl IntoIterator<Item = PatternId>) -> Self {
        Self::with_set(InstructionSet::widest(), patterns, ids)
    }

    /// Does the same. The matcher uses `set`, and no other instruction set.
    ///
    /// # Panics
    ///
    /// Panics if the patterns have different targets, or if `patterns` has no pattern of an id.
    #[doc(hidden)]
    #[must_use]
    pub fn with_set(
        set: InstructionSet,
        patterns: &'a [Pattern],
        ids: impl IntoIterator<Item = PatternId>,
    ) -> Self {
        let target = patterns.first().map_or(Target::default(), |first| first.style().target);
        let (mut literals, mut with_runs, mut without_runs) = (Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            assert!(patterns[id].style().target == target, "a list has one target");
            match patterns[id].form() {
                Form::Literal(_) => literals.push(id),
                Form::Regex(regex) => match required_literals::runs(regex.hir()) {
                    Some(runs) => with_runs.push((id, regex, runs)),
                    None => without_runs.push((id, regex)),
                },
            }
        }
        let each_run = || with_runs.iter().flat_map(|(_, _, runs)| runs.clone());
        let windows = WindowFilter::new(target, each_run());
        let runs = RunFilter::cheapest(windows, set, target, each_run(), WALK);
        // A device that does not walk relies on the windows alone.
        let pays = runs.share_passing() < MOST_PASS
            && (with_runs.len() <= MOST_WALKS || runs.windows().share_passing() < MOST_PASS);
        let filter = (!with_runs.is_empty() && pays).then_some((runs, with_runs.len()));
        let mut regexes: Vec<_> = with_runs.iter().map(|(id, regex, _)| (*id, *regex)).collect();
        regexes.append(&mut without_runs);
        let filtered = filter.as_ref().map_or(0, |(_, count)| *count);
        let unfiltered: Vec<&Regex> = regexes[filtered..].iter().map(|(_, regex)| *regex).collect();
        let scan = |automaton: &Automaton| DfaScan::new(target, automaton);
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NUMBERS.fetch_add(1, Relaxed),
            target,
            literals: (!literals.is_empty()).then(|| Literals::new(set, target, patterns, &literals)),
            unfiltered: united(&unfiltered).iter().map(scan).collect(),
            regexes: regexes.into_iter().map(|(id, regex)| (id, scan(regex.automaton()))).collect(),
            filter,
        }
    }

    /// Estimates the bytes that a matcher needs for a regular expression. Returns 0 for any other
    /// pattern.
    #[must_use]
    pub fn bytes_for(pattern: &Pattern) -> usize {
        match pattern.form() {
            Form::Literal(_) => 0,
            Form::Regex(regex) => regex.bytes() + DfaScan::bytes(regex.automaton()),
        }
    }

    /// Returns the target that the patterns are searched in.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// Returns a number that no other matcher of this process has. It identifies the matcher for
    /// which a cached value was made.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the filter by which a device can reject keys.
    #[must_use]
    pub fn device_filter(&self) -> DeviceFilter {
        let mut filter = DeviceFilter::new(self.target);
        if let Some(literals) = &self.literals {
            filter.add(Some(&literals.rows()), |words| literals.write(words), |_| {});
        }
        let of_regexes = self.filter.as_ref();
        let (rows, count) = of_regexes.map_or((None, 0), |(runs, count)| (Some(runs.windows()), *count));
        if count > MOST_WALKS {
            filter.add(rows, |_| {}, |_| {});
        } else {
            for (_, scan) in &self.regexes[..count] {
                filter.add(rows, |_| {}, |words| scan.write(words));
            }
        }
        for scan in &self.unfiltered {
            filter.add(None, |_| {}, |words| scan.write(words));
        }
        filter
    }

    /// Returns the places of all elements of `batch` that match a pattern, in ascending order. The
    /// sign of x, the highest bit of a key, must be 0. A key is among them if it matches with
    /// either sign.
    #[must_use]
    pub fn candidates(&self, batch: &[Bytes]) -> Vec<usize> {
        let mut found = Vec::new();
        let mut add = |place| found.push(place);
        if let Some(literals) = &self.literals {
            literals.survivors(batch, &mut add);
        }
        if let Some((runs, count)) = &self.filter {
            // In one batch, because walks side by side take no longer than one.
            let (places, passed) = runs.passing(batch);
            for (_, scan) in &self.regexes[..*count] {
                scan.survivors(&passed, &mut |at| add(places[at]));
            }
        }
        for scan in &self.unfiltered {
            scan.survivors(batch, &mut add);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns whether any pattern matches.
    #[must_use]
    pub fn is_match(&self, bytes: &Bytes) -> bool {
        let literals = self.literals.as_ref();
        literals.is_some_and(|literals| literals.all_shown(bytes, |_| ControlFlow::Break(())).is_break())
            || self.regexes.iter().any(|(_, scan)| scan.is_match(bytes))
    }

    /// Returns the ids of all patterns that match, in ascending order.
    #[must_use]
    pub fn find(&self, bytes: &Bytes) -> Vec<PatternId> {
        let matching = self.regexes.iter().filter(|(_, scan)| scan.is_match(bytes));
        let mut found: Vec<PatternId> = matching.map(|(id, _)| *id).collect();
        if let Some(literals) = &self.literals {
            let _ = literals.all_shown(bytes, |id| {
                found.push(id);
                ControlFlow::Continue(())
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Returns automata that match where one of the expressions matches: one for all expressions, or,
/// where that is too large, those of each half.
fn united(regexes: &[&Regex]) -> Vec<Automaton> {
    let union = || Hir::alternation(regexes.iter().map(|regex| regex.hir().clone()).collect());
    match regexes {
        [] => Vec::new(),
        [one] => vec![one.automaton().clone()],
        _ => Automaton::of(&union()).map_or_else(
            |_| {
                let (left, right) = regexes.split_at(regexes.len() / 2);
                [united(left), united(right)].into_iter().flatten().collect()
            },
            |automaton| vec![automaton],
        ),
    }
}
