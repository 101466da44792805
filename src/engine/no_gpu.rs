//! Replaces the GPU engine in a program that was built without it.

use super::sizing::Sizing;
use super::worker::Engine;

pub(super) fn has_graphics() -> bool {
    false
}

pub(super) fn device_names() -> Result<Vec<String>, String> {
    detect().map(|()| Vec::new())
}

pub(super) fn detect() -> Result<(), String> {
    Err("this program was built without it; build it with `--features gpu`".to_owned())
}

pub(super) fn build(_: Sizing, _: fn(Sizing) -> Box<dyn Engine>) -> Result<Box<dyn Engine>, String> {
    detect().map(|()| unreachable!("it is not there"))
}
