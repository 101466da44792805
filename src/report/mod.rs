//! The output for people and scripts: odds, progress, results, next steps.
//!
//! stdout gets the results (keys, public lines, JSON), and a failed write of these is an error.
//! stderr gets everything else, and a failed write there is ignored.

mod bench;
mod estimate;
mod failure;
mod forecast;
mod json;
mod next_steps;
mod number;
mod printing;
mod progress;
mod reporter;

pub use bench::bench;
pub use estimate::estimate;
pub use failure::{failure, plan_error, status, unread};
pub use printing::{Paint, notice, text, text_if_read};
pub use reporter::Report;
