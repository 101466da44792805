//! The names by which engines are chosen, beside those of instruction sets.

/// The name that stands for the fastest engine which works on this machine.
pub const AUTO: &str = "auto";

/// The name of the engine of graphics processors.
pub const GPU: &str = "gpu";

/// The name of graphics processors and the processor together, which [`AUTO`] may take.
pub const HYBRID: &str = "gpu+cpu";
