//! Tokens of instructions that are no back end, with methods for the instructions.

/// Defines a token for a list of instruction sets and its methods, each one expression of
/// intrinsics.
macro_rules! token {
    (
        $(#[$docs:meta])*
        $token:ident, $sets:literal, needs $needed:expr;
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
                need(&$needed).map(|()| Self(()))
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
