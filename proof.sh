#!/usr/bin/env bash
# Shows what a person who trusts a key of this program would want shown: runs the tests of each claim, with real tools and
# with the counts that are claimed, and writes the table into docs/PROOF.md.
# usage: proof.sh [LINE...]              everything; more than an hour, and nightly Rust, cargo-fuzz, strace, OpenSSH, OpenSSL
#        proof.sh --short [LINE...]      what `cargo test` has not run already, in minutes; prints the table alone
# With numbers of lines those alone, the short form too; in the document they replace what was there.
# The full form runs optimised programs as `cargo install` builds them, and where ranges of numbers matter also those with checks.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

full=yes
if [ "${1-}" = --short ]; then full=; shift; fi
lines=" $* "
for line; do
    [[ $line =~ ^[1-9][0-9]?$ ]] || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
done

logs=${CARGO_TARGET_DIR:-target}/proof
rm -rf "$logs"; mkdir -p "$logs"
rows=$logs/rows
failures=0
gaps=0

# The profile of ordinary tests is built already; what is claimed is claimed of what is shipped.
profile=()
if [ "$full" ]; then profile=(--release); fi

# The instruction sets that this processor has must be tested, and none skipped.
sets=$(for set in avx2 avx_ifma avx512f avx512ifma; do if grep -qw "$set" /proc/cpuinfo; then echo "${set/_/}"; fi; done | paste -sd,)
export VANITY_REQUIRE=${VANITY_REQUIRE:+$VANITY_REQUIRE,}$sets

# The first in the short form, the second in the full one.
of() { if [ "$full" ]; then printf %s "$2"; else printf %s "$1"; fi; }

# What the tests of a log had to do without.
missed() { sed -n 's/^.*skipped: \(.*\) is missing$/\1/p' "$1" | sort -u | paste -sd, | sed 's/,/, /g'; }

# Whether a line is asked for.
wanted() { [ "$lines" = '  ' ] || [[ $lines = *" $1 "* ]]; }

# Enters a row: number, what is shown, count, result, seconds.
enter() { printf '| %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" "$5" | tee -a "$rows"; }

# shown NUMBER WHAT COUNT COMMAND...: runs the command, whose tests must pass, at least one of them. If a test went without
# something that it needs, the line says NOT RUN.
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
        if [ "$missed" ]; then
            result="**NOT RUN** without $missed; else $result"
            gaps=$((gaps + 1))
        fi
        if [ "$passed" = 0 ]; then result="**FAILED**: no such test"; failures=$((failures + 1)); fi
    fi
    enter "$number" "$what" "$count" "$result" "$((SECONDS - start)) s"
}

# more NUMBER WHAT COUNT COMMAND...: the same of what `cargo test` runs just so; the short form leaves it to that.
more() { if [ "$full" ] || [ "$lines" != '  ' ]; then shown "$@"; fi; }

# absent NUMBER WHAT WHY: a line that is not run says so.
absent() {
    wanted "$1" || return 0
    enter "$1" "$2" - "**NOT RUN**: $3" -
    gaps=$((gaps + 1))
}

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

# awaited NUMBER WHAT NAME COUNT: waits for what runs beside the rest, which has to end well; COUNT is a program for awk that
# finds the count in its log.
awaited() {
    local result=passed count
    wanted "$1" || return 0
    if ! wait "${hour[$3]}"; then result="**FAILED**: $logs/$3.log"; failures=$((failures + 1)); fi
    count=$(awk "$4" "$logs/$3.log")
    enter "$1" "$2" "${count:-none}" "$result" 'beside the rest'
}

# new_machine: the README's first commands and its example of PEM in a fresh clone, without anything of cargo's but the settings of its registries.
new_machine() {
    local clone status settings=${CARGO_HOME:-$HOME/.cargo}/config.toml
    clone=$(mktemp -d)
    git clone -q . "$clone/clone" && mkdir "$clone/home"
    if [ -e "$settings" ]; then cp "$settings" "$clone/home"; fi
    (
        cd "$clone/clone" && export CARGO_HOME=$clone/home && unset CARGO_TARGET_DIR VANITY_REQUIRE
        cargo run --release -- -o id_alice alice && cargo run --release -- abc > key.pem && cargo test
    )
    status=$?
    rm -rf "$clone"
    return $status
}

