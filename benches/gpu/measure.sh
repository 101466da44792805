#!/usr/bin/env bash
# Measures everything on a machine with a graphics processor, in one call of under nine minutes.
#
# usage: benches/gpu/measure.sh [PROGRAM BENCH PATTERNS]
#
# Without arguments it builds what it needs. The arguments are programs that were built elsewhere:
#   cargo build --release --features gpu --bin vanity-ed25519
#   cargo bench --features gpu --bench gpu --bench patterns --no-run
#
# It compares all encodings of 100 million keys with those of the processor, by a checksum for each launch.
# It measures:
#   - keys per second for each number of windows and each depth of batches, with registers and spills;
#   - the share of the bound that the wide multiply-adds of the graphics processor set;
#   - whole searches beside the reference engine.
set -euo pipefail

if [ $# = 3 ]; then
    program=$1 bench=$2 patterns=$3
else
    cd "$(dirname "${BASH_SOURCE[0]}")/../.."
    cargo build --quiet --release --features gpu --bin vanity-ed25519
    program=${CARGO_TARGET_DIR:-target}/release/vanity-ed25519
    built() {
        cargo bench --quiet --features gpu --bench "$1" --no-run --message-format=json |
            sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
    }
    bench=$(built gpu) patterns=$(built patterns)
fi

say() { printf '\n== %s\n' "$*"; }

say "the machine, $(date -u +%FT%TZ)"
"$program" --version
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.sm,power.limit,ecc.mode.current --format=csv 2>/dev/null ||
    echo "nvidia-smi is missing"

say "correctness: 100 million keys"
timeout 150 "$bench" --bench compare 1e8

say "keys a second by windows and depth"
timeout 150 "$bench" --bench rates 4

say "whole searches: six letters, fingerprints"
timeout 40 "$program" --bench 20 --engine gpu --threads 1
timeout 30 "$program" --bench 10 --engine gpu --threads 1 --in fingerprint

say "what each kind of pattern costs"
timeout 100 "$patterns" --bench --rounds 3 --seconds 0.25 --engine gpu

say "a search by the GPU engine, and by auto"
timeout 30 "$program" --engine gpu --timeout 10s --json abcdefghij | tail -n 1 || true
timeout 30 "$program" --timeout 10s --json abcdefghij | tail -n 1 || true
