//! Polynomials in many variables, with coefficients m 2^e.

use std::collections::BTreeMap;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::BigInt;

use super::dyadic::Dyadic;

/// A variable, by its number.
pub(crate) type Variable = u32;

/// A polynomial: the coefficient of each product of variables. No coefficient is 0.
///
/// A polynomial has only one form. So two of them are equal as functions just if they are equal
/// here.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Polynomial(BTreeMap<Vec<Variable>, Dyadic>);

impl Polynomial {
    pub(crate) fn constant(value: Dyadic) -> Self {
        let mut constant = Self::default();
        constant.put(Vec::new(), &value);
        constant
    }

    pub(crate) fn variable(variable: Variable) -> Self {
        Self(BTreeMap::from([(vec![variable], Dyadic::power(0))]))
    }

    fn put(&mut self, variables: Vec<Variable>, more: &Dyadic) {
        let sum = self.0.get(&variables).map_or_else(|| more.clone(), |before| before + more);
        if sum.is_zero() {
            self.0.remove(&variables);
        } else {
            self.0.insert(variables, sum);
        }
    }

    /// Returns the products of variables, each with its coefficient.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&[Variable], &Dyadic)> {
        self.0.iter().map(|(variables, coefficient)| (&variables[..], coefficient))
    }

    /// Returns the value of a polynomial without variables.
    pub(crate) fn value(&self) -> Option<Dyadic> {
        match self.0.iter().next() {
            None => Some(Dyadic::default()),
            Some((variables, value)) => (variables.is_empty() && self.0.len() == 1).then(|| value.clone()),
        }
    }

    /// Returns the variable that the polynomial consists of.
    pub(crate) fn as_variable(&self) -> Option<Variable> {
        match self.0.iter().next() {
            Some((variables, one)) if self.0.len() == 1 && *one == Dyadic::power(0) => match variables[..] {
                [variable] => Some(variable),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the value for these values of the variables.
    pub(crate) fn at(&self, values: &[Dyadic]) -> Dyadic {
        self.0.iter().fold(Dyadic::default(), |sum, (variables, coefficient)| {
            let value = |product: Dyadic, variable: &Variable| &product * &values[*variable as usize];
            &sum + &variables.iter().fold(coefficient.clone(), value)
        })
    }

    /// Returns the polynomial times 2^`bits`.
    pub(crate) fn shifted(&self, bits: i64) -> Self {
        let terms = self.0.iter().map(|(variables, value)| (variables.clone(), value.shifted(bits)));
        Self(terms.collect())
    }

    /// Returns the polynomial with one product of variables, `from`, replaced by `to` until it
    /// occurs no more.
    pub(crate) fn replaced(mut self, from: &Self, to: &Self) -> Self {
        let Some((replaced, _)) = from.terms().next() else { return self };
        // The variables of a product without those of `from`.
        let rest = |variables: &[Variable]| {
            replaced.iter().try_fold(variables.to_vec(), |mut rest, variable| {
                rest.remove(rest.iter().position(|other| other == variable)?);
                Some(rest)
            })
        };
        loop {
            let found = self.0.keys().find_map(|variables| Some((variables.clone(), rest(variables)?)));
            let Some((variables, rest)) = found else { return self };
            let coefficient = self.0.remove(&variables).unwrap_or_default();
            self = &self + &(to * &Self(BTreeMap::from([(rest, coefficient)])));
        }
    }

    /// Returns whether every value is a multiple of `divisor`, which must be odd, provided that all
    /// values are integers: then 2^n times a value is a sum of multiples, for some n.
    pub(crate) fn is_multiple_of(&self, divisor: &BigInt) -> bool {
        self.0.values().all(|coefficient| coefficient.is_multiple_of(divisor))
    }

    /// Returns the polynomial with x^2 replaced by x for each variable that `is_bit`.
    fn with_bits(self, is_bit: &impl Fn(Variable) -> bool) -> Self {
        let mut all = Self::default();
        for (mut variables, coefficient) in self.0 {
            variables.dedup_by(|a, b| a == b && is_bit(*a));
            all.put(variables, &coefficient);
        }
        all
    }

    /// Returns the product. A variable that `is_bit` is its own square.
    pub(crate) fn times(&self, other: &Self, is_bit: impl Fn(Variable) -> bool) -> Self {
        (self * other).with_bits(&is_bit)
    }
}

impl Add for &Polynomial {
    type Output = Polynomial;

    fn add(self, other: Self) -> Polynomial {
        let mut sum = self.clone();
        other.0.iter().for_each(|(variables, coefficient)| sum.put(variables.clone(), coefficient));
        sum
    }
}

impl Neg for &Polynomial {
    type Output = Polynomial;

    fn neg(self) -> Polynomial {
        Polynomial(self.0.iter().map(|(variables, value)| (variables.clone(), -value)).collect())
    }
}

impl Sub for &Polynomial {
    type Output = Polynomial;

    fn sub(self, other: Self) -> Polynomial {
        self + &-other
    }
}

impl Mul for &Polynomial {
    type Output = Polynomial;

    fn mul(self, other: Self) -> Polynomial {
        let mut product = Polynomial::default();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut variables = [&left[..], &right[..]].concat();
                variables.sort_unstable();
                product.put(variables, &(a * b));
            }
        }
        product
    }
}
