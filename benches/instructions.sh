#!/usr/bin/env bash
# Counts the instructions in the loops of the curve, for every back end with vectors.
#
# usage: benches/instructions.sh [PROGRAM]
#
# For each innermost loop with 20 or more fused multiply-adds it prints the number of all instructions, of
# those that use a vector register, of the others, of multiply-adds, of loads and stores of whole vectors,
# and of prefetches. An addition of a window has four loops: slope, x, y, open.
#
# It needs objdump (binutils) and awk, on x86-64. The default program is target/release/vanity-ed25519.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-target/release/vanity-ed25519}

objdump --disassemble --no-show-raw-insn "$program" | awk -f benches/loops.awk | awk -F '\t' '
    function row(engine, loop, address, count) {
        printf "%-11s %-9s %-9s %12s %7s %6s %9s %6s %7s %11s\n", engine, loop, address, count["all"], count["vector"],
            count["other"], count["multiply"], count["load"], count["store"], count["prefetch"]
    }
    # Ends a loop, and with the loop "open" an addition.
    function finish(    kind) {
        row(engine, loop, address, count)
        if (loop != "other") for (kind in count) sum[kind] += count[kind]
        if (loop == "open") { row(engine, "together", "", sum); delete sum }
    }
    BEGIN {
        kinds = split("all vector other multiply load store prefetch", kind, " ")
        split("instructions vector other multiply loads stores prefetches", title, " ")
        for (at = 1; at <= kinds; at++) count[kind[at]] = title[at]
        row("engine", "loop", "address", count)
    }
    $3 != address {
        if (address) finish()
        engine = $1; loop = $2; address = $3
        for (at = 1; at <= kinds; at++) count[kind[at]] = 0
    }
    {
        count["all"]++
        count[$4 ~ /%[xyz]mm|%k[0-7]/ ? "vector" : "other"]++
        if ($4 ~ /madd/) count["multiply"]++
        if ($4 ~ /^prefetch/) count["prefetch"]++
        if ($4 ~ /^vmov(dq|ap|up).*\)$/) count["store"]++
        else if ($4 ~ /^vmov(dq|ap|up).*\(/) count["load"]++
    }
    END { if (address) finish() }'
