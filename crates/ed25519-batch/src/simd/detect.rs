//! Detection of the processor's instruction sets.

/// The environment variable that switches instruction sets off, as a list with commas. It lets a
/// test run the code for an older processor. It cannot add a set that the processor lacks.
pub const DISABLE_ENV: &str = "VANITY_WITHOUT";

/// Returns the names of the detected instruction sets that matter to a search, without those that
/// [`DISABLE_ENV`] switches off.
#[must_use]
pub fn detected() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    macro_rules! known {
        ($($set:tt)*) => { [$(($set, is_x86_feature_detected!($set))),*] };
    }
    #[cfg(target_arch = "x86_64")]
    let known = known! {
        "avx2" "fma" "bmi2" "popcnt" "adx" "sha" "avxifma"
        "avx512f" "avx512vl" "avx512dq" "avx512bw" "avx512ifma"
    };
    #[cfg(target_arch = "aarch64")]
    let known = [
        ("neon", std::arch::is_aarch64_feature_detected!("neon")),
        // The instructions for SHA-512 and those for SHA-3.
        ("sha3", std::arch::is_aarch64_feature_detected!("sha3")),
    ];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let known: [(&str, bool); 0] = [];
    let without = std::env::var(DISABLE_ENV).unwrap_or_default();
    let switched_off = |set: &str| without.split(',').any(|name| name.trim() == set);
    known.into_iter().filter_map(|(set, has)| (has && !switched_off(set)).then_some(set)).collect()
}

/// The error for missing instruction sets, with their names.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the processor has no {}", .0.join(", "))]
pub struct Missing(pub Vec<&'static str>);

/// Returns an error unless the processor has all of `sets`, which are separated by commas.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn need(sets: &'static str) -> Result<(), Missing> {
    let detected = detected();
    let missing: Vec<_> = sets.split(',').filter(|set| !detected.contains(set)).collect();
    if missing.is_empty() { Ok(()) } else { Err(Missing(missing)) }
}
