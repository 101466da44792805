//! Steps that wait for other programs to let go of a new file.
//!
//! On Windows a virus scanner opens each new file, and keeps it open for some tenths of a second. While
//! it does, the file cannot be renamed or removed.

use std::io;
use std::time::{Duration, Instant};

/// How long such a program is waited for.
const LONGEST: Duration = Duration::from_secs(2);

/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// The errors of a file that another program has open: access denied, and a sharing violation.
const HELD: [i32; 2] = [5, 32];

/// Takes a step, and takes it again as long as another program has the file open. The step gets
/// `what`, and gives it back with its error.
///
/// # Errors
///
/// Returns the last error of the step.
pub(super) fn patiently<W, T>(
    what: W,
    step: impl FnMut(W) -> Result<T, (io::Error, W)>,
) -> Result<T, (io::Error, W)> {
    again(what, step, |error| cfg!(windows) && is_held(error), LONGEST)
}

fn is_held(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|error| HELD.contains(&error))
}

fn again<W, T>(
    mut what: W,
    mut step: impl FnMut(W) -> Result<T, (io::Error, W)>,
    is_held: impl Fn(&io::Error) -> bool,
    longest: Duration,
) -> Result<T, (io::Error, W)> {
    let began = Instant::now();
    loop {
        match step(what) {
            Err((error, same)) if is_held(&error) && began.elapsed() < longest => what = same,
            result => return result,
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_held_is_waited_for_and_any_other_error_is_not() {
        let tries = |errors: &[i32], longest: Duration| {
            let mut tries = 0;
            let step = |what: &'static str| {
                tries += 1;
                errors
                    .get(tries - 1)
                    .map_or(Ok(what), |error| Err((io::Error::from_raw_os_error(*error), what)))
            };
            let ended = again("file", step, is_held, longest).map_err(|(error, _)| error.raw_os_error());
            (ended, tries)
        };
        let minute = Duration::from_secs(60);
        assert_eq!(tries(&[], minute), (Ok("file"), 1));
        assert_eq!(tries(&[5, 32, 5], minute), (Ok("file"), 4));
        assert_eq!(tries(&[32, 2, 5], minute), (Err(Some(2)), 2));
        assert_eq!(tries(&[32, 32], Duration::ZERO), (Err(Some(32)), 1));
    }
}
