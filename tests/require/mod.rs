//! Finds the tools and engines that tests need.

use std::path::PathBuf;
use std::sync::Arc;

use vanity_search::engine::{self, Engine, EngineError, EngineOptions};

mod missing;

pub use missing::missing;

/// Returns the path of the program `name`, from `PATH` or from the directories of system programs.
///
/// # Panics
///
/// Panics as [`missing`] does.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|directory| directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
        .find(|file| file.is_file());
    if found.is_none() {
        missing(name);
    }
    found
}

/// Returns every engine that this machine can run, and names the others.
///
/// # Panics
///
/// Panics if an engine fails its self-test, and as [`missing`] does.
pub fn engines(options: EngineOptions) -> Vec<Arc<dyn Engine>> {
    let there = |engine| match engine {
        Ok(engine) => Some(engine),
        Err(EngineError::Unavailable { name, .. }) => {
            missing(name);
            None
        }
        Err(error) => panic!("{error}"),
    };
    let built = engine::list().filter(|engine| engine.is_for_this_machine());
    built.map(|engine| engine::select(engine.name(), options)).filter_map(there).collect()
}
