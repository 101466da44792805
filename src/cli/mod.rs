//! Turns the command line into a [`Plan`].
//!
//! This module makes every diagnostic about the command line and about patterns, before the first
//! seed. It writes nothing and does not ask the user.

mod advice;
mod agent;
mod args;
mod duplicates;
mod encryption;
mod generated;
mod host_key;
mod line;
mod meant;
pub mod patterns;
mod streams;
mod usage;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use crate::engine::{self, Devices};
use crate::key::{Format, trouble};
use crate::notice::{Notice, Severity};
use crate::pattern::{Kind, MatchOptions};
use crate::plan::{
    BenchPlan, ColorChoice, Diagnostic, EngineChoice, EstimatePlan, Help, KeyOutput, OutputOptions, Plan,
    PlanError, SearchPlan,
};
use crate::search::Quota;
use crate::store::Destination;

use args::Args;
use patterns::Patterns;
use values::{GpuDevices, quoted_os};

/// The pattern of `--bench` if the command line has none: six letters, anywhere, case ignored.
const BENCH_PATTERN: &str = "vanity";

/// What ends the input of a terminal.
const END_OF_INPUT: &str = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };

/// Returns the value of `--color`, even if the rest of the command line is wrong.
#[must_use]
pub fn color() -> ColorChoice {
    args::color(&std::env::args_os().collect::<Vec<_>>())
}

/// What a command line says before its patterns are read, which may take long.
pub enum Early {
    /// The time of `--timeout`.
    Limit(Duration),
    /// What is waited for.
    Notice(Notice),
}

/// Reads the command line and checks all of it. Passes `tell` what it says early.
///
/// # Errors
///
/// Returns what is wrong with the command line or with the patterns.
pub fn plan(typed: impl Iterator<Item = OsString>, tell: &dyn Fn(Early)) -> Result<Plan, PlanError> {
    let typed: Vec<OsString> = typed.collect();
    usage::check_words(&typed)?;
    let args = match Args::read(&typed) {
        Ok(args) => args,
        Err(error) => return unread(&error, &typed),
    };
    args.timeout.into_iter().for_each(|limit| tell(Early::Limit(limit)));
    encryption::check_typed(&typed)?;
    if args.man {
        return Ok(Plan::Print(generated::manual()));
    }
    if let Some(shell) = args.completions {
        return Ok(Plan::Print(generated::completions(shell)));
    }

    let devices = match args.gpu_device {
        Some(GpuDevices::List) => return Ok(Plan::ListDevices),
        Some(GpuDevices::Use(devices)) => devices,
        None => Devices::ALL,
    };
    if args.within.is_some() && !args.estimate {
        return Err(Diagnostic::new("--within needs --estimate")
            .hint("--estimate --within prints what fits into that time; --timeout ends a search")
            .into());
    }
    let count = args.count.unwrap_or(1);
    let (threads, of_scheduler) =
        args.threads.map_or_else(values::default_threads, |threads| (threads, None));
    let (mut format, mut comment) = (args.format, args.comment.clone());
    let (mut destination, mut host) = (destination(&args), None);
    if let Some(host_key) = host_key::host_key(&args)? {
        destination = host_key.destination;
        format = Some(Format::Openssh);
        comment = comment.or(Some(host_key.comment));
        host = Some(host_key.host);
    }
    let agent = agent::agent(&args, &destination)?;
    // If the agent does not take a key, the key goes to a file.
    let is_agent_alone = agent.is_some() && destination == Destination::Stream;
    if is_agent_alone {
        format = Some(Format::Openssh);
    }
    let is_search = args.bench.is_none() && !args.estimate;
    if is_search {
        check_output(&destination, args.json)?;
        streams::check(destination == Destination::Stream && !is_agent_alone)?;
    }
    let is_shown = is_search && !is_agent_alone && destination == Destination::Stream;
    if is_shown && !args.json && format.is_none() && streams::is_terminal() {
        // People read it there, and copy it. Every OpenSSH reads this format.
        format = Some(Format::Openssh);
    }
    let format = destination.format(format);
    let encryption = encryption::encryption(&args, format)?;
    // A user who names a device wants to use it.
    let usual = if devices == Devices::ALL { engine::AUTO } else { engine::GPU };
    let name = args.engine.clone().unwrap_or_else(|| usual.to_owned());
    engine::check(&name)?;
    let engine = EngineChoice::Named { name, table_memory: args.table_memory, devices };
    let Patterns { patterns, mut notices } = read_patterns(&args, threads, tell)?;
    notices.extend(of_scheduler);
    let output = OutputOptions {
        json: args.json,
        quiet: args.quiet,
        color: args.color,
        progress: args.progress.unwrap_or_default(),
        arguments: advice::arguments,
    };
    if let Some(time) = args.bench {
        return Ok(Plan::Bench(BenchPlan { patterns, notices, engine, threads, time, output }));
    }
    if is_shown && encryption.is_none() {
        notices.extend(streams::warning());
    }
    if let Some(trouble) = args
        .comment
        .as_deref()
        .filter(|_| is_search)
        .and_then(|comment| trouble(comment, format, encryption.is_some()))
    {
        notices.push(Notice::note(format!("not every program can use this comment: {trouble}")));
    }
    let quota = if args.any { Quota::Any(count) } else { Quota::Each(count) };
    let keys = KeyOutput {
        destination,
        agent,
        host,
        format,
        encryption,
        comment,
        exec: args.exec,
        allow_exposed: args.allow_exposed,
    };
    let plan = SearchPlan {
        patterns,
        notices,
        quota,
        engine,
        threads,
        timeout: args.timeout,
        however_long: args.however_long,
        keys,
        output,
    };
    if args.estimate {
        return Ok(Plan::Estimate(EstimatePlan { search: plan, within: args.within }));
    }
    check_count(&plan)?;
    Ok(Plan::Search(plan))
}

