//! What was typed becomes a [`Plan`]. Every complaint about input is made here, before the first seed.

mod args;
mod complaint;
mod duplicates;
mod line;
mod passphrase;
mod patterns;
mod rest;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{self, Devices, Engine, EngineError, Sizing};
use crate::key::{Destination, Format, Protection, StoreError};
use crate::pattern::{Kind, Pattern, Style};
use crate::search::{Find, Quota, Signal, Stop};
use crate::wire::Subject;

use crate::ledger::Ledger;
use args::Args;
pub use complaint::Complaint;
use patterns::Patterns;

/// What `--bench` searches for when nothing is typed: six letters, anywhere, case ignored.
const BENCH_PATTERN: &str = "vanity";

/// What to do, checked.
pub enum Plan {
    /// Print this and exit.
    Print(Vec<u8>),
    /// Print the odds and exit.
    Estimate(Search),
    /// Measure engines and exit.
    Bench(Bench),
    /// Search.
    Search(Search),
}

/// Which engines are measured, and how.
pub struct Bench {
    /// What they search for.
    pub patterns: Vec<Pattern>,
    /// What there is to tell of them.
    pub notes: Vec<String>,
    /// All that have passed their self-test; the last is the yardstick.
    pub engines: Vec<Box<dyn Engine>>,
    /// Worker threads.
    pub threads: NonZeroUsize,
    /// For how long each.
    pub time: Duration,
    /// What is shown.
    pub show: Show,
}

/// What to search for, how, and what becomes of it.
pub struct Search {
    /// What to look for; nothing if all that was asked for is there already.
    pub patterns: Vec<Pattern>,
    /// What there is to tell of them.
    pub notes: Vec<String>,
    /// How many keys.
    pub quota: Quota,
    /// How many of those that were asked for are there already, and are not in the quota.
    pub had: u64,
    /// The way of searching, which has passed its self-test.
    pub engine: Box<dyn Engine>,
    /// Worker threads, as many as were asked for.
    pub threads: NonZeroUsize,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// Where keys go.
    pub destination: Destination,
    /// The ledger of the directory where they go.
    pub ledger: Option<Ledger>,
    /// The form of private keys, if one was asked for.
    pub format: Option<Format>,
    /// What private keys are encrypted with.
    pub protection: Option<Arc<Protection>>,
    /// The comment, if it is not the pattern.
    pub comment: Option<String>,
    /// The request to end, if there was need of it already.
    pub stop: Option<Stop>,
    /// What is shown.
    pub show: Show,
}

impl Search {
    /// The comment on a find.
    pub fn comment(&self, find: &Find) -> &str {
        self.comment.as_deref().unwrap_or_else(|| self.patterns[find.patterns[0]].text())
    }

    /// The threads that the engine takes.
    pub fn workers(&self) -> usize {
        self.engine.workers(self.threads.get())
    }
}

/// What is shown.
#[derive(Clone, Copy)]
pub struct Show {
    /// Results as JSON.
    pub json: bool,
    /// Nothing on stderr but errors.
    pub quiet: bool,
    /// Colours.
    pub color: clap::ColorChoice,
}

/// Why there is no plan.
pub enum Refusal {
    /// clap's own answer: a complaint, or the text of `--help` or `--version`.
    Clap(clap::Error),
    /// Ours. At least one.
    Complaints(Vec<Complaint>),
    /// An engine computed a wrong key.
    SelfTest(EngineError),
    /// A signal came while the user was asked.
    Signal(Signal),
}

impl From<Complaint> for Refusal {
    fn from(complaint: Complaint) -> Self {
        Self::Complaints(vec![complaint])
    }
}

/// How complaints about the command line are coloured, whatever else is wrong with it.
pub fn color() -> clap::ColorChoice {
    args::color(&std::env::args_os().collect::<Vec<_>>())
}

/// Reads the command line and checks all of it; a `Plan` can be carried out.
pub fn plan(typed: impl Iterator<Item = OsString>) -> Result<Plan, Refusal> {
    let args = Args::read(typed)
        .map_err(|error| passphrase::typed(&error).map_or(Refusal::Clap(error), Into::into))?;
    if args.man {
        return Ok(Plan::Print(args::man()));
    }
    if let Some(shell) = args.completions {
        return Ok(Plan::Print(args::completions(shell)));
    }

    let bench = values::bench(args.bench.as_deref())?;
    let count = values::count(args.count.as_deref())?;
    let threads = values::threads(args.threads.as_deref())?;
    let table_memory = values::table_memory(args.table_memory.as_deref())?;
    let devices = values::devices(args.gpu_device.as_deref())?;
    let timeout = values::timeout(args.timeout.as_deref())?;
    let format = values::format(args.format.as_deref())?;
    let comment = values::comment(args.comment.as_deref())?;
    let subject = values::subject(args.subject.as_deref())?;
    let destination = destination(&args);
    values::cipher(args.cipher.as_deref())?;
    values::rounds(args.rounds.as_deref())?;
    passphrase::check(&args, destination.format(format))?;
    let Patterns { patterns, notes } = read_patterns(&args, subject, bench.is_some(), threads)?;
    let show = Show { json: args.json, quiet: args.quiet, color: args.color };
    // Who names a device wants it used.
    let usual = if devices == Devices::ALL { engine::AUTO } else { engine::GPU };
    let name = args.engine.as_deref().unwrap_or(usual);
    if let Some(time) = bench {
        let sizing = Sizing { table_memory, devices, ..Sizing::for_attempts(f64::INFINITY) };
        let engines = engines_to_measure(name, sizing)?;
        return Ok(Plan::Bench(Bench { patterns, notes, engines, threads, time, show }));
    }
    let quota = if args.any { Quota::Any(count) } else { Quota::Each(count) };
    let sizing = Sizing { expected_attempts: expected_attempts(&patterns, &quota), table_memory, devices };
    let engine = select(name, sizing)?;
    let ledger = match &destination {
        Destination::Directory(directory) => Some(Ledger::new(directory)),
        _ => None,
    };
    let mut search = Search {
        patterns,
        notes,
        quota,
        had: 0,
        engine,
        threads,
        timeout,
        destination,
        ledger,
        format,
        protection: None,
        comment,
        stop: None,
        show,
    };
    if args.estimate {
        return Ok(Plan::Estimate(search));
    }
    let passphrase = passphrase::Source::open(&args)?;
    check_destination(&search)?;
    rest::subtract(&mut search)?;
    if search.patterns.is_empty() {
        return Ok(Plan::Search(search));
    }
    if search.had > 0 {
        // A short rest is not worth large tables.
        let expected_attempts = expected_attempts(&search.patterns, &search.quota);
        search.engine = select(name, Sizing { expected_attempts, ..sizing })?;
    }
    if let Some((source, note)) = passphrase {
        let stop = Stop::on_signals().map_err(|error| Complaint::new(error.to_string()))?;
        search.protection = Some(Arc::new(passphrase::protection(&args, source.passphrase(&stop)?)?));
        search.stop = Some(stop);
        search.notes.extend(note);
    }
    Ok(Plan::Search(search))
}

