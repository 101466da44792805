//! The odds that a key matches at least one of several patterns.

use regex_syntax::hir::Hir;

use super::odds::{Automaton, Bounds, MOST_CHARACTERS, Odds, Shape, of_any};
use super::syntax::{Form, Kind, Pattern};
use crate::wire::{BODY_LEN, Target};

/// The most patterns of a list whose common automaton is built.
const MOST_UNITED: usize = 32;

/// Returns the chance that a key matches at least one of `patterns`. `None` if the list is empty.
///
/// The chance of literals is exact if they have at most 800,000 characters together, and if no two
/// of their characters share some symbols but not all. The chance of any other list is exact if it
/// has at most 32 patterns, and their common automaton needs at most 512 KiB. Otherwise the result
/// is a lower and an upper bound.
#[must_use]
pub fn any_of<'a>(patterns: impl Iterator<Item = &'a Pattern> + Clone) -> Option<Bounds> {
    let target = patterns.clone().next()?.options().target;
    let (literals, others): (Vec<&Pattern>, Vec<&Pattern>) =
        patterns.clone().partition(|pattern| pattern.options().kind != Kind::Regex);
    let of_literals = chance_of_any(&literals, target);
    if let (Some(chance), []) = (of_literals, &others[..]) {
        return Odds::new(chance).map(Bounds::exact);
    }
    if literals.len() + others.len() <= MOST_UNITED {
        let hirs = patterns.clone().map(|pattern| match pattern.form() {
            Form::Literal(literal) => literal.hir(),
            Form::Regex(regex) => regex.hir().clone(),
        });
        if let Ok(automaton) = Automaton::of(&Hir::alternation(hirs.collect())) {
            return Odds::new(automaton.chance(&target.positions())).map(Bounds::exact);
        }
    }
    let probability = |pattern: &Pattern| pattern.odds().probability();
    let of_one = patterns.clone().map(probability).fold(0.0, f64::max);
    let of_others: f64 = others.iter().map(|pattern| probability(pattern)).sum();
    let of_all =
        of_literals.unwrap_or_else(|| literals.iter().map(|pattern| probability(pattern)).sum()) + of_others;
    let of_some = of_literals.or_else(|| chance_of_any(&likeliest(literals.clone()), target)).unwrap_or(0.0);
    let at_least = Odds::new(of_one.max(of_some))?;
    Some(Bounds::between(at_least, Odds::new(of_all.min(1.0))?))
}

/// The number of literals that give a lower bound if the list has too many characters. Even the
/// longest literals stay within [`MOST_CHARACTERS`].
const LIKELIEST: usize = MOST_CHARACTERS / (BODY_LEN + 1);

/// Returns at most [`LIKELIEST`] of the literals: those that a key shows with the highest chance.
fn likeliest(mut literals: Vec<&Pattern>) -> Vec<&Pattern> {
    if literals.len() > LIKELIEST {
        let probability = |pattern: &Pattern| pattern.odds().probability();
        literals.select_nth_unstable_by(LIKELIEST, |a, b| probability(b).total_cmp(&probability(a)));
        literals.truncate(LIKELIEST);
    }
    literals
}

/// Returns the exact chance that a key shows one of these literals. `None` if they have more than
/// [`MOST_CHARACTERS`] together, or if [`of_any`] cannot compute it.
fn chance_of_any(literals: &[&Pattern], target: Target) -> Option<f64> {
    let characters: usize = literals.iter().map(|pattern| pattern.text().len()).sum();
    if characters > MOST_CHARACTERS {
        return None;
    }
    let shapes: Vec<_> =
        literals.iter().map(|pattern| (pattern.literal().characters(), pattern.literal().place())).collect();
    let shapes = shapes.iter().map(|(symbols, place)| Shape { symbols, place: *place });
    of_any(shapes, &target.positions())
}
