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
//! v. There, an addition is x3 = l^2 - x1 - x2, y3 = l (x1 - x3) - y1 with l = (y2 - y1) / (x2 - x1).

use zeroize::Zeroizing;

use super::field::{Digit, Field, Portable, Tight51};

/// The free bits of a scalar, and one for the first window, which has one bit less than its share.
const SHARES: usize = 252;

/// The Montgomery coefficient A.
pub(super) const A: u32 = 486_662;

/// The base point's v (RFC 7748, section 4.1), in words; its u is 9.
const BASE_V: [u64; 4] =
    [0x29e9_c5a2_7ece_d3d9, 0x923d_4d7e_6d7c_61b2, 0xe01e_dd2c_7748_d14c, 0x20ae_19a1_b8a0_86b4];

/// An affine point: x and y below p, in 64 bytes, which is one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Entry {
    pub(super) x: [u64; 4],
    pub(super) y: [u64; 4],
}

/// The tables of all windows.
pub struct Table {
    windows: Vec<Window>,
    entries: Vec<Entry>,
}

/// A run of neighbouring bits of k.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// The first bit.
    start: usize,
    /// How many bits index the table; every window but the first has one more, for the sign.
    index_bits: usize,
    /// Where its entries begin.
    first: usize,
}

impl Table {
    /// Builds the tables of `windows` windows of nearly the same width.
    ///
    /// # Panics
    ///
    /// Unless there are 12 to 126 windows.
    #[must_use]
    pub fn new(windows: usize) -> Self {
        let windows = layout(windows);
        let last = windows[windows.len() - 1];
        let mut table = Self { entries: Vec::with_capacity(last.first + (1 << last.index_bits)), windows };
        let doubles = doubles_of_4b();
        for at in 0..table.windows.len() {
            table.fill(at, &doubles);
        }
        table
    }

    /// The bytes that the tables of `windows` windows take.
    #[must_use]
    pub fn bytes(windows: usize) -> usize {
        layout(windows).iter().map(|window| size_of::<Entry>() << window.index_bits).sum()
    }

    /// How many windows there are.
    pub(super) fn windows(&self) -> usize {
        self.windows.len()
    }

    /// The entries of window `at`.
    pub(super) fn window(&self, at: usize) -> &[Entry] {
        let Window { first, index_bits, .. } = self.windows[at];
        &self.entries[first..first + (1 << index_bits)]
    }

