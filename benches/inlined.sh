#!/usr/bin/env bash
# Fails if a vector instruction is behind a call, in any program that is built for x86-64 and aarch64 Linux.
#
# usage: benches/inlined.sh                builds the programs of the profiles release and dist and the benches,
#                                          for every target whose linker is installed, and checks them
#        benches/inlined.sh --short        leaves out the profile dist, and the benches for other processors
#        benches/inlined.sh PROGRAM...     checks these programs, which must have their symbols
#        benches/inlined.sh --control      checks that a copy of the sources with one `.map` put back fails
#
# It names the caller and what it calls: an intrinsic, a function of `simd`, or a closure or an iterator that
# holds vector instructions. It lists the hot loops (passes, hashes, filters) with the number of their calls,
# and fails unless that is 0.
#
# It needs objdump (binutils, or binutils-aarch64-linux-gnu for aarch64) and python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TERM_QUIET=true CARGO_PROFILE_DIST_STRIP=false

# All but the one of GPUs, which needs a feature.
# `throughput` only starts the program.
mapfile -t benches < <(sed -n '/^\[\[bench\]\]/{n;s/name = "\(.*\)"/--bench=\1/p}' Cargo.toml benches/criterion/Cargo.toml crates/*/Cargo.toml | grep -vE "gpu|throughput")

# Checks programs, each with the objdump of its machine.
check() {
    local program objdump status=0
    for program in "$@"; do
        objdump=objdump
        if [ "$(od -An -tu2 -j18 -N2 "$program" | tr -d ' ')" = 183 ]; then objdump=aarch64-linux-gnu-objdump; fi
        python3 benches/inlined.py "$objdump" "$program" || status=1
    done
    return "$status"
}

# Builds with cargo's arguments, and prints the programs.
build() {
    cargo build --message-format=json "$@" | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"):
        print(message["executable"])'
}

case ${1:-} in
    --control)
        copy=$(mktemp -d)
        # The copy shares the built packages, and its program lies where that of these sources lies.
        trap 'rm -rf "$copy"; build --release --bin vanity-ed25519 > /dev/null' EXIT
        cp -r Cargo.toml Cargo.lock rust-toolchain.toml README.md src crates tests benches examples "$copy"
        simd=crates/ed25519-batch/src/simd
        inline='\[look_up_256(table, a\[0\]), look_up_256(table, a\[1\])\]'
        mapped='a.map(|a| {
            let part = |at: usize| {
                let bytes: \&[u8; 16] = \&table.as_chunks().0[at];
                _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast()))
            };
            let (by_16, by_32) = (_mm256_slli_epi16::<3>(a), _mm256_slli_epi16::<2>(a));
            let of = |at: usize| _mm256_shuffle_epi8(part(at), a);
            let lower = _mm256_blendv_epi8(of(0), of(1), by_16);
            let upper = _mm256_blendv_epi8(of(2), of(3), by_16);
            _mm256_blendv_epi8(lower, upper, by_32)
        })'
        sed -i "s/$inline/${mapped//$'\n'/}/" "$copy/$simd/x86.rs"
        if cmp -s "$simd/x86.rs" "$copy/$simd/x86.rs"; then echo "the control changes nothing" >&2; exit 1; fi
        program=$(CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target} \
            build --manifest-path "$copy/Cargo.toml" --release --bin vanity-ed25519)
        if found=$(check "$program"); then echo "the control passes" >&2; exit 1; fi
        grep -q 'FAULT: .*_mm256_blendv_epi8' <<< "$found"
        grep 'FAULT' <<< "$found"
        echo "the control fails, as it must" ;;
    ''|--short)
        programs=()
        mapfile -t programs < <(build --release --bins "${benches[@]}")
        if [ $# = 0 ]; then mapfile -t -O "${#programs[@]}" programs < <(build --profile dist --bins); fi
        for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do
            if [ "$target" = "$(uname -m)-unknown-linux-gnu" ]; then continue; fi
            linker=CARGO_TARGET_$(tr a-z- A-Z_ <<< "$target")_LINKER
            if [ -z "${!linker:-}" ]; then export "$linker=${target%%-*}-linux-gnu-gcc"; fi
            if ! command -v "${!linker}" > /dev/null || ! rustup target add "$target"; then
                echo "NOT CHECKED: $target, because ${!linker} or its standard library is missing"
                if [ "${CI:-}" = true ]; then exit 1; fi
                continue
            fi
            mapfile -t -O "${#programs[@]}" programs < <(build --target "$target" --release --bins)
            if [ $# = 0 ]; then
                mapfile -t -O "${#programs[@]}" programs < <(
                    build --target "$target" --release "${benches[@]}"
                    build --target "$target" --profile dist --bins
                )
            fi
        done
        check "${programs[@]}" ;;
    -*) sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) check "$@" ;;
esac
