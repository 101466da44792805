//! Stopping a search from outside.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The numbers of the signals on Unix. Windows has events of the console, which count as signals.
#[cfg(windows)]
const SIGHUP: i32 = 1;
#[cfg(windows)]
const SIGINT: i32 = 2;
#[cfg(windows)]
const SIGTERM: i32 = 15;

/// Whether the signals that [`Stop::install_early`] took still end the process.
#[cfg(all(unix, feature = "gpu"))]
static ENDS: std::sync::OnceLock<Arc<AtomicBool>> = std::sync::OnceLock::new();

/// A request to end a search. Clones share it.
#[derive(Clone, Default)]
pub struct Stop {
    /// The number of the signal that made the request, or 0.
    signal: Arc<AtomicUsize>,
    /// Whether [`Stop::acknowledge`] has returned the request.
    noticed: Arc<AtomicBool>,
}

/// The signals that end a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Signal {
    /// SIGINT, as Ctrl-C sends it. On Windows Ctrl-C or Ctrl-Break.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP, as a closed terminal sends it. On Windows a closed window.
    Hangup,
}

impl Signal {
    /// Returns the number of the signal.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => SIGINT,
            Self::Terminate => SIGTERM,
            Self::Hangup => SIGHUP,
        }
    }

    /// Returns the exit status of a program that the signal ended, as shells count it: 130, 143 or
    /// 129.
    #[must_use]
    pub fn status(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::Hangup => 129,
        }
    }

    /// Returns the signals that end a search of this process: those that were not ignored when it
    /// began. `nohup` ignores SIGHUP, and a shell without job control ignores SIGINT for a command
    /// in the background. On systems without `/proc`, SIGHUP keeps its effect.
    #[cfg(unix)]
    fn ending() -> impl Iterator<Item = Self> {
        let takes = |signal: &Self| match *IGNORED {
            Some(mask) => mask & (1 << (signal.number() - 1)) == 0,
            None => *signal != Self::Hangup,
        };
        [Self::Interrupt, Self::Terminate, Self::Hangup].into_iter().filter(takes)
    }
}

/// The signals that were ignored when the process began, as bits, if the system tells it. The value
/// is read once, before this process handles a signal.
#[cfg(unix)]
static IGNORED: std::sync::LazyLock<Option<u64>> = std::sync::LazyLock::new(|| {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
});

impl Stop {
    /// Returns a stop that is not yet requested.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Handles SIGINT, SIGTERM and SIGHUP. They still end the process, until [`Self::on_signals`]
    /// turns them into requests.
    ///
    /// The libraries of devices contain a compiler (LLVM), which handles these signals, too. It
    /// calls the handler that it finds installed, and without one it ends the process. So call this
    /// before those libraries are loaded.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system refuses the handlers.
    #[cfg(all(unix, feature = "gpu"))]
    pub fn install_early() -> io::Result<()> {
        for signal in Signal::ending() {
            let ends = Arc::clone(ENDS.get_or_init(|| Arc::new(AtomicBool::new(true))));
            signal_hook::flag::register_conditional_default(signal.number(), ends)?;
        }
        Ok(())
    }

    /// Returns a stop that SIGINT, SIGTERM and, on Linux, SIGHUP request, for the whole process. A
    /// signal that was ignored when the process began stays ignored, on Linux. After
    /// [`Self::acknowledge`] has returned the request, a further signal ends the process at once.
    /// Before that it has no effect, because `timeout` and other tools send each signal twice.
    ///
    /// From then on, a write beyond the limit of a file's size (SIGXFSZ) is an error of the write,
    /// and no longer ends the process.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system refuses the handlers.
    #[cfg(unix)]
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
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
        Ok(stop)
    }

    /// Returns a stop that Ctrl-C, Ctrl-Break and a closed window request, for the whole process.
    /// After [`Self::acknowledge`] has returned the request, a further one ends the process at once.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system refuses the handler.
    #[cfg(windows)]
    pub fn on_signals() -> io::Result<Self> {
        use crate::sys::windows::{ConsoleEvent, on_console_event};
        let stop = Self::new();
        let of_events = stop.clone();
        on_console_event(move |event| {
            let signal = match event {
                ConsoleEvent::Interrupt => Signal::Interrupt,
                ConsoleEvent::Close => Signal::Hangup,
            };
            if of_events.noticed.load(Relaxed) {
                std::process::exit(signal.status().into());
            }
            of_events.request(signal);
        })?;
        Ok(stop)
    }

    /// Requests the stop.
    pub fn request(&self, signal: Signal) {
        self.signal.store(signal.number() as usize, Relaxed);
    }

    /// Returns the signal that requested the stop, if any.
    #[must_use]
    pub fn acknowledge(&self) -> Option<Signal> {
        let signal = match self.signal.load(Relaxed) {
            0 => return None,
            number if number == SIGTERM as usize => Signal::Terminate,
            number if number == SIGHUP as usize => Signal::Hangup,
            _ => Signal::Interrupt,
        };
        self.noticed.store(true, Relaxed);
        Some(signal)
    }

    /// Whether there is a request. Unlike [`Self::acknowledge`], this does not make a further signal
    /// end the process at once.
    pub(crate) fn is_signalled(&self) -> bool {
        self.signal.load(Relaxed) != 0
    }

    /// Keeps further signals from ending the process at once, until the result is dropped.
    pub(crate) fn hold_off(&self) -> HeldOff<'_> {
        HeldOff { stop: self, was_noticed: self.noticed.swap(false, Relaxed) }
    }

    /// Lets the next signal end the process at once.
    pub(crate) fn arm(&self) {
        self.noticed.store(true, Relaxed);
    }

    /// Forgets a request that [`Self::acknowledge`] has returned, so that the next signal is a
    /// request again and does not end the process at once.
    pub(crate) fn rearm(&self) {
        if self.noticed.load(Relaxed) {
            self.signal.store(0, Relaxed);
            self.noticed.store(false, Relaxed);
        }
    }

    #[cfg(test)]
    pub(super) fn is_noticed(&self) -> bool {
        self.noticed.load(Relaxed)
    }
}

/// Keeps signals from ending the process at once.
pub(crate) struct HeldOff<'a> {
    stop: &'a Stop,
    was_noticed: bool,
}

impl Drop for HeldOff<'_> {
    fn drop(&mut self) {
        if self.was_noticed {
            self.stop.arm();
        }
    }
}
