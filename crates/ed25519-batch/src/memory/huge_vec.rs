//! Vectors in huge pages.
//!
//! Crates that map memory give its bytes, and only types without padding can be read from bytes. So
//! vectors of any type need `unsafe` code.

#![allow(unsafe_code, reason = "the elements lie in memory that the system gives as bytes")]

use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::MmapRaw;
use zeroize::optimization_barrier;

use super::huge_pages::{HUGE, map};

/// Memory for the vectors of all threads, in huge pages if the system has them. So the vectors of
/// several threads share a page. A page returns to the system with its last vector.
#[derive(Default)]
pub struct HugePages(Mutex<Option<Free>>);

/// The end of a mapping that no vector has.
struct Free {
    map: Arc<MmapRaw>,
    first: usize,
}

/// A vector with a fixed capacity in the memory of [`HugePages`].
pub struct HugeVec<T> {
    memory: Memory<T>,
    /// The number of elements, at most the capacity. All of them are initialized.
    len: usize,
}

enum Memory<T> {
    /// A part of a mapping that no other vector has.
    Mapped {
        map: Arc<MmapRaw>,
        /// The offset of the first element, a multiple of [`LINE`].
        first: usize,
        capacity: usize,
    },
    Allocated(Box<[MaybeUninit<T>]>),
}

/// The alignment of vectors, that of a cache line.
const LINE: usize = 64;

/// The size of the smallest vector for which a new page is mapped.
const LARGE: usize = HUGE / 32;

impl HugePages {
    /// Returns an empty vector for `capacity` elements. A small one for which no page has room is
    /// allocated as usual, and so is any vector if the system refuses a mapping.
    #[must_use]
    pub fn vec<T: Copy>(&self, capacity: usize) -> HugeVec<T> {
        const { assert!(align_of::<T>() <= LINE) };
        let bytes = (capacity * size_of::<T>()).next_multiple_of(LINE);
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes >= LARGE && free.as_ref().is_none_or(|free| free.len() < bytes) {
            *free = map(bytes).map(|(map, first)| Free { map: Arc::new(map.into()), first });
        }
        let memory = match &mut *free {
            Some(free) if free.len() >= bytes => {
                let (map, first) = (Arc::clone(&free.map), free.first);
                free.first += bytes;
                Memory::Mapped { map, first, capacity }
            }
            _ => Memory::Allocated(Box::new_uninit_slice(capacity)),
        };
        HugeVec { memory, len: 0 }
    }
}

impl Free {
    fn len(&self) -> usize {
        self.map.len() - self.first
    }
}

impl<T: Copy> HugeVec<T> {
    /// Returns the most elements that the vector can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.places().len()
    }

    /// Adds an element.
    ///
    /// # Panics
    ///
    /// Panics if the vector is full.
    #[inline(always)]
    pub fn push(&mut self, element: T) {
        let len = self.len;
        self.places_mut()[len].write(element);
        self.len += 1;
    }

    /// Removes the last elements, or adds copies of `element`, until there are `len`.
    ///
    /// # Panics
    ///
    /// Panics if the vector cannot hold them.
    pub fn resize(&mut self, len: usize, element: T) {
        self.len = self.len.min(len);
        let first = self.len;
        self.places_mut()[first..len].fill(MaybeUninit::new(element));
        self.len = len;
    }

    /// Removes all elements. They stay in memory; [`Self::wipe`] overwrites them.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Empties the vector, and overwrites its whole capacity with zeros.
    pub fn wipe(&mut self) {
        self.clear();
        self.places_mut().fill_with(MaybeUninit::zeroed);
        optimization_barrier(self.places_mut());
    }

    #[inline(always)]
    fn places(&self) -> &[MaybeUninit<T>] {
        match &self.memory {
            Memory::Mapped { map, first, capacity } => {
                // SAFETY: `HugePages::vec` made sure that the places lie in the mapping, and gave
                // them to no other vector. They are aligned, and live as long as `self`.
                unsafe { slice::from_raw_parts(map.as_ptr().add(*first).cast(), *capacity) }
            }
            Memory::Allocated(places) => places,
        }
    }

    #[inline(always)]
    fn places_mut(&mut self) -> &mut [MaybeUninit<T>] {
        match &mut self.memory {
            Memory::Mapped { map, first, capacity } => {
                // SAFETY: as in `places`, and nobody else borrows `self`.
                unsafe { slice::from_raw_parts_mut(map.as_mut_ptr().add(*first).cast(), *capacity) }
            }
            Memory::Allocated(places) => places,
        }
    }
}

