//! For tests alone: one of them once more, in a process of its own.

use std::path::Path;
use std::process::Command;

/// Runs a test, by its full name, again, in a process that `setup` (shell) prepares: the umask and the limits belong to
/// the whole process. Returns true in that inner process.
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
