//! Compares whole searches with the plain program that the reference engine stands for, in
//! interleaved rounds.
//!
//! ```text
//! cargo bench --bench plain -- --rounds 9 --seconds 2
//! ```
//!
//! The plain program is the obvious one with ed25519-dalek: a random `SigningKey`, the blob,
//! base64, a substring test. It has no batches, no proof, no counter and no second pattern, and it
//! does not ignore case.

mod rounds;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use getrandom::SysRng;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rounds::{Args, interleave, median, print_head, ratio};
use vanity_search::engine;
use vanity_search::pattern::{MatchOptions, Pattern};
use vanity_search::search::{Measure, Stop};
use vanity_search::wire;

/// The pattern of all programs.
const WORD: &str = "vanity";

/// The number of candidates between two readings of the clock.
const CHUNK: u64 = 16;

/// Returns keys per second of the plain program.
fn plain(time: Duration) -> f64 {
    let mut rng = ChaCha20Rng::try_from_rng(&mut SysRng).expect("the system has random bytes");
    let (mut keys, mut found) = (0, 0);
    let start = Instant::now();
    loop {
        for _ in 0..CHUNK {
            let mut seed = [0; 32];
            rng.fill_bytes(&mut seed);
            let key = SigningKey::from_bytes(&seed);
            let text = STANDARD.encode(wire::blob(&key.verifying_key().to_bytes()));
            found += u64::from(text.contains(WORD));
        }
        keys += CHUNK;
        if start.elapsed() >= time {
            std::hint::black_box(found);
            return keys as f64 / start.elapsed().as_secs_f64();
        }
    }
}

fn main() -> Result<(), String> {
    let mut args = Args::parse(&["--rounds", "--seconds"])?;
    if args.test {
        (args.rounds, args.seconds) = (1, 0.01);
    }
    let patterns = [Pattern::new(WORD, MatchOptions::default()).map_err(|error| error.to_string())?];
    let stop = Stop::new();
    let measure = Measure { patterns: &patterns, threads: NonZeroUsize::MIN, stop: &stop };
    let engines = engine::available(engine::EngineOptions::for_attempts(f64::INFINITY));
    let time = Duration::from_secs_f64(args.seconds);
    let rates = interleave(1 + engines.len(), args.rounds, |index| match index.checked_sub(1) {
        None => plain(time),
        Some(engine) => measure.rate(&*engines[engine], time).expect("a search that nobody stops"),
    });

    if args.test {
        println!("plain: the plain program and {} engines run", engines.len());
        return Ok(());
    }
    print_head("plain");
    println!("\n{:<16}{:>12}{:>10}{:>10}{:>10}", "1 thread", "keys/s", "min", "max", "ratio");
    let names = ["plain program"].into_iter().chain(engines.iter().map(|engine| engine.name()));
    for (name, of_one) in names.zip(&rates) {
        println!(
            "{name:<16}{:>12.0}{:>10.0}{:>10.0}{:>10.3}",
            median(of_one),
            of_one.iter().copied().fold(f64::INFINITY, f64::min),
            of_one.iter().copied().fold(0.0, f64::max),
            ratio(of_one, &rates[0])
        );
        println!(
            "  rounds: {}",
            of_one.iter().map(|rate| format!("{rate:.0}")).collect::<Vec<_>>().join(" ")
        );
    }
    Ok(())
}
