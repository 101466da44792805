//! A first filter on bytes, by runs that every match shows: the cheaper one of two.

use super::run::Run;
use super::sequence_filter::SequenceFilter;
use super::stage::EachPlace;
use super::window_filter::WindowFilter;
use crate::wire::{Bytes, Target};
use ed25519_batch::simd::InstructionSet;

/// Rejects bytes that show none of the runs.
pub(super) struct RunFilter {
    /// The windows, which devices test, too. They have no rows if none pays.
    windows: WindowFilter,
    /// The sequences, if they are cheaper on this processor.
    sequences: Option<SequenceFilter>,
}

impl RunFilter {
    /// Returns a filter that lets everything pass.
    pub(super) fn none() -> Self {
        Self::of_windows(WindowFilter::none())
    }

    /// Returns a filter that tests these windows.
    pub(super) fn of_windows(windows: WindowFilter) -> Self {
        Self { windows, sequences: None }
    }

    /// Returns a filter that tests sequences, on any processor.
    #[cfg(test)]
    pub(super) fn of_sequences(sequences: SequenceFilter) -> Self {
        Self { windows: WindowFilter::none(), sequences: Some(sequences) }
    }

    /// Returns the filter with which the tests of an element take least, if those after it take
    /// `after` nanoseconds for an element that passes.
    pub(super) fn cheapest(
        windows: WindowFilter,
        set: InstructionSet,
        target: Target,
        runs: impl Iterator<Item = Run>,
        after: f64,
    ) -> Self {
        let mut cheapest = Self::of_windows(windows);
        for sequences in SequenceFilter::all(target, set, runs) {
            if sequences.cost() + sequences.share_passing() * after
                < cheapest.cost() + cheapest.share_passing() * after
            {
                cheapest.sequences = Some(sequences);
            }
        }
        cheapest
    }

    /// Returns the windows.
    pub(super) fn windows(&self) -> &WindowFilter {
        &self.windows
    }

    /// Returns whether the filter lets everything pass.
    pub(super) fn is_none(&self) -> bool {
        self.sequences.is_none() && self.windows.are_none()
    }

    /// Estimates the share of random bytes that pass.
    pub(super) fn share_passing(&self) -> f64 {
        self.sequences.as_ref().map_or_else(|| self.windows.share_passing(), SequenceFilter::share_passing)
    }

    /// Returns the cost of this test in nanoseconds for each element.
    pub(super) fn cost(&self) -> f64 {
        self.sequences.as_ref().map_or_else(|| self.windows.cost(), SequenceFilter::cost)
    }

    /// Returns the elements that may show a run: their places, in ascending order, and their bytes.
    pub(super) fn passing(&self, batch: &[Bytes]) -> (Vec<usize>, Vec<Bytes>) {
        let (mut places, mut passing) = (Vec::new(), Vec::new());
        self.survivors(batch, &mut |place| {
            places.push(place);
            passing.push(batch[place]);
        });
        (places, passing)
    }

    /// Calls `each` with the place of every element that may show a run, in ascending order.
    pub(super) fn survivors(&self, batch: &[Bytes], each: EachPlace) {
        match &self.sequences {
            Some(sequences) => sequences.survivors(batch, each),
            None => self.windows.survivors(batch, each),
        }
    }
}
