pub mod bounds;
mod invert;

#[path = "../../../../proof/field/algebra.rs"]
mod algebra;
#[path = "../../../../proof/field/ranges/mod.rs"]
mod ranges;
