//! What is shown, and in which form.

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub struct OutputOptions {
    /// Results as JSON.
    pub json: bool,
    /// Nothing on stderr but errors.
    pub quiet: bool,
    /// Colours.
    pub color: ColorChoice,
}

/// When output is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ColorChoice {
    /// On terminals, unless the surroundings ask for none.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
