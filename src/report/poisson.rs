//! The chance that fewer than so many random events happen.

use std::f64::consts::TAU;

/// The number of events from which their mean decides. It is then right to one in 10,000.
const CERTAIN: u64 = 100_000_000;

/// The share of a sum below which its terms do not count.
const NEGLIGIBLE: f64 = 1e-15;

/// Returns the chance of fewer than `events` events, if their number has a Poisson distribution
/// with this mean.
pub(super) fn fewer_than(events: u64, mean: f64) -> f64 {
    let number = events as f64;
    if events == 1 {
        return (-mean).exp();
    }
    if events >= CERTAIN {
        return if mean < number { 1.0 } else { 0.0 };
    }
    let chance_of = |events: f64| (events * mean.ln() - mean - ln_factorial(events)).exp();
    // Both sums begin with their largest term.
    let sum = |from: f64, next: fn(f64, f64) -> (f64, f64)| {
        let (mut at, mut term, mut sum) = (from, chance_of(from), 0.0);
        while term > NEGLIGIBLE * sum && at >= 0.0 {
            sum += term;
            let (to, factor) = next(at, mean);
            (at, term) = (to, term * factor);
        }
        sum
    };
    if number <= mean {
        sum(number - 1.0, |at, mean| (at - 1.0, at / mean))
    } else {
        1.0 - sum(number, |at, mean| (at + 1.0, mean / (at + 1.0)))
    }
}

/// Returns the logarithm of a factorial, by Stirling's series for large numbers.
fn ln_factorial(number: f64) -> f64 {
    if number < 20.0 {
        return (2..=number as u64).map(|factor| (factor as f64).ln()).sum();
    }
    number * number.ln() - number
        + 0.5 * (TAU * number).ln()
        + (1.0 / 12.0 - 1.0 / (360.0 * number * number)) / number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chances_are_those_of_a_poisson_distribution() {
        for (events, mean, expected) in [
            (1, 2.0, 0.135_335_283_236_612_7),
            (2, 2.0, 0.406_005_849_709_838_1),
            (3, 2.0, 0.676_676_416_183_063_5),
            (5, 20.0, 1.694_474_393_006_737_5e-5),
            (20, 5.0, 0.999_999_654_786_417_4),
            (100, 100.0, 0.486_701_201_720_868_2),
            (1_000_000, 1_000_000.0, 0.499_867_019_039),
        ] {
            let chance = fewer_than(events, mean);
            assert!((chance / expected - 1.0).abs() < 1e-6, "{events} {mean}: {chance}");
        }
        assert_eq!((fewer_than(u64::MAX, 1e19), fewer_than(u64::MAX, 1e20)), (1.0, 0.0));
        assert_eq!((fewer_than(3, 0.0), fewer_than(3, 1e300)), (1.0, 0.0));
    }
}
