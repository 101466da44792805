//! Every engine by its name, and the choice among them.

use std::sync::Arc;

use ed25519_batch::BackEnd;
use thiserror::Error;

use super::traits::{AUTO, Engine, EngineOptions, GPU};
use super::{batch, reference, self_test};
#[cfg(feature = "gpu")]
use super::{gpu, hybrid};

/// The name of the engine that is the oracle and the baseline of all others.
pub const BASELINE: &str = reference::NAME;

/// Returns the entry of a back end of the batch engine.
macro_rules! of_back_end {
    ($back_end:expr) => {
        Entry {
            name: $back_end.name(),
            detect: || $back_end.check().map_err(|why| why.to_string()),
            build: |options| batch::build($back_end, options),
        }
    };
}

/// Every engine: the one of GPUs, then those of the CPU, fastest first. The
/// last one is the [`BASELINE`].
static ENGINES: [Entry; 8] = [
    Entry { name: GPU, detect: gpu::detect, build: |options| gpu::build(options, spare) },
    of_back_end!(BackEnd::Avx512ifma),
    of_back_end!(BackEnd::Avx512f),
    of_back_end!(BackEnd::AvxIfma),
    of_back_end!(BackEnd::Avx2),
    of_back_end!(BackEnd::Neon),
    of_back_end!(BackEnd::Portable),
    Entry { name: reference::NAME, detect: || Ok(()), build: reference::build },
];

/// An engine that can be chosen.
struct Entry {
    name: &'static str,
    /// Returns an error that names what this machine lacks for the engine, as far as that is known
    /// at once. Devices are only searched for when the engine is built.
    detect: fn() -> Result<(), String>,
    /// Builds the engine. Returns the reason if this machine cannot run it.
    build: fn(EngineOptions) -> Result<Arc<dyn Engine>, String>,
}

/// An engine that [`select`] knows.
#[derive(Clone, Copy)]
pub struct Listed(&'static Entry);

impl Listed {
    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns whether this program has the engine: whether it was built with it, for an architecture that
    /// the engine is for.
    #[must_use]
    pub fn is_built(self) -> bool {
        match self.name() {
            GPU => cfg!(feature = "gpu"),
            name => BackEnd::by_name(name).is_none_or(BackEnd::is_built),
        }
    }

    /// Checks that this machine has what the engine needs, as far as that is known at once. Builds nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if this machine cannot run it.
    pub fn check(self) -> Result<(), EngineError> {
        (self.0.detect)().map_err(|why| EngineError::Unavailable { name: self.name(), why })
    }

    /// Returns whether the engine is built, and is not the one of GPUs where the machine has none: that
    /// engine could use the CPU as a device.
    #[must_use]
    pub fn is_for_this_machine(self) -> bool {
        self.is_built() && (self.name() != GPU || gpu::has_gpu())
    }
}

/// Returns the engines that [`select`] knows besides [`AUTO`]: the one of GPUs, then those of the CPU,
/// fastest first.
pub fn list() -> impl Iterator<Item = Listed> {
    ENGINES.iter().map(Listed)
}

/// Returns the engine of this name.
///
/// # Errors
///
/// Returns an error if no engine has it.
pub fn named(name: &str) -> Result<Listed, EngineError> {
    list().find(|engine| engine.name() == name).ok_or_else(|| EngineError::Unknown(name.to_owned()))
}

/// Returns the names of all devices that the engine [`GPU`] can use, in the order of their numbers.
///
/// # Errors
///
/// Returns an error if no device exists, or if the program was built without that engine.
pub fn device_names() -> Result<Vec<String>, EngineError> {
    gpu::device_names().map_err(|why| EngineError::Unavailable { name: GPU, why })
}

/// Returns the engine called `name`, after its self-test, with tables of a suitable size. [`AUTO`]
/// selects the fastest engine of the CPU, and GPUs join it when they are ready.
///
/// # Errors
///
/// Returns an error if no engine has this name, if this machine cannot run it, or if it computed a
/// wrong key.
pub fn select(name: &str, options: EngineOptions) -> Result<Arc<dyn Engine>, EngineError> {
    if name == AUTO {
        let cpu = of_the_cpu(options)?;
        #[cfg(feature = "gpu")]
        let cpu = hybrid::build(cpu, options);
        return Ok(cpu);
    }
    let engine = named(name)?;
    engine.check()?;
    let &Entry { name, build, .. } = engine.0;
    let engine = build(options).map_err(|why| EngineError::Unavailable { name, why })?;
    if self_test::passes(&*engine) { Ok(engine) } else { Err(EngineError::SelfTest(name)) }
}

/// Ends the process, also while devices are opened in the background.
pub fn exit(status: u8) -> ! {
    #[cfg(feature = "gpu")]
    crate::gpu::leave(status);
    #[cfg(not(feature = "gpu"))]
    std::process::exit(status.into())
}

/// Returns the engine that replaces a device that fails.
fn spare(options: EngineOptions) -> Arc<dyn Engine> {
    of_the_cpu(options).unwrap_or_else(|_| Arc::new(reference::Reference))
}

/// Returns the fastest engine of the CPU that works on this machine and passes its self-test.
fn of_the_cpu(options: EngineOptions) -> Result<Arc<dyn Engine>, EngineError> {
    let mut first = None;
    for Entry { name, .. } in &ENGINES[1..] {
        match select(name, options) {
            Ok(engine) => return Ok(engine),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| EngineError::Unknown(AUTO.to_owned())))
}

/// Returns every engine that works on this machine, in the order of [`list`].
#[must_use]
pub fn available(options: EngineOptions) -> Vec<Arc<dyn Engine>> {
    let own = list().filter(|engine| engine.is_for_this_machine());
    own.filter_map(|engine| select(engine.name(), options).ok()).collect()
}

/// The reason why an engine is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum EngineError {
    /// No engine has this name.
    #[error("unknown engine '{}'", .0.escape_debug())]
    Unknown(String),
    /// This machine cannot run the engine.
    #[error("the engine '{name}' cannot run here: {why}")]
    Unavailable {
        /// The name of the engine.
        name: &'static str,
        /// The reason.
        why: String,
    },
    /// The engine does not reproduce the known vectors.
    #[error("the engine '{0}' computed a wrong key in its self-test and is not used")]
    SelfTest(&'static str),
}

impl EngineError {
    /// Returns a line that lists the engines of this machine.
    #[must_use]
    pub fn hint(&self) -> String {
        // A hint builds nothing. An engine that later fails its self-test has an error of its own.
        let is_available = |engine: &Listed| engine.is_for_this_machine() && engine.check().is_ok();
        let available = list().filter(is_available).map(Listed::name).collect::<Vec<_>>().join(", ");
        format!("engines of this machine: {AUTO}, {available}")
    }
}

/// Replaces the GPU engine in a program that was built without it.
#[cfg(not(feature = "gpu"))]
mod gpu {
    use std::sync::Arc;

    use super::{Engine, EngineOptions};

    pub(super) fn has_gpu() -> bool {
        false
    }

    pub(super) fn device_names() -> Result<Vec<String>, String> {
        detect().map(|()| Vec::new())
    }

    pub(super) fn detect() -> Result<(), String> {
        Err("this program was built without it; build it with `--features gpu`".to_owned())
    }

    pub(super) fn build(
        _: EngineOptions,
        _: fn(EngineOptions) -> Arc<dyn Engine>,
    ) -> Result<Arc<dyn Engine>, String> {
        detect().map(|()| unreachable!("it is not there"))
    }
}
