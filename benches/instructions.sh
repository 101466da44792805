#!/usr/bin/env bash
# Counts the instructions in the loops of the curve, for every back end with vectors.
#
# usage: benches/instructions.sh [PROGRAM]
#
# For each innermost loop with 20 or more fused multiply-adds it prints the number of all instructions, of
# those that use a vector register, of the others, of multiply-adds, of loads and stores of whole vectors,
# and of prefetches. An addition of a window has four loops: slope, x, y, open. With avx512ifma they have
# 130, 45, 65 and 130 multiply-adds.
#
# It needs objdump (binutils) and awk, on x86-64. The default program is target/release/vanity-ed25519.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-target/release/vanity-ed25519}

printf '%-12s %-9s %12s %8s %8s %10s %8s %8s %10s\n' registers address instructions vector other multiply loads stores prefetches
objdump --disassemble --no-show-raw-insn -M intel "$program" | awk '
    function report(first, last,    at, counts, wide) {
        delete counts
        for (at = first; at <= last; at++) {
            counts["all"]++
            if (text[at] ~ /[xyz]mm|k[0-7][^0-9a-z]/) counts["vector"]++; else counts["other"]++
            if (name[at] ~ /madd/) counts["multiply"]++
            if (name[at] ~ /^prefetch/) counts["prefetch"]++
            if (name[at] ~ /^vmov(dq|ap|up)/ && text[at] ~ /^.MMWORD/) counts["store"]++
            else if (name[at] ~ /^vmov(dq|ap|up)/ && text[at] ~ /MMWORD/) counts["load"]++
            if (text[at] ~ /zmm/) wide = 1
        }
        if (counts["multiply"] < 20) return
        printf "%-12s %-9s %12d %8d %8d %10d %8d %8d %10d\n", wide ? "zmm" : "ymm", address[first], counts["all"],
            counts["vector"], counts["other"], counts["multiply"], counts["load"], counts["store"], counts["prefetch"]
    }
    # A jump backward closes a loop. The innermost ones have no other inside.
    function finish(    at, target, begin) {
        begin = 0
        for (at = 1; at <= count; at++) {
            target = name[at] ~ /^j/ ? number[word[at]] : 0
            if (target && target <= at && target > begin) { report(target, at); begin = target }
        }
        count = 0; delete number
    }
    /^[0-9a-f]+ </ { finish(); next }
    /^ *[0-9a-f]+:\t/ {
        count++
        address[count] = $1; sub(":", "", address[count]); number[address[count]] = count
        name[count] = $2; word[count] = $3
        text[count] = $0; sub(/^[^\t]*\t[^ ]+ */, "", text[count])
    }
    END { finish() }'