impl<T: Copy> Deref for HugeVec<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        let elements: *const [MaybeUninit<T>] = &raw const self.places()[..self.len];
        // SAFETY: `push` and `resize` have initialized the first `len` places.
        unsafe { &*(elements as *const [T]) }
    }
}

impl<T: Copy> DerefMut for HugeVec<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        let len = self.len;
        let elements: *mut [MaybeUninit<T>] = &raw mut self.places_mut()[..len];
        // SAFETY: `push` and `resize` have initialized the first `len` places.
        unsafe { &mut *(elements as *mut [T]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Has padding, as an element of any type may have.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Padded(u64, u8);

    /// Tests vectors in ordinary memory and in huge pages.
    #[test]
    fn vectors_hold_what_was_put_into_them() {
        for (count, is_mapped) in [(100, false), (20_000, true)] {
            let pages = HugePages::default();
            let mut padded = pages.vec::<Padded>(count + 1);
            let mut seeds = pages.vec::<[u8; 32]>(count);
            let mut more = pages.vec::<u64>(20 * count);
            drop(pages);
            assert_eq!([padded.is_mapped(), seeds.is_mapped(), more.is_mapped()], [is_mapped; 3]);
            assert_eq!(
                [padded.capacity(), seeds.capacity(), more.capacity()],
                [count + 1, count, 20 * count]
            );
            more.resize(20 * count, u64::MAX);
            for round in 0..2 {
                let element = |at: usize| Padded(at as u64 + round, at as u8);
                padded.clear();
                (0..=count).for_each(|at| padded.push(element(at)));
                seeds.resize(count, [9; 32]);
                seeds.resize(50, [0; 32]);
                seeds.resize(count, [7; 32]);
                assert!(padded.iter().enumerate().all(|(at, found)| *found == element(at)));
                padded.iter_mut().for_each(|element| element.1 = 7);
                assert!(padded.iter().all(|element| element.1 == 7));
                assert!(seeds[..50] == [[if round == 0 { 9 } else { 3 }; 32]; 50]);
                assert!(seeds[50..].iter().all(|seed| *seed == [7; 32]));
                seeds.fill([3; 32]);
            }
            assert!(more.iter().all(|word| *word == u64::MAX));
        }
    }

    #[test]
    fn vectors_share_a_page_and_small_ones_map_none() {
        let pages = HugePages::default();
        assert!(!pages.vec::<u8>(LARGE - LINE).is_mapped());
        let large = pages.vec::<u8>(LARGE);
        let small = pages.vec::<u32>(1);
        let (Memory::Mapped { map, first, .. }, Memory::Mapped { map: same, first: next, .. }) =
            (&large.memory, &small.memory)
        else {
            panic!("both are mapped")
        };
        assert!(Arc::ptr_eq(map, same));
        assert_eq!(*next, first + LARGE);
    }

    impl<T> HugeVec<T> {
        fn is_mapped(&self) -> bool {
            matches!(self.memory, Memory::Mapped { .. })
        }
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn a_full_vector_takes_no_more() {
        let mut vec = HugePages::default().vec(1);
        vec.push(1);
        vec.push(2);
    }

    #[test]
    fn a_wiped_vector_has_only_zeros_in_memory() {
        for capacity in [100, 300_000] {
            let mut vec = HugePages::default().vec(capacity);
            (0..capacity as u64).for_each(|element| vec.push(element + 1));
            vec.wipe();
            assert!(vec.is_empty());
            // SAFETY: `wipe` has initialized the whole capacity, with zeros.
            assert!(vec.places().iter().all(|place| unsafe { place.assume_init() } == 0));
        }
    }
}
