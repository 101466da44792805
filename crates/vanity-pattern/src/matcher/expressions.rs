//! All regular expressions of a list against batches of bytes.

use regex_syntax::hir::Hir;

use super::choice::{MOST_WALKS, of_expressions};
use super::device_filter::DeviceFilter;
use super::dfa_scan::DfaScan;
use super::prefilter::{EachCandidate, Prefilter};
use super::required_literals::needles;
use crate::odds::Automaton;
use crate::syntax::{PatternId, Regex};
use crate::wire::{Bytes, Target};
use ed25519_batch::simd::InstructionSet;

/// The compiled expressions of a list.
pub(super) struct Expressions {
    /// Each expression, with its automaton.
    each: Vec<(PatternId, DfaScan)>,
    /// The prefilter of the first expressions, and how many of them it covers.
    prefilter: Option<(Prefilter, usize)>,
    /// The automata of the other expressions, as few as possible.
    unions: Vec<DfaScan>,
}

impl Expressions {
    /// Compiles expressions about `target`.
    pub(super) fn new(set: InstructionSet, target: Target, expressions: &[(PatternId, &Regex)]) -> Self {
        let (mut with_needles, mut all, mut without) = (Vec::new(), Vec::new(), Vec::new());
        for (id, regex) in expressions {
            match needles(regex.hir()) {
                Some(needles) => {
                    with_needles.push(needles);
                    all.push((*id, *regex));
                }
                None => without.push((*id, *regex)),
            }
        }
        all.append(&mut without);
        let count = with_needles.len();
        let prefilter = of_expressions(set, target, with_needles.iter().flatten().cloned(), count);
        let prefilter = prefilter.map(|prefilter| (prefilter, count));
        let covered = prefilter.as_ref().map_or(0, |(_, count)| *count);
        let others: Vec<&Regex> = all[covered..].iter().map(|(_, regex)| *regex).collect();
        let scan = |automaton: &Automaton| DfaScan::new(target, automaton);
        Self {
            prefilter,
            unions: united(&others).iter().map(scan).collect(),
            each: all.into_iter().map(|(id, regex)| (id, scan(regex.automaton()))).collect(),
        }
    }

    /// Calls `each` with every element of `batch` that matches, by its index, once for every
    /// automaton that finds it. Tests keys with either sign.
    pub(super) fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        if let Some((prefilter, count)) = &self.prefilter {
            // In one batch, because walks side by side take no longer than one.
            let (candidates, bytes) = prefilter.copied(batch);
            for (_, scan) in &self.each[..*count] {
                scan.candidates(&bytes, &mut |at| each(candidates[at]));
            }
        }
        for scan in &self.unions {
            scan.candidates(batch, each);
        }
    }

    /// Returns the ids of the expressions that match.
    pub(super) fn matching(&self, bytes: &Bytes) -> impl Iterator<Item = PatternId> {
        self.each.iter().filter(|(_, scan)| scan.is_match(bytes)).map(|(id, _)| *id)
    }

    /// Adds the clauses for a device.
    pub(super) fn write(&self, filter: &mut DeviceFilter) {
        let (pairs, count) =
            self.prefilter.as_ref().map_or((None, 0), |(prefilter, count)| (Some(prefilter.pairs()), *count));
        if count > MOST_WALKS {
            filter.add(pairs, |_| {}, |_| {});
        } else {
            for (_, scan) in &self.each[..count] {
                filter.add(pairs, |_| {}, |words| scan.write(words));
            }
        }
        for scan in &self.unions {
            filter.add(None, |_| {}, |words| scan.write(words));
        }
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
