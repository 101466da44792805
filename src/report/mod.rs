//! The output for people and scripts: odds, progress, results, next steps.
//!
//! stdout gets the results (keys, public lines, JSON), and a failed write of these is an error.
//! stderr gets everything else, and a failed write there is ignored.

mod bench;
mod failure;
mod figures;
mod forecast;
mod json;
mod next_steps;
mod number;
mod progress;
mod search;
mod streams;

pub use bench::{BenchProgress, bench};
pub use failure::{failure, plan_error, status, unread};
pub use figures::estimate;
pub use search::Report;
pub use streams::{Paint, notice, print, text, text_if_read};
