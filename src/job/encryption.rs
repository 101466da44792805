//! Encrypts the private keys of finds on threads of their own.
//!
//! A key derivation cannot be interrupted, and with 10,000 rounds of bcrypt it takes about a minute. So
//! it never runs on the thread that hears signals. A key that is not encrypted in time when the job must
//! end is given up. Its thread finishes its work, wipes it, and ends, unless the process ends first.
//!
//! The threads stay, because each keeps the memory of its key derivation for the next key. A thread for each
//! key takes more memory than a limit may leave.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::error::{JobError, diagnostic};
use super::parcel::Parcel;
use crate::key::{EncodeError, Format, Protection, try_encryption};
use crate::pattern::PatternId;
use crate::sys::WipeStack;

/// The bytes of the whole stack of a thread, whatever `RUST_MIN_STACK` is.
pub(super) const STACK: usize = 2 << 20;

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
pub(super) type Work = Box<dyn FnOnce() -> Parcel + Send>;

/// The finds that are being encrypted.
pub(super) struct Encryption {
    work: Sender<Work>,
    next: Arc<Mutex<Receiver<Work>>>,
    done: Sender<thread::Result<Parcel>>,
    parcels: Receiver<thread::Result<Parcel>>,
    threads: usize,
    most_threads: usize,
    /// The first pattern of each find that is not yet encrypted.
    unfinished: Vec<PatternId>,
}

impl Encryption {
    /// Starts the first thread. Others start when they are needed, `most_threads` at most, if the system
    /// lets them start.
    pub(super) fn start(most_threads: usize) -> io::Result<Self> {
        let (work, next) = channel();
        let (done, parcels) = channel();
        let next = Arc::new(Mutex::new(next));
        let unfinished = Vec::new();
        let mut started = Self { work, next, done, parcels, threads: 0, most_threads, unfinished };
        started.start_thread()?;
        Ok(started)
    }

    fn start_thread(&mut self) -> io::Result<()> {
        let (next, done) = (Arc::clone(&self.next), self.done.clone());
        let encrypt = move || {
            let take = || next.lock().unwrap_or_else(PoisonError::into_inner).recv();
            while let Ok(work) = take() {
                let _stack = WipeStack;
                let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
                if done.send(made).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("encryption".into()).stack_size(STACK).spawn(encrypt)?;
        self.threads += 1;
        Ok(())
    }

    /// Takes a find whose first pattern is `first`. Starts another thread for it if none is free.
    pub(super) fn add(&mut self, first: PatternId, work: Work) {
        self.unfinished.push(first);
        if self.threads < self.unfinished.len().min(self.most_threads) {
            // Without it, the find waits for another thread.
            let _ = self.start_thread();
        }
        // The other end lives as long as this one.
        let _ = self.work.send(work);
    }

    /// Returns the finds that were encrypted meanwhile. Waits for the first one for `most` at most.
    ///
    /// # Panics
    ///
    /// Panics if an encryption has panicked.
    pub(super) fn take(&mut self, most: Duration) -> Vec<Parcel> {
        let first = if self.unfinished.is_empty() { None } else { self.parcels.recv_timeout(most).ok() };
        let made = first.into_iter().chain(self.parcels.try_iter());
        let parcels: Vec<Parcel> =
            made.map(|made| made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
        for parcel in &parcels {
            let first = parcel.find.patterns[0];
            if let Some(place) = self.unfinished.iter().position(|one| *one == first) {
                self.unfinished.swap_remove(place);
            }
        }
        parcels
    }

    /// Returns how many finds can be encrypted at once beside the present ones.
    pub(super) fn room(&self) -> usize {
        self.most_threads.saturating_sub(self.unfinished.len())
    }

    /// Returns the first pattern of each find that is not yet encrypted.
    pub(super) fn unfinished(&self) -> &[PatternId] {
        &self.unfinished
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
        let mut encryption = Encryption::start(3).unwrap();
        let met = Arc::new(std::sync::Barrier::new(4));
        for id in 0..5 {
            let met = Arc::clone(&met);
            encryption.add(
                id,
                Box::new(move || {
                    assert_eq!(thread::current().name(), Some("encryption"));
                    if id < 3 {
                        met.wait();
                    }
                    parcel(id)
                }),
            );
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
        let mut encryption = Encryption::start(1).unwrap();
        encryption.add(0, Box::new(|| panic!("on purpose")));
        let take = std::panic::AssertUnwindSafe(|| drop(encryption.take(Duration::from_secs(60))));
        assert!(std::panic::catch_unwind(take).is_err());
    }
}