/// The engine that was asked for and the yardstick; without a name, every engine of this machine.
fn engines_to_measure(name: &str, sizing: Sizing) -> Result<Vec<Box<dyn Engine>>, Refusal> {
    if name == engine::AUTO {
        return Ok(engine::available(sizing));
    }
    let mut engines = vec![select(name, sizing)?];
    if name != engine::YARDSTICK {
        engines.push(select(engine::YARDSTICK, sizing)?);
    }
    Ok(engines)
}

fn read_patterns(
    args: &Args,
    subject: Subject,
    bench: bool,
    threads: NonZeroUsize,
) -> Result<Patterns, Refusal> {
    let kind = match args {
        Args { prefix: true, .. } => Kind::Prefix,
        Args { suffix: true, .. } => Kind::Suffix,
        Args { word: true, .. } => Kind::Word,
        Args { regex: true, .. } => Kind::Regex,
        _ => Kind::Anywhere,
    };
    let style = Style { kind, case_sensitive: args.case_sensitive, leet: args.leet, subject };
    if !args.patterns.is_empty() || !args.files.is_empty() {
        return patterns::read(&args.patterns, &args.files, style, threads);
    }
    if bench {
        let style = Style { subject, ..Style::default() };
        return patterns::read(&[BENCH_PATTERN], &[] as &[&Path], style, threads);
    }
    Err(Complaint::new("there is no pattern: say what the key text shall carry")
        .hint("for example `vanity-ed25519 abc > key.pem`; --help shows everything")
        .into())
}

/// How many keys the search is expected to try, to within what a choice of tables needs.
fn expected_attempts(patterns: &[Pattern], quota: &Quota) -> f64 {
    let attempts = patterns.iter().map(|pattern| pattern.odds().expected_attempts());
    match quota {
        Quota::Each(count) => *count as f64 * attempts.fold(0.0, f64::max),
        Quota::Left(counts) => {
            counts.iter().zip(attempts).map(|(count, attempts)| *count as f64 * attempts).fold(0.0, f64::max)
        }
        Quota::Any(count) => *count as f64 * attempts.fold(f64::INFINITY, f64::min),
        Quota::Endless => f64::INFINITY,
    }
}

fn select(name: &str, sizing: Sizing) -> Result<Box<dyn Engine>, Refusal> {
    engine::select(name, sizing).map_err(|error| match error {
        EngineError::SelfTest(_) => Refusal::SelfTest(error),
        EngineError::Unknown(_) | EngineError::Unavailable { .. } => {
            Complaint::new(error.to_string()).hint(error.hint()).into()
        }
    })
}

fn destination(args: &Args) -> Destination {
    match (&args.output, &args.output_dir) {
        (Some(path), _) if path != Path::new("-") => Destination::File(path.clone()),
        (_, Some(directory)) => Destination::Directory(directory.clone()),
        _ => Destination::Stream,
    }
}

/// Refuses what cannot take the keys that are asked for.
fn check_destination(search: &Search) -> Result<(), Refusal> {
    let keys = match &search.quota {
        Quota::Each(count) => count.saturating_mul(search.patterns.len() as u64),
        Quota::Any(count) => *count,
        // Only a directory has a part of them already.
        Quota::Left(_) | Quota::Endless => 0,
    };
    if matches!(search.destination, Destination::File(_)) && keys > 1 {
        return Err(Complaint::new(format!("--output names one file, and {keys} keys are asked for"))
            .hint("--output-dir DIR writes a pair of files for each key")
            .into());
    }
    search.destination.prepare().map_err(|error| with_hint(&error).into())
}

/// A destination's error as a complaint.
fn with_hint(error: &StoreError) -> Complaint {
    let complaint = Complaint::new(error.to_string());
    match error.hint() {
        Some(hint) => complaint.hint(hint),
        None => complaint,
    }
}
