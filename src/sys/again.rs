//! A helper for tests that need a process of their own.

use std::path::Path;
use std::process::Command;

/// Runs the test with the full name `test` again, in a new process. The shell commands `setup` run
/// first, because umask and limits belong to the whole process. Returns true in the new process and
/// false in the outer one.
pub(crate) fn inner(test: &str, setup: &str, directory: &Path) -> bool {
    const MARK: &str = "VANITY_ED25519_INNER_TEST";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let output = Command::new("sh")
        .args(["-c", &format!("{setup}; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(MARK, setup)
        .current_dir(directory)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{setup}: {text}");
    false
}
