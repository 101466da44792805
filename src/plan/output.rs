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
    /// When the output is coloured.
    pub color: ColorChoice,
    /// How the command line writes a pattern.
    pub arguments: Arguments,
}

/// When the output is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ColorChoice {
    /// On terminals, unless the environment asks for no colours.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
