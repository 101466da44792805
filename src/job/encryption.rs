//! Encrypts the private keys of finds on threads of their own.
//!
//! A key derivation cannot be interrupted, and with 10,000 rounds of bcrypt it takes about a minute. So
//! it never runs on the thread that hears signals. A key that is not encrypted in time when the job must
//! end is given up. Its thread finishes its work, wipes it, and ends, unless the process ends first.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::error::{JobError, diagnostic};
use super::parcel::Parcel;
use crate::key::{EncodeError, Format, Protection, try_encryption};
use crate::pattern::PatternId;
use crate::sys::WipeStack;

/// The bytes of the whole stack of a thread, whatever `RUST_MIN_STACK` is.
pub(super) const STACK: usize = 2 << 20;

/// How often threads are looked at that encrypt.
const PAUSE: Duration = Duration::from_millis(5);

/// Encrypts a key that is thrown away, on a thread like those that encrypt finds.
///
/// # Errors
///
/// Returns why finds could not be encrypted.
pub(super) fn try_it(format: Format, comment: &str, protection: &Protection) -> Result<(), JobError> {
    let encrypt = || {
        let _stack = WipeStack;
        try_encryption(format, comment, protection)
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, encrypt);
        let tried = thread.map_err(JobError::Thread)?.join();
        tried.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(|error| match error {
            EncodeError::Randomness(error) => JobError::Randomness(error),
            error => diagnostic(&error, error.hint()).into(),
        })
    })
}

/// Makes a parcel of a find.
pub(super) type Work = Arc<dyn Fn() -> Parcel + Send + Sync>;

/// The finds that are being encrypted, each with its first pattern.
pub(super) struct Encryption {
    /// The finds that have a thread.
    running: Vec<(PatternId, JoinHandle<Parcel>)>,
    /// The finds for which no thread was free.
    waiting: VecDeque<(PatternId, Work)>,
    most_threads: usize,
}

impl Encryption {
    /// Returns an encryption by `most_threads` at most, if the system lets them start.
    pub(super) fn new(most_threads: usize) -> Self {
        Self { running: Vec::new(), waiting: VecDeque::new(), most_threads }
    }

    /// Takes finds. [`Self::take`] starts their threads.
    pub(super) fn add(&mut self, finds: impl IntoIterator<Item = (PatternId, Work)>) {
        self.waiting.extend(finds);
    }

    /// Starts threads for finds that wait. Returns those that were encrypted here, because not even one
    /// thread started.
    fn start(&mut self) -> Option<Parcel> {
        while self.running.len() < self.most_threads
            && let Some((first, work)) = self.waiting.pop_front()
        {
            let own = Arc::clone(&work);
            let encrypt = move || {
                let _stack = WipeStack;
                own()
            };
            match thread::Builder::new().name("encryption".into()).stack_size(STACK).spawn(encrypt) {
                Ok(thread) => self.running.push((first, thread)),
                Err(_) if self.running.is_empty() => return Some(work()),
                Err(_) => {
                    self.waiting.push_front((first, work));
                    return None;
                }
            }
        }
        None
    }

    /// Returns the finds that were encrypted meanwhile. Waits for the first one for `most` at most.
    ///
    /// # Panics
    ///
    /// Panics if an encryption has panicked.
    pub(super) fn take(&mut self, most: Duration) -> Vec<Parcel> {
        let until = Instant::now() + most;
        loop {
            let ended = self.running.extract_if(.., |(_, thread)| thread.is_finished());
            let join = |thread: JoinHandle<Parcel>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            let mut parcels: Vec<Parcel> = ended.map(|(_, thread)| join(thread)).collect();
            parcels.extend(self.start());
            if !parcels.is_empty() || self.running.is_empty() || until <= Instant::now() {
                return parcels;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns how many finds can be encrypted at once beside the present ones.
    pub(super) fn room(&self) -> usize {
        self.most_threads.saturating_sub(self.running.len() + self.waiting.len())
    }

    /// Returns the first pattern of each find that is not yet encrypted.
    pub(super) fn unfinished(&self) -> Vec<PatternId> {
        let running = self.running.iter().map(|(first, _)| *first);
        running.chain(self.waiting.iter().map(|(first, _)| *first)).collect()
    }
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;
    use crate::key::{Format, Seed};
    use crate::search::PublicFind;

    /// Returns a find of a pattern, without a text.
    fn parcel(id: PatternId) -> Parcel {
        let seed = Seed::new([7; 32]);
        let public_key = seed.public_key();
        let find = PublicFind { public_key, patterns: vec![id], attempts: 1, elapsed: Duration::ZERO };
        Parcel::new(find, String::new(), seed, Zeroizing::default(), Format::Openssh)
    }

    #[test]
    fn finds_are_encrypted_beside_each_other_and_all_are_returned() {
        let mut encryption = Encryption::new(3);
        let met = Arc::new(std::sync::Barrier::new(4));
        for id in 0..5 {
            let met = Arc::clone(&met);
            let work = move || {
                assert_eq!(thread::current().name(), Some("encryption"));
                if id < 3 {
                    met.wait();
                }
                parcel(id)
            };
            encryption.add([(id, Arc::new(work) as Work)]);
        }
        assert_eq!((encryption.room(), encryption.unfinished().len()), (0, 5));
        assert!(encryption.take(Duration::from_millis(1)).is_empty());
        met.wait();
        let mut encrypted = Vec::new();
        while !encryption.unfinished().is_empty() {
            encrypted.extend(encryption.take(Duration::from_secs(60)).iter().map(|one| one.find.patterns[0]));
        }
        encrypted.sort_unstable();
        assert_eq!((encrypted, encryption.room()), (vec![0, 1, 2, 3, 4], 3));
        assert!(encryption.take(Duration::from_secs(60)).is_empty(), "nothing is waited for");
    }

    #[test]
    fn a_panic_is_passed_on() {
        let mut encryption = Encryption::new(1);
        encryption.add([(0, Arc::new(|| -> Parcel { panic!("on purpose") }) as Work)]);
        let take = std::panic::AssertUnwindSafe(|| drop(encryption.take(Duration::from_secs(60))));
        assert!(std::panic::catch_unwind(take).is_err());
    }
}
