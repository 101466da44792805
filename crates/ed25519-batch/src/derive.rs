//! The interface: back ends by name, and seeds in, public keys out.

use thiserror::Error;

use crate::batch::{AnyDeriver, AnyWorker, Fill, Look, any_deriver};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::curve::Fma;
#[cfg(target_arch = "x86_64")]
use crate::curve::Ifma;
use crate::curve::{Field, Portable};
#[cfg(target_arch = "x86_64")]
use crate::simd::Extends as _;
use crate::simd::{Halves, InstructionSet, Missing, Scalar};

/// The bytes of the smallest tables.
pub const LEAST_TABLE_MEMORY: usize = 16 << 10;

/// An instruction set, with the arithmetic that is the fastest with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BackEnd {
    /// 52-bit products in eight lanes (AVX-512 IFMA).
    Avx512ifma,
    /// Floating-point products in eight lanes.
    Avx512f,
    /// 52-bit products in four lanes.
    AvxIfma,
    /// Floating-point products in four lanes (AVX2 and FMA).
    Avx2,
    /// Floating-point products in two lanes, on 64-bit Arm.
    Neon,
    /// Ordinary 64-bit words, on any processor.
    Portable,
}

impl BackEnd {
    /// Every back end, the fastest first.
    pub const ALL: [Self; 6] =
        [Self::Avx512ifma, Self::Avx512f, Self::AvxIfma, Self::Avx2, Self::Neon, Self::Portable];

    /// Returns the name of the instruction set: `avx512ifma`, `avx512f`, `avxifma`, `avx2`, `neon`
    /// or `portable`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avx512ifma => "avx512ifma",
            Self::Avx512f => "avx512f",
            Self::AvxIfma => "avxifma",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Portable => "portable",
        }
    }

    /// Returns the back end of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|back_end| back_end.name() == name)
    }

    /// Returns the fastest back end of this processor.
    #[must_use]
    pub fn fastest() -> Self {
        Self::ALL.into_iter().find(|back_end| back_end.check().is_ok()).unwrap_or(Self::Portable)
    }

    /// Returns whether this program has the back end.
    #[must_use]
    pub fn is_built(self) -> bool {
        let needed = match self {
            Self::Portable => return true,
            Self::Neon => "aarch64",
            _ => "x86_64",
        };
        needed == std::env::consts::ARCH
    }

    /// Checks that this processor can run the back end.
    ///
    /// # Errors
    ///
    /// Returns what the processor lacks.
    pub fn check(self) -> Result<(), Unavailable> {
        self.instruction_set().map(drop)
    }

    /// Returns the vectors of bytes that belong to the back end, and nothing above them.
    ///
    /// # Errors
    ///
    /// Returns what the processor lacks.
    pub fn instruction_set(self) -> Result<InstructionSet, Unavailable> {
        self.with(Lanes)
    }

    /// Does some work with the arithmetic of this back end.
    fn with<W: Work>(self, work: W) -> Result<W::Output, Unavailable> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512ifma => {
                let simd = crate::simd::Avx512ifma::detect()?;
                Ok(work.run(Ifma(simd), InstructionSet::Avx512f(simd.base())))
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512f => {
                let simd = crate::simd::Avx512f::detect()?;
                Ok(work.run(Fma(simd), InstructionSet::Avx512f(simd)))
            }
            #[cfg(target_arch = "x86_64")]
            Self::AvxIfma => {
                let simd = crate::simd::AvxIfma::detect()?;
                Ok(work.run(Ifma(simd), InstructionSet::Avx2(simd.base())))
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                let simd = crate::simd::Avx2::detect()?;
                Ok(work.run(Fma(simd), InstructionSet::Avx2(simd)))
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => {
                let simd = crate::simd::Neon::detect()?;
                Ok(work.run(Fma(simd), InstructionSet::Neon(simd)))
            }
            Self::Portable => {
                let simd = Scalar::detect();
                Ok(work.run(Portable(simd), InstructionSet::Scalar(simd)))
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512ifma | Self::Avx512f | Self::AvxIfma | Self::Avx2 => {
                Err(Unavailable::Processor("x86-64"))
            }
            #[cfg(not(target_arch = "aarch64"))]
            Self::Neon => Err(Unavailable::Processor("aarch64")),
        }
    }
}

/// Work that is compiled for every back end.
trait Work {
    type Output;

    fn run<F: Field<Simd: Halves>>(self, field: F, set: InstructionSet) -> Self::Output;
}

/// Returns the vectors of bytes.
struct Lanes;

impl Work for Lanes {
    type Output = InstructionSet;

    fn run<F: Field<Simd: Halves>>(self, _: F, set: InstructionSet) -> InstructionSet {
        set
    }
}

impl Work for Sizing {
    type Output = Option<(Box<dyn AnyDeriver>, InstructionSet)>;

    fn run<F: Field<Simd: Halves>>(self, field: F, set: InstructionSet) -> Self::Output {
        Some((any_deriver(field, self)?, set))
    }
}

