//! The sizes of the processor's caches.

use std::fs;
use std::path::Path;

/// Returns the sizes, in bytes, of the first processor's caches, in ascending order. The list is
/// empty if the system does not report them.
#[must_use]
pub fn caches() -> Vec<usize> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").into_iter().flatten().flatten();
    let mut sizes: Vec<usize> = caches.filter_map(|cache| size(&cache.path())).collect();
    sizes.sort_unstable();
    sizes
}

/// Returns the size, in bytes, of the cache that a directory describes. Returns `None` for an
/// instruction cache.
fn size(directory: &Path) -> Option<usize> {
    if fs::read_to_string(directory.join("type")).ok()?.trim() == "Instruction" {
        return None;
    }
    bytes(fs::read_to_string(directory.join("size")).ok()?.trim())
}

/// Parses a size as the system writes it, in kibibytes, such as `32K`.
fn bytes(size: &str) -> Option<usize> {
    size.strip_suffix('K')?.parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_read() {
        assert_eq!(super::bytes("36608K"), Some(36608 * 1024));
        assert_eq!(super::bytes("32"), None);
        assert_eq!(super::bytes("K"), None);
        assert!(super::caches().is_sorted());
        assert!(super::caches().iter().all(|&bytes| bytes >= 1 << 12));
    }
}
