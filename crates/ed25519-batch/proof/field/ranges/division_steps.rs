//! The division steps of an inversion are those of the paper, and no number in them is cut.
//!
//! [`passes_are_steps_of_the_paper`] runs one pass of the loop from every state that it
//! distinguishes. By induction over the passes, 62 steps are those of the paper.
//! [`few_steps_are_those_of_the_paper`] runs the whole function, for fewer steps and all numbers.
//! No operand is random.

use ed25519_batch::internals::field::invert::{Matrix, STEPS, Steps, division_steps};

/// What the paper computes, with integers: the matrix of n steps is multiplied by 2^n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paper {
    pub(super) delta: i64,
    pub(super) f: i128,
    pub(super) g: i128,
    /// u, v, q and r.
    pub(super) matrix: [i128; 4],
}

impl Paper {
    /// Does one step, which is defined in section 8 of the paper.
    fn step(&mut self) {
        let Self { delta, f, g, matrix: [u, v, q, r] } = *self;
        let is_odd = g & 1;
        *self = if delta > 0 && is_odd == 1 {
            Self { delta: 1 - delta, f: g, g: (g - f) / 2, matrix: [2 * q, 2 * r, q - u, r - v] }
        } else {
            let (g, q, r) = (g + is_odd * f, q + is_odd * u, r + is_odd * v);
            Self { delta: 1 + delta, f, g: g / 2, matrix: [2 * u, 2 * v, q, r] }
        };
    }

    pub(super) fn steps(mut self, count: u32) -> Self {
        (0..count).for_each(|_| self.step());
        self
    }

    /// Returns the same with f and g modulo 2^`bits`.
    fn modulo(self, bits: u32) -> Self {
        let low = |number: i128| number & ((1 << bits) - 1);
        Self { f: low(self.f), g: low(self.g), ..self }
    }
}

fn numbers(Matrix { u, v, q, r }: Matrix) -> [i128; 4] {
    [u, v, q, r].map(i128::from)
}

/// The values of delta that the code distinguishes: up to six steps to the next exchange, and more.
fn deltas() -> impl Iterator<Item = i64> {
    (-6..=6).chain([-1 << 40, 1 << 40])
}

/// One pass of the loop. Some steps of the paper lead from the state before to the same as fewer of
/// its steps from the state after. So the passes together do all steps of the paper.
///
/// It begins with every number of steps left, every number of zeros, every delta, and the largest
/// rows of a matrix. The low bits of f and g are all that there are, for up to 8 steps and for 62:
/// a sum clears at most six bits, and the upper bits, like the matrix, go in linearly.
#[test]
#[cfg_attr(miri, ignore = "many cases")]
fn passes_are_steps_of_the_paper() {
    let mut cases = 0u64;
    let mut compare = |left: u32, delta: i64, [f, g]: [u64; 2], matrix: Matrix| {
        let before = Steps { left, delta, f, g, matrix };
        let mut state = before;
        let goes_on = state.advance();
        assert_eq!(goes_on, state.left > 0);
        // The low bits of g that are zero are steps that only halve. A pass that is not the last leaves
        // at least one. As many bits of f and g count as there are steps after that.
        let zeros = if goes_on { state.g.trailing_zeros().min(state.left) } else { 0 };
        assert_eq!(goes_on, zeros > 0);
        let rest = state.left - zeros;
        let [before, after] = [(before, left - rest), (state, zeros)].map(|(state, steps)| {
            let (f, g) = (state.f.into(), state.g.into());
            Paper { delta: state.delta, f, g, matrix: numbers(state.matrix) }.steps(steps).modulo(rest)
        });
        assert_eq!(before, after, "{left} {delta} {f:x} {g:x} {matrix:?}");
        // So no number of the program was cut, and the rows are at most 2^62 at the end.
        let [u, v, q, r] = before.matrix.map(i128::abs);
        assert!(u + v <= 1 << (STEPS - rest) && q + r <= 1 << (STEPS - rest));
        cases += 1;
    };
    for left in 0..=STEPS {
        for zeros in 0..=left {
            // The zeros of g may be cleared bits, whose sum the lower row has already.
            let (one, other) = (1 << (STEPS - left), 1 << (STEPS - left + zeros));
            let matrices =
                [Matrix { u: one, v: 0, q: 0, r: other }, Matrix { u: -one, v: 0, q: -other, r: 0 }];
            // After a shift the code is that for no zeros.
            let has_all = zeros == 0 && (left <= 8 || left == STEPS);
            let odd = || (1..64u64).step_by(2).filter(move |low| has_all || low % 36 == 1);
            for (f, g) in odd().flat_map(|f| odd().map(move |g| (f, g))) {
                for (delta, matrix) in deltas().flat_map(|delta| matrices.map(|matrix| (delta, matrix))) {
                    let (above_f, above_g) =
                        ((g << 58) ^ 0x5A5A_A5A5_5A5A_A540, (f << 58) ^ 0x2337_7332_2337_7300);
                    compare(left, delta, [f | above_f, (g | above_g) << zeros], matrix);
                }
            }
        }
    }
    println!("division steps: {cases} passes, with up to 62 steps left, are steps of the paper");
}

/// The whole function, with few steps, for all numbers: the matrix and delta are those of the
/// paper, the rows are at most 2^steps, the determinant is 2^steps, and the new f and g are whole
/// numbers, the first of which is odd.
#[test]
#[cfg_attr(miri, ignore = "many cases")]
fn few_steps_are_those_of_the_paper() {
    let mut cases = 0u64;
    for steps in 1..=7 {
        let end = 1i64 << steps;
        for delta in -i64::from(steps) - 1..=i64::from(steps) + 1 {
            for f in (1..end).step_by(2) {
                for g in 0..end {
                    let (start_f, start_g) = (i128::from(f), i128::from(g));
                    let start = Paper { delta, f: start_f, g: start_g, matrix: [1, 0, 0, 1] };
                    let paper = start.steps(steps);
                    let [u, v, q, r] = paper.matrix;
                    let end = i128::from(end);
                    assert!(u.abs() + v.abs() <= end && q.abs() + r.abs() <= end);
                    assert_eq!(u * r - v * q, end);
                    let new = [u * start_f + v * start_g, q * start_f + r * start_g];
                    assert_eq!(new, [paper.f * end, paper.g * end]);
                    assert_eq!(paper.f & 1, 1);
                    // Bits above the lowest do not count.
                    let above = -(delta & 1) << steps;
                    let mut new_delta = delta;
                    let matrix = division_steps(steps, &mut new_delta, f | above, g | above);
                    assert_eq!((numbers(matrix), new_delta), (paper.matrix, paper.delta));
                    cases += 1;
                }
            }
        }
    }
    println!("division steps: {cases} runs of up to 7 steps, for all numbers, give the paper's matrix");
}
