//! The stop that signals request.

use std::io;
#[cfg(windows)]
use std::sync::atomic::Ordering::Relaxed;

#[cfg(unix)]
use vanity_search::search::Signal;
use vanity_search::search::Stop;

/// Returns a stop that signals request, for the whole process: all that end a process, except those of
/// faults. A signal that was ignored when the process began stays ignored. After
/// [`Stop::requested`] has returned the request, a further signal ends the process at once.
///
/// The libraries of devices contain a compiler (LLVM), which handles signals, too. It calls the
/// handler that it finds installed. So call this before those libraries are loaded.
///
/// # Errors
///
/// Returns an error if the operating system refuses the handlers or their thread.
#[cfg(unix)]
pub fn stop_on_signals() -> io::Result<Stop> {
    use super::signals::{exit, on_ending_signals};
    let stop = Stop::by_signals(|signal| exit(signal.status()));
    let heard = stop.clone();
    on_ending_signals(stop.last_signal(), move |number| heard.hear(Signal::of(number)))?;
    Ok(stop)
}

/// Returns a stop that Ctrl-C, Ctrl-Break and a closed window request, for the whole process.
/// After [`Stop::requested`] has returned the request, a further one ends the process at once.
///
/// # Errors
///
/// Returns an error if the operating system refuses the handler.
#[cfg(windows)]
pub fn stop_on_signals() -> io::Result<Stop> {
    use super::windows::on_console_event;
    let stop = Stop::by_signals(|signal| vanity_search::engine::exit(signal.status()));
    let heard = stop.clone();
    on_console_event(move |signal| {
        heard.last_signal().store(signal.number() as usize, Relaxed);
        heard.hear(signal);
    })?;
    Ok(stop)
}
