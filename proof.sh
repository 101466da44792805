#!/usr/bin/env bash
# Shows what a person who trusts a key of this program would want shown: runs the tests of each claim, with real tools and
# with the counts that are claimed, and writes the table into docs/PROOF.md.
# usage: proof.sh [LINE...]              everything; up to two hours, and nightly Rust, cargo-fuzz, strace, OpenSSH, OpenSSL
#        proof.sh --short [LINE...]      the same with smaller counts, in minutes, and without what takes nightly Rust; prints the table alone
# With numbers of lines those alone; in the document they replace what was there.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

full=yes
if [ "${1-}" = --short ]; then full=; shift; fi
lines=" $* "
for line; do
    [[ $line =~ ^[1-9][0-9]?$ ]] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
done

logs=${CARGO_TARGET_DIR:-target}/proof
rm -rf "$logs"; mkdir -p "$logs"
rows=$logs/rows
failures=0

# The first in the short form, the second in the full one.
of() { if [ "$full" ]; then printf %s "$2"; else printf %s "$1"; fi; }

# What the tests of a log had to do without.
missed() {
    { sed -n 's/^skipped: \(.*\) is missing\(: .*\)*$/\1/p' "$1"; sed -n "s/^the engine '\(.*\)' cannot run here.*/\1/p" "$1"; } |
        sort -u | paste -sd, | sed 's/,/, /g'
}

# Whether a line is asked for.
wanted() { [ "$lines" = '  ' ] || [[ $lines = *" $1 "* ]]; }

