//! Benches under criterion: `engines` and `parts`.
