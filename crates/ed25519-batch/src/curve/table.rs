//! Tables of multiples of the base point, one for each window of the scalar.
//!
//! A clamped scalar is 2^254 + 8k with 251 free bits k (RFC 8032, section 5.1.5). Each bit of k
//! gives a sign: s_i = 1 for a bit of 1, and s_i = -1 for a bit of 0. Then 8k = 4 (2^251 - 1) + the
//! sum of s_i 4 2^i. With H_i = 2^i (4B), the public key is
//!
//! ```text
//! H_252 + H_251 - H_0 + the sum of s_i H_i over all i < 251.
//! ```
//!
//! The bits are divided into windows of adjacent bits. The sum over a window that begins at bit s
//! and has w bits is an odd multiple of H_s between -(2^w - 1) and 2^w - 1. So no digit is 0, and
//! no window carries into the next. A table holds the positive multiples, 2^(w-1) points. A leading
//! bit of 0 stands for the negative of a point. The first window has one bit less, holds both
//! signs, and includes the constant H_252 + H_251 - H_0.
//!
//! Points are affine, on the curve in short Weierstrass form: x is the Montgomery u of RFC 7748
//! plus 486662 / 3, and y is its v. The module `addition` has the formulas.

use super::addition::{Addition, Point, SHIFT, negate_y};
use super::field::{Element, Field, Portable, invert};
use crate::memory::Zeros;
use crate::simd::{CacheLine, Scalar, Words};

/// The number of bits that the windows share: the 251 free bits of a scalar, and one more, because
/// the first window has one bit less than its share.
const SHARES: usize = 252;

/// The number of entries whose additions share an inversion while a table is built. More would need
/// more memory, and save almost nothing.
const SHARING: usize = 2048;

/// The Montgomery coefficient A.
pub const A: u64 = 486_662;

/// The v of the base point (RFC 7748, section 4.1), as little-endian words. Its u is 9.
const BASE_V: [u64; 4] =
    [0x29e9_c5a2_7ece_d3d9, 0x923d_4d7e_6d7c_61b2, 0xe01e_dd2c_7748_d14c, 0x20ae_19a1_b8a0_86b4];

/// The tables of all windows.
pub struct Table {
    windows: Vec<Window>,
    /// Affine points. Each is one cache line: four words of x and four of y + [`SHIFT`], both below
    /// 2^255.
    entries: Zeros<CacheLine>,
}

/// A window: adjacent bits of k.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The number of its first bit.
    pub start: usize,
    /// The number of bits that index the table. Every window but the first has one more bit, the
    /// sign.
    pub index_bits: usize,
    /// The index of its first entry among the entries of all windows.
    pub first: usize,
}

impl Table {
    /// Builds the tables of `windows` windows with the back end `field`. The widths of the windows
    /// differ by at most one bit, apart from the first window.
    ///
    /// # Panics
    ///
    /// Panics unless `windows` is 12 to 126.
    #[must_use]
    pub fn new<F: Field>(field: F, windows: usize) -> Self {
        Self::from_multiples(field, windows, &Multiples::compute())
    }

    /// Does the same with multiples that are computed already.
    ///
    /// # Panics
    ///
    /// Panics unless `windows` is 12 to 126.
    #[must_use]
    pub fn from_multiples<F: Field>(field: F, windows: usize, multiples: &Multiples) -> Self {
        let mut builder = TableBuilder::new(windows);
        loop {
            builder = match builder.fill_next(field, multiples) {
                Ok(table) => return table,
                Err(unfinished) => unfinished,
            };
        }
    }

    /// Returns the size, in bytes, of the tables of `windows` windows.
    ///
    /// # Panics
    ///
    /// Panics unless `windows` is 12 to 126.
    #[must_use]
    pub fn bytes(windows: usize) -> usize {
        layout(windows).iter().map(|window| size_of::<CacheLine>() << window.index_bits).sum()
    }

    /// Returns the windows, from the lowest bit to the highest.
    #[must_use]
    pub fn layout(&self) -> &[Window] {
        &self.windows
    }

