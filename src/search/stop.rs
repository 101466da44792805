//! Ending a search from outside.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use signal_hook::consts::{SIGINT, SIGTERM};

/// Whether the signals still end the process.
#[cfg(all(unix, feature = "gpu"))]
static ENDS: std::sync::OnceLock<Arc<AtomicBool>> = std::sync::OnceLock::new();

/// The request to end a search. Clones share it.
#[derive(Clone, Default)]
pub struct Stop {
    /// The number of the signal that made it, or 0.
    signal: Arc<AtomicUsize>,
    /// Whether somebody has asked for it since.
    noticed: Arc<AtomicBool>,
}

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

    /// Takes SIGINT and SIGTERM, which still end the process, until [`Self::on_signals`] makes requests of them.
    ///
    /// The libraries of devices bring a compiler (LLVM) that handles them, too, hands them on to whoever did so before, and
    /// else ends the process: so it has to come second.
    ///
    /// # Errors
    ///
    /// The operating system refuses the handlers.
    #[cfg(all(unix, feature = "gpu"))]
    pub fn come_first() -> io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            let ends = Arc::clone(ENDS.get_or_init(|| Arc::new(AtomicBool::new(true))));
            signal_hook::flag::register_conditional_default(signal, ends)?;
        }
        Ok(())
    }

    /// A request that SIGINT and SIGTERM make for the whole process. Once it is noticed, a further signal ends the
    /// process at once; before, it adds nothing, since `timeout` and others send each signal twice.
    ///
    /// From now on, too, writing beyond the limit of a file's size is an error of the write and no longer the
    /// end of the process (SIGXFSZ).
    ///
    /// # Errors
    ///
    /// The operating system refuses the handlers.
    pub fn on_signals() -> io::Result<Self> {
        let stop = Self::new();
        for signal in [Signal::Interrupt, Signal::Terminate] {
            let (number, status) = (signal.number(), i32::from(signal.status()));
            signal_hook::flag::register_conditional_shutdown(number, status, Arc::clone(&stop.noticed))?;
            signal_hook::flag::register_usize(number, Arc::clone(&stop.signal), number as usize)?;
        }
        #[cfg(all(unix, feature = "gpu"))]
        if let Some(ends) = ENDS.get() {
            ends.store(false, Relaxed);
        }
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
        Ok(stop)
    }

    /// Makes the request.
    pub fn request(&self, signal: Signal) {
        self.signal.store(signal.number() as usize, Relaxed);
    }

    /// The signal that made the request, if it was made.
    #[must_use]
    pub fn requested(&self) -> Option<Signal> {
        let signal = match self.signal.load(Relaxed) {
            0 => return None,
            number if number == SIGTERM as usize => Signal::Terminate,
            _ => Signal::Interrupt,
        };
        self.noticed.store(true, Relaxed);
        Some(signal)
    }
}
