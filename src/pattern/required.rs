//! What every match of a regular expression shows: runs of characters for the filter.

use std::ops::RangeInclusive;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::filter::Run;
use crate::wire::{BODY_LEN, Symbols};

/// Repetitions that are written out.
const MOST_COPIES: u32 = BODY_LEN as u32;

/// One part of a sequence.
enum Item<'a> {
    /// One character.
    One(Symbols),
    /// So many characters, of which nothing is known.
    Gap(Length),
    /// One of these.
    Choice(&'a [Hir], Length),
    /// The beginning of the text.
    Start,
    /// Its end.
    End,
}

/// The least and, if it is bounded, the largest number of characters.
#[derive(Clone, Copy)]
struct Length(usize, Option<usize>);

impl Length {
    fn of(hir: &Hir) -> Self {
        let properties = hir.properties();
        Self(properties.minimum_len().unwrap_or(0), properties.maximum_len())
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1.zip(other.1).map(|(a, b)| a + b))
    }

    fn times(self, least: u32, most: Option<u32>) -> Self {
        let times = |len: usize, count: u32| len.saturating_mul(count as usize);
        Self(times(self.0, least), self.1.zip(most).map(|(len, count)| times(len, count)))
    }
}

impl Item<'_> {
    fn length(&self) -> Length {
        match self {
            Self::One(_) => Length(1, Some(1)),
            Self::Gap(length) | Self::Choice(_, length) => *length,
            Self::Start | Self::End => Length(0, Some(0)),
        }
    }
}

/// Runs of which every text that matches shows at least one, the rarest that are found. `None` where nothing is known.
pub(super) fn runs(hir: &Hir) -> Option<Vec<Run>> {
    let mut items = Vec::new();
    flatten(hir, &mut items);
    let mut best: Option<Vec<Run>> = None;
    let mut from = 0;
    while from < items.len() {
        let mut to = from + 1;
        let candidate = match &items[from] {
            Item::One(_) => {
                while matches!(items.get(to), Some(Item::One(_))) {
                    to += 1;
                }
                run(&items, from..=to - 1).map(|run| vec![run])
            }
            Item::Choice(branches, _) => choice(branches, starts(&items, from..=from)),
            Item::Gap(_) | Item::Start | Item::End => None,
        };
        let rarer =
            |candidate: &Vec<Run>| best.as_ref().is_none_or(|best| frequency(candidate) < frequency(best));
        if let Some(candidate) = candidate.filter(rarer) {
            best = Some(candidate);
        }
        from = to;
    }
    best
}

/// How many places of a random text show one of the runs, on average.
fn frequency(runs: &[Run]) -> f64 {
    let of = |run: &Run| {
        let share: f64 = run.symbols.iter().map(|symbols| f64::from(symbols.len()) / 64.0).product();
        share * run.starts.clone().count() as f64
    };
    runs.iter().map(of).sum()
}

/// Neighbouring characters, without those at the ends that may be anything.
fn run(items: &[Item], of: RangeInclusive<usize>) -> Option<Run> {
    let symbols: Vec<Symbols> = items[of.clone()]
        .iter()
        .map(|item| if let Item::One(symbols) = item { *symbols } else { Symbols::ALL })
        .collect();
    let first = symbols.iter().position(|symbols| *symbols != Symbols::ALL)?;
    let last = symbols.iter().rposition(|symbols| *symbols != Symbols::ALL)?;
    let starts = starts(items, of.start() + first..=of.start() + last);
    Some(Run { symbols: symbols[first..=last].to_vec(), starts })
}

/// A run of each branch. They begin where the choice may, or later.
fn choice(branches: &[Hir], starts: RangeInclusive<usize>) -> Option<Vec<Run>> {
    let mut all = Vec::new();
    for branch in branches {
        for run in runs(branch)? {
            let last = BODY_LEN.checked_sub(run.symbols.len());
            let first = (*starts.start()).max(*run.starts.start());
            if let Some(last) = last.filter(|last| first <= *last) {
                all.push(Run { starts: first..=last, ..run });
            }
        }
    }
    Some(all)
}

/// Where the items `of` may begin, as far as the others tell.
fn starts(items: &[Item], of: RangeInclusive<usize>) -> RangeInclusive<usize> {
    let length = |items: &[Item]| items.iter().map(Item::length).fold(Length(0, Some(0)), Length::and);
    let (before, after) = (&items[..*of.start()], &items[of.end() + 1..]);
    let (to, own, rest) = (length(before), length(&items[of]), length(after));
    let at_start =
        before.iter().take_while(|item| item.length().1 == Some(0)).any(|item| matches!(item, Item::Start));
    let at_end = after
        .iter()
        .rev()
        .take_while(|item| item.length().1 == Some(0))
        .any(|item| matches!(item, Item::End));
    // What does not fit gives an empty range.
    let mut first = to.0;
    let mut last = BODY_LEN.saturating_sub(own.0 + rest.0);
    if let (true, Some(most)) = (at_start, to.1) {
        last = last.min(most);
    }
    if let (true, Some(own), Some(rest)) = (at_end, own.1, rest.1) {
        first = first.max(BODY_LEN.saturating_sub(own + rest));
    }
    first..=last
}

/// The sequence of items that an expression is.
fn flatten<'a>(hir: &'a Hir, items: &mut Vec<Item<'a>>) {
    match hir.kind() {
        HirKind::Empty => {}
        HirKind::Literal(literal) => items.extend(literal.0.iter().map(|byte| Item::One(Symbols::of(*byte)))),
        HirKind::Class(Class::Bytes(class)) => {
            let bytes = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            items.push(Item::One(bytes.fold(Symbols::default(), |set, byte| set.or(Symbols::of(byte)))));
        }
        HirKind::Class(Class::Unicode(_)) => items.push(Item::Gap(Length::of(hir))),
        HirKind::Look(Look::Start) => items.push(Item::Start),
        HirKind::Look(Look::End) => items.push(Item::End),
        HirKind::Look(_) => {}
        HirKind::Capture(capture) => flatten(&capture.sub, items),
        HirKind::Concat(parts) => parts.iter().for_each(|part| flatten(part, items)),
        HirKind::Alternation(branches) => items.push(Item::Choice(branches, Length::of(hir))),
        HirKind::Repetition(repetition) => {
            let copies = repetition.min.min(MOST_COPIES);
            for _ in 0..copies {
                flatten(&repetition.sub, items);
            }
            let more = repetition.max.map(|most| most - copies);
            if more != Some(0) {
                items.push(Item::Gap(Length::of(&repetition.sub).times(repetition.min - copies, more)));
            }
        }
    }
}
