//! Measures every engine of this machine beside the reference engine, as `vanity-ed25519 --bench` does.
//!
//! ```text
//! cargo bench
//! cargo bench -- 10 --threads 1
//! ```
//!
//! Arguments go to the program, after `--bench`.

use std::process::{Command, ExitCode};

const PROGRAM: &str = env!("CARGO_BIN_EXE_vanity-ed25519");

fn main() -> ExitCode {
    let (of_cargo, mut arguments): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| ["--bench", "--test"].contains(&word.as_str()));
    // `cargo test --benches` passes neither; `cargo bench -- --test` passes both.
    if of_cargo != ["--bench"] {
        arguments = ["0.1", "--engine", "reference"].map(str::to_owned).into();
    } else {
        eprintln!("cargo bench measures whole searches of every engine, in turn and in five rounds.");
        eprintln!("Other benches run by name, as in cargo bench --bench patterns; CONTRIBUTING.md has them.");
    }
    let ended = Command::new(PROGRAM).arg("--bench").args(arguments).status();
    if ended.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
