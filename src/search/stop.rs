//! Ending a search from outside.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use signal_hook::consts::{SIGINT, SIGTERM};

/// The request to end a search. Clones share it.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicUsize>);

/// The signals that end a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// SIGINT, as Ctrl-C sends it.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Signal {
    /// The signal's number.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
        }
    }

    /// The status with which a program ended by the signal exits, as shells count: 130 or 143.
    #[must_use]
    pub fn status(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

impl Stop {
    /// A request that nobody has made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A request that SIGINT and SIGTERM make for the whole process. A second signal, when the first has not
    /// ended the process yet, ends it at once. From then on, too, writing beyond the limit of a file's size is
    /// an error of the write and no longer the end of the process (SIGXFSZ).
    ///
    /// # Errors
    ///
    /// The operating system refuses the handlers.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Self::new();
        let second = Arc::new(AtomicBool::new(false));
        for signal in [Signal::Interrupt, Signal::Terminate] {
            let (number, status) = (signal.number(), i32::from(signal.status()));
            signal_hook::flag::register_conditional_shutdown(number, status, Arc::clone(&second))?;
            signal_hook::flag::register(number, Arc::clone(&second))?;
            signal_hook::flag::register_usize(number, Arc::clone(&stop.0), number as usize)?;
        }
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
        Ok(stop)
    }

    /// Makes the request.
    pub fn request(&self, signal: Signal) {
        self.0.store(signal.number() as usize, Relaxed);
    }

    /// The signal that made the request, if it was made.
    #[must_use]
    pub fn requested(&self) -> Option<Signal> {
        match self.0.load(Relaxed) {
            0 => None,
            number if number == SIGTERM as usize => Some(Signal::Terminate),
            _ => Some(Signal::Interrupt),
        }
    }
}
