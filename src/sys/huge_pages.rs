//! Memory for what is read at random: in huge pages where the system has them.

use bytemuck::{AnyBitPattern, NoUninit};
use memmap2::MmapMut;

/// Zeros, which the system provides as they are first touched.
pub struct Zeros<T>(Memory<T>);

enum Memory<T> {
    Mapped {
        map: MmapMut,
        len: usize,
    },
    /// What is small, or where nothing can be mapped.
    Allocated(Vec<T>),
}

/// The size of a huge page, as a rule. Less would not fill one.
const HUGE: usize = 2 << 20;

impl<T: AnyBitPattern + NoUninit> Zeros<T> {
    /// So many.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let bytes = len * size_of::<T>();
        // Almost a huge page is made a whole one.
        let mapped = if bytes > HUGE / 2 { bytes.next_multiple_of(HUGE) } else { 0 };
        match MmapMut::map_anon(mapped) {
            Ok(map) if mapped > 0 => {
                // Only a wish: with small pages a search is some percent slower.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                Self(Memory::Mapped { map, len })
            }
            _ => Self(Memory::Allocated(vec![T::zeroed(); len])),
        }
    }
}

impl<T: AnyBitPattern + NoUninit> std::ops::Deref for Zeros<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::Mapped { map, len } => bytemuck::cast_slice(&map[..len * size_of::<T>()]),
            Memory::Allocated(all) => all,
        }
    }
}

impl<T: AnyBitPattern + NoUninit> std::ops::DerefMut for Zeros<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Memory::Mapped { map, len } => bytemuck::cast_slice_mut(&mut map[..*len * size_of::<T>()]),
            Memory::Allocated(all) => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_or_large_they_are_zeros_that_can_be_written() {
        for len in [0, 1, 1000, HUGE / 16 + 1, HUGE / 8, HUGE] {
            let mut zeros = Zeros::<u64>::new(len);
            assert_eq!(zeros.len(), len);
            assert!(zeros.iter().all(|word| *word == 0));
            zeros.fill(7);
            assert_eq!(zeros.iter().sum::<u64>(), 7 * len as u64);
        }
    }
}
