//! What a person or a script sees: odds, progress, results, next steps.
//!
//! stdout carries results (keys, public lines, JSON), and a failure to write them is an error. stderr carries
//! everything else, and a failure to write that is nobody's concern.

mod bench;
mod failure;
mod forecast;
mod json;
mod number;
mod odds;
mod paint;
mod progress_line;
mod search;
mod several;
mod streams;

pub use bench::bench;
pub use failure::{failure, refusal, status};
pub use odds::estimate;
pub use paint::Paint;
pub use search::Report;
pub use streams::{print, text};
