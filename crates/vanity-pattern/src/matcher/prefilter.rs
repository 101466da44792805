//! A first test of bytes, by needles of which every match shows one.

use super::pair_bitmap::PairBitmap;
use super::sequence_filter::SequenceFilter;
use crate::wire::Bytes;

/// A callback that takes the index of a candidate in a batch.
pub(super) type EachCandidate<'a> = &'a mut dyn FnMut(usize);

/// Rejects bytes that show none of the needles.
pub(super) struct Prefilter {
    /// The pair bitmap, which devices test, too. It has no rows if none pays.
    pairs: PairBitmap,
    /// The sequences, if they are cheaper on this processor.
    sequences: Option<SequenceFilter>,
}

impl Prefilter {
    /// Returns a filter that rejects nothing.
    pub(super) fn none() -> Self {
        Self::new(PairBitmap::none(), None)
    }

    /// Returns a filter that tests sequences if there are some, and pairs otherwise.
    pub(super) fn new(pairs: PairBitmap, sequences: Option<SequenceFilter>) -> Self {
        Self { pairs, sequences }
    }

    pub(super) fn pairs(&self) -> &PairBitmap {
        &self.pairs
    }

    /// Returns whether every element is a candidate.
    pub(super) fn is_none(&self) -> bool {
        self.sequences.is_none() && self.pairs.is_none()
    }

    /// Estimates the share of random bytes that are candidates.
    pub(super) fn candidate_share(&self) -> f64 {
        self.sequences.as_ref().map_or_else(|| self.pairs.candidate_share(), SequenceFilter::candidate_share)
    }

    /// Calls `each` with every candidate.
    pub(super) fn candidates(&self, batch: &[Bytes], each: EachCandidate) {
        match &self.sequences {
            Some(sequences) => sequences.candidates(batch, each),
            None => self.pairs.candidates(batch, each),
        }
    }

    /// Returns the candidates and their bytes.
    pub(super) fn copied(&self, batch: &[Bytes]) -> (Vec<usize>, Vec<Bytes>) {
        let (mut candidates, mut bytes) = (Vec::new(), Vec::new());
        self.candidates(batch, &mut |candidate| {
            candidates.push(candidate);
            bytes.push(batch[candidate]);
        });
        (candidates, bytes)
    }
}
