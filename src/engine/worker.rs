//! The interface between engines and a search.

pub use ed25519_batch::Tuning;
use zeroize::Zeroizing;

use crate::key::{PublicKey, Seed};
use crate::notice::Notice;
use crate::pattern::Matcher;
use crate::wire;
use ed25519_batch::simd::InstructionSet;

/// A way of searching.
pub trait Engine: Send + Sync {
    /// Returns the name that selects the engine.
    fn name(&self) -> &'static str;

    /// Returns a new worker for one thread.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// Returns the number of workers for a search with `threads` threads.
    fn workers(&self, threads: usize) -> usize {
        threads
    }

    /// Returns the instruction set with which seeds are made and keys are matched. An engine that
    /// stands for an instruction set uses nothing above it.
    #[doc(hidden)]
    fn instruction_set(&self) -> InstructionSet {
        InstructionSet::widest()
    }

    /// Returns whether the engine has found its fastest settings on this machine. Before, its rate
    /// can rise.
    fn is_settled(&self) -> bool {
        true
    }

    /// Returns what the engine has found out to be the fastest on this machine. `None` if it has
    /// nothing to choose.
    fn tuning(&self) -> Option<Tuning> {
        None
    }

    /// Returns the notices for the user since the last call.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
}

/// One thread's part of an engine.
pub trait Worker {
    /// Takes seeds, derives their public keys, and adds those that match to `hits`. Returns the
    /// number of candidates tried, which is exactly the number of seeds taken.
    ///
    /// A batch takes from some milliseconds to 100. Between two batches a search can end, or change
    /// the matcher.
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64;
}

/// A source of seeds.
pub trait SeedSource {
    /// Overwrites every seed with a fresh one.
    fn fill(&mut self, seeds: &mut [[u8; 32]]);

    /// Returns a fresh key of ChaCha20. An engine may use its stream for seeds, from the beginning.
    /// `None` if the engine must use the seeds of [`Self::fill`].
    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        None
    }
}

/// An engine's claim that a seed's public key matches.
pub struct Hit {
    /// The number of candidates of the same batch that were tried before it.
    pub index: u64,
    /// The seed.
    pub seed: Seed,
    /// The public key, as the engine computed it.
    pub public_key: PublicKey,
    /// Whether the highest bit of the public key, the sign of x, is known. If not, the bit is 0,
    /// and the claim is that the key matches with one sign or the other.
    pub has_sign: bool,
}

impl Hit {
    /// Returns the keys that the hit may mean: one, or one with each sign. The claim is that one of
    /// them matches.
    pub fn possible(&self) -> impl Iterator<Item = PublicKey> {
        let other = (!self.has_sign).then(|| PublicKey(wire::with_sign(self.public_key.0)));
        std::iter::once(self.public_key).chain(other)
    }
}
