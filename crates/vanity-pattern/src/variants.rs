//! Patterns that ask for nearly the same as another one, and that more keys match.
//!
//! Every variant is a [`Pattern`] of its own, so its odds are as exact as those of any other.

use std::cmp::Ordering;

use super::odds::Odds;
use super::syntax::{Kind, LEET, MatchOptions, Pattern};

/// The least factor by which a variant must be likelier. It is 1.5 for a single letter that also
/// matches its digit.
const LIKELIER: f64 = 1.25;

/// The most letters that a variant of a whole word leaves out.
const LEFT_OUT: usize = 2;

/// The fewest characters that such a variant keeps.
const KEPT: usize = 3;

/// The fewest characters of each of two parts.
const PART: usize = 2;

/// The most variants that are returned together.
const MOST: usize = 6;

/// A difference between a variant and its pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Upper and lower case are the same.
    AnyCase,
    /// A letter also matches its usual digit.
    Leet,
    /// The text may be anywhere.
    Anywhere,
    /// The text is in two parts, with any characters between them.
    TwoParts,
    /// The text is only the beginning.
    Shorter,
}

/// The changes that leave the text as long as it is.
const LASTING: [Change; 4] = [Change::AnyCase, Change::Leet, Change::Anywhere, Change::TwoParts];

/// A pattern that more keys match than another one.
pub struct Variant {
    /// The pattern.
    pub pattern: Pattern,
    /// Its differences. None if it is the pattern itself.
    pub changes: Vec<Change>,
    /// The number of characters of the text that it keeps.
    pub kept: usize,
}

impl Variant {
    /// Returns the pattern with these changes and the first `kept` characters of its text. Returns
    /// `None` if a change does not apply, or if no key can match.
    fn new(pattern: &Pattern, lasting: &[Change], kept: usize) -> Option<Self> {
        let mut options = pattern.options();
        let whole = pattern.text().len();
        let text = if kept == whole { pattern.text() } else { pattern.text().get(..kept)? };
        let is_literal = options.kind != Kind::Regex;
        let mut text = text.to_owned();
        for change in lasting {
            let applies = match change {
                Change::AnyCase => {
                    options.case_sensitive && text.bytes().any(|byte| byte.is_ascii_alphabetic())
                }
                Change::Leet => is_literal && !options.leet && text.bytes().any(|byte| digit(byte).is_some()),
                Change::Anywhere => is_literal && options.kind != Kind::Anywhere,
                Change::TwoParts => is_literal && kept >= 2 * PART,
                Change::Shorter => false,
            };
            if !applies {
                return None;
            }
            match change {
                Change::AnyCase => options.case_sensitive = false,
                Change::Leet => options.leet = true,
                Change::Anywhere => options.kind = Kind::Anywhere,
                Change::TwoParts | Change::Shorter => {}
            }
        }
        // The other changes come before: the expression is made with them.
        if lasting.contains(&Change::TwoParts) {
            text = in_two_parts(&text, options);
            options = MatchOptions { kind: Kind::Regex, leet: false, ..options };
        }
        let shorter = (kept < whole).then_some(Change::Shorter);
        let changes = lasting.iter().copied().chain(shorter).collect();
        Some(Self { pattern: Pattern::new(&text, options).ok()?, changes, kept })
    }

    fn odds(&self) -> Odds {
        self.pattern.odds()
    }
}

/// Returns the variants of a pattern that differ in one way and are really likelier, the likeliest
/// first: any case, digits for letters, anywhere, two parts, and one or two letters less.
pub fn likelier(pattern: &Pattern) -> Vec<Variant> {
    let whole = pattern.text().len();
    let mut variants: Vec<Variant> =
        LASTING.iter().filter_map(|change| Variant::new(pattern, &[*change], whole)).collect();
    if pattern.options().kind != Kind::Regex {
        let shorter = (1..=LEFT_OUT).filter_map(|less| whole.checked_sub(less)).filter(|kept| *kept >= KEPT);
        variants.extend(shorter.filter_map(|kept| Variant::new(pattern, &[], kept)));
    }
    let least = LIKELIER * pattern.odds().probability();
    variants.retain(|variant| variant.odds().probability() >= least);
    sort(&mut variants, likeliest_first);
    variants.truncate(MOST);
    variants
}

