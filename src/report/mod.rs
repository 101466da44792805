//! The output for people and scripts: odds, progress, results, next steps.
//!
//! stdout gets the results (keys, public lines, JSON), and a failed write of these is an error.
//! stderr gets everything else, and a failed write there is ignored.

mod agent;
mod bench;
mod failure;
mod forecast;
mod host;
mod json;
mod number;
mod odds;
mod paint;
mod poisson;
mod progress_line;
mod search;
mod several;
mod status;
mod streams;
mod suggestions;
mod table;

pub use bench::bench;
pub use failure::{failure, lost, plan_error, status};
pub use odds::estimate;
pub use paint::Paint;
pub use search::Report;
pub use streams::{notice, print, text, text_if_read};