    /// Returns the number of windows.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.windows.len()
    }

    /// Returns the entries of window `at`.
    #[inline(always)]
    #[must_use]
    pub fn window(&self, at: usize) -> &[CacheLine] {
        let Window { first, index_bits, .. } = self.windows[at];
        &self.entries[first..first + (1 << index_bits)]
    }

    /// Calls `digit` with the number of each window and the digits of the scalars in it
    /// ([`digits`]).
    #[inline(always)]
    pub fn digits<S: Words>(&self, simd: S, scalar: &[S::Word; 4], digit: impl FnMut(usize, S::Word)) {
        digits(&self.windows, simd, scalar, digit);
    }

    /// Returns a table that has windows but no entries.
    #[must_use]
    pub fn without_entries(windows: usize) -> Self {
        Self { windows: layout(windows), entries: Zeros::new(0) }
    }

    /// Fills one window. Adding the same point to each of n entries gives the next n entries.
    fn fill<F: Field>(&mut self, field: F, at: usize, Multiples(doubles): &Multiples) {
        let Window { start, index_bits, first } = self.windows[at];
        let entries = &mut self.entries[first..first + (1 << index_bits)];
        entries[0] = if at == 0 {
            // With all s_i = -1, H_252 + H_251 - H_0 - (2^w - 1) H_0 = H_252 + H_251 - H_w.
            let constant = add(&doubles[252], &doubles[251]);
            add(&constant, &negative(&doubles[index_bits]))
        } else {
            doubles[start]
        };
        for bit in 0..index_bits {
            let (known, rest) = entries.split_at_mut(1 << bit);
            let sums = rest[..1 << bit].chunks_mut(SHARING);
            for (known, sums) in known.chunks(SHARING).zip(sums) {
                add_to_all(field, known, &doubles[start + bit + 1], sums);
            }
        }
    }
}

/// The points H_i = 2^i (4B) for i from 0 to 252, from which every table is built.
pub struct Multiples(Vec<CacheLine>);

impl Multiples {
    /// Computes the points.
    #[must_use]
    pub fn compute() -> Self {
        let base = Jacobian { x: Element::new(9) + shift_of_x(), y: Element(BASE_V), z: Element::new(1) };
        let a = Element::new(1) - Element::new(A) * shift_of_x();
        let doubles = std::iter::successors(Some(base), |point| Some(point.double(a)));
        let points: Vec<_> = doubles.skip(2).take(253).collect();
        // All points share one inversion.
        let mut product = Element::new(1);
        let mut before = Vec::with_capacity(points.len());
        for point in &points {
            before.push(product);
            product = product * point.z;
        }
        let mut inverse = Element::new(1) / product;
        let mut affine = Vec::with_capacity(points.len());
        for (Jacobian { x, y, z }, before) in points.into_iter().zip(before).rev() {
            let inverse_of_z = inverse * before;
            inverse = inverse * z;
            let square = inverse_of_z * inverse_of_z;
            affine.push(entry(x * square, y * square * inverse_of_z));
        }
        affine.reverse();
        Self(affine)
    }
}

/// A table that is built one window at a time, so that a thread can do other work in between.
pub struct TableBuilder {
    table: Table,
    /// The number of windows that are filled.
    filled: usize,
}

impl TableBuilder {
    /// Allocates a table of `windows` windows. All of them are still empty.
    ///
    /// # Panics
    ///
    /// Panics unless `windows` is 12 to 126.
    #[must_use]
    pub fn new(windows: usize) -> Self {
        let windows = layout(windows);
        Self { table: Table { entries: Zeros::new(entries_of(&windows)), windows }, filled: 0 }
    }

    /// Does the same, but returns `None` if the system has no memory for the table.
    ///
    /// # Panics
    ///
    /// Panics unless `windows` is 12 to 126.
    #[must_use]
    pub fn try_new(windows: usize) -> Option<Self> {
        let windows = layout(windows);
        let entries = Zeros::try_new(entries_of(&windows))?;
        Some(Self { table: Table { entries, windows }, filled: 0 })
    }