# Enters a row: number, what is shown, count, result, seconds.
enter() { printf '| %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" "$5" | tee -a "$rows"; }

# shown NUMBER WHAT COUNT COMMAND...: runs the command, whose tests must pass, at least one of them.
shown() {
    local number=$1 what=$2 count=$3 log result passed missed start=$SECONDS
    wanted "$number" || return 0
    shift 3
    log=$logs/$(wc -l < "$rows" 2>/dev/null || echo 0).log
    if ! "$@" > "$log" 2>&1; then
        result="**FAILED**: $log"
        failures=$((failures + 1))
    else
        passed=$(awk '/^test result: ok/ { sum += $4 } END { print sum + 0 }' "$log")
        missed=$(missed "$log")
        result="passed: $passed tests"
        if [ "$passed" = 0 ]; then result="**FAILED**: no such test"; failures=$((failures + 1)); fi
        if [ "$missed" ]; then result="$result; not run here: $missed"; fi
    fi
    enter "$number" "$what" "$count" "$result" "$((SECONDS - start)) s"
}

# absent NUMBER WHAT WHY: a line that is not run is told.
absent() { if wanted "$1"; then enter "$1" "$2" - "not run: $3" -; fi; }

# beside NUMBER NAME COMMAND...: begins what runs beside the rest, and ends when this is interrupted.
declare -A hour
beside() {
    local name=$2
    wanted "$1" || return 0
    shift 2
    nice "$@" > "$logs/$name.log" 2>&1 &
    hour[$name]=$!
}
trap 'trap - TERM; kill 0' INT TERM

# awaited NUMBER WHAT NAME COUNT: waits for what runs beside the rest, which has to end well; COUNT is a sed command that finds the count in its log.
awaited() {
    local result=passed count
    wanted "$1" || return 0
    if ! wait "${hour[$3]}"; then result="**FAILED**: $logs/$3.log"; failures=$((failures + 1)); fi
    count=$(sed -n "$4" "$logs/$3.log")
    enter "$1" "$2" "${count:-none}" "$result" 'beside the rest'
}

# timed NUMBER: how fast unusable requests are refused; the slowest of the medians of 20 runs, which has to be below 50 ms.
timed() {
    local program=${CARGO_TARGET_DIR:-target}/release/vanity-ed25519 begin slowest=0 median status=0
    wanted "$1" || return 0
    local -a requests=('' '--prefix Q' 'a=' 'al-ice' 'word_' "$(printf 'a%.0s' {1..44})" 'AAAAC3NzaC1lZDI1NTE5AAAAI'
        "--suffix a=" '--regex a.{20}b' '--regex (' '--regex ^[Q-Z]' '-n 0 ab' '-n 18446744073709551616 ab' '-t 0 ab' '-t 1000000 ab'
        '--timeout NaN ab' '--timeout 1e309 ab' '--format der ab' '-o /nowhere/x ab' '-f /nowhere/x')
    for request in "${requests[@]}"; do
        median=$(for _ in {1..20}; do
            begin=${EPOCHREALTIME/./}
            # shellcheck disable=SC2086 # words
            "$program" $request > "$logs/timed.log" 2>&1; [ $? = 2 ] || echo "not refused: $request" >> "$logs/timed.err"
            echo $((${EPOCHREALTIME/./} - begin))
        done | sort -n | sed -n 10p)
        [ "$median" -le "$slowest" ] || slowest=$median
    done
    local result="the slowest median is $((slowest / 1000)) ms"
    if [ "$slowest" -ge 50000 ] || [ -e "$logs/timed.err" ]; then
        result="**FAILED**: $result $(cat "$logs/timed.err" 2>/dev/null)"; failures=$((failures + 1))
    fi
    enter "$1" 'unusable requests are refused in less than 50 ms' "${#requests[@]} requests, 20 times each" "$result" -
}

unit() { cargo test --release --lib -- --nocapture "$@"; }
# tests FILE BEGINNING...: of a file of tests those whose names begin so.
tests() { local file=$1; shift; cargo test --release --test all -- --nocapture "${@/#/$file::}"; }
# The same of the program with the engine of graphics processors.
gpu_unit() { cargo test --profile quick --features gpu --lib -- --nocapture "$@"; }
gpu_tests() { cargo test --profile quick --features gpu --test all -- --nocapture "${@/#/gpu::}"; }

# Tools that are not everybody's.
has() { "$@" > /dev/null 2>&1; }
nightly='' fuzz='' miri=''
if [ "$full" ]; then
    if has cargo +nightly --version; then nightly=yes; fi
    if has cargo +nightly fuzz --version; then fuzz=yes; fi
    if has cargo +nightly miri --version; then miri=yes; fi
fi

# Everything is built first: cargo lets none begin while another builds.
built() { cargo "$@" > "$logs/build.log" 2>&1 || { cat "$logs/build.log"; exit 1; }; }
built test --release --no-run
built test --profile quick --features gpu --lib --test all --no-run
if [ "$fuzz" ] && wanted 5; then built +nightly fuzz build -s none; fi

printf '| line | what is shown | count | result | time |\n| --- | --- | --- | --- | --- |\n' | tee "$rows"

# What takes an hour.
if [ "$fuzz" ]; then
    for target in syntax list matcher; do
        beside 5 "$target" cargo +nightly fuzz run -s none "$target" -- -len_control=0 -max_len=1000 -max_total_time=3600
    done
fi
if [ "$full" ]; then
    beside 9 soak env VANITY_SOAK=3600 cargo test --release --test all -- --nocapture soak::
fi
if [ "$miri" ]; then
    beside 4 miri env MIRIFLAGS=-Zmiri-disable-isolation VANITY_CASES=4 \
        cargo +nightly miri test --lib -- --nocapture chacha sha512 curve::field simd::
fi

shown 1 'vectors of RFC 8032 and NIST in every lane, engines against them' 'all' unit key::tests sha512 chacha self_test
seeds=$(of 100000 10000000)
shown 2 'random seeds through every back end against ed25519-dalek' "$seeds each" \
    env VANITY_SEEDS="$seeds" cargo test --release --lib -- --nocapture every_back_end_derives
shown 2 'chosen and random seeds through every engine; batches of every size' '101,536 each' tests engines every_candidate
shown 2 'batches of 1, 2, ... 2N + 1 keys' 'all sizes' unit curve::tests
seeds=$(of 20000 1000000)
shown 2 'random seeds through every device against ed25519-dalek, seeds that devices draw' "$seeds each" \
    env VANITY_SEEDS="$seeds" cargo test --profile quick --features gpu --lib -- --nocapture every_device_derives a_device_draws every_kernel
cases=$(of 10000 1000000)
shown 3 'field operations at the bounds against big integers' "$cases each" \
    env VANITY_CASES="$cases" cargo test --release --lib -- --nocapture curve::field
shown 3 'arithmetic for NVIDIA by interpreting its text; the text in NVIDIA'"'"'s compiler' 'all' gpu_unit gpu::ptx gpu::cuda
if [ "$nightly" ]; then
    # Its shadow takes 16 TiB of addresses, its allocator keeps what was freed, its run time has to be the first library, and needs /proc.
    shown 4 'the tests under AddressSanitizer, every engine' 'all but 12, of limits and use of memory, surroundings, system calls' \
        env RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 \
        cargo +nightly test --profile quick --target x86_64-unknown-linux-gnu --lib --bins --tests -- --nocapture \
        --skip little_memory --skip a_small_stack --skip neither_proc --skip the_clock --skip what_only_has_the_name \
        --skip nothing_is_left --skip a_long_search --skip there_is_no_encrypted_key
else
    absent 4 'the tests under AddressSanitizer, every engine' "$(of 'full form only' 'no nightly Rust')"
fi
keys=$(of 50 10000)
shown 6 'keys of the program through ssh-keygen -y and -l, encrypted ones, and openssl pkey' "$keys of each form" \
    env VANITY_KEYS="$keys" cargo test --release --test all -- --nocapture keys::
shown 6 'sshd lets a key of the program in' 1 tests tools a_real_server
shown 7 'a fault in one lane, a wrong claim, a zero in the shared product' all unit wrong_claim one_fault zero_product
shown 7 'devices that fail or compute wrong keys; what they find; what was secret on them is overwritten' all \
    gpu_unit engine::gpu side_by_side
shown 8 'gaps between finds are geometric, engines and kinds of patterns' '40,000 finds' unit the_gaps
shown 8 'the same of devices, every kind of pattern' '1,000 finds each' gpu_unit the_gaps_between_finds_of_devices
shown 10 'the generator of the operating system fails at any call' 'all calls' tests observed without_randomness
shown 10 'winners of every engine have nothing to do with each other' '1,000 each' tests unrelated no_two_seeds
shown 11 'modes under any umask' all unit umask made_for_the_owner
shown 11 'the same of the program' all tests files modes a_directory_that_exists
shown 12 'no core, no tracing; nothing left in memory of keys that were told or thrown away' 'all engines' \
    tests memory a_crash another_process nothing_is_left
shown 12 'no secret on streams, in JSON with files, in arguments' all tests cli with_a_file without_a_file json_with_a_file
shown 12 'the same of passphrases' all tests passphrase the_passphrase reports_say a_passphrase_is_typed
shown 13 'what exists is refused and left alone' all unit unusable_files taken_name
shown 13 'the same before a search' all tests files what_exists a_directory_that_takes a_file_size_limit
shown 14 'the order of system calls until a key is told' all tests observed a_key_is_durable keys_that_are_kept
keys=$(of 1000 10000) kills=$(of 20 200)
shown 15 'kill -9 at random moments of a batch' "$kills kills, $keys keys" \
    env VANITY_KEYS="$keys" VANITY_KILLS="$kills" cargo test --release --test all -- --nocapture batch::kills
shown 17 'full disks, read-only disks, limits of size, removed directories' all tests batch a_full_disk a_disk a_limit a_removed a_stdout
shown 17 'the same with keys in single files' all tests files a_directory_that_vanishes
shown 18 'closed and full streams, readers that leave' all tests cli closed_streams a_full_stdout
shown 18 'the same with keys on the way' all tests files a_reader
shown 19 'bad input, every character of the answer' all tests bad_input bad_input_is
shown 20 'names of files for any pattern' all tests batch names_are_safe
shown 20 'the same for hostile labels' all unit names_are_safe

shown 20 'hostile files, names, limits and surroundings' all tests hostile ''
shown 9 'counts beyond 2^32 and 2^53, streams up to 2^64' all unit the_count_goes_on every_lane_has_the_stream
shown 29 'no branch and no address depends on a seed, by memcheck: the reference engine, the proof; two that do are noticed' all \
    tests constant_time ''
shown - 'packages, licences, unsafe code, the oldest Rust' all tests supply ''

for target in syntax list matcher; do
    if [ "$fuzz" ]; then
        awaited 5 "fuzzing: $target" "$target" 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1 runs, \2 s/p'
    else
        absent 5 "fuzzing: $target" "$(of 'full form only' 'no cargo-fuzz, or no nightly Rust')"
    fi
done
if [ "$miri" ]; then
    awaited 4 'the portable path under Miri' miri 's/^test result: ok. \([0-9]*\) passed.*/\1 tests, small numbers/p'
else
    absent 4 'the portable path under Miri' "$(of 'full form only' 'no Miri for nightly Rust')"
fi
if [ "$full" ]; then
    awaited 9 'a search that goes on: keys right, memory flat' soak 's/^\(.* \)\{0,1\}\([0-9]\{1,\} s: .*\)/\2/p'
else
    shown 9 'a search that goes on: keys right, memory flat' '5 s' tests soak a_long_search
fi

# What is timed; nothing else runs any more.
shown 16 'SIGINT, SIGTERM and SIGHUP keep what was found' all tests files a_signal
shown 16 'signals while keys are being encrypted' all tests passphrase a_signal_ends_an_encryption
shown 16 'the same in a batch, and the rerun goes on' all tests batch a_signal
shown 16 'the same with devices; which there are is told' all gpu_tests ''
if [ "$full" ]; then
    timed 19
else
    absent 19 'unusable requests are refused in less than 50 ms' 'full form only'
fi

say() { printf '%s\n' "$*"; }
# The rows of a table, without its head.
rows_of() { grep '^|' "$1" | tail -n +3; }
if [ "$full" ]; then
    document=docs/PROOF.md
    [ -e "$document" ] || printf '%s\n' '# What is proved' '' '`./proof.sh` wrote this table.' '' '<!-- begin -->' '<!-- end -->' > "$document"
    machine="commit $(git rev-parse --short HEAD), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) threads, $(rustc --version)"
    old=$logs/old
    sed '1,/^<!-- begin/d; /^<!-- end/,$d' "$document" > "$old"
    {
        sed '/^<!-- begin/q' "$document"
        say
        if [ "$lines" = '  ' ]; then
            say "$(date -u +%Y-%m-%d), $machine"
        else
            grep '^[^|]' "$old" | sed G
            say "$(date -u +%Y-%m-%d), line$([ $# = 1 ] || printf s) $* again, $machine"
        fi
        say
        head -2 "$rows"
        { if [ "$lines" != '  ' ]; then rows_of "$old" | while IFS= read -r row; do number=${row#| }; wanted "${number%% *}" || say "$row"; done; fi; rows_of "$rows"; } |
            sort -t'|' -k2,2n -s
        say
        sed -n '/^<!-- end/,$p' "$document"
    } > "$logs/PROOF.md"
    cp "$logs/PROOF.md" "$document"
fi
say
if [ "$failures" = 0 ]; then say "everything that was run has passed"; else say "$failures lines have FAILED"; exit 1; fi
