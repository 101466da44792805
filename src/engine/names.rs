//! The names that select engines, apart from those of instruction sets.

/// The name that selects the fastest engine that works on this machine.
pub const AUTO: &str = "auto";

/// The name of the engine of graphics processors.
pub const GPU: &str = "gpu";

/// The name of the engine that uses graphics processors and the processor together. [`AUTO`] may
/// select it.
pub const HYBRID: &str = "gpu+cpu";
