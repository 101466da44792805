#!/usr/bin/env bash
# Measures the wall time of whole processes from start to exit. Prints the median, the shortest and the
# longest time as a table for RESULTS.txt.
# usage: benches/start-up.sh [PROGRAM [RUNS [PREFIXES]]]
# Without PROGRAM it builds the release. The default of RUNS is 20. The last row of the table has a list of
# PREFIXES, by default 1,000,000.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

runs=${2:-20} prefixes=${3:-1000000}
if [ $# -gt 0 ]; then
    program=$1
else
    cargo build --quiet --release
    program=${CARGO_TARGET_DIR:-target}/release/vanity-ed25519
fi

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# Makes different words of 5 to 8 random letters. The first letter is one of A to P, which can begin a body.
awk -v count="$prefixes" 'BEGIN {
    srand(9)
    while (made < count) {
        word = sprintf("%c", 97 + int(16 * rand()))
        for (left = 4 + int(4 * rand()); left; left--) word = word sprintf("%c", 97 + int(26 * rand()))
        if (!(word in seen)) { seen[word]; made++; print word }
    }
}' > "$directory/prefixes"

# row STATUS NAME ARGUMENT...: runs the program, which must end with STATUS. Removes the file of the key.
row() {
    local status=$1 name=$2 times=() began ended found
    shift 2
    for ((run = 0; run < runs; run++)); do
        found=0
        began=${EPOCHREALTIME/[.,]/}
        "$program" "$@" > "$directory/key" 2> "$directory/messages" || found=$?
        ended=${EPOCHREALTIME/[.,]/}
        if [ "$found" != "$status" ]; then
            cat "$directory/messages" >&2
            echo "error: $name: status $found, not $status" >&2
            exit 1
        fi
        times+=($((ended - began)))
    done
    printf '%s\n' "${times[@]}" | sort -n | awk -v name="$name" '
        { at[NR] = $1 / 1000 }
        END { printf "%-32s %10.1f %10.1f %10.1f\n", name, at[int(NR / 2) + 1], at[1], at[NR] }'
}

printf '%-32s %10s %10s %10s\n' "command, $runs runs" 'median ms' least most
for pattern in a ab abc; do row 0 "$pattern" -t 2 "$pattern"; done
row 0 '--prefix Ab' -t 2 --prefix Ab
row 0 '-q ab' -t 2 -q ab
for pattern in '--prefix Q' '--suffix a=' '--regex ^[Q-Z]' '--regex a.{20}b'; do
    row 2 "$pattern" -t 2 "${pattern%% *}" "${pattern#* }"
done
row 0 "$prefixes prefixes, -n 1" -t 2 -q --prefix --any -n 1 -f "$directory/prefixes"
