#[path = "../../../proof/model/mod.rs"]
pub mod model;
mod moves;
pub mod sets;

pub(crate) use sets::{on_every_common_set, on_every_set};
