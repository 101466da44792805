//! Turns the command line into a [`Plan`].
//!
//! This module makes every diagnostic about the command line and about patterns, before the first
//! seed. It writes nothing and does not ask the user.

mod advice;
mod args;
mod generated;
mod guesses;
mod keys;
mod option_values;
mod pattern_file;
pub mod patterns;
mod stdio;
mod usage;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use crate::engine::{self, Devices};
use crate::escape::shell_word;
use crate::notice::{Notice, Severity};
use crate::pattern::{Kind, MatchOptions};
use crate::plan::{
    BenchPlan, ColorChoice, Diagnostic, EngineChoice, EstimatePlan, Help, OutputOptions, Plan, PlanError,
    SearchPlan,
};
use crate::search::Quota;
use crate::store::Destination;

use args::{Args, Look};
use option_values::GpuDevices;
use patterns::Patterns;

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
    args.search.timeout.into_iter().for_each(|limit| tell(Early::Limit(limit)));
    if args.about.man {
        return Ok(Plan::Print(generated::manual()));
    }
    if let Some(shell) = args.about.completions {
        return Ok(Plan::Print(generated::completions(shell)));
    }
    if args.search.gpu_device == Some(GpuDevices::List) {
        return Ok(Plan::ListDevices);
    }

    let (threads, of_scheduler) =
        args.search.threads.map_or_else(option_values::default_threads, |threads| (threads, None));
    let (keys, of_keys) = keys::keys(&args)?;
    let engine = engine(&args)?;
    let Patterns { patterns, mut notices } = read_patterns(&args, threads, tell)?;
    notices.extend(of_scheduler);
    let output = OutputOptions {
        json: args.shown.json,
        quiet: args.shown.quiet,
        color: args.shown.color.unwrap_or_default(),
        progress: args.shown.progress.unwrap_or_default(),
        arguments: advice::arguments,
    };
    if let Some(time) = args.shown.bench {
        return Ok(Plan::Bench(BenchPlan { patterns, notices, engine, threads, time, output }));
    }
    notices.extend(of_keys);
    let count = args.search.count.unwrap_or(1);
    let plan = SearchPlan {
        patterns,
        notices,
        quota: if args.search.any { Quota::Any(count) } else { Quota::Each(count) },
        engine,
        threads,
        timeout: args.search.timeout,
        however_long: args.search.however_long,
        keys,
        output,
    };
    if args.shown.estimate {
        return Ok(Plan::Estimate(EstimatePlan { search: plan, within: args.shown.within }));
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
    if error.use_stderr() {
        return Err(usage::diagnostic(error, typed).into());
    }
    let text = error.render();
    let text = Help { plain: text.to_string(), painted: text.ansi().to_string() };
    Ok(Plan::Help(text, args::color(typed)))
}

/// Returns the engine that is asked for. A user who names a device wants to use it.
fn engine(args: &Args) -> Result<EngineChoice, PlanError> {
    let (devices, usual) = match args.search.gpu_device {
        Some(GpuDevices::Use(devices)) if devices != Devices::ALL => (devices, engine::GPU),
        _ => (Devices::ALL, engine::AUTO),
    };
    let name = args.search.engine.clone().unwrap_or_else(|| usual.to_owned());
    if name != engine::AUTO {
        engine::named(&name)?.check()?;
    }
    if args.search.gpu_load.is_some() {
        engine::named(engine::GPU)?.check()?;
    }
    let device_load = args.search.gpu_load.unwrap_or(100);
    Ok(EngineChoice::Named { name, table_memory: args.search.table_memory, devices, device_load })
}

fn read_patterns(args: &Args, threads: NonZeroUsize, tell: &dyn Fn(Early)) -> Result<Patterns, PlanError> {
    let look = &args.look;
    let target = look.r#in.unwrap_or_default();
    let kind = match look {
        Look { prefix: true, .. } => Kind::Prefix,
        Look { suffix: true, .. } => Kind::Suffix,
        Look { word: true, .. } => Kind::Word,
        Look { regex: true, .. } => Kind::Regex,
        _ => Kind::Anywhere,
    };
    let options = MatchOptions { kind, case_sensitive: look.case_sensitive, leet: look.leet, target };
    if !args.shown.quiet && look.files.iter().any(|file| stdio::is_typed(file)) {
        let waits = format!("reading patterns from the terminal, one per line; {END_OF_INPUT} ends");
        tell(Early::Notice(Notice::info(waits)));
    }
    if !look.patterns.is_empty() || !look.files.is_empty() {
        return patterns::read(&look.patterns, &look.files, options, threads);
    }
    if args.shown.bench.is_some() {
        let options = MatchOptions { target, ..MatchOptions::default() };
        return patterns::read(&[BENCH_PATTERN], &[] as &[&Path], options, threads);
    }
    let hint = match args.keys.output.as_deref().filter(|path| !stdio::is_stdio(path)) {
        Some(path) => {
            format!("-o {} only names the file: add a pattern, as in -o id_alice alice", shell_word(path))
        }
        None => "for example `vanity-ed25519 -o id_alice alice`; --help lists all options".to_owned(),
    };
    Err(Diagnostic::new("no pattern was given: write the text that the key must contain").hint(hint).into())
}

/// Refuses several keys for one file.
fn check_count(plan: &SearchPlan) -> Result<(), Diagnostic> {
    let keys = match &plan.quota {
        Quota::Each(count) => count.saturating_mul(plan.patterns.len() as u64),
        Quota::Any(count) => *count,
        Quota::Left(counts) => counts.iter().sum(),
    };
    let (problem, hint) = match plan.keys.destination {
        _ if keys <= 1 => return Ok(()),
        _ if plan.keys.host.is_some() => (
            "--host-key makes one key",
            "leave out --count; for several patterns add --any; a name goes after =, as in --host-key=NAME",
        ),
        Destination::File(_) => {
            ("--output names one file", "--output-dir DIR writes a pair of files for each key")
        }
        _ => return Ok(()),
    };
    let commands = plan.notices.iter().filter(|notice| notice.severity == Severity::Note);
    let commands = commands.map(|notice| notice.text.clone());
    Err(Diagnostic::new(format!("{problem}, but you asked for {keys} keys")).hint(hint).hints(commands))
}