/// Returns the plan to print what clap answered: help or the version.
///
/// # Errors
///
/// Returns the error if `error` is about a wrong command line.
fn unread(error: &clap::Error, typed: &[OsString]) -> Result<Plan, PlanError> {
    if !error.use_stderr() {
        let text = error.render();
        let text = Help { plain: text.to_string(), painted: text.ansi().to_string() };
        return Ok(Plan::Help(text, args::color(typed)));
    }
    // The other diagnostics can repeat a word.
    encryption::check_typed(typed)?;
    Err(encryption::typed(error).unwrap_or_else(|| usage::diagnostic(error, typed)).into())
}

fn read_patterns(args: &Args, threads: NonZeroUsize, tell: &dyn Fn(Early)) -> Result<Patterns, PlanError> {
    let target = args.target.unwrap_or_default();
    let kind = match args {
        Args { prefix: true, .. } => Kind::Prefix,
        Args { suffix: true, .. } => Kind::Suffix,
        Args { word: true, .. } => Kind::Word,
        Args { regex: true, .. } => Kind::Regex,
        _ => Kind::Anywhere,
    };
    let options = MatchOptions { kind, case_sensitive: args.case_sensitive, leet: args.leet, target };
    if !args.quiet && args.files.iter().any(|file| streams::is_typed(file)) {
        let waits = format!("reading patterns from the terminal, one per line; {END_OF_INPUT} ends");
        tell(Early::Notice(Notice::info(waits)));
    }
    if !args.patterns.is_empty() || !args.files.is_empty() {
        return patterns::read(&args.patterns, &args.files, options, threads);
    }
    if args.bench.is_some() {
        let options = MatchOptions { target, ..MatchOptions::default() };
        return patterns::read(&[BENCH_PATTERN], &[] as &[&Path], options, threads);
    }
    Err(Diagnostic::new("no pattern was given: write the text that the key must contain")
        .hint("for example `vanity-ed25519 -o id_alice alice`; --help lists all options")
        .into())
}

fn destination(args: &Args) -> Destination {
    match (&args.output, &args.output_dir) {
        (Some(path), _) if path != Path::new("-") => Destination::File(path.clone()),
        (_, Some(directory)) => Destination::Directory(directory.clone()),
        _ => Destination::Stream,
    }
}

/// Refuses a destination that JSON cannot name.
fn check_output(destination: &Destination, json: bool) -> Result<(), Diagnostic> {
    let (option, path) = match destination {
        Destination::Stream => return Ok(()),
        Destination::File(path) => ("--output", path),
        Destination::Directory(path) | Destination::FileIn(path, _) => ("--output-dir", path),
    };
    if json && path.to_str().is_none() {
        let problem = format!("{option} {} is not UTF-8 text", quoted_os(path.as_os_str()));
        return Err(
            Diagnostic::new(problem).hint("JSON cannot name it: choose another name, or leave out --json")
        );
    }
    Ok(())
}

/// Refuses several keys for one file.
fn check_count(plan: &SearchPlan) -> Result<(), Diagnostic> {
    let keys = match &plan.quota {
        Quota::Each(count) => count.saturating_mul(plan.patterns.len() as u64),
        Quota::Any(count) => *count,
        Quota::Left(counts) => counts.iter().sum(),
    };
    if plan.keys.host.is_some() && keys > 1 {
        return Err(Diagnostic::new(format!("--host-key makes one key, but you asked for {keys} keys")).hint(
            "leave out --count; for several patterns add --any; a name goes after =, as in --host-key=NAME",
        ));
    }
    if matches!(plan.keys.destination, Destination::File(_)) && keys > 1 {
        let commands = plan.notices.iter().filter(|notice| notice.severity == Severity::Note);
        return Err(Diagnostic::new(format!("--output names one file, but you asked for {keys} keys"))
            .hint("--output-dir DIR writes a pair of files for each key")
            .hints(commands.map(|notice| notice.text.clone())));
    }
    Ok(())
}
