//! The command: makes a plan from the arguments, runs it as a job, and returns the exit status.

use std::io;
use std::panic::UnwindSafe;
use std::process::ExitCode;

use vanity_ed25519::cli;
use vanity_ed25519::job::{self, JobError, PreparedSearch, Untold};
use vanity_ed25519::plan::{Plan, PlanError};
use vanity_ed25519::report::{self, Paint, Report};
use vanity_ed25519::search::{End, check_randomness};
use vanity_ed25519::sys::forbid_core_dumps;

fn main() -> ExitCode {
    carry_out(|| cli::plan(std::env::args_os())).into()
}

/// Carries out a plan, and returns the exit status.
pub fn carry_out(plan: impl FnOnce() -> Result<Plan, PlanError> + UnwindSafe) -> u8 {
    // A panic has already printed its own message on stderr.
    let ended = std::panic::catch_unwind(|| run(plan)).unwrap_or(Err(JobError::Panic));
    if let Err(error) = &ended {
        report::text(&report::failure(error, Paint::new(cli::color(), &io::stderr())));
    }
    report::status(&ended)
}

fn run(plan: impl FnOnce() -> Result<Plan, PlanError>) -> Result<End, JobError> {
    if let Err(error) = forbid_core_dumps() {
        report::text(&format!("warning: cannot disable core dumps: {error}\n"));
    }
    check_randomness().map_err(JobError::Randomness)?;
    #[cfg(all(unix, feature = "gpu"))]
    vanity_ed25519::search::Stop::install_early().map_err(JobError::Signals)?;
    let printed = match plan()? {
        Plan::Print(text) => report::print(&text),
        Plan::Help(text, color) => {
            let painted = Paint::new(color, &io::stdout()).enabled();
            report::print(if painted { text.painted } else { text.plain }.as_bytes())
        }
        Plan::ListDevices => report::print(job::list_devices()?.as_bytes()),
        Plan::Estimate(plan) => report::estimate(&job::estimate(plan)?),
        Plan::Bench(plan) => report::bench(&job::bench(plan)?),
        Plan::Search(plan) => {
            let output = plan.output;
            let search = PreparedSearch::open(plan, &|notice| report::notice(&notice, output))?;
            return search.run(&mut Report::new(&search), abandon);
        }
    };
    printed.map(|()| End::Complete).map_err(|error| JobError::Stdout(error, Untold::default()))
}

/// Ends the process without waiting for a reader who does not read, and was not told about some keys.
fn abandon(ended: &Result<End, JobError>, untold: &Untold) -> ! {
    let mut message = String::new();
    if let Err(error) = ended {
        message += &report::failure(error, Paint::new(cli::color(), &io::stderr()));
    }
    message += &report::unread(untold);
    report::text_if_read(message);
    std::process::exit(report::status(ended).into())
}
