//! Memory in huge pages, if the system has them.

use bytemuck::{AnyBitPattern, NoUninit};
use memmap2::MmapMut;

/// A slice that starts as zeros. The system provides a page at the first access to it.
pub struct Zeros<T>(Memory<T>);

enum Memory<T> {
    Mapped {
        map: MmapMut,
        /// The offset of the first element.
        first: usize,
        len: usize,
    },
    /// A small slice, or any slice if the system refuses a mapping.
    Allocated(Vec<T>),
}

/// The usual size of a huge page, in bytes.
pub const HUGE: usize = 2 << 20;

/// Maps whole huge pages for `bytes` zeros. Returns the mapping and the offset of the first page.
/// `None` if the system refuses.
pub fn map(bytes: usize) -> Option<(MmapMut, usize)> {
    // A mapping can begin anywhere. What lies outside of its whole pages is never touched, so it
    // takes no memory.
    let pages = bytes.checked_next_multiple_of(HUGE)?;
    let map = MmapMut::map_anon(pages.checked_add(HUGE)?).ok()?;
    let first = map.as_ptr().align_offset(HUGE);
    // The system can ignore this advice. With small pages a search is slower (RESULTS.txt, Zen 5).
    #[cfg(target_os = "linux")]
    let _ = map.advise_range(memmap2::Advice::HugePage, first, pages);
    Some((map, first))
}

impl Zeros<u8> {
    /// Returns the most memory that a slice of `bytes` bytes takes, counted in whole pages and with
    /// what lies outside of them.
    pub(crate) fn most_memory(bytes: usize) -> u64 {
        bytes.next_multiple_of(HUGE) as u64 + HUGE as u64
    }
}

impl<T: AnyBitPattern + NoUninit> Zeros<T> {
    /// Allocates `len` zeros.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self::try_new(len).unwrap_or_else(|| Self(Memory::Allocated(vec![T::zeroed(); len])))
    }

    /// Allocates `len` zeros. Returns `None` if the system refuses a mapping.
    #[must_use]
    pub fn try_new(len: usize) -> Option<Self> {
        let bytes = len * size_of::<T>();
        // More than half a huge page is rounded up to whole pages.
        if bytes <= HUGE / 2 {
            return Some(Self(Memory::Allocated(vec![T::zeroed(); len])));
        }
        let (map, first) = map(bytes)?;
        Some(Self(Memory::Mapped { map, first, len }))
    }
}

impl<T: AnyBitPattern + NoUninit> std::ops::Deref for Zeros<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::Mapped { map, first, len } => {
                bytemuck::cast_slice(&map[*first..][..len * size_of::<T>()])
            }
            Memory::Allocated(all) => all,
        }
    }
}

impl<T: AnyBitPattern + NoUninit> std::ops::DerefMut for Zeros<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Memory::Mapped { map, first, len } => {
                bytemuck::cast_slice_mut(&mut map[*first..][..*len * size_of::<T>()])
            }
            Memory::Allocated(all) => all,
        }
    }
}
