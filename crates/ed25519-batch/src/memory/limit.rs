//! The limit of the process's memory.

/// Returns the limit of the process's memory (`RLIMIT_AS`), in bytes, or `None` if there is no
/// limit.
pub(crate) fn memory_limit() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        getrlimit(Resource::As).current
    }
    #[cfg(not(unix))]
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    /// The test runs itself with a limit above the address space that AddressSanitizer reserves.
    #[test]
    fn the_limit_of_memory_is_the_process_s_own() {
        const INNER: &str = "MEMORY_IS_LIMITED";
        if std::env::var_os(INNER).is_some() {
            assert_eq!(super::memory_limit(), Some(100_000_000_000 << 10));
            return;
        }
        let script = "ulimit -v 100000000000; exec \"$0\" --exact \"$1\"";
        let test = "memory::limit::tests::the_limit_of_memory_is_the_process_s_own";
        let inner = Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .arg(test)
            .env(INNER, "")
            .output()
            .unwrap();
        assert!(inner.status.success(), "{inner:?}");
        assert!(String::from_utf8_lossy(&inner.stdout).contains("1 passed"));
    }
}
