//! The states of the published program side by side, in interleaved rounds, as a table for `RESULTS.txt`.
//!
//! ```text
//! cargo bench --bench record -- --rounds 9 --seconds 1
//! ```
//!
//! A round measures every variant once for the given time. Ratios are the medians of the ratios within
//! each round, so that a slow minute of the machine falls on both sides. The variant that begins moves on
//! by one each round. With `--test`, each variant is only shown to run.

#[path = "steps/variants.rs"]
mod variants;

use std::env;
use std::process::Command;
use std::time::{Duration, Instant};

use variants::{VARIANTS, Variant, all, check, on_threads};

/// Figures of the published record: keys per second, lowest and highest.
type Range = Option<(u32, u32)>;

/// What the published record of January 2026 (4-vCPU EPYC Genoa) says of a variant.
#[derive(Clone, Copy)]
struct Published {
    one_thread: Range,
    four_threads: Range,
    gain: &'static str,
}

/// For [`all`], in its order.
///
/// Two sets of figures are of one program and stand as one range: "5" and "all of these" (with its gains),
/// and "6" and the radix-16 table that it uses.
const PUBLISHED: [Published; VARIANTS] = [
    Published { one_thread: Some((51_838, 51_838)), four_threads: Some((153_009, 153_009)), gain: "" },
    Published { one_thread: Some((51_925, 51_925)), four_threads: None, gain: "<1 %" },
    Published { one_thread: Some((52_681, 52_681)), four_threads: None, gain: "+2.5 %" },
    Published { one_thread: Some((56_045, 56_087)), four_threads: None, gain: "+5.5 %" },
    Published {
        one_thread: Some((55_500, 56_315)),
        four_threads: Some((176_000, 176_000)),
        gain: "all: +7.1 %, 4 threads +15 %",
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

/// Candidates between two looks at the clock.
const CHUNK: u64 = 16;

struct Args {
    rounds: usize,
    seconds: f64,
    test: bool,
}

impl Args {
    /// Takes what it knows and ignores the rest, which cargo and criterion's other benches use.
    fn parse() -> Result<Self, String> {
        let mut args = Self { rounds: 9, seconds: 1.0, test: true };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a number"));
            match word.as_str() {
                "--rounds" => args.rounds = number(&value()?)?,
                "--seconds" => args.seconds = number(&value()?)?,
                // `cargo test --benches` says neither; `cargo bench -- --test` says both, `--test` first.
                "--bench" => args.test = env::args().any(|word| word == "--test"),
                _ => {}
            }
        }
        if args.rounds == 0 || !(0.0..=3600.0).contains(&args.seconds) {
            return Err("at least 1 round, of 0 to 3600 seconds".to_owned());
        }
        Ok(args)
    }
}

fn number<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("not a number: {word}"))
}

fn main() -> Result<(), String> {
    let args = Args::parse()?;
    check();
    if args.test {
        for threads in [1, 2] {
            measure(&all(), threads, 1, 0.0);
        }
        println!("record: {VARIANTS} variants agree and run");
        return Ok(());
    }
    print_head(&args);
    for threads in [1, 2] {
        print_table(threads, &measure(&all(), threads, args.rounds, args.seconds));
    }
    Ok(())
}

/// Keys per second of each variant in each round: `[variant][round]`.
fn measure(variants: &[Variant; VARIANTS], threads: usize, rounds: usize, seconds: f64) -> Vec<Vec<f64>> {
    let mut rates = vec![Vec::new(); VARIANTS];
    for round in 0..rounds {
        for turn in 0..VARIANTS {
            let index = (round + turn) % VARIANTS;
            rates[index].push(rate(&variants[index], threads, Duration::from_secs_f64(seconds)));
        }
    }
    rates
}

/// Keys per second of all threads together, each over its own time.
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

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// The median over the rounds of the ratio within a round.
fn ratio(over: &[f64], under: &[f64]) -> f64 {
    let ratios: Vec<f64> = over.iter().zip(under).map(|(over, under)| over / under).collect();
    median(&ratios)
}

fn print_head(args: &Args) {
    let said = |program: &str, words: &[&str]| {
        let output = Command::new(program).args(words).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
    };
    let line = |name: &str, value: Option<String>| {
        println!("{name:<11}{}", value.unwrap_or_else(|| "unknown".to_owned()));
    };
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let model = text.lines().find(|line| line.starts_with("model name"))?;
        Some(model.split_once(": ")?.1.to_owned())
    });
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    line("date", said("date", &["-u", "+%F"]));
    line("commit", said("git", &["describe", "--always", "--dirty"]));
    let command =
        format!("cargo bench --bench record -- --rounds {} --seconds {}", args.rounds, args.seconds);
    line("command", Some(command));
    line("processor", processor.map(|model| format!("{model}, {cores} hardware threads")));
    line("compiler", said("rustc", &["--version"]));
    println!("published  January 2026, 4-vCPU EPYC Genoa, 1 thread and 4 threads; ratios of mid-ranges");
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
