//! Measures the states of the published program side by side, in interleaved rounds, and prints a
//! table for `RESULTS.txt`.
//!
//! ```text
//! cargo bench --bench record -- --rounds 9 --seconds 1
//! ```
//!
//! With `--test`, it only checks that each variant runs.

#[path = "../rounds/mod.rs"]
mod rounds;
mod variants;

use std::time::{Duration, Instant};

use rounds::{Args, interleave, median, print_head, ratio};
use variants::{VARIANTS, Variant, all, check, on_threads};

/// A range of the published record: the lowest and the highest keys per second, if it has figures.
type Range = Option<(u32, u32)>;

/// The figures of a variant in the published record of January 2026 (4-vCPU EPYC Genoa).
#[derive(Clone, Copy)]
struct Published {
    one_thread: Range,
    four_threads: Range,
    gain: &'static str,
}

/// The published figures of the variants, in the order of [`all`].
///
/// A range has two sets of figures if these are of one program: "5" and "all of these" (with its
/// gains), and "6" and the radix-16 table that it uses.
const PUBLISHED: [Published; VARIANTS] = [
    Published { one_thread: Some((51_838, 51_838)), four_threads: Some((153_009, 153_009)), gain: "" },
    Published { one_thread: Some((51_925, 51_925)), four_threads: None, gain: "<1%" },
    Published { one_thread: Some((52_681, 52_681)), four_threads: None, gain: "+2.5%" },
    Published { one_thread: Some((56_045, 56_087)), four_threads: None, gain: "+5.5%" },
    Published {
        one_thread: Some((55_500, 56_315)),
        four_threads: Some((176_000, 176_000)),
        gain: "all: +7.1%, 4 threads +15%",
    },
    WIRE,
    WIRE,
    Published {
        one_thread: Some((34_028, 35_143)),
        four_threads: Some((78_359, 81_731)),
        gain: "1.7 x slower than radix 16",
    },
];
const WIRE: Published = Published {
    one_thread: Some((50_774, 60_677)),
    four_threads: Some((122_514, 126_427)),
    gain: "no change",
};

/// The number of candidates between two readings of the clock.
const CHUNK: u64 = 16;

fn main() -> Result<(), String> {
    let args = Args::parse(&["--rounds", "--seconds"])?;
    check();
    if args.test {
        for threads in [1, 2] {
            measure(&all(), threads, 1, 0.0);
        }
        println!("record: {VARIANTS} variants agree and run");
        return Ok(());
    }
    print_head("record");
    println!("published  January 2026, 4-vCPU EPYC Genoa, 1 thread and 4 threads; ratios of mid-ranges");
    for threads in [1, 2] {
        print_table(threads, &measure(&all(), threads, args.rounds, args.seconds));
    }
    Ok(())
}

/// Returns keys per second of each variant in each round.
fn measure(variants: &[Variant; VARIANTS], threads: usize, rounds: usize, seconds: f64) -> Vec<Vec<f64>> {
    interleave(VARIANTS, rounds, |index| rate(&variants[index], threads, Duration::from_secs_f64(seconds)))
}

/// Returns keys per second of all threads together. The rate of each thread is over its own time.
fn rate(variant: &Variant, threads: usize, time: Duration) -> f64 {
    let spans = on_threads(variant, threads, |search| {
        let start = Instant::now();
        let mut keys = 0;
        loop {
            search.run(CHUNK);
            keys += CHUNK;
            if start.elapsed() >= time {
                return keys;
            }
        }
    });
    spans.iter().map(|span| span.keys as f64 / (span.to - span.from).as_secs_f64()).sum()
}

fn print_table(threads: usize, rates: &[Vec<f64>]) {
    let published_threads = if threads == 1 { 1 } else { 4 };
    let thread_word = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    println!();
    println!(
        "{thread_word:<24}{:>32}{:>19} | {:<33}  published gain",
        "keys/s",
        "median ratio to",
        format!("published, {published_threads} thr"),
    );
    println!(
        "{:<24}{:>12}{:>10}{:>10}{:>10}{:>9} | {:>15}{:>9}{:>9}",
        "variant", "median", "min", "max", "original", "previous", "keys/s", "original", "previous"
    );
    let published = |index: usize| {
        let figures = PUBLISHED[index];
        if threads == 1 { figures.one_thread } else { figures.four_threads }
    };
    for (index, variant) in all().iter().enumerate() {
        let of_variant = &rates[index];
        let previous = index.saturating_sub(1);
        let row = format!(
            "{:<24}{:>12.0}{:>10.0}{:>10.0}{:>10.3}{:>9.3} | {:>15}{:>9}{:>9}  {}",
            variant.name,
            median(of_variant),
            of_variant.iter().copied().fold(f64::INFINITY, f64::min),
            of_variant.iter().copied().fold(0.0, f64::max),
            ratio(of_variant, &rates[0]),
            ratio(of_variant, &rates[previous]),
            range(published(index)),
            range_ratio(published(index), published(0)),
            range_ratio(published(index), published(previous)),
            PUBLISHED[index].gain
        );
        println!("{}", row.trim_end());
    }
    println!("rounds, {thread_word}, keys/s:");
    for (variant, of_variant) in all().iter().zip(rates) {
        let rounds: Vec<String> = of_variant.iter().map(|rate| format!("{rate:.0}")).collect();
        println!("  {:<22} {}", variant.name, rounds.join(" "));
    }
}

fn range(figures: Range) -> String {
    match figures {
        None => "-".to_owned(),
        Some((low, high)) if low == high => low.to_string(),
        Some((low, high)) => format!("{low}-{high}"),
    }
}

fn range_ratio(over: Range, under: Range) -> String {
    let middle = |(low, high): (u32, u32)| f64::midpoint(low.into(), high.into());
    match (over, under) {
        (Some(over), Some(under)) => format!("{:.3}", middle(over) / middle(under)),
        _ => "-".to_owned(),
    }
}
