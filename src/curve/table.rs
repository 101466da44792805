//! Tables of multiples of the base point, one for each window of the scalar.
//!
//! A clamped scalar is 2^254 + 8k with 251 free bits k (RFC 8032, section 5.1.5). Written with signs s_i = 1 for a
//! bit of 1 and -1 for a bit of 0, 8k = 4 (2^251 - 1) + the sum of s_i 4 2^i. With H_i = 2^i (4B), the public key is
//!
//! ```text
//! H_252 + H_251 - H_0 + the sum of s_i H_i over all i < 251.
//! ```
//!
//! The bits are cut into windows of neighbours. The sum over a window that begins at bit s and has w bits is an odd
//! multiple of H_s between -(2^w - 1) and 2^w - 1: there is no digit 0 and no carry from window to window. A table
//! holds the positive multiples, 2^(w-1) points; a leading bit of 0 stands for the negative. The first window
//! has one bit less, holds both signs, and absorbs the constant.
//!
//! Points are affine, on the curve in short Weierstrass form: x is the Montgomery u of RFC 7748 plus 486662 / 3, y is its
//! v. They are added as `addition` says.

use super::addition::{Addition, Point, SHIFT, with_sign};
use super::field::{Element, Field, Portable, invert};
use crate::simd::{CacheLine, Scalar, Words};
use crate::sys::Zeros;

/// The free bits of a scalar, and one for the first window, which has one bit less than its share.
const SHARES: usize = 252;

/// The Montgomery coefficient A.
pub(super) const A: u64 = 486_662;

/// The base point's v (RFC 7748, section 4.1), in words; its u is 9.
const BASE_V: [u64; 4] =
    [0x29e9_c5a2_7ece_d3d9, 0x923d_4d7e_6d7c_61b2, 0xe01e_dd2c_7748_d14c, 0x20ae_19a1_b8a0_86b4];

/// The tables of all windows.
pub struct Table {
    windows: Vec<Window>,
    /// An affine point each, which is one line of the cache: four words of x, four of y + [`SHIFT`], both below 2^255.
    entries: Zeros<CacheLine>,
}

/// A run of neighbouring bits of k.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The first bit.
    pub start: usize,
    /// How many bits index the table; every window but the first has one more, for the sign.
    pub index_bits: usize,
    /// Where its entries begin.
    pub first: usize,
}

impl Table {
    /// Builds the tables of `windows` windows of nearly the same width, by the back end `field`.
    ///
    /// # Panics
    ///
    /// Unless there are 12 to 126 windows.
    #[must_use]
    pub fn new<F: Field>(field: F, windows: usize) -> Self {
        let windows = layout(windows);
        let last = windows[windows.len() - 1];
        let entries = Zeros::new(last.first + (1 << last.index_bits));
        let mut table = Self { entries, windows };
        let doubles = doubles_of_4b();
        for at in 0..table.windows.len() {
            table.fill(field, at, &doubles);
        }
        table
    }

    /// The bytes that the tables of `windows` windows take.
    #[must_use]
    pub fn bytes(windows: usize) -> usize {
        layout(windows).iter().map(|window| size_of::<CacheLine>() << window.index_bits).sum()
    }

    /// The windows, in their order.
    #[must_use]
    pub fn layout(&self) -> &[Window] {
        &self.windows
    }

    /// The entries of all windows.
    #[must_use]
    pub fn rows(&self) -> &[CacheLine] {
        let last = self.windows[self.windows.len() - 1];
        &self.entries[..last.first + (1 << last.index_bits)]
    }

    /// How many windows there are.
    pub(super) fn windows(&self) -> usize {
        self.windows.len()
    }

    /// The entries of window `at`.
    #[inline(always)]
    pub(super) fn window(&self, at: usize) -> &[CacheLine] {
        let Window { first, index_bits, .. } = self.windows[at];
        &self.entries[first..first + (1 << index_bits)]
    }

    /// The points of one window that the digits ask for: twice the index of an entry, and 1 for its negative.
    #[inline(always)]
    #[must_use]
    pub fn fetch<F: Field>(&self, field: F, window: usize, digits: &[u32]) -> Point<F> {
        let (simd, entries) = (field.simd(), self.window(window));
        let [x0, x1, x2, x3, y0, y1, y2, y3] = simd.transpose(|lane| &entries[(digits[lane] >> 1) as usize]);
        let negative = simd.and(simd.load_u32(digits), simd.splat(1));
        let sign = simd.sub(simd.splat(0), negative);
        let y = with_sign(field, [y0, y1, y2, y3], sign);
        Point { x: field.tight([x0, x1, x2, x3]), y: field.tight(y) }
    }

    /// The digits of scalars, window by window: twice the index of an entry, and 1 if its negative is to be added. Of
    /// a scalar, given in little-endian words, only the 251 free bits count.
    ///
    /// Since each addition gives the negative of its sum, every second window has the other sign.
    #[inline(always)]
    pub(super) fn digits<S: Words>(
        &self,
        simd: S,
        scalar: &[S::Word; 4],
        mut digit: impl FnMut(usize, S::Word),
    ) {
        for (at, window) in self.windows.iter().enumerate() {
            // Bit i of k is bit i + 3 of the scalar. Shifted one bit less, the index is doubled.
            let from = window.start + 2;
            let mut bits = simd.shr_by(scalar[from / 64], (from % 64) as u32);
            if let Some(next) = scalar.get(from / 64 + 1) {
                bits = simd.or(bits, simd.shl_by(*next, 64 - (from % 64) as u32));
            }
            let index = (2 << window.index_bits) - 2;
            if at == 0 {
                digit(at, simd.and(bits, simd.splat(index)));
                continue;
            }
            // The leading bit is the sign; a negative digit has the complement of its other bits as index.
            let leading = simd.and(simd.shr_by(bits, window.index_bits as u32 + 1), simd.splat(1));
            let negative = simd.sub(leading, simd.splat(1));
            let signed =
                simd.and(simd.xor(simd.and(bits, simd.splat(index)), negative), simd.splat(index | 1));
            digit(at, simd.xor(signed, simd.splat(u64::from(at % 2 == 0))));
        }
    }

