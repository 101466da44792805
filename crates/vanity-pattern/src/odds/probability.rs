//! The chance that a key matches, and what follows from it for a search without memory.

use std::f64::consts::LN_2;

/// The chance that one random key matches: above 0, at most 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Odds(f64);

impl Odds {
    /// Makes odds of a chance. `None` unless it is above 0 and at most 1. A chance above 1 by less
    /// than 1e-9, from rounding, becomes 1.
    #[must_use]
    pub fn new(probability: f64) -> Option<Self> {
        (probability > 0.0 && probability < 1.0 + 1e-9).then(|| Self(probability.min(1.0)))
    }

    /// Returns the chance that one key matches.
    #[must_use]
    pub fn probability(self) -> f64 {
        self.0
    }

    /// Returns the mean number of keys until a match.
    #[must_use]
    pub fn expected_attempts(self) -> f64 {
        1.0 / self.0
    }

    /// Returns the number of keys after which the chance of a match reaches `chance` (0..1).
    #[must_use]
    pub fn attempts_for(self, chance: f64) -> f64 {
        // (1 - p)^n = 1 - chance, and at least one key must be tried.
        ((-chance).ln_1p() / (-self.0).ln_1p()).max(1.0)
    }

    /// Returns the chance that `attempts` keys hold at least one match.
    #[must_use]
    pub fn chance_after(self, attempts: f64) -> f64 {
        if attempts == 0.0 { 0.0 } else { -(attempts * (-self.0).ln_1p()).exp_m1() }
    }

    /// Returns the chance as bits of work: the binary logarithm of [`Self::expected_attempts`].
    #[must_use]
    pub fn bits(self) -> f64 {
        -self.0.ln() / LN_2
    }
}

/// A chance that is known exactly, or a lower and an upper bound of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The lower bound.
    pub at_least: Odds,
    /// The upper bound.
    pub at_most: Odds,
}

impl Bounds {
    /// Makes bounds of an exact chance.
    #[must_use]
    pub const fn exact(odds: Odds) -> Self {
        Self { at_least: odds, at_most: odds }
    }

    /// Makes bounds of two chances. Swaps them if rounding has reversed their order.
    #[must_use]
    pub fn between(at_least: Odds, at_most: Odds) -> Self {
        Self { at_least: Odds(at_least.0.min(at_most.0)), at_most: Odds(at_most.0.max(at_least.0)) }
    }

    /// Returns whether the chance is known exactly.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.at_least == self.at_most
    }
}
