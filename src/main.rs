//! The command: arguments, then the search, then the exit status.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::panic::UnwindSafe;
use std::process::ExitCode;
use std::time::Duration;

use vanity_ed25519::cli::{self, Complaint, Plan, Refusal};
use vanity_ed25519::deliver::{self, Delivery, Undelivered};
use vanity_ed25519::escape::escaped;
use vanity_ed25519::report::{self, Paint};
use vanity_ed25519::search::{
    End, Find, Measure, Search, SearchError, Signal, Stop, Unmeasured, check_randomness,
};
use vanity_ed25519::sys::forbid_core_dumps;

/// A failure: of input or output, of the machine, or of a self-check.
const FAILURE: u8 = 1;

/// The request cannot be carried out.
const UNUSABLE: u8 = 2;

/// A limit ended the search.
const LIMIT: u8 = 3;

/// How long this machine's rate is measured before a search: some batches of every thread.
const CALIBRATION_TIME: Duration = Duration::from_millis(10);

/// How long `--estimate` measures this machine's rate.
const ESTIMATE_TIME: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    carry_out(|| cli::plan(std::env::args_os())).into()
}

/// Carries out a plan, and returns the exit status.
pub fn carry_out(plan: impl FnOnce() -> Result<Plan, Refusal> + UnwindSafe) -> u8 {
    // The panic's own message is on stderr by then.
    std::panic::catch_unwind(|| run(plan)).unwrap_or(FAILURE)
}

fn run(plan: impl FnOnce() -> Result<Plan, Refusal>) -> u8 {
    if let Err(error) = forbid_core_dumps() {
        note(format_args!("warning: core dumps could not be switched off: {error}"));
    }
    if let Err(error) = check_randomness() {
        return fail(&Failure::new(SearchError::<Undelivered>::Randomness(error)));
    }
    #[cfg(all(unix, feature = "gpu"))]
    if let Err(error) = Stop::come_first() {
        return fail(&Failure::new(error));
    }
    let outcome = match plan() {
        Ok(Plan::Print(text)) => print(&text),
        Ok(Plan::Estimate(plan)) => estimate(&plan),
        Ok(Plan::Bench(plan)) => bench(&plan),
        Ok(Plan::Search(plan)) => search(&plan),
        Err(refusal) => return refuse(&refusal),
    };
    outcome.unwrap_or_else(|failure| fail(&failure))
}

fn search(plan: &cli::Search) -> Result<u8, Failure> {
    let stop = plan.stop.clone().map_or_else(Stop::on_signals, Ok).map_err(Failure::new)?;
    let mut delivery = Delivery::new(plan);
    if plan.patterns.is_empty() {
        delivery.nothing_is_missing()?;
        return Ok(0);
    }
    if plan.show.json || !plan.show.quiet {
        let measure = Measure { patterns: &plan.patterns, threads: plan.threads, stop: &stop };
        match measure.rate(&*plan.engine, CALIBRATION_TIME) {
            Ok(rate) => delivery.begin(rate)?,
            // The search meets the same signal at once, and reports it.
            Err(Unmeasured::Signal(_)) => {}
            Err(Unmeasured::Failed(error)) => return Err(Failure::new(error)),
        }
    }
    let prepare = |find: &Find| deliver::prepare(plan, find);
    let search = Search {
        engine: &*plan.engine,
        patterns: &plan.patterns,
        threads: plan.threads,
        quota: plan.quota.clone(),
        timeout: plan.timeout,
        prepare: plan.protection.is_some().then_some(&prepare),
    };
    let summary = search.run(&stop, &mut delivery)?;
    delivery.finish(&summary)?;
    Ok(match summary.end {
        End::Complete => 0,
        End::Timeout => LIMIT,
        End::Signal(signal) => signal.status(),
    })
}

fn estimate(plan: &cli::Search) -> Result<u8, Failure> {
    let stop = Stop::on_signals().map_err(Failure::new)?;
    let measure = Measure { patterns: &plan.patterns, threads: plan.threads, stop: &stop };
    let rate = measure.rate(&*plan.engine, ESTIMATE_TIME);
    plan.engine.notes().iter().for_each(note);
    measured(rate, |rate| report::estimate(plan, rate))
}

fn bench(plan: &cli::Bench) -> Result<u8, Failure> {
    let stop = Stop::on_signals().map_err(Failure::new)?;
    let measure = Measure { patterns: &plan.patterns, threads: plan.threads, stop: &stop };
    let figures = measure.compare(&plan.engines, plan.time);
    plan.engines.iter().flat_map(|engine| engine.notes()).for_each(note);
    measured(figures, |figures| report::bench(plan, &figures))
}

/// Reports figures, unless a signal came first.
fn measured<T>(
    figures: Result<T, Unmeasured>,
    report: impl FnOnce(T) -> io::Result<()>,
) -> Result<u8, Failure> {
    match figures {
        Ok(figures) => report(figures).map(|()| 0).map_err(|error| Undelivered::Stdout(error).into()),
        Err(Unmeasured::Signal(signal)) => Ok(Signal::status(signal)),
        Err(Unmeasured::Failed(error)) => Err(Failure::new(error)),
    }
}

fn print(text: &[u8]) -> Result<u8, Failure> {
    report::print(text).map(|()| 0).map_err(|error| Undelivered::Stdout(error).into())
}

/// Says why there is no plan.
fn refuse(refusal: &Refusal) -> u8 {
    say(&report::refusal(refusal, paint()));
    match refusal {
        Refusal::Usage(_) | Refusal::Complaints(_) => UNUSABLE,
        Refusal::SelfTest(_) => FAILURE,
        Refusal::Signal(signal) => signal.status(),
    }
}

/// Says why a search that could be carried out was not. Gives the exit status.
fn fail(failure: &Failure) -> u8 {
    say(&report::complaint(&failure.0, paint()));
    FAILURE
}

/// Writes a line to stderr.
fn note(line: impl Display) {
    say(&format!("{}\n", escaped(&line.to_string())));
}

/// Writes to stderr, if it can be written to.
fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The colours of stderr.
fn paint() -> Paint {
    Paint::new(cli::color(), &io::stderr())
}

/// Why a search that could be carried out was not.
struct Failure(Complaint);

impl Failure {
    fn new(error: impl Display) -> Self {
        Self(Complaint::new(error.to_string()))
    }
}

impl From<Undelivered> for Failure {
    fn from(error: Undelivered) -> Self {
        let Self(complaint) = Self::new(&error);
        Self(match error.hint() {
            Some(hint) => complaint.hint(hint),
            None => complaint,
        })
    }
}

impl From<SearchError<Undelivered>> for Failure {
    fn from(error: SearchError<Undelivered>) -> Self {
        match error {
            SearchError::Observer(error) => error.into(),
            SearchError::Unprepared(error) => Undelivered::Encode(error).into(),
            other => Self::new(other),
        }
    }
}
