//! Measures the table that a search finds by itself, beside a program that disturbs it.
//!
//! ```text
//! cargo bench --bench starts -- --rounds 20 --engine avx2
//! cargo bench --bench starts -- --rounds 20 --engine avx2 --quiet
//! ```
//!
//! In each round a new search starts and chooses its table. What counts is its rate from second 3 to
//! second 8. These seconds are cut into slices. After each slice, searches with fixed tables run as
//! long beside the same disturbance, so that what else the machine does falls on all of them: a
//! thread that computes and reads 64 MiB at random, for random times of 0.1 to 2 s with pauses of
//! the same lengths. The table shows the rate of each start as a part of the rate of the fixed table
//! that is the fastest in the median. With `--quiet` nothing disturbs.
//!
//! One thread searches. Pin the whole program to two processors, or run it where there are two.

#[allow(dead_code, reason = "starts are not interleaved")]
mod rounds;

use std::iter;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use rounds::{Args, median, print_head};
use vanity_search::engine::{self, Engine, EngineOptions, Tuning};
use vanity_search::pattern::{MatchOptions, Pattern};
use vanity_search::search::{Measure, Stop};

/// The numbers of windows of the fixed tables: 9, 28, 54 and 112 MiB.
const FIXED: [usize; 4] = [18, 16, 15, 14];

/// The part of a start that counts.
const FROM: Duration = Duration::from_secs(3);
const UNTIL: Duration = Duration::from_secs(8);

/// The length of a slice of that part.
const SLICE: Duration = Duration::from_millis(500);

/// Runs `work` beside the disturbance of a round, from `skipped` on.
fn disturbed<R>(round: u64, skipped: Duration, work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| disturb(round, skipped, &done));
        let result = work();
        done.store(true, Relaxed);
        result
    })
}

/// Computes and reads memory in bursts until `done`.
fn disturb(round: u64, skipped: Duration, done: &AtomicBool) {
    let mut random = ChaCha8Rng::seed_from_u64(round);
    let memory: Vec<u64> = (0..8 << 20).collect();
    let (mut at, mut sum) = (1u64, 0u64);
    let began = Instant::now();
    let mut end = Duration::ZERO;
    let mut is_burst = false;
    while !done.load(Relaxed) {
        let now = began.elapsed() + skipped;
        while end <= now {
            end += Duration::from_millis(100 + u64::from(random.next_u32() % 1900));
            is_burst = !is_burst;
        }
        if is_burst {
            for _ in 0..10_000 {
                at = at.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                sum = sum.wrapping_add(memory[(at >> 41) as usize]).rotate_left(7).wrapping_mul(3);
            }
        } else {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    std::hint::black_box(sum);
}

/// Returns the keys per second of a search.
fn rate(engine: &dyn Engine, time: Duration) -> f64 {
    let patterns =
        [Pattern::new("Ab3dEfGh", MatchOptions { case_sensitive: true, ..MatchOptions::default() })];
    let patterns = patterns.map(|pattern| pattern.expect("it can be searched"));
    let measure = Measure { patterns: &patterns, threads: NonZeroUsize::MIN, stop: &Stop::new() };
    measure.rate(engine, time).unwrap_or(f64::NAN)
}

fn main() -> Result<(), String> {
    let args = Args::parse(&["--rounds", "--engine", "--quiet"])?;
    let names: Vec<&str> =
        engine::available(EngineOptions::for_attempts(0.0)).iter().map(|one| one.name()).collect();
    let name = args.engine.as_deref().unwrap_or(names[0]);
    let auto = EngineOptions::for_attempts(f64::INFINITY);
    let build = |options: EngineOptions| engine::select(name, options).map_err(|error| error.to_string());
    if args.test {
        let engine = build(EngineOptions { windows: Some(28), ..auto })?;
        let rate = disturbed(0, FROM, || rate(&*engine, Duration::from_millis(150)));
        assert!(rate > 0.0, "a search tries keys");
        println!("starts: {name}, {rate:.0} keys/s");
        return Ok(());
    }
    print_head("starts");
    let beside = |round: usize, skipped: Duration, work: &dyn Fn() -> f64| {
        if args.quiet { work() } else { disturbed(round as u64, skipped, work) }
    };
    let tables = FIXED.map(|windows| build(EngineOptions { windows: Some(windows), ..auto }));
    let tables: Vec<Arc<dyn Engine>> = tables.into_iter().collect::<Result<_, _>>()?;
    let slices = (UNTIL - FROM).div_duration_f64(SLICE) as u32;
    let (mut starts, mut fixed) = (Vec::new(), vec![Vec::new(); FIXED.len()]);
    for round in 0..args.rounds {
        let engine = build(auto)?;
        beside(round, Duration::ZERO, &|| rate(&*engine, FROM));
        let mut sums = [0.0; FIXED.len() + 1];
        for slice in 0..slices {
            for (sum, engine) in sums.iter_mut().zip(iter::once(&engine).chain(&tables)) {
                *sum += beside(round, FROM + slice * SLICE, &|| rate(&**engine, SLICE));
            }
        }
        let [found, each_fixed @ ..] = sums.map(|sum| sum / f64::from(slices));
        starts.push((found, engine.tuning()));
        for (rates, rate) in fixed.iter_mut().zip(each_fixed) {
            rates.push(rate);
        }
    }
    println!("\n{name}, keys/s\n{:<12}{:>12}", "table", "median");
    for (windows, rates) in FIXED.iter().zip(&fixed) {
        println!("{:<12}{:>12.0}", format!("{windows} windows"), median(rates));
    }
    let rates: Vec<f64> = starts.iter().map(|(rate, _)| *rate).collect();
    println!("{:<12}{:>12.0}", "found", median(&rates));
    let best = (0..FIXED.len()).max_by(|a, b| median(&fixed[*a]).total_cmp(&median(&fixed[*b]))).unwrap_or(0);
    println!(
        "\n{:<7}{:>9}{:>12}{:>12}   part of {} windows",
        "start", "windows", "found", "fixed", FIXED[best]
    );
    let mut parts = Vec::new();
    for (round, ((rate, tuning), fixed)) in starts.iter().zip(&fixed[best]).enumerate() {
        let windows = tuning.map_or(0, |Tuning { windows, .. }| windows);
        parts.push(rate / fixed);
        println!("{:<7}{windows:>9}{rate:>12.0}{fixed:>12.0}{:>10.3}", round + 1, rate / fixed);
    }
    let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
    println!("median {:.3}, least {least:.3}", median(&parts));
    Ok(())
}
