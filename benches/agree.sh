#!/usr/bin/env bash
# Fails if the bench of engines under criterion and `--bench` disagree by more than a fifth on how many times
# as fast as the reference engine another one is. The argument is that engine, or portable.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
engine=${1-portable}

cargo bench --quiet --bench engines -- --warm-up-time 0.5 --measurement-time 2 --sample-size 10 \
    --save-baseline agree "engines/($engine|reference)\$" > /dev/null
# Returns the nanoseconds of an iteration, which has the same number of keys for every engine.
nanoseconds() { jq .median.point_estimate "target/criterion/engines/$1/agree/estimates.json"; }
by_criterion=$(jq -n "$(nanoseconds reference) / $(nanoseconds "$engine")")
by_searches=$(cargo run --quiet --release -- --bench 2 --threads 1 --engine "$engine" --json --quiet | jq -s '.[0].ratio')

echo "$engine is $by_criterion times as fast as reference in batches, $by_searches times in whole searches"
jq -ne "$by_criterion / $by_searches | . > 0.8 and . < 1.25" > /dev/null || {
    echo "they disagree by more than a fifth"
    exit 1
}
