//! A first look at the bytes, which rules most of them out before anything exact is done.
//!
//! The promise: bytes that are refused show none of the runs, whatever the highest bit of a key, the sign of x, is. Of
//! bytes that pass it is said where a run may begin; exact tests decide.
//!
//! Two filters are there. `rows` looks at a few windows of two bytes, whose values are marked in 8 KiB: for some hundred
//! runs at most, whatever sets of symbols they are made of. `quads` looks at four characters everywhere, folded into
//! classes: for lists of literals. Which is cheaper is reckoned from the shares of random bytes that they let pass.

mod anchored;
mod quads;
mod rows;

use std::ops::RangeInclusive;

use super::classes::Classes;
use crate::wire::{BODY_LEN, Bytes, Subject, Symbols};
pub(super) use quads::Quads;
pub(super) use rows::Rows;

/// Characters to look for, each as the symbols it may be, and the positions where the first may stand.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) symbols: Vec<Symbols>,
    pub(super) starts: RangeInclusive<usize>,
}

/// A set of positions: bit p stands for position p.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Starts(u64);

impl Starts {
    pub(super) const ALL: Self = Self((1 << BODY_LEN) - 1);

    /// `first` and all that follow.
    pub(super) fn from(first: usize) -> Self {
        Self(Self::ALL.0 >> first << first)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// These and each following one.
    pub(super) fn and_next(self) -> Self {
        Self((self.0 | self.0 << 1) & Self::ALL.0)
    }

    /// The positions in ascending order.
    pub(super) fn each(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            next
        })
    }
}

/// Tells bytes that show no run.
pub(super) enum Filter {
    /// Everything passes.
    Off,
    Rows(Rows),
    Quads(Quads),
}

/// What the exact look-ups at all places take in nanoseconds, for each number of characters that is looked up and both signs.
const EVERYWHERE: f64 = 200.0;

/// What they take where the quads have said at which places.
const AT_A_PLACE: f64 = 20.0;

impl Filter {
    /// The cheaper filter for the runs of literals, whose symbols `classes` has folded. The exact test makes so many
    /// `look_ups` at each place.
    pub(super) fn new(
        subject: Subject,
        classes: &Classes,
        look_ups: usize,
        runs: impl Iterator<Item = Run> + Clone,
    ) -> Self {
        let everywhere = EVERYWHERE * look_ups as f64;
        let rows = Rows::new(subject, runs.clone());
        let of_rows = rows.cost() + rows.share_passing() * everywhere;
        if of_rows < quads::LEAST_COST {
            return Self::Rows(rows);
        }
        let of_quads = |quads: &Quads| quads.cost() + quads.hits() * AT_A_PLACE * look_ups as f64;
        match Quads::new(subject, classes, runs) {
            Some(quads) if of_quads(&quads) < of_rows.min(everywhere) => Self::Quads(quads),
            _ if of_rows < everywhere => Self::Rows(rows),
            _ => Self::Off,
        }
    }

