//! How many division steps an inversion takes at most, by the method of Pieter Wuille: Bounds on
//! divsteps iterations in safegcd, 2021.
//!
//! For each delta, a convex region holds all (f, g) that any element can have after some steps of
//! the paper. The region after one more step is the hull of the images. Whether g is odd is not
//! known, so both cases are taken. A region goes when each g in it is between -1 and 1, and so is
//! 0. The numbers are in units of p, and rounded outwards. A region has (-f, -g) with (f, g).
//!
//! This does not run the program. [`division_steps`](super::division_steps) shows that its steps
//! are those of the paper.

use std::collections::BTreeMap;

use super::division_steps::Paper;
use ed25519_batch::internals::field::invert::{FIRST_DELTA, STEPS};

/// A convex set of points: the lower boundary, from left to right. The upper one has the negatives.
struct Region {
    /// The exponents of the powers of two that the integers are multiplied by.
    units: [i32; 2],
    points: Vec<[i64; 2]>,
}

/// The number of bits of the largest coordinate.
const BITS: i32 = 24;

/// What a step does: the factors of f and g in the new f, and in twice the new g.
type Step = [[i64; 2]; 2];
const EVEN: Step = [[1, 0], [0, 1]];
const ODD: Step = [[1, 0], [1, 1]];
const EXCHANGE: Step = [[0, 1], [-1, 1]];

/// Returns the steps that `delta` allows, for an even g and an odd one, and the next delta.
fn steps_of(delta: i64) -> [(i64, Step); 2] {
    [(1 + delta, EVEN), if delta > 0 { (1 - delta, EXCHANGE) } else { (1 + delta, ODD) }]
}

/// Returns `number` 2^`shift`, rounded down and up.
fn shifted(number: i64, shift: i32) -> [i64; 2] {
    if number == 0 {
        return [0; 2];
    }
    if shift >= 0 {
        assert!(number.unsigned_abs().ilog2().cast_signed() + shift < 62);
        return [number << shift; 2];
    }
    let shift = (-shift).min(63);
    [number >> shift, -(-number >> shift)]
}

impl Region {
    /// Returns exponents of powers of two that no f and no g reaches.
    fn sizes(&self) -> [i32; 2] {
        std::array::from_fn(|at| {
            let largest = self.points.iter().map(|point| point[at].unsigned_abs()).max().unwrap();
            self.units[at] + largest.checked_ilog2().map_or(0, |log| log.cast_signed() + 1)
        })
    }

    /// Returns the smallest region of this kind that has the images of regions.
    fn of_images(sources: &[(&Self, Step)]) -> Self {
        // Twice the new g has a unit that is larger by one.
        let units = [0, 1].map(|at| {
            let sizes = sources.iter().map(|(region, step)| {
                let sizes = region.sizes().into_iter().zip(step[at]);
                let largest = sizes.filter(|(_, factor)| *factor != 0).map(|(size, _)| size).max().unwrap();
                largest + i32::from(!step[at].contains(&0))
            });
            sizes.max().unwrap() - BITS
        });
        let mut images = Vec::new();
        for (region, step) in sources {
            for point in &region.points {
                let [[least_f, most_f], [least_g, most_g]] = [0, 1].map(|at| {
                    let [a, b] = [0, 1]
                        .map(|from| shifted(step[at][from] * point[from], region.units[from] - units[at]));
                    [a[0] + b[0], a[1] + b[1]]
                });
                // The lower boundary has only the lower corners, and the negatives of the upper ones.
                images.extend([[least_f, least_g], [most_f, least_g]]);
                images.extend([[-least_f, -most_g], [-most_f, -most_g]]);
            }
        }
        images.sort_unstable();
        images.dedup();
        let mut points: Vec<[i64; 2]> = Vec::new();
        for next in images {
            while let [.., before, last] = points[..] {
                let [to_last, to_next] = [last, next].map(|to| [to[0] - before[0], to[1] - before[1]]);
                if to_last[0] * to_next[1] > to_last[1] * to_next[0] {
                    break;
                }
                points.pop();
            }
            points.push(next);
        }
        Self { units: [units[0], units[1] - 1], points }
    }
}

#[test]
#[cfg_attr(miri, ignore = "many steps")]
fn no_inversion_takes_more_than_12_rounds() {
    for (delta, f, g) in (-2..=2).flat_map(|delta| (-9..9).map(move |at| (delta, 2 * at + 1, at * at - 40))) {
        let paper = Paper { delta, f, g, matrix: [0; 4] }.steps(1);
        let (next, [new_f, new_g]) = steps_of(delta)[(g & 1) as usize];
        let [new_f, new_g] = [new_f, new_g].map(|[a, b]| i128::from(a) * f + i128::from(b) * g);
        assert_eq!((next, new_f, new_g), (paper.delta, paper.f, 2 * paper.g));
    }
    // f is p, and g is between 0 and p.
    let mut regions = BTreeMap::from([(FIRST_DELTA, Region { units: [0; 2], points: vec![[1, 0], [1, 1]] })]);
    let mut steps = 0;
    while !regions.is_empty() {
        let mut sources = BTreeMap::<i64, Vec<_>>::new();
        for (delta, region) in &regions {
            for (next, step) in steps_of(*delta) {
                sources.entry(next).or_default().push((region, step));
            }
        }
        let after = sources.into_iter().map(|(delta, sources)| (delta, Region::of_images(&sources)));
        // 1 is more than 2^-255 p.
        regions = after.filter(|(_, region)| region.sizes()[1] > -255).collect();
        steps += 1;
        assert!(steps <= 12 * STEPS, "an inversion may take more than 12 rounds");
    }
    println!("division steps: at most {steps} in an inversion, {} rounds", steps.div_ceil(STEPS));
}