    /// Fills the next window with the back end `field`. Returns the table after the last one.
    ///
    /// # Errors
    ///
    /// Returns the builder if windows are left.
    // Not inlined, so that no other package compiles it again.
    #[inline(never)]
    pub fn fill_next<F: Field>(mut self, field: F, multiples: &Multiples) -> Result<Table, Self> {
        self.table.fill(field, self.filled, multiples);
        self.filled += 1;
        if self.filled < self.table.windows.len() { Err(self) } else { Ok(self.table) }
    }
}

/// Calls `digit` with the number of each window and the digits of the scalars in it. A digit is
/// the offset of an entry in its window, in bytes, plus 1 for the negative of the entry.
///
/// `scalar` is four little-endian words, and only its 251 free bits count. Since each addition
/// gives the negative of its sum, every second window has the other sign.
#[inline(always)]
pub fn digits<S: Words>(
    windows: &[Window],
    simd: S,
    scalar: &[S::Word; 4],
    mut digit: impl FnMut(usize, S::Word),
) {
    for (at, window) in windows.iter().enumerate() {
        // Bit i of k is bit i + 3 of the scalar. A shift by one bit less gives twice the index.
        let from = window.start + 2;
        let mut bits = simd.shr_by(scalar[from / 64], (from % 64) as u32);
        if let Some(next) = scalar.get(from / 64 + 1) {
            bits = simd.or(bits, simd.shl_by(*next, 64 - (from % 64) as u32));
        }
        let mask = simd.splat((2 << window.index_bits) - 2);
        if at == 0 {
            digit(at, simd.shl::<5>(simd.and(bits, mask)));
            continue;
        }
        // The leading bit is the sign. The index of a negative digit is the complement of its
        // other bits.
        let leading = simd.and(simd.shr_by(bits, window.index_bits as u32 + 1), simd.splat(1));
        let negative = simd.sub(leading, simd.splat(1));
        let offset = simd.shl::<5>(simd.and(simd.xor(bits, negative), mask));
        let sign = simd.xor(leading, simd.splat(u64::from(at % 2 == 1)));
        digit(at, simd.or(offset, sign));
    }
}

fn entries_of(windows: &[Window]) -> usize {
    windows.last().map_or(0, |last| last.first + (1 << last.index_bits))
}

/// Returns the points that digits stand for, one in each lane. `entries` are those of the digits'
/// window.
///
/// # Panics
///
/// Panics if no entry has the offset of a digit, or if there are fewer digits than lanes.
#[inline(always)]
#[must_use]
pub fn fetch<F: Field>(field: F, entries: &[CacheLine], digits: &[u32]) -> Point<F> {
    let simd = field.simd();
    let [x0, x1, x2, x3, y0, y1, y2, y3] = simd.transpose_at(entries, digits);
    let y = negate_y(field, [y0, y1, y2, y3], simd.load_u32(digits));
    Point { x: field.tight([x0, x1, x2, x3]), y: field.tight(y) }
}

/// Returns `windows` windows with widths as equal as possible.
pub fn layout(windows: usize) -> Vec<Window> {
    assert!((12..=126).contains(&windows), "{windows} windows");
    let (mut start, mut first) = (0, 0);
    let window = |at| {
        let width = SHARES / windows + usize::from(at < SHARES % windows);
        let window = Window { start, index_bits: width - 1, first };
        start += if at == 0 { width - 1 } else { width };
        first += 1 << window.index_bits;
        window
    };
    (0..windows).map(window).collect()
}

/// Returns A / 3, the difference between x and the Montgomery u.
pub fn shift_of_x() -> Element {
    Element::new(A) / Element::new(3)
}

