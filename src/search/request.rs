//! What a search is asked for.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::find::Find;
use super::prepare::Preparation;
use super::quota::Quota;
use crate::engine::Engine;
use crate::pattern::Pattern;

/// The most worker threads.
pub const MAX_THREADS: usize = 1024;

/// What to search for, and how.
pub struct Search<'a> {
    /// The way of searching.
    pub engine: &'a dyn Engine,
    /// What to look for, all in the same pass.
    pub patterns: &'a [Pattern],
    /// Worker threads; never more than [`MAX_THREADS`] are started.
    pub threads: NonZeroUsize,
    /// What is wanted.
    pub goal: Goal,
    /// After which time it ends in any case.
    pub timeout: Option<Duration>,
    /// What takes long and is done with each find before it is handed over: encrypting the private key.
    pub prepare: Option<&'a Prepare<'a>>,
}

/// Gives the work that makes a find's text. The work itself is done on a thread of its own, which may outlast the search.
pub type Prepare<'a> = dyn Fn(&Find) -> Preparation + Sync + 'a;

/// What a search is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// So many keys. The search is complete when it has found them.
    Keys(Quota),
    /// A measurement: the first keys that each worker finds are proved, and all are dropped.
    Measurement,
}
