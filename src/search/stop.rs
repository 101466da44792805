//! Ending a search from outside.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

#[cfg(unix)]
use signal_hook::consts::SIGHUP;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Never sent there.
#[cfg(not(unix))]
const SIGHUP: i32 = 1;

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
    /// SIGHUP, as a terminal that is closed sends it.
    Hangup,
}

impl Signal {
    /// The signal's number.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
            Self::Hangup => SIGHUP,
        }
    }

    /// The status with which a program ended by the signal exits, as shells count: 130, 143 or 129.
    #[must_use]
    pub fn status(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::Hangup => 129,
        }
    }

    /// Those that end a search of this process.
    fn ending() -> impl Iterator<Item = Self> {
        let hangup = (*TAKES_HANGUP).then_some(Self::Hangup);
        [Self::Interrupt, Self::Terminate].into_iter().chain(hangup)
    }
}

/// Whether SIGHUP is not ignored, as far as the system tells: `nohup` has it ignored, and so it stays. Where that is not known,
/// nobody takes the signal, which then does what it did before. Asked once, before anything handles it.
static TAKES_HANGUP: std::sync::LazyLock<bool> = std::sync::LazyLock::new(|| {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) == 0)
    })
});

impl Stop {
    /// A request that nobody has made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes SIGINT, SIGTERM and SIGHUP, which still end the process, until [`Self::on_signals`] makes requests of them.
    ///
    /// The libraries of devices bring a compiler (LLVM) that handles them, too, hands them on to whoever did so before, and
    /// else ends the process: so it has to come second.
    ///
    /// # Errors
    ///
    /// The operating system refuses the handlers.
    #[cfg(all(unix, feature = "gpu"))]
    pub fn come_first() -> io::Result<()> {
        for signal in Signal::ending() {
            let ends = Arc::clone(ENDS.get_or_init(|| Arc::new(AtomicBool::new(true))));
            signal_hook::flag::register_conditional_default(signal.number(), ends)?;
        }
        Ok(())
    }

    /// A request that SIGINT and SIGTERM make for the whole process; on Linux SIGHUP, too, if it is not ignored. Once it is noticed, a further signal ends the
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
        for signal in Signal::ending() {
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
            number if number == SIGHUP as usize => Signal::Hangup,
            _ => Signal::Interrupt,
        };
        self.noticed.store(true, Relaxed);
        Some(signal)
    }

    #[cfg(test)]
    pub(super) fn is_noticed(&self) -> bool {
        self.noticed.load(Relaxed)
    }
}