unit() { cargo test "${profile[@]}" --lib -- --nocapture "$@"; }
# tests FILE BEGINNING...: of a file of tests those whose names begin so.
tests() { local file=$1; shift; cargo test "${profile[@]}" --test all -- --nocapture "${@/#/$file::}"; }
# The same with checks of ranges and of overflow.
checked_unit() { cargo test --lib -- --nocapture "$@"; }
# The same of the program with the engine of graphics processors.
gpu_unit() { cargo test --features gpu --lib -- --nocapture "$@"; }
gpu_tests() { cargo test --features gpu --test all -- --nocapture "${@/#/gpu::}"; }
# with NAME=VALUE... COMMAND...: runs one of these with variables.
with() { while [[ $1 == *=* ]]; do local -x "${1?}"; shift; done; "$@"; }

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
built test --lib --test all --no-run
if [ "$full" ]; then
    built test --release --lib --test all --no-run
    built build --release --example constant_time
fi
built test --features gpu --lib --test all --no-run
if [ "$fuzz" ] && wanted 5; then built +nightly fuzz build -s none; fi

printf '| line | what is shown | count | result | time |\n| --- | --- | --- | --- | --- |\n' | tee "$rows"

# What takes an hour runs beside the rest, with little of the processor. Fuzzing begins with the inputs that are kept.
targets=$(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"/\1/p' fuzz/Cargo.toml)
if [ "$fuzz" ]; then
    for target in $targets; do
        corpora=("$logs/corpus/$target")
        mkdir -p "${corpora[0]}"
        if [ -d "fuzz/corpus/$target" ]; then corpora+=("fuzz/corpus/$target"); fi
        beside 5 "$target" cargo +nightly fuzz run -s none "$target" "${corpora[@]}" -- -len_control=0 -max_len=1000 -max_total_time=3600
    done
fi
if [ "$full" ]; then
    beside 9 soak env VANITY_SOAK=3600 cargo test --release --test all -- --nocapture soak::
fi
if [ "$miri" ]; then
    beside 4 miri env -u VANITY_REQUIRE MIRIFLAGS=-Zmiri-disable-isolation VANITY_CASES=4 \
        cargo +nightly miri test --lib -- --nocapture chacha sha512 curve::field simd::
fi

more 1 'vectors of RFC 8032 and NIST in every lane, engines against them' 'all' unit key:: sha512 chacha self_test
seeds=$(of 100000 10000000)
shown 2 'random seeds through every back end against ed25519-dalek' "$seeds each" with VANITY_SEEDS="$seeds" unit every_back_end_derives
more 2 'chosen and random seeds through every engine; batches of every size' '101,536 each' tests engines every_candidate
more 2 'batches of 1, 2, ... 2N + 1 keys' 'all sizes' unit curve::tests
seeds=$(of 20000 1000000)
shown 2 'random seeds through every device against ed25519-dalek, seeds that devices draw' "$seeds each" \
    with VANITY_SEEDS="$seeds" gpu_unit every_device_derives a_device_draws every_kernel
cases=$(of 20000 1000000)
more 3 'field operations and inversions at the bounds against big integers' "$cases each" with VANITY_CASES="$cases" unit curve::field
more 3 'the same with checks of ranges at every step' "$cases each" with VANITY_CASES="$cases" checked_unit curve::field
more 3 'no load and no store goes beyond a slice, by every instruction set' 'all lengths' unit simd::tests
shown 3 'arithmetic for NVIDIA by interpreting its text; the text in NVIDIA'"'"'s compiler' 'all' gpu_unit gpu::ptx gpu::cuda
if [ "$nightly" ]; then
    # Its shadow takes 16 TiB of addresses, its allocator keeps what was freed, its run time has to be the first library, and needs /proc.
    shown 4 'the tests under AddressSanitizer, every engine' 'all but 13, of limits and use of memory, surroundings, system calls' \
        env RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 \
        cargo +nightly test --target x86_64-unknown-linux-gnu --lib --bins --tests -- --nocapture \
        --skip little_memory --skip a_small_stack --skip neither_proc --skip the_clock --skip files_that_only_have_the_name \
        --skip nothing_is_left --skip a_long_search --skip no_encrypted_key_is_made --skip hostile_lines_of_a_ledger
elif [ "$full" ]; then
    absent 4 'the tests under AddressSanitizer, every engine' 'no nightly Rust'
fi
keys=$(of 50 10000)
more 6 'keys of the program through ssh-keygen -y and -l, encrypted ones, and openssl pkey' "$keys of each form" \
    with VANITY_KEYS="$keys" tests keys ''
costly=$(of 2 100)
more 6 'encrypted keys as the program makes them: 24 rounds through ssh-keygen, PKCS#8 through openssl' "$costly of each form" \
    with VANITY_COSTLY="$costly" tests passphrase ssh_keygen_opens openssl_opens
more 6 'sshd lets a key of the program in' 1 tests tools a_real_server
more 7 'a fault in one lane, a wrong claim, a zero in the shared product' all unit wrong_claim one_fault zero_product
more 7 'a fault in each lane of each back end, through the whole program' 'all lanes' tests faulty a_fault_in_one_lane only_right_keys
shown 7 'devices that fail or compute wrong keys; what they find; what was secret on them is overwritten' all \
    gpu_unit engine::gpu hybrid
searches=$(of 300 10000)
more 8 'what searches try is geometric, every engine: mean within 3 %, p > 0.001' "$searches searches each" \
    with VANITY_SEARCHES="$searches" unit the_attempts_of_searches
more 8 'gaps between finds likewise, engines and kinds of patterns' '10,000 finds and more each' \
    unit the_gaps_between_finds_are the_gaps_between_finds_of_every
searches=$(of 1000 10000)
shown 8 'the same of devices, every kind of pattern' "$searches finds each" \
    with VANITY_SEARCHES="$searches" gpu_unit the_gaps_between_finds_of_devices
more 9 'counts beyond 2^32 and 2^53, streams up to 2^64' all unit the_count_goes_on every_lane_has_the_stream
more 10 'the generator of the operating system fails at any call' 'all calls' tests observed without_randomness
more 10 'winners of every engine have nothing to do with each other' '1,000 each' tests unrelated no_two_seeds
more 11 'modes under any umask' all unit umask made_for_the_owner
more 11 'the same of the program' all tests files modes a_directory_that_exists
more 12 'no core, no tracing; nothing left in memory of keys that were told or thrown away' 'all engines' \
    tests memory a_crash another_process nothing_is_left
more 12 'no secret on streams, in JSON with files, in arguments' all tests cli stdout_is_only json_with_a_file
more 12 'no secret in panics, with backtraces, every back end' all tests faulty a_panic
more 12 'the same of passphrases' all tests passphrase the_passphrase reports_say a_passphrase_is_typed
more 13 'what exists is refused and left alone' all unit unusable_files taken_name
more 13 'the same before a search' all tests files existing_files a_directory_that_takes a_file_size_limit
more 14 'the order of system calls until a key is told' all tests observed a_key_is_durable keys_that_are_kept
keys=$(of 1000 10000) kills=$(of 20 200)
more 15 'kill -9 at random moments of a batch' "$kills kills, $keys keys" \
    with VANITY_KEYS="$keys" VANITY_KILLS="$kills" tests batch kills
more 17 'full disks, read-only disks, limits of size, removed directories' all tests batch a_full_disk a_disk a_limit a_removed a_stdout
more 17 'the same with keys in single files' all tests files a_directory_that_vanishes
more 18 'closed and full streams, readers that leave' all tests cli closed_streams a_full_stdout
more 18 'the same with keys on the way' all tests files a_reader
more 19 'bad input, every character of the answer' all tests bad_input bad_input_is
more 20 'names of files for any pattern' all tests batch names_are_safe
more 20 'the same for hostile labels' all unit names_are_safe
more 20 'hostile files, names, limits and surroundings' all tests hostile ''
if [ "$full" ]; then
    shown 21 'the commands of the README in a fresh clone with an empty CARGO_HOME' all new_machine
fi
more 22 'keys in the clear are refused where they have to be encrypted' all tests existing keys_in encrypted_ a_typed
more 23 'a key counts when its private file was opened and is what the ledger says' all tests existing a_damaged_key a_line a_public hostile_lines
more 24 'files have no names until they are complete; nothing that another process writes is removed' all \
    unit a_file_has_no_name leftovers no_process_takes
more 25 'systems that cannot name without overwriting are met before the search' all tests existing systems_without
calls=$(of 'first and last' all)
more 26 'every system call fails, or the process dies there' "$calls calls" with VANITY_FAULTS="$calls" tests faults ''
sequences=$(of 100 10000)
more 27 'runs, kills, damage and changes of options against a model of the directory' "$sequences sequences" \
    with VANITY_SEQUENCES="$sequences" tests model ''
more 28 'nothing foreign reaches a terminal unescaped' all tests escaped ''
more 29 'no branch and no address depends on a seed, by memcheck: the reference engine, the proof; two that do are noticed' all \
    tests constant_time ''
more - 'packages, licences, unsafe code, the oldest Rust' all tests supply ''

for target in $targets; do
    if [ "$fuzz" ]; then
        awaited 5 "fuzzing: $target" "$target" \
            '/^Done [0-9]* runs in [0-9]* second/ { printf "%d executions, %d s, %d a second", $2, $5, $2 / $5 }'
    elif [ "$full" ]; then
        absent 5 "fuzzing: $target" 'no cargo-fuzz, or no nightly Rust'
    fi
done
if [ "$miri" ]; then
    awaited 4 'the portable path under Miri' miri '/^test result: ok/ { print $4 " tests, small numbers" }'
elif [ "$full" ]; then
    absent 4 'the portable path under Miri' 'no Miri for nightly Rust'
fi
if [ "$full" ]; then
    awaited 9 'a search that goes on: keys right, memory flat' soak '/ keys right, / { sub(/^test .* \.\.\. /, ""); print }'
fi

# What is timed; nothing else runs any more.
more 16 'SIGINT, SIGTERM and SIGHUP end a search within a second and keep what was found' all with VANITY_TIMED=1 tests files a_signal a_hangup
more 16 'signals while keys are being encrypted' all with VANITY_TIMED=1 tests passphrase a_signal_ends_an_encryption
more 16 'the same in a batch, and the rerun goes on' all with VANITY_TIMED=1 tests batch a_signal
shown 16 'the same with devices; which there are is told' all with VANITY_TIMED=1 gpu_tests ''
if [ "$full" ]; then
    shown 19 'bad input is refused in less than 50 ms' 'every row' with VANITY_TIMED=1 tests bad_input ''
fi

say() { printf '%s\n' "$*"; }
# The rows of a table, without its head.
rows_of() { grep '^|' "$1" | tail -n +3; }
if [ "$full" ]; then
    document=docs/PROOF.md
    [ -e "$document" ] || printf '%s\n' '# What is proved' '' '`./proof.sh` wrote this table.' '' '<!-- begin -->' '<!-- end -->' > "$document"
    changed=$([ -z "$(git status --porcelain -- src)" ] || printf ' with changes')
    machine="commit $(git rev-parse --short HEAD)$changed, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) threads, instruction sets tested: portable${sets:+, ${sets//,/, }}, $(rustc --version)"
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
if [ "$gaps" != 0 ]; then say "$gaps lines say NOT RUN"; fi
if [ "$failures" = 0 ]; then say "everything that was run has passed"; else say "$failures lines have FAILED"; exit 1; fi
