//! Searches for a key from Rust: `cargo run --release --package vanity-search --example search -- WORD`.
//!
//! Prints the private key in the OpenSSH format, then the public line.

use vanity_search::key::Format;
use vanity_search::pattern::{MatchOptions, Pattern};
use vanity_search::search::Search;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let word = std::env::args().nth(1).unwrap_or_else(|| "abc".to_owned());
    let patterns = [Pattern::new(&word, MatchOptions::default())?];
    eprintln!("{word}: one key in {:.0}", patterns[0].odds().expected_attempts());

    let mut keys = Vec::new();
    Search::new(&patterns)
        .on_progress(|progress| eprintln!("{} keys tried", progress.attempts))
        .run(|key| keys.push(key))?;
    for key in keys {
        print!("{}", *key.seed.private_text(Format::Openssh, &word, None)?);
        println!("{}", key.public_line(&word));
        eprintln!("found after {} keys", key.attempts);
    }
    Ok(())
}
