//! Randomness of the operating system, the source of all seeds and salts.

/// The operating system's generator failed.
pub use getrandom::Error as RandomnessError;

/// Fills `bytes` from the operating system's generator.
///
/// # Errors
///
/// What the operating system answers.
pub fn fill_random(bytes: &mut [u8]) -> Result<(), RandomnessError> {
    getrandom::fill(bytes)
}
