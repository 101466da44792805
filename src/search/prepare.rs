//! Work on a find that takes long: encrypting its private key.
//!
//! A key derivation cannot be interrupted, and with 10,000 rounds of bcrypt it takes about a minute. So each worker has a second
//! thread that does such work while the worker waits, and nobody has to wait for that thread: a search that must end gives the
//! find up and says so. The thread then finishes its work, wipes it, and ends, if the process lasts so long.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::find::Find;
use crate::key::{EncodeError, Seed};
use crate::sys::WipeStack;

/// Makes the private key's text of a seed.
pub type Preparation = Box<dyn FnOnce(&Seed) -> Result<Zeroizing<String>, EncodeError> + Send>;

/// Bytes of a whole stack of a thread of the search, whatever the surroundings say (`RUST_MIN_STACK`).
pub(super) const WORKER_STACK: usize = 2 << 20;

/// How often a worker that waits for its find looks whether it has to give it up.
const LOOK: Duration = Duration::from_millis(20);

/// A thread that prepares one find at a time.
pub(super) struct Preparer {
    work: SyncSender<(Find, Preparation)>,
    done: Receiver<Result<Find, EncodeError>>,
    thread: JoinHandle<()>,
}

impl Preparer {
    pub(super) fn start() -> io::Result<Self> {
        let (work, next) = sync_channel(0);
        let (finished, done) = sync_channel(1);
        let prepare = move || {
            for (find, preparation) in next {
                if finished.send(prepared(find, preparation)).is_err() {
                    return;
                }
            }
        };
        let thread =
            std::thread::Builder::new().name("preparer".into()).stack_size(WORKER_STACK).spawn(prepare)?;
        Ok(Self { work, done, thread })
    }

    /// Has a find prepared. `None` if that lasts beyond the time that `until` gives, when it gives one.
    ///
    /// # Panics
    ///
    /// The preparation panicked.
    pub(super) fn prepare(
        self,
        find: Find,
        preparation: Preparation,
        until: impl Fn() -> Option<Instant>,
    ) -> Option<(Self, Result<Find, EncodeError>)> {
        // If the thread is gone, the next call says so.
        let _ = self.work.send((find, preparation));
        loop {
            match self.done.recv_timeout(LOOK) {
                Ok(prepared) => return Some((self, prepared)),
                Err(RecvTimeoutError::Timeout) if until().is_some_and(|until| until <= Instant::now()) => {
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match self.thread.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => unreachable!("the thread ends after its worker"),
                },
            }
        }
    }
}

fn prepared(mut find: Find, preparation: Preparation) -> Result<Find, EncodeError> {
    let _stack = WipeStack;
    find.prepared = Some(preparation(&find.seed)?);
    Ok(find)
}