/// Returns the longest beginning of a pattern that fits, and then the variants that fit and keep
/// more of it than any that changes less, the likeliest first. Returns only the pattern itself if
/// it fits.
pub fn fitting(pattern: &Pattern, fits: impl Fn(Odds) -> bool) -> Vec<Variant> {
    let whole = pattern.text().len();
    let shortest = if pattern.options().kind == Kind::Regex { whole } else { 1 };
    let longest = |changes: &[Change]| {
        let lengths = (shortest..=whole).rev();
        lengths.filter_map(|kept| Variant::new(pattern, changes, kept)).find(|variant| fits(variant.odds()))
    };
    let mut others: Vec<Variant> = Vec::new();
    let beginning = longest(&[]);
    let mut most = beginning.as_ref().map_or(0, |beginning| beginning.kept);
    for number in 1..=LASTING.len() {
        let of_number = subsets(number).into_iter().filter_map(|changes| longest(&changes));
        let better: Vec<Variant> = of_number.filter(|variant| variant.kept > most).collect();
        most = better.iter().map(|variant| variant.kept).fold(most, usize::max);
        others.extend(better);
    }
    sort(&mut others, |a, b| (b.kept, a.changes.len()).cmp(&(a.kept, b.changes.len())));
    others.truncate(MOST - 1);
    sort(&mut others, likeliest_first);
    beginning.into_iter().chain(others).collect()
}

/// Returns the sets of this number of lasting changes.
fn subsets(number: usize) -> Vec<Vec<Change>> {
    let sets = (0..1_u32 << LASTING.len()).filter(|set| set.count_ones() as usize == number);
    let changes = |set: u32| (0..LASTING.len()).filter(move |at| set >> at & 1 == 1).map(|at| LASTING[at]);
    sets.map(|set| changes(set).collect()).collect()
}

/// Sorts in one of the orders. The compiler makes one sort for all of them.
fn sort(variants: &mut [Variant], order: fn(&Variant, &Variant) -> Ordering) {
    variants.sort_by(order);
}

fn likeliest_first(a: &Variant, b: &Variant) -> Ordering {
    b.odds().probability().total_cmp(&a.odds().probability())
}

/// Returns the usual digit of a letter.
fn digit(letter: u8) -> Option<char> {
    let pair = LEET.iter().find(|(known, _)| *known == letter.to_ascii_lowercase())?;
    Some(char::from(pair.1))
}

/// Returns the expression for a literal in two parts, with any characters between them.
pub fn in_two_parts(text: &str, options: MatchOptions) -> String {
    let [before, after] = match options.kind {
        Kind::Prefix => ["^", ""],
        Kind::Suffix => ["", "$"],
        Kind::Word => ["[+/]", "[+/]"],
        Kind::Anywhere | Kind::Regex => ["", ""],
    };
    let read = |typed: char| match digit(typed as u8).filter(|_| options.leet) {
        Some(digit) => format!("[{typed}{digit}]"),
        None if typed == '+' => r"\+".to_owned(),
        None => typed.to_string(),
    };
    let (first, second) = text.split_at(middle(text.as_bytes()));
    let parts = [first, second].map(|part| part.chars().map(read).collect::<String>());
    format!("{before}{}{after}", parts.join(".*"))
}

/// Returns the place at which a text is divided: where a word in it ends, or in the middle.
fn middle(text: &[u8]) -> usize {
    let half = text.len().div_ceil(2);
    let is_letter = |at: usize| text[at].is_ascii_alphabetic();
    let ends = |at: &usize| {
        let is_capital = text[*at].is_ascii_uppercase() && text[*at - 1].is_ascii_lowercase();
        is_capital || is_letter(*at) != is_letter(*at - 1)
    };
    let places = PART..=text.len() - PART;
    places.filter(ends).min_by_key(|at| at.abs_diff(half)).unwrap_or(half)
}
