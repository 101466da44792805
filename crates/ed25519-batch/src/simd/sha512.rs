//! The instructions of aarch64 processors for SHA-512 (the feature FEAT_SHA512).
//!
//! They work on pairs of adjacent words of one message: the earlier word is the low one.

#![allow(unsafe_code, reason = "the module of instructions")]

use std::arch::aarch64::*;

use super::detect::{Missing, need};
use super::token::token;

/// Two adjacent words.
pub type Pair = uint64x2_t;

token! {
    /// The token of the instructions for SHA-512 (Apple M, Neoverse V1 and V2). Linux and Rust join
    /// them with those for SHA-3.
    Sha512, "neon,sha3";

    /// Returns the pair of two words.
    pair(words: [u64; 2]) -> Pair = vcombine_u64(vcreate_u64(words[0]), vcreate_u64(words[1]));
    /// Returns `a + b`, word by word.
    add(a: Pair, b: Pair) -> Pair = vaddq_u64(a, b);
    /// Returns the high word of `a` and the low word of `b`.
    middle(a: Pair, b: Pair) -> Pair = vextq_u64::<1>(a, b);
    /// Does the first part of two rounds (SHA512H).
    hash_1(sum: Pair, fg: Pair, de: Pair) -> Pair = vsha512hq_u64(sum, fg, de);
    /// Does the second part of two rounds (SHA512H2).
    hash_2(sum: Pair, cd: Pair, ab: Pair) -> Pair = vsha512h2q_u64(sum, cd, ab);
    /// Does the first part of two words of the schedule (SHA512SU0).
    schedule_1(first: Pair, second: Pair) -> Pair = vsha512su0q_u64(first, second);
    /// Does the second part of two words of the schedule (SHA512SU1).
    schedule_2(sum: Pair, late: Pair, middle: Pair) -> Pair = vsha512su1q_u64(sum, late, middle);
    /// Returns the words of a pair.
    words(a: Pair) -> [u64; 2] = [vgetq_lane_u64::<0>(a), vgetq_lane_u64::<1>(a)];
}
