//! Measures in interleaved rounds, for the benches that print tables.
//!
//! A round measures every contender once. A ratio is the median of the ratios within each round, so
//! a slow minute of the machine affects both sides. Each round begins with the next contender.

use std::env;
use std::process::Command;

use vanity_ed25519::program::shell_argument;

/// The command line of such a bench.
pub struct Args {
    /// The number of measurements of each contender.
    pub rounds: usize,
    /// The length of each measurement, in seconds.
    pub seconds: f64,
    /// The name of the engine, if there is one.
    pub engine: Option<String>,
    /// A part of the names of what is measured. `None` for everything.
    pub only: Option<String>,
    /// Whether nothing runs beside what is measured.
    pub quiet: bool,
    /// Whether the bench only checks that everything runs.
    pub test: bool,
}

impl Args {
    /// Reads the command line of a bench that has `options`. Ignores words that are no options, which
    /// choose among criterion's benches.
    ///
    /// # Errors
    ///
    /// Returns an error if an option is unknown, or if a number is missing, malformed or out of range.
    pub fn parse(options: &[&str]) -> Result<Self, String> {
        // `cargo test --benches` passes neither; `cargo bench -- --test` passes both.
        let test = !env::args().any(|word| word == "--bench") || env::args().any(|word| word == "--test");
        let mut args = Self { rounds: 9, seconds: 1.0, engine: None, only: None, quiet: false, test };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            if !word.starts_with('-') || ["--bench", "--test"].contains(&word.as_str()) {
                continue;
            }
            if !options.contains(&word.as_str()) {
                return Err(format!("this bench has no {word}, only {}", options.join(", ")));
            }
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--rounds" => args.rounds = number(&value()?)?,
                "--seconds" => args.seconds = number(&value()?)?,
                "--engine" => args.engine = Some(value()?),
                "--only" => args.only = Some(value()?),
                "--quiet" => args.quiet = true,
                _ => unreachable!("an option of a bench is read here"),
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

/// Measures the rate of each contender in each round. The result is `[contender][round]`.
pub fn interleave(contenders: usize, rounds: usize, mut rate: impl FnMut(usize) -> f64) -> Vec<Vec<f64>> {
    let mut rates = vec![Vec::new(); contenders];
    for round in 0..rounds {
        for turn in 0..contenders {
            let index = (round + turn) % contenders;
            rates[index].push(rate(index));
        }
    }
    rates
}

/// Returns the median of `values`.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// Returns the median of the ratios within each round.
pub fn ratio(over: &[f64], under: &[f64]) -> f64 {
    let ratios: Vec<f64> = over.iter().zip(under).map(|(over, under)| over / under).collect();
    median(&ratios)
}

/// Prints the lines above every table: date, commit, command, processor and compiler.
pub fn print_head(bench: &str) {
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
    let features = if cfg!(feature = "gpu") { " --features gpu" } else { "" };
    let mut command = format!("cargo bench --bench {bench}{features} --");
    for word in env::args().skip(1).filter(|word| word != "--bench") {
        command += &format!(" {}", shell_argument(&word));
    }
    line("command", Some(command));
    line("processor", processor.map(|model| format!("{model}, {cores} hardware threads")));
    line("compiler", said("rustc", &["--version"]));
}
