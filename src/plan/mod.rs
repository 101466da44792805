//! The request as data: the patterns, the number of keys, the engine, the destination, the output.
//!
//! A plan has passed all checks that need only the command line. It has opened nothing;
//! [`crate::job`] opens what a plan names.

mod diagnostic;

use std::borrow::Cow;
use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::Constraints;
use crate::engine::{self, Devices, Engine, EngineOptions};
use crate::key::{Cipher, Format, HostName, harmless};
use crate::notice::Notice;
use crate::pattern::Pattern;
use crate::search::Quota;
use crate::store::Destination;

pub(crate) use diagnostic::ANOTHER_ENGINE;
pub use diagnostic::{Diagnostic, PlanError};

/// What the program does.
pub enum Plan {
    /// Print these bytes and exit.
    Print(Vec<u8>),
    /// Print the help or the version, in color or not, and exit.
    Help(Help, ColorChoice),
    /// List the devices that the engine `gpu` can use, and exit.
    ListDevices,
    /// Print the odds and exit.
    Estimate(EstimatePlan),
    /// Measure engines and exit.
    Bench(BenchPlan),
    Search(SearchPlan),
}

/// The help, or the version.
pub struct Help {
    /// The text without colors.
    pub plain: String,
    /// The text with colors.
    pub painted: String,
}

/// Which engines are measured, and how.
pub struct BenchPlan {
    /// The patterns that the engines search for.
    pub patterns: Vec<Pattern>,
    /// The notices about the patterns.
    pub notices: Vec<Notice>,
    /// One engine, which is measured beside the baseline, or `auto` for all engines of this
    /// machine.
    pub engine: EngineChoice,
    pub threads: NonZeroUsize,
    /// The time for each engine.
    pub time: Duration,
    pub output: OutputOptions,
}

/// An estimate of a search.
pub struct EstimatePlan {
    /// The search.
    pub search: SearchPlan,
    /// The time that suggestions must fit into, if there is a limit.
    pub within: Option<Duration>,
}

/// A search: the patterns, the engine, and the destination of the keys.
pub struct SearchPlan {
    /// The patterns to search for; at least one.
    pub patterns: Vec<Pattern>,
    /// The notices about the patterns.
    pub notices: Vec<Notice>,
    pub quota: Quota,
    pub engine: EngineChoice,
    pub threads: NonZeroUsize,
    pub timeout: Option<Duration>,
    /// Whether to search even for what will not be found.
    pub however_long: bool,
    /// Where each key goes, and in which form.
    pub keys: KeyOutput,
    pub output: OutputOptions,
}

/// Where each key goes, and in which form.
pub struct KeyOutput {
    /// Where keys go.
    pub destination: Destination,
    /// How the agent holds the keys, or `None` if they do not go to the agent. With
    /// [`Destination::Stream`] they go to the agent alone.
    pub agent: Option<Constraints>,
    /// The name of the host whose key this is, if it is the key of a host.
    pub host: Option<HostName>,
    pub format: Format,
    /// How private keys are encrypted, or `None` if they are not.
    pub encryption: Option<Encryption>,
    /// The comment, if it does not come from the pattern.
    pub comment: Option<String>,
    /// The shell command that runs after each find, if any.
    pub exec: Option<OsString>,
    /// Whether users other than the owner may have access to private files.
    pub allow_exposed: bool,
}

impl KeyOutput {
    /// Whether keys go to the agent and nowhere else.
    #[must_use]
    pub fn is_agent_alone(&self) -> bool {
        self.agent.is_some() && self.destination == Destination::Stream
    }

    /// Returns the comment on a key for a pattern. It is not longer than the pattern, if it comes from
    /// there.
    #[must_use]
    pub fn comment<'a>(&'a self, pattern: &'a Pattern) -> Cow<'a, str> {
        self.comment.as_deref().map_or_else(|| harmless(pattern.text()), Cow::Borrowed)
    }
}

pub enum EngineChoice {
    /// The engine of this name.
    Named {
        /// One of [`engine::list`], or [`engine::AUTO`].
        name: String,
        /// The most bytes for tables, if the user set a limit.
        table_memory: Option<usize>,
        /// The GPUs that the engine can use.
        devices: Devices,
        /// The part of the time that a GPU works, in percent.
        device_load: u8,
    },
    /// An engine that the caller has built.
    Given(Arc<dyn Engine>),
}

impl EngineChoice {
    /// Returns the options of an engine that is expected to try `expected_attempts` keys.
    #[must_use]
    pub fn options(&self, expected_attempts: f64) -> EngineOptions {
        let options = EngineOptions::for_attempts(expected_attempts);
        match *self {
            Self::Named { table_memory, devices, device_load, .. } => {
                EngineOptions { table_memory, devices, device_load, ..options }
            }
            Self::Given(_) => options,
        }
    }

    /// Builds the engine of a search that is expected to try `expected_attempts` keys, and runs its
    /// self-test.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`engine::select`].
    pub fn build(&self, expected_attempts: f64) -> Result<Arc<dyn Engine>, PlanError> {
        let options = self.options(expected_attempts);
        match self {
            Self::Named { name, .. } => Ok(engine::select(name, options)?),
            Self::Given(engine) => Ok(Arc::clone(engine)),
        }
    }
}

/// How private keys are encrypted.
pub struct Encryption {
    /// Where the passphrase comes from.
    pub passphrase: PassphraseSource,
    /// The cipher of the OpenSSH format.
    pub cipher: Cipher,
    /// The rounds of bcrypt of the OpenSSH format.
    pub rounds: NonZeroU32,
}

/// Where a passphrase comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PassphraseSource {
    /// The terminal, where the user types it twice.
    Terminal {
        /// What to do without a terminal.
        instead: &'static str,
    },
    /// The first line of stdin.
    Stdin,
    /// The first line of this file.
    File(PathBuf),
}

/// Returns the words of the command line that search for a pattern. Only the command line knows the
/// names of its options.
pub type Arguments = fn(&Pattern) -> Vec<String>;

/// What is printed, and how.
#[derive(Clone, Copy, Debug)]
pub struct OutputOptions {
    /// Whether results are JSON.
    pub json: bool,
    /// Whether stderr gets only errors.
    pub quiet: bool,
    /// When the output is colored.
    pub color: ColorChoice,
    /// How the progress of a search is shown.
    pub progress: ProgressForm,
    /// How the command line writes a pattern.
    pub arguments: Arguments,
}

/// How the progress of a search is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProgressForm {
    /// As a line that is rewritten on a terminal, and elsewhere as a line now and then.
    #[default]
    Auto,
    /// Not at all.
    Off,
    /// As a JSON object every second. It is shown even if stderr gets only errors.
    Json,
}

/// When the output is colored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ColorChoice {
    /// On terminals, unless the environment asks for no colors.
    #[default]
    Auto,
    Always,
    Never,
}
