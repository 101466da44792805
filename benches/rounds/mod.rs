//! Measuring in interleaved rounds: what the benches that print tables have in common.
//!
//! A round measures every contender once. Ratios are medians of the ratios within each round, so that a slow
//! minute of the machine falls on both sides. The contender that begins moves on by one each round.

use std::env;
use std::process::Command;

/// What the command line of such a bench says.
pub struct Args {
    /// How often each contender is measured.
    pub rounds: usize,
    /// For how long each time.
    pub seconds: f64,
    /// The engine that is named.
    pub engine: Option<String>,
    /// Only show that everything runs.
    pub test: bool,
}

impl Args {
    /// Takes what it knows and ignores the rest, which cargo and criterion's other benches use.
    ///
    /// # Errors
    ///
    /// A number is missing, malformed or out of range.
    pub fn parse() -> Result<Self, String> {
        let mut args = Self { rounds: 9, seconds: 1.0, engine: None, test: true };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--rounds" => args.rounds = number(&value()?)?,
                "--seconds" => args.seconds = number(&value()?)?,
                "--engine" => args.engine = Some(value()?),
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

/// The rate of each contender in each round: `[contender][round]`.
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

/// The middle of `values`; of an even number, the mean of the two in the middle.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// The median over the rounds of the ratio within a round.
pub fn ratio(over: &[f64], under: &[f64]) -> f64 {
    let ratios: Vec<f64> = over.iter().zip(under).map(|(over, under)| over / under).collect();
    median(&ratios)
}

/// Date, commit, command, processor and compiler, as they stand above every table.
pub fn print_head(bench: &str, args: &Args) {
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
    let engine = args.engine.as_ref().map_or(String::new(), |name| format!(" --engine {name}"));
    let command =
        format!("cargo bench --bench {bench} -- --rounds {} --seconds {}{engine}", args.rounds, args.seconds);
    line("command", Some(command));
    line("processor", processor.map(|model| format!("{model}, {cores} hardware threads")));
    line("compiler", said("rustc", &["--version"]));
}
