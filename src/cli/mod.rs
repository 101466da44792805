//! What was typed becomes a [`Plan`]. Every complaint about input is made here, before the first seed.

mod args;
mod complaint;
mod duplicates;
mod line;
mod passphrase;
mod patterns;
mod rest;
mod streams;
mod usage;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{self, Devices, Engine, EngineError, Sizing};
use crate::key::{Format, Protection};
use crate::pattern::{Kind, Pattern, Style};
use crate::search::{Find, Quota, Signal, Stop};
use crate::store::{Destination, StoreError};
use crate::wire::Subject;

use crate::ledger::Ledger;
use crate::report::Paint;
use args::Args;
pub use complaint::Complaint;
use patterns::Patterns;
pub use usage::Usage;
use values::quoted_os;

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
    /// The command line is not understood.
    Usage(Usage),
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
    let typed: Vec<OsString> = typed.collect();
    let args = match Args::read(&typed) {
        Ok(args) => args,
        Err(error) => return unread(&error, &typed),
    };
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
    let is_search = bench.is_none() && !args.estimate;
    if is_search {
        check_output(&destination, args.json)?;
    }
    values::cipher(args.cipher.as_deref())?;
    values::rounds(args.rounds.as_deref())?;
    passphrase::check(&args, destination.format(format))?;
    // Who names a device wants it used.
    let usual = if devices == Devices::ALL { engine::AUTO } else { engine::GPU };
    let name = args.engine.as_deref().unwrap_or(usual);
    engine::check(name).map_err(no_engine)?;
    let Patterns { patterns, notes } = read_patterns(&args, subject, bench.is_some(), threads)?;
    let show = Show { json: args.json, quiet: args.quiet, color: args.color };
    if let Some(time) = bench {
        let sizing = Sizing { table_memory, devices, ..Sizing::for_attempts(f64::INFINITY) };
        let engines = engines_to_measure(name, sizing)?;
        return Ok(Plan::Bench(Bench { patterns, notes, engines, threads, time, show }));
    }
    let quota = if args.any { Quota::Any(count) } else { Quota::Each(count) };
    let sizing = |search: &Search| Sizing {
        expected_attempts: expected_attempts(&search.patterns, &search.quota),
        table_memory,
        devices,
    };
    let ledger = match &destination {
        Destination::Directory(directory) => Some(Ledger::new(directory)),
        _ => None,
    };
    let mut search = Search {
        patterns,
        notes,
        quota,
        had: 0,
        // Until all else is checked: the tables of others take longer than a refusal may.
        engine: select(engine::YARDSTICK, Sizing::for_attempts(0.0))?,
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
        search.engine = select(name, sizing(&search))?;
        return Ok(Plan::Estimate(search));
    }
    let (mut passphrase, note) = passphrase::Source::open(&args)?.unzip();
    search.notes.extend(note.flatten());
    check_destination(&search)?;
    rest::subtract(&mut search, &mut passphrase)?;
    search.engine = select(name, sizing(&search))?;
    if search.patterns.is_empty() {
        return Ok(Plan::Search(search));
    }
    if let Some(source) = passphrase {
        search.protection = passphrase::protection(&args, source, &mut search.stop)?.map(Arc::new);
    }
    Ok(Plan::Search(search))
}

/// What clap prints in the place of a plan, or why there is none.
fn unread(error: &clap::Error, typed: &[OsString]) -> Result<Plan, Refusal> {
    if !error.use_stderr() {
        let text = error.render();
        let painted = Paint::new(args::color(typed), &std::io::stdout()).enabled();
        let text = if painted { text.ansi().to_string() } else { text.to_string() };
        return Ok(Plan::Print(text.into_bytes()));
    }
    Err(match passphrase::typed(error) {
        Some(complaint) => complaint.into(),
        None => Refusal::Usage(Usage::new(error, typed, Args::read)),
    })
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
    engine::select(name, sizing).map_err(no_engine)
}

fn no_engine(error: EngineError) -> Refusal {
    match error {
        EngineError::SelfTest(_) => Refusal::SelfTest(error),
        EngineError::Unknown(_) | EngineError::Unavailable { .. } => {
            Complaint::new(error.to_string()).hint(error.hint()).into()
        }
    }
}

fn destination(args: &Args) -> Destination {
    match (&args.output, &args.output_dir) {
        (Some(path), _) if path != Path::new("-") => Destination::File(path.clone()),
        (_, Some(directory)) => Destination::Directory(directory.clone()),
        _ => Destination::Stream,
    }
}

/// Refuses where keys cannot go, as far as the command line and stdout tell.
fn check_output(destination: &Destination, json: bool) -> Result<(), Complaint> {
    let (option, path) = match destination {
        Destination::Stream => return streams::check(),
        Destination::File(path) => ("--output", path),
        Destination::Directory(path) => ("--output-dir", path),
    };
    if json && path.to_str().is_none() {
        let problem = format!("{option} {} is not UTF-8 text", quoted_os(path.as_os_str()));
        return Err(
            Complaint::new(problem).hint("JSON cannot name it: choose another name, or leave out --json")
        );
    }
    Ok(())
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
