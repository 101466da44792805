//! Searches for a key from Rust: `cargo run --release --package vanity-search --example search -- WORD`.
//!
//! Prints the private key in the OpenSSH format, then the public line.

use std::num::NonZeroUsize;

use vanity_search::engine::{self, Sizing};
use vanity_search::key::{EncodeError, Format};
use vanity_search::pattern::{MatchOptions, Pattern};
use vanity_search::search::{Find, Goal, Observer, Progress, Quota, Search, Stop};

/// An observer that prints finds and progress.
struct Printer {
    comment: String,
}

impl Observer for Printer {
    type Error = EncodeError;

    fn found(&mut self, finds: &[Find]) -> Result<(), Self::Error> {
        for find in finds {
            print!("{}", *find.seed.private_text(Format::Openssh, &self.comment, None)?);
            println!("{}", find.public_key.line(&self.comment));
            eprintln!("found after {} keys", find.attempts);
        }
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), Self::Error> {
        eprintln!("{} keys tried", progress.attempts);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let word = std::env::args().nth(1).unwrap_or_else(|| "abc".to_owned());
    let patterns = [Pattern::new(&word, MatchOptions::default())?];
    let expected_attempts = patterns[0].odds().expected_attempts();
    eprintln!("{word}: one key in {expected_attempts:.0}");

    let engine = engine::select(engine::AUTO, Sizing::for_attempts(expected_attempts))?;
    let search = Search {
        engine: &*engine,
        patterns: &patterns,
        threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        goal: Goal::Keys(Quota::Each(1)),
        timeout: None,
    };
    search.run(&Stop::new(), &mut Printer { comment: word.clone() })?;
    Ok(())
}