    /// The digits of a scalar, window by window; only its 251 free bits count.
    pub(super) fn digits(&self, scalar: &[u8; 32]) -> impl Iterator<Item = Digit> {
        let mut words = Zeroizing::new([0; 5]);
        for (word, bytes) in words.iter_mut().zip(scalar.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        self.windows.iter().enumerate().map(move |(at, window)| {
            // Bit i of k is bit i + 3 of the scalar. A window has at most 22 bits.
            let from = window.start + 3;
            let two = u128::from(words[from / 64]) | u128::from(words[from / 64 + 1]) << 64;
            let bits = (two >> (from % 64)) as u64;
            let mask = (1 << window.index_bits) - 1;
            if at == 0 {
                return Digit { index: (bits & mask) as u32, negative: 0 };
            }
            // The leading bit is the sign; a negative digit has the complement of its other bits as index.
            let negative = (bits >> window.index_bits & 1).wrapping_sub(1);
            Digit { index: ((bits ^ negative) & mask) as u32, negative: negative as u32 }
        })
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
    fn fill(&mut self, at: usize, doubles: &[Entry]) {
        let Window { start, index_bits, first } = self.windows[at];
        self.entries.push(if at == 0 {
            // With all s_i = -1, H_252 + H_251 - H_0 - (2^w - 1) H_0 = H_252 + H_251 - H_w.
            let constant = add(&doubles[252], &doubles[251]);
            add(&constant, &negative(&doubles[index_bits]))
        } else {
            doubles[start]
        });
        for bit in 0..index_bits {
            let known = first..self.entries.len();
            add_to_all(&mut self.entries, known, &doubles[start + bit + 1]);
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

/// H_i = 2^i (4B) for i up to 252.
fn doubles_of_4b() -> Vec<Entry> {
    let third = words(invert(&Portable.small(3)));
    let third = Portable.mul(&Tight51::from_words(&third).into(), &Portable.small(A).into());
    let x = Portable.carry(&Portable.add(&Portable.small(9), &third));
    let base = Entry { x: words(x), y: BASE_V };
    std::iter::successors(Some(base), |point| Some(double(point))).skip(2).take(253).collect()
}

/// Appends `entries[known] + point`. The sums share one inversion.
fn add_to_all(entries: &mut Vec<Entry>, known: std::ops::Range<usize>, point: &Entry) {
    let field = Portable;
    let (x2, y2) = (Tight51::from_words(&point.x), Tight51::from_words(&point.y));
    let mut product = field.small(1);
    let mut before = Vec::with_capacity(known.len());
    for entry in &entries[known.clone()] {
        before.push(product);
        let difference = field.sub(&x2, &Tight51::from_words(&entry.x));
        product = field.mul(&product.into(), &difference);
    }
    let mut inverse = invert(&product);
    let start = entries.len();
    entries.resize(start + known.len(), *point);
    for (at, before) in known.clone().zip(before).rev() {
        let (x1, y1) = (Tight51::from_words(&entries[at].x), Tight51::from_words(&entries[at].y));
        let of_this = field.mul(&inverse.into(), &before.into());
        inverse = field.mul(&inverse.into(), &field.sub(&x2, &x1));
        let slope = field.mul(&field.sub(&y2, &y1), &of_this.into());
        entries[start + at - known.start] = along(&slope, &x1, &y1, &x2);
    }
}

fn add(a: &Entry, b: &Entry) -> Entry {
    let mut entries = vec![*a];
    add_to_all(&mut entries, 0..1, b);
    entries[1]
}

/// l = (3 x^2 + a) / 2y, with the Weierstrass a = 1 - A^2 / 3. In terms of u this is 3 u^2 + 2 A u + 1.
fn double(point: &Entry) -> Entry {
    let field = Portable;
    let (x, y) = (Tight51::from_words(&point.x), Tight51::from_words(&point.y));
    let mul = |a: &Tight51, b: &Tight51| field.mul(&(*a).into(), &(*b).into());
    let add = |a: &Tight51, b: &Tight51| field.carry(&field.add(a, b));
    let square = field.square(&x.into());
    let third = invert(&field.small(3));
    let a_squared = mul(&field.small(A), &field.small(A));
    let a = field.carry(&field.sub(&field.small(1), &mul(&a_squared, &third)));
    let numerator = add(&add(&add(&square, &square), &square), &a);
    let slope = mul(&numerator, &invert(&add(&y, &y)));
    along(&slope, &x, &y, &x)
}

/// The third point on the line through (x1, y1) and a point at x2, mirrored.
fn along(slope: &Tight51, x1: &Tight51, y1: &Tight51, x2: &Tight51) -> Entry {
    let field = Portable;
    let x3 = field.carry(&field.sub_both(&field.square(&(*slope).into()), x1, x2));
    let y3 = field.sub(&field.mul(&(*slope).into(), &field.sub(x1, &x3)), y1);
    Entry { x: words(x3), y: words(field.carry(&y3)) }
}

fn negative(point: &Entry) -> Entry {
    let y = Portable.sub(&Portable.small(0), &Tight51::from_words(&point.y));
    Entry { x: point.x, y: words(Portable.carry(&y)) }
}

fn words(a: Tight51) -> [u64; 4] {
    a.to_words()
}

/// 1 / a for what is never 0: small constants, and differences of x between different multiples of 4B.
fn invert(a: &Tight51) -> Tight51 {
    Portable.invert(a).unwrap_or_else(|| unreachable!("multiples of 4B below its order differ in x"))
}