/// Sets `sums[i] = known[i] + point`. The sums share one inversion.
fn add_to_all<F: Field>(field: F, known: &[CacheLine], point: &CacheLine, sums: &mut [CacheLine]) {
    let simd = field.simd();
    let lanes = <F::Simd as Words>::LANES;
    simd.run(
        #[inline(always)]
        || {
            let point = load_points(
                field,
                #[inline(always)]
                |_| point,
            );
            let mut product = field.one();
            // If fewer entries than lanes are left, the entries are repeated to fill the vector.
            let mut additions = Vec::with_capacity(known.len().div_ceil(lanes));
            for known in known.chunks(lanes) {
                let known = load_points(
                    field,
                    #[inline(always)]
                    |lane| &known[lane % known.len()],
                );
                let at = additions.len();
                // So the push never asks for more memory, which would be a call.
                assert!(at < additions.capacity(), "there is room for every addition");
                additions.push(Addition::to(field, known));
                additions[at].open(field, &point, &mut product);
            }
            let mut inverse = invert(field, &product);
            for (addition, sums) in additions.iter_mut().zip(sums.chunks_mut(lanes)).rev() {
                addition.find_slope(field, &mut inverse);
                addition.find_x(field);
                addition.find_y(field);
                store_negatives(field, &addition.negative_sum(), sums);
            }
        },
    );
}

/// Returns the points of one row for each lane.
#[inline(always)]
fn load_points<'a, F: Field>(field: F, row: impl Fn(usize) -> &'a CacheLine) -> Point<F> {
    let [x0, x1, x2, x3, y0, y1, y2, y3] = field.simd().transpose(row);
    Point { x: field.tight([x0, x1, x2, x3]), y: field.tight([y0, y1, y2, y3]) }
}

/// Writes the negatives of the points in the first lanes, one to each row.
#[inline(always)]
fn store_negatives<F: Field>(field: F, point: &Point<F>, rows: &mut [CacheLine]) {
    let simd = field.simd();
    let zero = Element::new(0).in_every_lane(field);
    let x = field.words(&field.carry(&field.sub(&point.x, &zero)));
    let y = field.words(&field.carry(&field.sub(&point.y, &zero)));
    let y = negate_y(field, y, simd.splat(1));
    let mut columns = [[0; 8]; 8];
    for at in 0..4 {
        simd.store(x[at], &mut columns[at]);
        simd.store(y[at], &mut columns[4 + at]);
    }
    for (lane, CacheLine(row)) in rows.iter_mut().enumerate() {
        for at in 0..8 {
            row[at] = columns[at][lane];
        }
    }
}

/// Returns the sum of two points.
fn add(a: &CacheLine, b: &CacheLine) -> CacheLine {
    let mut sum = [*a];
    add_to_all(Portable(Scalar::plain()), &[*a], b, &mut sum);
    sum[0]
}

/// A point in Jacobian coordinates: (x / z^2, y / z^3).
#[derive(Clone, Copy)]
struct Jacobian {
    x: Element,
    y: Element,
    z: Element,
}

impl Jacobian {
    /// Returns the double of a point, by the formulas "dbl-2007-bl" of the Explicit-Formulas
    /// Database. `a` is the Weierstrass coefficient.
    fn double(self, a: Element) -> Self {
        let Self { x, y, z } = self;
        let (xx, yy, zz) = (x * x, y * y, z * z);
        let yyyy = yy * yy;
        let s = (x + yy) * (x + yy) - xx - yyyy;
        let s = s + s;
        let m = Element::new(3) * xx + a * zz * zz;
        let t = m * m - s - s;
        Self { x: t, y: m * (s - t) - Element::new(8) * yyyy, z: (y + z) * (y + z) - yy - zz }
    }
}

fn negative(point: &CacheLine) -> CacheLine {
    let (x, y) = coordinates(point);
    entry(x, Element::new(0) - y)
}

/// Returns the table entry of a point.
fn entry(x: Element, y: Element) -> CacheLine {
    let ([x0, x1, x2, x3], [y0, y1, y2, y3]) = (x.0, (y + Element::new(SHIFT)).0);
    CacheLine([x0, x1, x2, x3, y0, y1, y2, y3])
}

/// Returns x and y of a table entry.
fn coordinates(point: &CacheLine) -> (Element, Element) {
    let [x0, x1, x2, x3, y0, y1, y2, y3] = point.0;
    // The stored y of an entry can be p or more. The subtraction reduces it.
    (Element([x0, x1, x2, x3]), Element([y0, y1, y2, y3]) - Element::new(SHIFT))
}
