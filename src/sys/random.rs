//! Random bytes of the operating system, the source of all seeds and salts.

/// The error of the operating system's generator.
pub use getrandom::Error as RandomnessError;

/// Fills `bytes` with random bytes from the operating system's generator.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn fill_random(bytes: &mut [u8]) -> Result<(), RandomnessError> {
    getrandom::fill(bytes)
}
