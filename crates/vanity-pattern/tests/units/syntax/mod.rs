mod error;
mod identity;
mod literal;
mod spelling;
