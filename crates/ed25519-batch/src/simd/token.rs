//! Macros that define tokens of instruction sets, and methods for the instructions.

/// Defines a token of instructions that are no back end, and its methods, each one expression of
/// intrinsics.
macro_rules! token {
    (
        $(#[$docs:meta])*
        $token:ident, $sets:literal;
        $($(#[$doc:meta])* $method:ident ($($arg:ident: $type:ty),*) -> $result:ty = $body:expr;)*
    ) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug)]
        pub struct $token(());

        impl $token {
            /// Returns the token.
            ///
            /// # Errors
            ///
            /// Returns the names of the instruction sets that the processor lacks.
            pub fn detect() -> Result<Self, Missing> {
                need($sets).map(|()| Self(()))
            }

            /// Runs `work` with these instructions. The compiler uses them in all code that is
            /// inlined into `work`.
            #[inline(always)]
            pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
                #[target_feature(enable = $sets)]
                fn with_instructions<R>(work: impl FnOnce() -> R) -> R {
                    work()
                }
                // SAFETY: only detection makes the token, so the processor has the instructions.
                unsafe { with_instructions(work) }
            }

            $(
                $(#[$doc])*
                #[inline(always)]
                pub fn $method(self, $($arg: $type),*) -> $result {
                    #[target_feature(enable = $sets)]
                    #[inline]
                    fn instruction($($arg: $type),*) -> $result {
                        $body
                    }
                    // SAFETY: as for `run`.
                    unsafe { instruction($($arg),*) }
                }
            )*
        }
    };
}
pub(super) use token;

/// Defines tokens of back ends: the token that each holds, the instruction sets that both stand for,
/// and a function that runs code with them.
#[cfg(target_arch = "x86_64")]
macro_rules! set {
    ($($(#[$docs:meta])* $token:ident($held:ty) = $detected:expr, $sets:literal, $run:ident;)*) => {
        $(
            $(#[$docs])*
            #[derive(Clone, Copy, Debug)]
            pub struct $token($held);

            impl $token {
                /// Returns the token.
                ///
                /// # Errors
                ///
                /// Returns the names of the instruction sets that the processor lacks.
                pub fn detect() -> Result<Self, Missing> {
                    need($sets).and_then(|()| $detected).map(Self)
                }
            }

            #[target_feature(enable = $sets)]
            fn $run<R>(work: impl FnOnce() -> R) -> R {
                with_aligned_frame(work)
            }
        )*
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use set;

/// Defines methods that are one expression of intrinsics, without an access to memory.
macro_rules! instructions {
    ($($method:ident $(<$n:ident>)? ($($arg:ident: $type:ty),*) -> $result:ty = $body:expr;)*) => {
        $(
            #[inline(always)]
            fn $method $(<const $n: u32>)? (self, $($arg: $type),*) -> $result {
                // SAFETY: only detection makes the token, so the processor has the instruction.
                unsafe { $body }
            }
        )*
    };
}
pub(super) use instructions;

/// Defines methods that load a vector from the first numbers of a slice, and then those that store
/// one there. The expression gets a pointer to an array of these numbers.
macro_rules! accesses {
    (
        $(load $load:ident [$from_type:ty; $from_len:literal] -> $result:ty = |$from:ident| $loaded:expr;)*
        $(store $store:ident($a:ident: $type:ty) [$to_type:ty; $to_len:literal] = |$to:ident| $stored:expr;)*
    ) => {
        $(
            #[inline(always)]
            fn $load(self, from: &[$from_type]) -> $result {
                let array: &[$from_type; $from_len] = from.first_chunk().unwrap_or_else(|| too_short());
                let $from = array.as_ptr().cast();
                // SAFETY: only detection makes the token. The array is as long as what is loaded, and
                // any alignment is allowed.
                unsafe { $loaded }
            }
        )*
        $(
            #[inline(always)]
            fn $store(self, $a: $type, to: &mut [$to_type]) {
                let array: &mut [$to_type; $to_len] = to.first_chunk_mut().unwrap_or_else(|| too_short());
                let $to = array.as_mut_ptr().cast();
                // SAFETY: only detection makes the token. The array is as long as what is stored, and
                // any alignment is allowed.
                unsafe { $stored }
            }
        )*
    };
}
pub(super) use accesses;

#[cold]
pub(super) fn too_short() -> ! {
    panic!("a vector from or to a slice that is shorter")
}
