//! What the machine has: the sizes of its caches, and the time of a thread.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Returns the sizes, in bytes, of the first processor's caches, in ascending order. The list is
/// empty if the system does not report them.
#[must_use]
pub fn caches() -> Vec<usize> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").into_iter().flatten().flatten();
    let mut sizes: Vec<usize> = caches.filter_map(|cache| size(&cache.path())).collect();
    sizes.sort_unstable();
    sizes
}

/// Returns the size, in bytes, of the cache that a directory describes. Returns `None` for an
/// instruction cache.
fn size(directory: &Path) -> Option<usize> {
    if fs::read_to_string(directory.join("type")).ok()?.trim() == "Instruction" {
        return None;
    }
    bytes(fs::read_to_string(directory.join("size")).ok()?.trim())
}

/// Parses a size as the system writes it, in kibibytes, such as `32K`.
pub fn bytes(size: &str) -> Option<usize> {
    size.strip_suffix('K')?.parse::<usize>().ok()?.checked_mul(1024)
}

/// Returns how long the processor has worked for this thread. Time in which other programs had the
/// processor does not count. On systems other than Unix, that time counts.
#[must_use]
pub fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(ClockId::ThreadCPUTime);
        // Neither number is negative.
        Duration::new(time.tv_sec.cast_unsigned() as u64, time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}
