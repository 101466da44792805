//! Random bytes of the operating system.

use std::io;

/// The error of the operating system's generator.
pub type RandomnessError = io::Error;

/// Fills `bytes` with random bytes from the operating system's generator.
///
/// If the system has no call for that, or a filter refuses it, the bytes come from `/dev/urandom`.
/// That must be the device itself: in an image without devices it can be a regular file, which gives
/// every run the same bytes.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn fill_random(bytes: &mut [u8]) -> Result<(), RandomnessError> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::io::Errno;
        use rustix::rand::{GetRandomFlags, getrandom};
        let mut filled = 0;
        while filled < bytes.len() {
            match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
                Ok(more) => filled += more,
                Err(Errno::INTR) => {}
                Err(Errno::NOSYS | Errno::PERM) => return fill_from_device(bytes),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        getrandom::fill(bytes).map_err(|error| io::Error::other(error.to_string()))
    }
}

/// Fills `bytes` from the device of random bytes.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn fill_from_device(bytes: &mut [u8]) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::{FileType, fstat, makedev};
    use std::fs::File;
    const PATH: &str = "/dev/urandom";
    let failed = |what: String| io::Error::other(format!("getrandom is refused, and {PATH} {what}"));
    // The numbers are those of the kernel's list of devices.
    let is_device = |file: &File, minor| {
        fstat(file).is_ok_and(|found| {
            FileType::from_raw_mode(found.st_mode).is_char_device() && found.st_rdev == makedev(1, minor)
        })
    };
    let mut urandom = File::open(PATH).map_err(|error| failed(format!("cannot be opened: {error}")))?;
    if !is_device(&urandom, 9) {
        return Err(failed("is not the random device".to_owned()));
    }
    // /dev/urandom does not wait until the generator has its seed, and /dev/random does.
    if let Some(random) = File::open("/dev/random").ok().filter(|random| is_device(random, 8)) {
        while let Err(error) = poll(&mut [PollFd::new(&random, PollFlags::IN)], None) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
    }
    io::Read::read_exact(&mut urandom, bytes)
}

/// Draws this thread's keys for hash maps. Without this, the standard library draws them for the
/// first map, and panics if the operating system's generator fails then. A few failures do not matter.
///
/// # Errors
///
/// Returns an error if the generator goes on failing.
pub fn draw_hash_keys() -> Result<(), RandomnessError> {
    const TRIES: usize = 3;
    // The hook is the whole process's.
    static ONE_THREAD: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_THREAD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let is_drawn = (0..TRIES).any(|_| std::panic::catch_unwind(std::hash::RandomState::new).is_ok());
    std::panic::set_hook(hook);
    is_drawn.then_some(()).ok_or_else(|| io::Error::other("it gives no keys for hash maps"))
}
