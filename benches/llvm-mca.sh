#!/usr/bin/env bash
# Prints how many cycles llvm-mca expects for the addition of one vector, for every back end.
#
# usage: benches/llvm-mca.sh [PROGRAM [PROCESSOR]...]
#
# For each of the four loops of an addition and each processor it prints the cycles of a round, and
# the busiest part of the processor with the cycles that it works. The figures are those of a model:
# - Each loop is one straight line, as objdump shows it. No branch is taken or mispredicted, and what
#   a branch leads to outside the loop is left out.
# - Every load finds its line in the first-level cache, prefetches cost no more than other loads, and
#   no load waits for a store.
#
# It needs objdump (binutils), awk and llvm-mca (LLVM 19 knows all three processors), on x86-64.
# The variable LLVM_MCA names the program llvm-mca. The default program is
# target/release/vanity-ed25519.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-target/release/vanity-ed25519}
processors=("${@:2}")
if [ "${#processors[@]}" = 0 ]; then processors=(icelake-server sapphirerapids znver4); fi
mca=${LLVM_MCA:-llvm-mca}
rounds=100

loops=$(mktemp)
trap 'rm -f "$loops"' EXIT
objdump --disassemble --no-show-raw-insn "$program" | awk -f benches/loops.awk > "$loops"

# Prints the cycles of a round, the busiest part, and its cycles.
expect() {
    "$mca" -mcpu="$1" -mattr=+avxifma -iterations="$rounds" -instruction-info=false | awk -v rounds="$rounds" '
        /^Total Cycles:/ { cycles = $3 / rounds }
        /^\[[0-9.]+\] +- / { part[$1] = $3; sub("^(ICX|SPR|Zn4)", "", part[$1]) }
        /^Resource pressure per iteration:/ {
            getline; count = split($0, parts)
            getline; split($0, pressures)
            for (at = 1; at <= count; at++)
                if (pressures[at] + 0 > most) { most = pressures[at] + 0; busiest = part[parts[at]] }
        }
        END { printf "%.1f %s %.1f\n", cycles, busiest, most }'
}

"$mca" --version | sed -n 's/.*LLVM version/LLVM version/p'
printf '%-11s %-9s %12s' engine loop instructions
printf ' | %-24s' "${processors[@]}"
printf '\n'
for engine in avx512ifma avx512f avxifma avx2; do
    together=()
    instructions=0
    for name in slope x y open; do
        # llvm-mca knows no name of a place, and no prefix of a jump.
        loop=$(awk -F '\t' -v engine="$engine" -v name="$name" '$1 == engine && $2 == name { print $4 }' "$loops" |
            sed -E 's/^(data16 |cs )+//; s/^(j[a-z]+|call) +([0-9a-f])/\1 0x\2/')
        if [ -z "$loop" ]; then echo "$program has no loop $name of $engine" >&2; exit 1; fi
        count=$(wc -l <<< "$loop")
        instructions=$((instructions + count))
        printf '%-11s %-9s %12d' "$engine" "$name" "$count"
        for at in "${!processors[@]}"; do
            read -r cycles part busy <<< "$(expect "${processors[at]}" <<< "$loop")"
            together[at]=$(awk -v a="${together[at]:-0}" -v b="$cycles" 'BEGIN { printf "%.1f", a + b }')
            printf ' | %7.1f  %-8s %6.1f' "$cycles" "$part" "$busy"
        done
        printf '\n'
    done
    printf '%-11s %-9s %12d' "$engine" together "$instructions"
    printf ' | %7.1f                 ' "${together[@]}"
    printf '\n'
done
