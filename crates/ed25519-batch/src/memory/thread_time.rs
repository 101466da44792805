//! The processor time of a thread.

use std::time::Duration;

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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn sleep_does_not_count_and_work_does() {
        let began = thread_time();
        std::thread::sleep(Duration::from_millis(50));
        assert!(thread_time() - began < Duration::from_millis(25));
        let mut steps = 0u64;
        while thread_time() - began < Duration::from_millis(30) {
            steps = std::hint::black_box(steps + 1);
        }
        assert!(steps > 0);
    }
}
