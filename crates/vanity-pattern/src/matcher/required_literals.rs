//! Needles of characters that every match of a regular expression shows, for the filter.

use std::ops::RangeInclusive;

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::needle::Needle;
use crate::syntax::{Kind, Literal, MatchOptions, Pattern, Regex};
use crate::wire::{BODY_LEN, Symbols};

/// The most copies of a repetition that are written out.
const MOST_COPIES: u32 = BODY_LEN as u32;

/// One part of an expression.
enum Item<'a> {
    /// One character.
    One(Symbols),
    /// Characters of unknown symbols.
    Gap(Length),
    /// One of several branches.
    Choice(&'a [Hir], Length),
    /// The beginning of the text.
    Start,
    /// The end of the text.
    End,
}

/// The least number of characters and, if it is bounded, the largest.
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

/// Returns the rarest needles found such that every text that matches shows at least one of them.
/// `None` if no such needles are known.
pub fn needles(hir: &Hir) -> Option<Vec<Needle>> {
    let mut items = Vec::new();
    flatten(hir, &mut items);
    let mut best: Option<Vec<Needle>> = None;
    let mut from = 0;
    while from < items.len() {
        let mut to = from + 1;
        let these = match &items[from] {
            Item::One(_) => {
                while matches!(items.get(to), Some(Item::One(_))) {
                    to += 1;
                }
                needle(&items, from..=to - 1).map(|needle| vec![needle])
            }
            Item::Choice(branches, _) => choice(branches, starts(&items, from..=from)),
            Item::Gap(_) | Item::Start | Item::End => None,
        };
        let rarer = |these: &Vec<Needle>| best.as_ref().is_none_or(|best| frequency(these) < frequency(best));
        if let Some(these) = these.filter(rarer) {
            best = Some(these);
        }
        from = to;
    }
    best
}

/// Returns the longest literal in the text of an expression that every match shows, as far as it is in
/// the rarest needle. `None` if the expression has none, or no single needle.
pub fn literal<'a>(pattern: &'a Pattern, regex: &Regex) -> Option<Literal<'a>> {
    let needles = needles(regex.hir())?;
    let [Needle { symbols, .. }] = &needles[..] else { return None };
    let options = MatchOptions { kind: Kind::Anywhere, leet: false, ..pattern.options() };
    let text = pattern.text();
    let accepted: Vec<Symbols> = (0..text.len()).map(|at| Literal::of(text, options).symbols(at)).collect();
    let shown = |at: usize, from: usize| {
        let same = accepted[at..].iter().zip(&symbols[from..]).take_while(|(a, b)| a == b && !a.is_empty());
        (same.count(), at)
    };
    let places = (0..text.len()).flat_map(|at| (0..symbols.len()).map(move |from| (at, from)));
    let (len, at) = places.map(|(at, from)| shown(at, from)).max_by_key(|(len, _)| *len)?;
    (len > 0).then(|| Literal::of(&text[at..at + len], options))
}

/// Estimates how many places of a random text show one of the needles, on average.
fn frequency(needles: &[Needle]) -> f64 {
    let of = |needle: &Needle| {
        let share: f64 = needle.symbols.iter().map(|symbols| f64::from(symbols.len()) / 64.0).product();
        share * needle.starts.clone().count() as f64
    };
    needles.iter().map(of).sum()
}

/// Returns the needle of neighboring characters, without characters at the ends that may be any
/// symbol.
fn needle(items: &[Item], of: RangeInclusive<usize>) -> Option<Needle> {
    let symbols: Vec<Symbols> = items[of.clone()]
        .iter()
        .map(|item| if let Item::One(symbols) = item { *symbols } else { Symbols::ALL })
        .collect();
    let first = symbols.iter().position(|symbols| *symbols != Symbols::ALL)?;
    let last = symbols.iter().rposition(|symbols| *symbols != Symbols::ALL)?;
    let starts = starts(items, of.start() + first..=of.start() + last);
    Some(Needle { symbols: symbols[first..=last].to_vec(), starts })
}

/// Returns the needles of every branch. They begin where the choice may begin, or later.
fn choice(branches: &[Hir], starts: RangeInclusive<usize>) -> Option<Vec<Needle>> {
    let mut all = Vec::new();
    for branch in branches {
        for needle in needles(branch)? {
            let last = BODY_LEN.checked_sub(needle.symbols.len());
            let first = (*starts.start()).max(*needle.starts.start());
            if let Some(last) = last.filter(|last| first <= *last) {
                all.push(Needle { starts: first..=last, ..needle });
            }
        }
    }
    Some(all)
}

/// Returns the range where the items `of` may begin, as far as the other items determine it.
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
    // The range is empty if the items do not fit.
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

/// Appends the items of an expression.
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
