//! The command: makes a plan from the arguments, runs it as a job, and returns the exit status.

use std::io;
use std::panic::UnwindSafe;

use crate::cli::{self, Early};
use crate::engine;
use crate::job::{self, JobError, Places, PreparedSearch};
use crate::report::{self, Report};
use crate::search::{End, check_randomness};
use crate::sys::{forbid_core_dumps, stop_on_signals, write_stdout};

// What the tests, the benches and the fuzzers use.
pub use crate::cli::patterns::read as read_patterns;
pub use crate::cli::plan;
pub use crate::escape::{escaped, escaped_json, escaped_os, shell_argument, shell_word};
pub use crate::key::is_active;
pub use crate::plan::{EngineChoice, Plan, PlanError, SearchPlan};
pub use crate::report::{Paint, plan_error};
pub use crate::store::{Demands, Destination, Kept, NewPair, StoredPair};
pub use crate::sys::ForeignAccess;

/// Does what the arguments of the process ask for, and ends it.
pub fn main() -> ! {
    engine::exit(carry_out(|tell| cli::plan(std::env::args_os(), tell)))
}

/// Carries out a plan, and returns the exit status.
pub fn carry_out(plan: impl FnOnce(&dyn Fn(Early)) -> Result<Plan, PlanError> + UnwindSafe) -> u8 {
    // A panic has already printed its own message on stderr.
    let ended = std::panic::catch_unwind(|| run(plan)).unwrap_or(Err(JobError::Panic));
    if let Err(error) = &ended {
        report::text(&report::failure(error, Paint::new(cli::color(), &io::stderr())));
    }
    report::status(&ended)
}

fn run(plan: impl FnOnce(&dyn Fn(Early)) -> Result<Plan, PlanError>) -> Result<End, JobError> {
    if let Err(error) = forbid_core_dumps() {
        report::text(&format!("warning: cannot disable core dumps: {error}\n"));
    }
    let stop = stop_on_signals().map_err(JobError::Signals)?;
    check_randomness().map_err(JobError::Randomness)?;
    // Without a thread for it, only what looks at the limit ends in time.
    let tell = |early| match early {
        Early::Limit(time) => {
            let over = || abandon(&Err(JobError::Stopped(End::Timeout)), &Places::default());
            drop(stop.limit(time, over));
        }
        Early::Notice(notice) => report::text(&format!("{notice}\n")),
    };
    let printed = match plan(&tell)? {
        Plan::Print(text) => write_stdout(&text),
        Plan::Help(text, color) => {
            let painted = Paint::new(color, &io::stdout()).enabled();
            write_stdout(if painted { text.painted } else { text.plain }.as_bytes())
        }
        Plan::ListDevices => write_stdout(job::list_devices()?.as_bytes()),
        Plan::Estimate(mut plan) => {
            let rate = job::estimate(&mut plan, &stop)?;
            report::estimate(&plan, rate)
        }
        Plan::Bench(mut plan) => {
            let engines = job::bench_engines(&mut plan)?;
            return report::bench(&plan, &engines, &stop).map(|()| End::Complete);
        }
        Plan::Search(plan) => {
            let output = plan.output;
            let search = PreparedSearch::open(plan, &stop, &|notice| report::notice(&notice, output))?;
            return search.run(&mut Report::new(&search), abandon);
        }
    };
    printed.map(|()| End::Complete).map_err(JobError::stdout)
}

/// Ends the process without waiting for a reader who does not read, and was not told about some keys.
fn abandon(ended: &Result<End, JobError>, untold: &Places) -> ! {
    let mut message = String::new();
    if let Err(error) = ended {
        message += &report::failure(error, Paint::new(cli::color(), &io::stderr()));
    }
    message += &report::unread(untold);
    report::text_if_read(message);
    engine::exit(report::status(ended))
}