    /// Calls `each` with the place of everything in `batch` that may show a run, in ascending order, and where. Of a key the highest
    /// bit has to be 0; it passes if it may show a run with either sign.
    pub(super) fn survivors(&self, classes: &Classes, batch: &[Bytes], each: &mut dyn FnMut(usize, Starts)) {
        match self {
            Self::Off => (0..batch.len()).for_each(|place| each(place, Starts::ALL)),
            Self::Rows(rows) => rows.survivors(batch, &mut |place| each(place, Starts::ALL)),
            Self::Quads(quads) => quads.survivors(classes, batch, each),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;
    use crate::wire::{SYMBOL_BITS, with_sign};

    fn below(random: &mut ChaCha8Rng, end: usize) -> usize {
        random.next_u32() as usize % end
    }

    /// A run of literals: letters with both cases, a digit, or delimiters, anywhere or at one end.
    fn random_run(random: &mut ChaCha8Rng, least: usize) -> Run {
        let sets: Vec<Symbols> = ["aA", "bB", "cC", "xX", "7", "+/"]
            .iter()
            .map(|set| set.bytes().fold(Symbols::default(), |all, byte| all.or(Symbols::of(byte))))
            .collect();
        let len = least + below(random, 7);
        let last = BODY_LEN - len;
        let starts = [0..=0, last..=last, 0..=last, 0..=last][below(random, 4)].clone();
        Run { symbols: (0..len).map(|_| sets[below(random, sets.len())]).collect(), starts }
    }

    /// Bytes that show `run` from `start` on, among random ones; none if its ends cannot stand there.
    fn showing(subject: Subject, run: &Run, start: usize, random: &mut ChaCha8Rng) -> Option<Bytes> {
        let mut bytes = Bytes::default();
        random.fill_bytes(&mut bytes);
        for (at, symbols) in run.symbols.iter().enumerate() {
            let position = start + at;
            let allowed = symbols.and(subject.symbols(position));
            let values: Vec<u8> = (0..64).filter(|value| allowed.has(*value)).collect();
            let value = *values.get(below(random, values.len().max(1)))?;
            for bit in 0..SYMBOL_BITS {
                let Some(place) = (SYMBOL_BITS * position + bit).checked_sub(subject.lead()) else {
                    continue;
                };
                if place < 256 {
                    let mask = 0x80 >> (place % 8);
                    let set = value >> (SYMBOL_BITS - 1 - bit) & 1 == 1;
                    bytes[place / 8] = if set { bytes[place / 8] | mask } else { bytes[place / 8] & !mask };
                }
            }
        }
        if subject == Subject::Key {
            bytes[31] &= 0x7f;
        }
        Some(bytes)
    }

    /// The promise, for either filter, every place, and lists of all sizes.
    #[test]
    fn whatever_shows_a_run_passes_and_its_place_is_told() {
        let mut random = ChaCha8Rng::from_seed([6; 32]);
        let mut tested = 0;
        for list in 0..200 {
            let subject = [Subject::Key, Subject::Fingerprint][list % 2];
            let least = [2, 3, 5][list % 3];
            let runs: Vec<Run> =
                (0..[1, 2, 7, 40][list % 4]).map(|_| random_run(&mut random, least)).collect();
            let classes = Classes::new(runs.iter().flat_map(|run| run.symbols.clone()));
            let filters = [
                Filter::Rows(Rows::new(subject, runs.iter().cloned())),
                Filter::Quads(Quads::new(subject, &classes, runs.iter().cloned()).unwrap()),
                Filter::new(subject, &classes, 1, runs.iter().cloned()),
            ];
            let run = &runs[below(&mut random, runs.len())];
            for start in run.starts.clone() {
                let Some(bytes) = showing(subject, run, start, &mut random) else { continue };
                for (number, filter) in filters.iter().enumerate() {
                    let mut told = None;
                    filter.survivors(
                        &classes,
                        &[[0; 32], bytes, [0xff; 32].map(|byte| byte >> 1)],
                        &mut |place, starts| {
                            if place == 1 {
                                told = Some(starts.each().any(|told| told == start));
                            }
                        },
                    );
                    assert_eq!(
                        told,
                        Some(true),
                        "list {list}, filter {number}, start {start} of {:?}",
                        run.starts
                    );
                }
                tested += 1;
            }
        }
        assert!(tested > 1000, "{tested} places");
    }

    /// A longer run with classes that share no symbol tells the same of a key with its sign set.
    #[test]
    fn a_key_passes_with_the_sign_that_it_has_not() {
        let mut random = ChaCha8Rng::from_seed([8; 32]);
        let sign = |value: u8| Symbols(1 << (value | 0b10));
        for value in [0, 5, 13, 60] {
            let run = Run { symbols: vec![sign(value), Symbols(1 << 9)], starts: 41..=41 };
            let movable = Run { starts: 0..=41, ..run.clone() };
            for runs in [vec![run.clone()], vec![movable]] {
                let classes = Classes::new(runs.iter().flat_map(|run| run.symbols.clone()));
                let key = showing(Subject::Key, &run, 41, &mut random).unwrap();
                assert_eq!(Subject::Key.window(&with_sign(key), 41, 2), u64::from(value | 0b10) << 6 | 9);
                for filter in [
                    Filter::Rows(Rows::new(Subject::Key, runs.iter().cloned())),
                    Filter::Quads(Quads::new(Subject::Key, &classes, runs.iter().cloned()).unwrap()),
                ] {
                    let mut passed = false;
                    filter.survivors(&classes, &[key], &mut |_, _| passed = true);
                    assert!(passed, "value {value}");
                }
            }
        }
    }

    #[test]
    fn starts_are_a_set_of_positions() {
        assert_eq!(Starts::ALL.each().collect::<Vec<_>>(), (0..BODY_LEN).collect::<Vec<_>>());
        let last = Starts::from(BODY_LEN - 2);
        assert_eq!(last.each().collect::<Vec<_>>(), [41, 42]);
        assert_eq!(Starts(0b101).and_next(), Starts(0b1111));
        assert_eq!(last.and_next().and(Starts::from(42)), Starts::from(42));
    }
}
