//! In the reference engine and in the proof of a find, no branch and no address depends on a seed
//! (line 29 of `proof.sh`).
//!
//! Valgrind's memcheck checks this for the compiled code. It needs a build without debug
//! assertions, because with them every sum of secrets branches on overflow.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::{Path, PathBuf};

use crate::{program, require};
use program::{Ran, command, executable, run};

/// The status of memcheck if it has anything to report.
const REPORTED: i32 = 99;

/// Returns the path of the example, which cargo builds beside the program under test.
fn example() -> PathBuf {
    Path::new(executable()).with_file_name("examples").join("constant_time")
}

fn memcheck(valgrind: &Path, derivation: &str) -> Ran {
    let code = format!("--error-exitcode={REPORTED}");
    run(command(valgrind).args(["--tool=memcheck", "--quiet", &code]).arg(example()).arg(derivation))
}

/// Returns the path of Valgrind. In a build with debug assertions the test is skipped.
fn valgrind() -> Option<PathBuf> {
    if cfg!(debug_assertions) && executable() == program::PROGRAM {
        require::missing("a build without debug assertions");
        return None;
    }
    require::tool("valgrind")
}

#[test]
fn no_branch_and_no_address_depends_on_a_seed() {
    let Some(valgrind) = valgrind() else { return };
    for derivation in ["reference", "proof"] {
        let ran = memcheck(&valgrind, derivation);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{derivation}");
        assert_eq!(ran.stdout, format!("8 keys by {derivation}\n"));
    }
}

/// These two derivations leak, and memcheck reports them. So it would report the others, too.
#[test]
fn a_branch_and_an_address_that_depend_on_a_seed_are_reported() {
    let Some(valgrind) = valgrind() else { return };
    for (derivation, report) in [
        ("branching", "Conditional jump or move depends on uninitialised value"),
        ("indexing", "Use of uninitialised value of size 8"),
    ] {
        let ran = memcheck(&valgrind, derivation);
        assert_eq!(ran.status, Some(REPORTED), "{derivation}: {ran:?}");
        assert!(ran.stderr.contains(report), "{derivation}: {}", ran.stderr);
    }
}
