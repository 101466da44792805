//! Memory for tables: in huge pages where the system has them, since a table is read at random.

use memmap2::MmapMut;

use crate::simd::Row;

/// Rows of zeros, which the system provides as they are first touched.
pub(super) struct Rows(Memory);

enum Memory {
    Mapped(MmapMut),
    /// Where nothing can be mapped.
    Allocated(Vec<Row>),
}

impl Rows {
    pub(super) fn new(rows: usize) -> Self {
        let Ok(map) = MmapMut::map_anon(rows * size_of::<Row>()) else {
            return Self(Memory::Allocated(vec![Row([0; 8]); rows]));
        };
        // Only a wish: with small pages the search is some percent slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Self(Memory::Mapped(map))
    }

    #[inline(always)]
    pub(super) fn rows(&self) -> &[Row] {
        match &self.0 {
            Memory::Mapped(map) => bytemuck::cast_slice(map),
            Memory::Allocated(rows) => rows,
        }
    }

    pub(super) fn rows_mut(&mut self) -> &mut [Row] {
        match &mut self.0 {
            Memory::Mapped(map) => bytemuck::cast_slice_mut(map),
            Memory::Allocated(rows) => rows,
        }
    }
}
