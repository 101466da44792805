#!/usr/bin/env bash
# Measures everything on a machine with a GPU, in one call of under nine minutes. It needs a
# driver, and no compiler.
#
# usage: benches/gpu/measure.sh [PROGRAM BENCH PATTERNS]
#
# The arguments are programs that were built elsewhere. Without them it builds what it needs, which takes
# several minutes more:
#   cargo build --release --features gpu --bin vanity-ed25519
#   cargo bench --features gpu --bench gpu --bench patterns --no-run
#
# It compares a million keys with those of ed25519-dalek, and 100 million with those of the CPU's engine.
# It measures:
#   - keys per second for each number of windows, each depth and each number of work items, by CUDA and by
#     OpenCL;
#   - whole searches beside the reference engine, with the clock and the power meanwhile;
#   - how long an interrupt takes.
#
# It prints a record in the form of RESULTS.txt, and writes it to gpu-record.txt. On a slow device set
# KEYS, the keys to compare, and ROUNDS, those of each pattern.
set -euo pipefail

if [ $# = 3 ]; then
    program=$(realpath "$1") bench=$(realpath "$2") patterns=$(realpath "$3")
else
    cd "$(dirname "${BASH_SOURCE[0]}")/../.."
    cargo build --quiet --release --features gpu --bin vanity-ed25519
    program=$(realpath "${CARGO_TARGET_DIR:-target}/release/vanity-ed25519")
    built() {
        cargo bench --quiet --features gpu --bench "$1" --no-run --message-format=json |
            sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
    }
    bench=$(built gpu) patterns=$(built patterns)
fi

record=$PWD/gpu-record.txt
began=$SECONDS
commit=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --short HEAD 2>/dev/null || echo 'not recorded')
say() { printf '\n== %s (second %d)\n' "$*" $((SECONDS - began)); }
# Runs a command with a limit. A step that fails is named, and the others go on. A search that ends at its own
# time limit has the status 3.
try() {
    local status=0
    timeout --kill-after=5 "$@" || status=$?
    [ $status = 0 ] || [ $status = 3 ] || echo "status $status: ${*:2}"
}

# The clock, the power and the temperature, each second, while a command runs.
watched() {
    local watch=
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu,utilization.gpu --format=csv,noheader -l 1 >"$log" &
        watch=$!
    fi
    try "$@"
    if [ -n "$watch" ]; then
        kill $watch 2>/dev/null || true
        wait $watch 2>/dev/null || true
        echo "clock, power, temperature, use: each fifth second"
        awk 'NR % 5 == 1' "$log"
    fi
}
log=$(mktemp)
trap 'rm -f "$log" "$log.key" "$log.key.pub"' EXIT

interrupt() {
    local status=0 before
    before=$(date +%s%N)
    timeout --foreground --signal=INT --preserve-status 5 \
        "$program" --engine gpu --quiet --output "$log.key" abcdefghijklmnopq || status=$?
    echo "status $status, $((($(date +%s%N) - before) / 1000000 - 5000)) ms after the interrupt"
}

measure() {
    cat <<END
date       $(date -u +%FT%TZ)
commit     $commit
command    benches/gpu/measure.sh
processor  $(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c | sed 's/^ *//' | paste -sd';' ||
        true) beside $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) hardware threads
compiler   not recorded by a program that was built elsewhere
END
    "$program" --version
    "$program" --gpu-device list
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit,ecc.mode.current,memory.total --format=csv 2>/dev/null ||
        echo "nvidia-smi is missing"

    say "correctness: a million keys against ed25519-dalek"
    try 60 "$bench" --bench dalek "${KEYS:-1e6}"
    say "correctness: 100 million keys against the processor's engine"
    try 60 "$bench" --bench compare "${KEYS:-1e8}"
    say "keys a second by windows, depth and work items"
    try 140 "$bench" --bench rates 1
    say "whole searches: six letters, fingerprints"
    watched 50 "$program" --bench 15 --engine gpu --threads 1
    try 30 "$program" --bench 5 --engine gpu --threads 1 --in fingerprint
    say "what each kind of pattern costs"
    # The head of each part is left out. A part that takes longer than its limit prints nothing else.
    for part in prefix anywhere word, suffix regex words fingerprint; do
        try 60 "$patterns" --bench --rounds "${ROUNDS:-3}" --seconds 0.1 --engine gpu --only "$part" | sed -n '/keys\/s/,$p; /^status/p'
    done
    say "a search by the GPU engine, by auto, and an interrupt"
    try 40 "$program" --engine gpu --timeout 10s --quiet --json abcdefghij | tail -n 1
    try 40 "$program" --timeout 10s --quiet --json abcdefghij | tail -n 1
    interrupt
    say "done"
}
measure 2>&1 | tee "$record"
echo "the record is in $record"
