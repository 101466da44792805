//! Slow work on a find: encrypting its private key.
//!
//! A key derivation cannot be interrupted, and with 10,000 rounds of bcrypt it takes about a
//! minute. So each worker has a second thread for such work, and waits for it. If the search must
//! end, the worker stops waiting and reports that the find is given up. The second thread then
//! finishes its work, wipes it, and ends, unless the process ends first.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::find::Find;
use crate::key::{EncodeError, Seed};
use crate::sys::WipeStack;

/// Makes the text of a private key from its seed.
pub type Preparation = Box<dyn FnOnce(&Seed) -> Result<Zeroizing<String>, EncodeError> + Send>;

/// The bytes of the whole stack of a search thread, whatever `RUST_MIN_STACK` is.
pub(super) const WORKER_STACK: usize = 2 << 20;

/// How often a waiting worker checks whether it must give its find up.
const POLL: Duration = Duration::from_millis(20);

/// A thread that prepares one find at a time.
pub(super) struct Preparer {
    work: SyncSender<(Find, Preparation)>,
    done: Receiver<Find>,
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

    /// Prepares a find on the second thread. Returns `None` if this takes beyond the time of
    /// `until`. Without a time it waits as long as it takes.
    ///
    /// # Panics
    ///
    /// Panics if the preparation panics.
    pub(super) fn prepare(
        self,
        find: Find,
        preparation: Preparation,
        until: impl Fn() -> Option<Instant>,
    ) -> Option<(Self, Find)> {
        // If the thread is gone, `recv_timeout` below reports it.
        let _ = self.work.send((find, preparation));
        loop {
            match self.done.recv_timeout(POLL) {
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

/// Prepares a find. One that cannot be prepared stays as it is.
fn prepared(mut find: Find, preparation: Preparation) -> Find {
    let _stack = WipeStack;
    find.prepared = preparation(&find.seed).ok();
    find
}
