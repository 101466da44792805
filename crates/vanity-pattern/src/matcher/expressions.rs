//! All regular expressions of a list against batches of bytes.

use std::ops::ControlFlow;

use super::choice::{MOST_WALKS, of_expressions};
use super::device_filter::DeviceFilter;
use super::dfa_scan::{DfaScan, MOST_STATES};
use super::literals::Literals;
use super::needle::EachCandidate;
use super::pair_bitmap::PairBitmap;
use super::required_literals::{literal, needles};
use crate::syntax::{Pattern, PatternId, Regex};
use crate::wire::{Bytes, Target, with_sign};
use ed25519_batch::memory::spare_room;
use ed25519_batch::simd::InstructionSet;

/// The fewest expressions that are found by their literals. One automaton of fewer takes less.
const LONG_LIST: usize = 33;

/// The fewest characters of such a literal. Nearly every text shows one of many shorter ones.
const LEAST_CHARACTERS: usize = 3;

/// The compiled expressions of a list: first those that are found by a literal, then those with other
/// needles, then those without.
pub struct Expressions<'a> {
    target: Target,
    /// Each expression, with its automaton.
    each: Vec<(PatternId, DfaScan)>,
    /// The literals of the first expressions of a long list, by their places in `each`.
    literals: Option<Literals<'a>>,
    /// The number of expressions that are found by their literals.
    by_literal: usize,
    /// The pair bitmap of the expressions after them, and how many of those it covers.
    pairs: Option<(PairBitmap, usize)>,
    /// The automata of the other expressions, as few as possible.
    unions: Vec<DfaScan>,
}

impl<'a> Expressions<'a> {
    /// Compiles those of `patterns` that are expressions about `target`.
    pub fn new(
        set: InstructionSet,
        target: Target,
        patterns: &'a [Pattern],
        expressions: &[(PatternId, &'a Regex)],
    ) -> Self {
        let (mut literals, mut all, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (id, regex) in expressions {
            let literal = literal(&patterns[*id], regex).filter(|literal| literal.len() >= LEAST_CHARACTERS);
            match literal.filter(|_| expressions.len() >= LONG_LIST) {
                Some(literal) => {
                    literals.push(literal);
                    all.push((*id, *regex));
                }
                None => others.push((*id, *regex)),
            }
        }
        let by_literal = literals.len();
        let (mut all_needles, mut without) = (Vec::new(), Vec::new());
        for (id, regex) in others {
            match needles(regex.hir()) {
                Some(mut needles) => {
                    all_needles.append(&mut needles);
                    all.push((id, regex));
                }
                None => without.push((id, regex)),
            }
        }
        let count = all.len() - by_literal;
        all.append(&mut without);
        let pairs = of_expressions(target, &all_needles, count);
        let pairs = pairs.map(|pairs| (pairs, count));
        let covered = by_literal + pairs.as_ref().map_or(0, |(_, count)| *count);
        // If the memory becomes short, the others have room for automata of their own.
        let own: usize = all[covered..].iter().map(|(_, regex)| DfaScan::bytes(regex.automaton())).sum();
        let scan = |(id, regex): (_, &Regex)| (id, DfaScan::new(target, regex.automaton()));
        let each: Vec<(PatternId, DfaScan)> = all.into_iter().map(scan).collect();
        let others: Vec<&DfaScan> = each[covered..].iter().map(|(_, scan)| scan).collect();
        let unions = united(&others, MEMORY_OF_UNION + own as u64);
        let places: Vec<usize> = (0..by_literal).collect();
        Self {
            target,
            literals: (by_literal > 0)
                .then(|| Literals::new(set, target, &places, Box::new(move |at| literals[at]))),
            by_literal,
            pairs,
            unions,
            each,
        }
    }

    /// Calls `each` with every element of `batch` that matches, by its index, once for every
    /// automaton that finds it. Tests keys with either sign.
    pub fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        if let Some(literals) = &self.literals {
            let matches = |bytes: &Bytes| self.found_by_literal(bytes).next().is_some();
            literals.candidates(batch, &mut |at| {
                let bytes = &batch[at];
                if matches(bytes) || self.target == Target::Key && matches(&with_sign(*bytes)) {
                    each(at);
                }
            });
        }
        if let Some((pairs, count)) = &self.pairs {
            // In one batch, because walks side by side take no longer than one.
            let (candidates, bytes) = pairs.copied(batch);
            for (_, scan) in &self.each[self.by_literal..][..*count] {
                scan.candidates(&bytes, &mut |at| each(candidates[at]));
            }
        }
        for scan in &self.unions {
            scan.candidates(batch, each);
        }
    }

    /// Returns the ids of the expressions that match.
    pub fn matching(&self, bytes: &Bytes) -> impl Iterator<Item = PatternId> {
        let others = self.each[self.by_literal..].iter().filter(|(_, scan)| scan.is_match(bytes));
        self.found_by_literal(bytes).chain(others.map(|(id, _)| *id))
    }

    /// Returns the ids of those that match and are found by their literals.
    fn found_by_literal(&self, bytes: &Bytes) -> impl Iterator<Item = PatternId> {
        let mut shown = Vec::new();
        if let Some(literals) = &self.literals {
            let _ = literals.all_shown(bytes, |at| {
                shown.push(at);
                ControlFlow::Continue(())
            });
        }
        let each = shown.into_iter().map(|at| &self.each[at]);
        each.filter(|(_, scan)| scan.is_match(bytes)).map(|(id, _)| *id)
    }

    /// Adds the clauses for a device.
    pub fn write(&self, filter: &mut DeviceFilter) {
        if let Some(literals) = &self.literals {
            literals.write(filter);
        }
        let (pairs, count) = self.pairs.as_ref().map_or((None, 0), |(pairs, count)| (Some(pairs), *count));
        if count > MOST_WALKS {
            filter.add(pairs, |_| {}, |_| {});
        } else {
            for (_, scan) in &self.each[self.by_literal..][..count] {
                filter.add(pairs, |_| {}, |words| scan.write(words));
            }
        }
        for scan in &self.unions {
            filter.add(None, |_| {}, |words| scan.write(words));
        }
    }
}

/// Returns automata that match where one of `scans` matches: of as many together as have few states.
/// Where fewer than `least_memory` bytes are left, each has its own.
fn united(scans: &[&DfaScan], least_memory: u64) -> Vec<DfaScan> {
    let mut unions = Vec::new();
    let mut rest = scans;
    while !rest.is_empty() {
        // The states of a union are often about as many as those of its parts together.
        let mut states = 0;
        let fits = |scan: &&&DfaScan| {
            states += scan.states();
            states <= MOST_STATES
        };
        let (group, others) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        unite(group, least_memory, &mut unions);
        rest = others;
    }
    unions
}

/// Adds the union of `scans` or, where that is too large, those of each half.
fn unite(scans: &[&DfaScan], least_memory: u64, unions: &mut Vec<DfaScan>) {
    match scans {
        [one] => unions.push((*one).clone()),
        _ if spare_room().is_some_and(|spare| spare < least_memory) => {
            unions.extend(scans.iter().map(|scan| (*scan).clone()));
        }
        _ => match DfaScan::union(scans) {
            Some(union) => unions.push(union),
            None => {
                let (left, right) = scans.split_at(scans.len() / 2);
                unite(left, least_memory, unions);
                unite(right, least_memory, unions);
            }
        },
    }
}

/// The memory in which an automaton of several expressions is built: its table, and the numbers of its
/// states.
const MEMORY_OF_UNION: u64 = 4 << 20;