/// The reason why a back end is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The processor has not all instruction sets.
    #[error(transparent)]
    Instructions(#[from] Missing),
    /// The program is for another kind of processor than this one, which the back end needs.
    #[error("this processor is not {0}")]
    Processor(&'static str),
    /// The back end computed a wrong key in its self-test.
    #[error("it computed a wrong key in its self-test")]
    SelfTest,
}

/// How large tables may be.
#[derive(Clone, Copy, Debug)]
pub struct Sizing {
    /// The expected number of keys. Few keys do not wait for a large table.
    pub expected_keys: f64,
    /// The most bytes that tables may take. Less than [`LEAST_TABLE_MEMORY`] has the effect of
    /// that. `None` sets the usual limit, 128 MiB.
    pub table_memory: Option<usize>,
    /// The number of windows of the only table, 12 to 126, for measurements. `None` lets the
    /// deriver find the fastest table.
    pub windows: Option<usize>,
}

impl Sizing {
    /// Returns the sizing for this number of keys, with tables of any useful size.
    #[must_use]
    pub const fn for_keys(expected_keys: f64) -> Self {
        Self { expected_keys, table_memory: None, windows: None }
    }
}

/// What a deriver has found out to be the fastest on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Tuning {
    /// The number of windows that a scalar is divided into.
    pub windows: usize,
    /// The size of the table of multiples, in bytes.
    pub table_bytes: usize,
    /// The number of keys in a batch.
    pub batch_keys: usize,
    /// The distance between a prefetch of a table entry and its use, in vectors of keys. 0 if
    /// nothing is prefetched.
    pub prefetch_vectors: usize,
}

impl Tuning {
    /// Returns the settings of hardware that hides the time of reads by itself, so nothing is
    /// prefetched.
    #[must_use]
    pub const fn without_prefetch(windows: usize, table_bytes: usize, batch_keys: usize) -> Self {
        Self { windows, table_bytes, batch_keys, prefetch_vectors: 0 }
    }
}

/// Derives public keys. All threads share it.
pub struct Deriver {
    any: Box<dyn AnyDeriver>,
    set: InstructionSet,
}

impl Deriver {
    /// Builds the first table, in less than a millisecond, and derives the key pairs of RFC 8032
    /// with it.
    ///
    /// # Errors
    ///
    /// Returns an error if this processor cannot run the back end, or if a key is wrong.
    pub fn new(back_end: BackEnd, sizing: Sizing) -> Result<Self, Unavailable> {
        let (any, set) = back_end.with(sizing)?.ok_or(Unavailable::SelfTest)?;
        Ok(Self { any, set })
    }

    /// Returns the part of one thread, with its buffers and a table. While a worker that is not used
    /// keeps an old table, no further one is built.
    #[must_use]
    pub fn worker(&self) -> Worker<'_> {
        Worker(self.any.worker())
    }

    /// Returns the vectors of bytes that belong to the back end, and nothing above them.
    #[must_use]
    pub fn instruction_set(&self) -> InstructionSet {
        self.set
    }

    /// Returns whether the fastest table was found. Before, the rate can rise.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.any.is_settled()
    }

    /// Returns what is the fastest so far.
    #[must_use]
    pub fn tuning(&self) -> Tuning {
        self.any.tuning()
    }

    /// Returns whether a larger table derived a wrong key of RFC 8032 since the last call. Such a
    /// table is not used.
    #[must_use]
    pub fn take_wrong_table(&self) -> bool {
        self.any.take_wrong_table()
    }
}

/// One thread's part of a [`Deriver`].
pub struct Worker<'a>(Box<dyn AnyWorker + 'a>);

impl Worker<'_> {
    /// Derives one batch, and returns the number of its keys: up to some thousands, which take some
    /// milliseconds.
    ///
    /// `fill` overwrites all seeds. `look` takes the seeds and their public keys, in the same order,
    /// with the sign of x cleared. Then the seeds are wiped. The ladder measures whole batches,
    /// with both functions.
    pub fn batch(&mut self, fill: Fill<'_>, look: Look<'_>) -> usize {
        self.0.batch(fill, look)
    }

    /// Derives the public keys of any number of seeds, in the same order, with the sign of x
    /// cleared. The last batch costs as much as a whole one.
    ///
    /// # Panics
    ///
    /// Panics unless there are as many keys as seeds.
    pub fn derive(&mut self, seeds: &[[u8; 32]], keys: &mut [[u8; 32]]) {
        assert_eq!(seeds.len(), keys.len(), "each seed has a key");
        let mut done = 0;
        while done < seeds.len() {
            let (seeds, keys) = (&seeds[done..], &mut keys[done..]);
            done += self.batch(
                &mut |batch| {
                    let count = batch.len().min(seeds.len());
                    batch[..count].copy_from_slice(&seeds[..count]);
                    batch[count..].fill([0; 32]);
                },
                &mut |_, batch| {
                    let count = batch.len().min(keys.len());
                    keys[..count].copy_from_slice(&batch[..count]);
                },
            );
        }
    }
}

/// Returns a public key with its highest bit, the sign of x, cleared.
#[must_use]
pub const fn without_sign(mut key: [u8; 32]) -> [u8; 32] {
    key[31] &= 0x7f;
    key
}
