//! The request, as data: what to look for, how many keys, by which engine, where they go, and what is shown.
//!
//! A plan is checked as far as the command line tells. It opens nothing: [`crate::job`] does.

mod complaint;
mod output;
mod refusal;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::{self, Devices, Engine, Sizing};
use crate::key::{Cipher, Format};
use crate::notice::Notice;
use crate::pattern::Pattern;
use crate::search::Quota;
use crate::store::Destination;

pub use complaint::Complaint;
pub use output::{ColorChoice, OutputOptions};
pub use refusal::{Refusal, Usage};

/// What to do.
pub enum Plan {
    /// Print this and exit.
    Print(Vec<u8>),
    /// Print the help or the version, coloured so, and exit.
    Help(Usage, ColorChoice),
    /// List the devices that the engine `gpu` can use, and exit.
    ListDevices,
    /// Print the odds and exit.
    Estimate(SearchPlan),
    /// Measure engines and exit.
    Bench(BenchPlan),
    /// Search.
    Search(SearchPlan),
}

/// Which engines are measured, and how.
pub struct BenchPlan {
    /// What they search for.
    pub patterns: Vec<Pattern>,
    /// What is printed about the patterns.
    pub notices: Vec<Notice>,
    /// One engine, which is measured beside the yardstick, or `auto` for all of this machine.
    pub engine: EngineChoice,
    /// Worker threads.
    pub threads: NonZeroUsize,
    /// For how long each.
    pub time: Duration,
    /// What is shown.
    pub output: OutputOptions,
}

/// What to search for, how, and what becomes of it.
pub struct SearchPlan {
    /// What to look for; at least one pattern.
    pub patterns: Vec<Pattern>,
    /// What is printed about the patterns.
    pub notices: Vec<Notice>,
    /// How many keys.
    pub quota: Quota,
    /// The way of searching.
    pub engine: EngineChoice,
    /// Worker threads.
    pub threads: NonZeroUsize,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// Where keys go.
    pub destination: Destination,
    /// The form of private keys, if one was asked for.
    pub format: Option<Format>,
    /// How private keys are encrypted, if they are.
    pub encryption: Option<Encryption>,
    /// The comment, if it is not the pattern.
    pub comment: Option<String>,
    /// What is shown.
    pub output: OutputOptions,
}

/// The way of searching.
pub enum EngineChoice {
    /// The engine of this name.
    Named {
        /// One of [`engine::names`], or [`engine::AUTO`].
        name: String,
        /// The most bytes for tables, if there is a bound.
        table_memory: Option<usize>,
        /// The graphics processors that may be used.
        devices: Devices,
    },
    /// An engine of the caller's.
    Given(Box<dyn Engine>),
}

impl EngineChoice {
    /// Returns what an engine is built for that is expected to try so many keys.
    #[must_use]
    pub fn sizing(&self, expected_attempts: f64) -> Sizing {
        match *self {
            Self::Named { table_memory, devices, .. } => Sizing { expected_attempts, table_memory, devices },
            Self::Given(_) => Sizing::for_attempts(expected_attempts),
        }
    }

    /// Returns the engine, after its self-test, for a search that is expected to try so many keys.
    ///
    /// # Errors
    ///
    /// The reasons of [`engine::select`].
    pub fn select(self, expected_attempts: f64) -> Result<Box<dyn Engine>, Refusal> {
        let sizing = self.sizing(expected_attempts);
        match self {
            Self::Named { name, .. } => Ok(engine::select(&name, sizing)?),
            Self::Given(engine) => Ok(engine),
        }
    }
}

/// How private keys are encrypted.
pub struct Encryption {
    /// Where the passphrase comes from.
    pub passphrase: PassphraseSource,
    /// What encrypts OpenSSH's form.
    pub cipher: Cipher,
    /// Rounds of bcrypt in OpenSSH's form.
    pub rounds: NonZeroU32,
}

/// Where a passphrase comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PassphraseSource {
    /// It is typed on the terminal, twice.
    Terminal,
    /// It is the first line of stdin.
    Stdin,
    /// It is the first line of this file.
    File(PathBuf),
}