    /// Makes every entry of window 1 the entry of window 0 for `index`: a sum of both, which no real scalar can ask
    /// for, has a denominator of 0.
    #[cfg(test)]
    pub(crate) fn spoil(&mut self, index: usize) {
        let Window { first, index_bits, .. } = self.windows[1];
        let entry = self.window(0)[index];
        self.entries[first..first + (1 << index_bits)].fill(entry);
    }

    /// Fills one window: from n entries follow n more, by adding the same point to each.
    fn fill<F: Field>(&mut self, field: F, at: usize, doubles: &[CacheLine]) {
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
            add_to_all(field, known, &doubles[start + bit + 1], &mut rest[..1 << bit]);
        }
    }
}

/// The windows, their widths as equal as can be.
fn layout(windows: usize) -> Vec<Window> {
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

/// A / 3, by which x and the Montgomery u differ.
pub(super) fn shift_of_x() -> Element {
    Element::new(A) / Element::new(3)
}

/// H_i = 2^i (4B) for i up to 252.
fn doubles_of_4b() -> Vec<CacheLine> {
    let base = row(Element::new(9) + shift_of_x(), Element(BASE_V));
    std::iter::successors(Some(base), |point| Some(double(point))).skip(2).take(253).collect()
}

/// `sums[i] = known[i] + point`. The sums share one inversion.
fn add_to_all<F: Field>(field: F, known: &[CacheLine], point: &CacheLine, sums: &mut [CacheLine]) {
    let simd = field.simd();
    let lanes = <F::Simd as Words>::LANES;
    simd.run(
        #[inline(always)]
        || {
            let point = at(field, |_| point);
            let mut product = field.one();
            // Where fewer entries are left than there are lanes, the first stand in for the others.
            let mut additions = Vec::with_capacity(known.len().div_ceil(lanes));
            for known in known.chunks(lanes) {
                let known = at(field, |lane| &known[lane % known.len()]);
                additions.push(Addition::open(field, &known, &point, &mut product));
            }
            let mut inverse = inverse(field, &product);
            for (addition, sums) in additions.iter_mut().zip(sums.chunks_mut(lanes)).rev() {
                addition.find_slope(field, &mut inverse);
                addition.find_x(field);
                addition.find_y(field);
                put(field, &addition.negative_sum(), sums);
            }
        },
    );
}

/// The points of rows.
#[inline(always)]
fn at<'a, F: Field>(field: F, row: impl Fn(usize) -> &'a CacheLine) -> Point<F> {
    let [x0, x1, x2, x3, y0, y1, y2, y3] = field.simd().transpose(row);
    Point { x: field.tight([x0, x1, x2, x3]), y: field.tight([y0, y1, y2, y3]) }
}

/// Writes the negatives of points to rows, of as many lanes as there are rows.
#[inline(always)]
fn put<F: Field>(field: F, point: &Point<F>, rows: &mut [CacheLine]) {
    let simd = field.simd();
    let zero = Element::new(0).in_every_lane(field);
    let x = field.words(&field.carry(&field.sub(&point.x, &zero)));
    let y = field.words(&field.carry(&field.sub(&point.y, &zero)));
    let y = with_sign(field, y, simd.splat(u64::MAX));
    let mut columns = [[0; 8]; 8];
    for (column, word) in columns.iter_mut().zip(x.into_iter().chain(y)) {
        simd.store(word, column);
    }
    for (lane, row) in rows.iter_mut().enumerate() {
        *row = CacheLine(columns.map(|column| column[lane]));
    }
}

fn add(a: &CacheLine, b: &CacheLine) -> CacheLine {
    let mut sum = [*a];
    add_to_all(Portable(Scalar::plain()), &[*a], b, &mut sum);
    sum[0]
}

/// l = (3 x^2 + a) / 2y, with the Weierstrass a = 1 - A^2 / 3; then as for an addition.
fn double(point: &CacheLine) -> CacheLine {
    let (x, y) = coordinates(point);
    let a = Element::new(1) - Element::new(A) * shift_of_x();
    let slope = (Element::new(3) * x * x + a) / (y + y);
    let doubled = slope * slope - x - x;
    row(doubled, slope * (x - doubled) - y)
}

fn negative(point: &CacheLine) -> CacheLine {
    let (x, y) = coordinates(point);
    row(x, Element::new(0) - y)
}

fn row(x: Element, y: Element) -> CacheLine {
    let ([x0, x1, x2, x3], [y0, y1, y2, y3]) = (x.0, (y + Element::new(SHIFT)).0);
    CacheLine([x0, x1, x2, x3, y0, y1, y2, y3])
}

fn coordinates(point: &CacheLine) -> (Element, Element) {
    let [x0, x1, x2, x3, y0, y1, y2, y3] = point.0;
    // The y of an entry may be one that is not below p, as the sum makes it.
    (Element([x0, x1, x2, x3]), Element([y0, y1, y2, y3]) - Element::new(SHIFT))
}

/// 1 / a for what is never 0: small constants, and differences of x between different multiples of 4B.
fn inverse<F: Field>(field: F, a: &F::Product) -> F::Product {
    invert(field, a).unwrap_or_else(|| unreachable!("multiples of 4B below its order differ in x"))
}
