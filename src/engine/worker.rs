//! What an engine is to a search.

use zeroize::Zeroizing;

use crate::key::{PublicKey, Seed};
use crate::notice::Notice;
use crate::pattern::Matcher;
use crate::wire;

/// A way of searching.
pub trait Engine: Send + Sync {
    /// The name by which it is chosen.
    fn name(&self) -> &'static str;

    /// What one thread needs.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// How many workers a search has that was asked for so many threads.
    fn workers(&self, threads: usize) -> usize {
        threads
    }

    /// Returns what has happened since it was asked the last time, and should be known to people who wait.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
}

/// One thread's part of an engine.
pub trait Worker {
    /// Takes seeds, derives their public keys and adds those that match to `hits`. Gives the number of
    /// candidates tried: exactly the number of seeds taken.
    ///
    /// A batch lasts some milliseconds, up to 100, so that a search can be ended, or go on with another matcher,
    /// between two of them.
    fn batch(&mut self, matcher: &Matcher, seeds: &mut dyn SeedSource, hits: &mut Vec<Hit>) -> u64;
}

/// Where seeds come from.
pub trait SeedSource {
    /// Overwrites every seed with a fresh one.
    fn fill(&mut self, seeds: &mut [[u8; 32]]);

    /// A fresh key of ChaCha20, whose stream an engine may take for seeds, from its beginning. `None` where seeds have to
    /// be those that [`Self::fill`] gives.
    fn key(&mut self) -> Option<Zeroizing<[u8; 32]>> {
        None
    }
}

/// An engine's claim that a seed's public key matches.
pub struct Hit {
    /// How many candidates of the same batch were tried before it.
    pub index: u64,
    /// The seed.
    pub seed: Seed,
    /// The public key, as the engine computed it.
    pub public_key: PublicKey,
    /// Whether that has its highest bit, the sign of x. If not, the bit is 0, and the claim is that the key matches with
    /// one sign or the other.
    pub has_sign: bool,
}

impl Hit {
    /// The keys of which one is claimed.
    pub fn possible(&self) -> impl Iterator<Item = PublicKey> {
        let other = (!self.has_sign).then(|| PublicKey(wire::with_sign(self.public_key.0)));
        std::iter::once(self.public_key).chain(other)
    }
}
