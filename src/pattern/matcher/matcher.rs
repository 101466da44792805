//! Many patterns against batches of bytes.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use regex_syntax::hir::Hir;

use super::device_filter::DeviceFilter;
use super::dfa_scan::DfaScan;
use super::literals::Literals;
use super::required_literals;
use super::window_filter::WindowFilter;
use crate::pattern::odds::Automaton;
use crate::pattern::syntax::{Form, Pattern, PatternId, Regex};
use crate::wire::{Bytes, Target};

/// The largest share of random bytes that the filter of expressions may let pass: it has to spare more walks than it costs.
const MOST_PASS: f64 = 0.5;

/// The most expressions behind a filter whose walks a device makes one after the other. Of more, the filter decides alone.
const MOST_WALKS: usize = 8;

/// A compiled list of patterns, all about the same [`Target`].
pub struct Matcher<'a> {
    /// No other matcher of this process has the same.
    number: u64,
    target: Target,
    literals: Option<Literals<'a>>,
    /// The expressions, each with its automaton.
    regexes: Vec<(PatternId, DfaScan)>,
    /// What the first so many of them show.
    filter: Option<(WindowFilter, usize)>,
    /// The automata of the others, as few as possible.
    blind: Vec<DfaScan>,
}

impl<'a> Matcher<'a> {
    /// Compiles `patterns`.
    ///
    /// # Panics
    ///
    /// The patterns have different targets.
    #[must_use]
    pub fn new(patterns: &'a [Pattern]) -> Self {
        Self::of(patterns, 0..patterns.len())
    }

    /// Compiles those of `patterns` that have these ids.
    ///
    /// # Panics
    ///
    /// The patterns have different targets, or there is no pattern of an id.
    #[must_use]
    pub fn of(patterns: &'a [Pattern], ids: impl IntoIterator<Item = PatternId>) -> Self {
        let target = patterns.first().map_or(Target::default(), |first| first.style().target);
        let (mut literals, mut seeing, mut blind) = (Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            assert!(patterns[id].style().target == target, "a list has one target");
            match patterns[id].form() {
                Form::Literal(_) => literals.push(id),
                Form::Regex(regex) => match required_literals::runs(regex.hir()) {
                    Some(runs) => seeing.push((id, regex, runs)),
                    None => blind.push((id, regex)),
                },
            }
        }
        let rows = WindowFilter::new(target, seeing.iter().flat_map(|(_, _, runs)| runs.clone()));
        let filter = (!seeing.is_empty() && rows.share_passing() < MOST_PASS).then_some((rows, seeing.len()));
        let mut regexes: Vec<_> = seeing.iter().map(|(id, regex, _)| (*id, *regex)).collect();
        regexes.append(&mut blind);
        let filtered = filter.as_ref().map_or(0, |(_, count)| *count);
        let unfiltered: Vec<&Regex> = regexes[filtered..].iter().map(|(_, regex)| *regex).collect();
        let walk = |automaton: &Automaton| DfaScan::new(target, automaton);
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NUMBERS.fetch_add(1, Relaxed),
            target,
            literals: (!literals.is_empty()).then(|| Literals::new(target, patterns, &literals)),
            blind: united(&unfiltered).iter().map(walk).collect(),
            regexes: regexes.into_iter().map(|(id, regex)| (id, walk(regex.automaton()))).collect(),
            filter,
        }
    }

    /// Returns about the bytes that a matcher needs for a regular expression; 0 for any other pattern.
    #[must_use]
    pub fn bytes_for(pattern: &Pattern) -> usize {
        match pattern.form() {
            Form::Literal(_) => 0,
            Form::Regex(regex) => regex.bytes() + DfaScan::bytes(regex.automaton()),
        }
    }

    /// What shows the patterns.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// A number that no other matcher has: whoever keeps something made of one knows by it whether that still holds.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What a device can tell of keys by itself.
    #[must_use]
    pub fn device_filter(&self) -> DeviceFilter {
        let mut filter = DeviceFilter::new(self.target);
        if let Some(literals) = &self.literals {
            filter.add(Some(&literals.rows()), |words| literals.write(words), |_| {});
        }
        let (rows, count) = self.filter.as_ref().map_or((None, 0), |(rows, count)| (Some(rows), *count));
        if count > MOST_WALKS {
            filter.add(rows, |_| {}, |_| {});
        } else {
            for (_, walk) in &self.regexes[..count] {
                filter.add(rows, |_| {}, |words| walk.write(words));
            }
        }
        for walk in &self.blind {
            filter.add(None, |_| {}, |words| walk.write(words));
        }
        filter
    }

    /// The places of everything in `batch` that matches a pattern, in ascending order. The highest bit of a key, the sign of
    /// x, has to be 0; the key is among them if it matches with either sign.
    #[must_use]
    pub fn candidates(&self, batch: &[Bytes]) -> Vec<usize> {
        let mut found = Vec::new();
        let mut add = |place| found.push(place);
        if let Some(literals) = &self.literals {
            literals.survivors(batch, &mut add);
        }
        if let Some((rows, count)) = &self.filter {
            // Together, because walks side by side take no longer than one.
            let (places, passed) = rows.passing(batch);
            for (_, walk) in &self.regexes[..*count] {
                walk.survivors(&passed, &mut |at| add(places[at]));
            }
        }
        for walk in &self.blind {
            walk.survivors(batch, &mut add);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether any pattern matches.
    #[must_use]
    pub fn is_match(&self, bytes: &Bytes) -> bool {
        let literals = self.literals.as_ref();
        literals.is_some_and(|literals| literals.all_shown(bytes, |_| ControlFlow::Break(())).is_break())
            || self.regexes.iter().any(|(_, walk)| walk.is_match(bytes))
    }

    /// Every pattern that matches, once each, in ascending order.
    #[must_use]
    pub fn find(&self, bytes: &Bytes) -> Vec<PatternId> {
        let matching = self.regexes.iter().filter(|(_, walk)| walk.is_match(bytes));
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

/// Automata that match where one of the expressions does: one for all of them, or where it would be too large, for each half.
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
