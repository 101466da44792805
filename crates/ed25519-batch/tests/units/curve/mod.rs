pub mod field;
mod keys;

#[path = "../../../proof/curve/edwards.rs"]
mod edwards;
#[path = "../../../proof/curve/formulas/mod.rs"]
mod formulas;
#[path = "../../../proof/curve/ranges.rs"]
mod ranges;

pub(crate) use keys::on_every_back_end;
