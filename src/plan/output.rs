//! Options of the output.

use crate::pattern::Pattern;

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
