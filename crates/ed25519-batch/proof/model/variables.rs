//! The variables of polynomials: where they come from, and their ranges.

use std::cell::RefCell;
use std::collections::HashMap;

use super::dyadic::Dyadic;
use super::polynomial::{Polynomial, Variable};
use super::value::Value;

/// Two parts of a value. The low part is a variable.
#[derive(Clone)]
pub(crate) struct Split {
    pub(crate) low: Value,
    pub(crate) high: Value,
}

/// Where a variable comes from.
pub(super) enum Origin {
    /// It is an argument.
    Given,
    /// It is the low part of a value, with this number of bits.
    Low(Value, i64),
    /// It is what rounding a value to a multiple of 2^n takes away. The number is n.
    Rest(Value, i64),
}

#[derive(Default)]
struct Known {
    variables: Vec<(Origin, (Dyadic, Dyadic))>,
    /// The variables of splits and of roundings, by the polynomial that is split or rounded.
    places: HashMap<(Polynomial, i64), usize>,
    rests: HashMap<(Polynomial, i64), Variable>,
    splits: Vec<Split>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Forgets all variables. Values from before must not be used again.
pub(super) fn forget() {
    KNOWN.take();
}

/// Returns all splits since [`forget`], in their order.
pub(crate) fn all_splits() -> Vec<Split> {
    KNOWN.with_borrow(|known| known.splits.clone())
}

/// Makes a variable. The rest of a rounding is noted for [`known_rest`].
pub(super) fn variable(origin: Origin, range: &(Dyadic, Dyadic)) -> Variable {
    KNOWN.with_borrow_mut(|known| {
        let number = known.variables.len() as Variable;
        if let Origin::Rest(whole, unit) = &origin {
            known.rests.insert((whole.polynomial.clone(), *unit), number);
        }
        known.variables.push((origin, range.clone()));
        number
    })
}

/// Notes the split of a polynomial at a number of bits for [`known_low`].
pub(super) fn note(whole: &Polynomial, bits: i64, split: Split) {
    KNOWN.with_borrow_mut(|known| {
        known.places.insert((whole.clone(), bits), known.splits.len());
        known.splits.push(split);
    });
}

/// Returns the low part of a polynomial that was split at this number of bits.
pub(super) fn known_low(whole: &Polynomial, bits: i64) -> Option<Value> {
    KNOWN.with_borrow(|known| {
        let place = known.places.get(&(whole.clone(), bits))?;
        Some(known.splits[*place].low.clone())
    })
}

/// Returns the rest of a polynomial that was rounded to a multiple of 2^`unit`.
pub(super) fn known_rest(whole: &Polynomial, unit: i64) -> Option<Variable> {
    KNOWN.with_borrow(|known| known.rests.get(&(whole.clone(), unit)).copied())
}

/// Returns the value of which a variable is the low part, and the number of its bits.
pub(super) fn low_of(variable: Variable) -> Option<(Value, i64)> {
    KNOWN.with_borrow(|known| match &known.variables[variable as usize].0 {
        Origin::Low(whole, bits) => Some((whole.clone(), *bits)),
        Origin::Given | Origin::Rest(..) => None,
    })
}

/// Returns whether a variable is 0 or 1.
pub(super) fn is_bit(variable: Variable) -> bool {
    KNOWN.with_borrow(|known| {
        let (_, (least, most)) = &known.variables[variable as usize];
        least.is_zero() && *most == Dyadic::power(0)
    })
}

pub(super) fn product_of((a, b): &(Dyadic, Dyadic), (c, d): &(Dyadic, Dyadic)) -> (Dyadic, Dyadic) {
    let ends = [a * c, a * d, b * c, b * d];
    (ends.iter().min().cloned().unwrap_or_default(), ends.iter().max().cloned().unwrap_or_default())
}

/// Returns the range of a polynomial, as if all its terms were independent.
pub(crate) fn range_of(polynomial: &Polynomial) -> (Dyadic, Dyadic) {
    KNOWN.with_borrow(|known| {
        polynomial.terms().fold(Default::default(), |(least, most), (variables, factor)| {
            let start = (factor.clone(), factor.clone());
            let ranges = variables.iter().map(|variable| &known.variables[*variable as usize].1);
            let (a, b) = ranges.fold(start, |product, range| product_of(&product, range));
            (&least + &a, &most + &b)
        })
    })
}

/// Returns the values of all variables for one choice of the given ones, in their order: axioms 1
/// and 5 determine the others.
pub(crate) fn values_of(given: &[Dyadic]) -> Vec<Dyadic> {
    KNOWN.with_borrow(|known| {
        let (mut values, mut given) = (Vec::new(), given.iter());
        for (origin, (least, most)) in &known.variables {
            let value = match origin {
                Origin::Given => given.next().unwrap_or_else(|| panic!("too few values")).clone(),
                Origin::Low(whole, bits) => {
                    let whole = whole.polynomial.at(&values);
                    &whole - &whole.rounded_down(*bits)
                }
                Origin::Rest(whole, unit) => {
                    let whole = whole.polynomial.at(&values);
                    let [down, up] = [whole.rounded_down(*unit), whole.rounded_up(*unit)];
                    let is_even = down.trailing_zeros().is_none_or(|zeros| zeros > *unit);
                    let (below, above) = (&whole - &down, &up - &whole);
                    let is_down = below < above || below == above && is_even;
                    &whole - if is_down { &down } else { &up }
                }
            };
            assert!(*least <= value && value <= *most, "a variable beyond its range");
            values.push(value);
        }
        values
    })
}
