//! Options of the output.

/// What is printed, and how.
#[derive(Clone, Copy, Debug)]
pub struct OutputOptions {
    /// Whether results are JSON.
    pub json: bool,
    /// Whether stderr gets only errors.
    pub quiet: bool,
    /// When the output is coloured.
    pub color: ColorChoice,
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
