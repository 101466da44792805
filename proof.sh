#!/usr/bin/env bash
# Runs the tests of each claim that people rely on, with real tools and with the claimed counts, and prints a table.
# usage: proof.sh [LINE...]           all tests, in hours; needs nightly Rust, cargo-fuzz, strace, OpenSSH, OpenSSL
#        proof.sh --short [LINE...]   tests that `cargo test` does not run in this way, in minutes
#        proof.sh --list              runs nothing, and prints what the full form runs: the table in docs/design/proof.md
# With numbers of lines, both forms run only these lines. The full form tests the release build, and enters its rows in
# target/proof-results.txt, beside those of other lines of the same commit. Tests of number ranges run in the checked
# build as well.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# A signal that the caller ignores would stay ignored, and the tests send it.
if [[ ${1-} != --list && ! ${PROOF_SIGNALS-} ]]; then PROOF_SIGNALS=default exec env --default-signal bash proof.sh "$@"; fi
unset PROOF_SIGNALS

full=yes list=
case ${1-} in
    --short) full=; shift ;;
    --list) list=yes; shift ;;
esac
lines=" $* "
for line; do
    [[ -z $list && $line =~ ^([1-9][0-9]?|-)$ ]] || { sed -n '2,8s/^# //p' "$0" >&2; exit 2; }
done

if [ "$list" ]; then unset CARGO_TARGET_DIR; fi
target=${CARGO_TARGET_DIR:-target}
logs=$target/proof
if [ "$list" ]; then
    rows=$(mktemp)
    trap 'rm "$rows"' EXIT
else
    rm -rf "$logs"; mkdir -p "$logs"
    rows=$logs/rows
fi
failures=0
gaps=0

# The full form tests what users get. The short form takes the profile of `cargo test`, which is built already.
profile=()
if [ "$full" ]; then profile=(--release); fi

# Tests must not skip an instruction set that this processor has.
sets=$(for set in avx2 sha_ni avx_ifma avx512f avx512ifma asimd; do if grep -qw "$set" /proc/cpuinfo; then echo "$set"; fi; done |
    sed 's/_//; s/asimd/neon/; s/shani/sha/' | paste -sd,)
export VANITY_REQUIRE=${VANITY_REQUIRE:+$VANITY_REQUIRE,}$sets

# of SHORT FULL: prints the value for the form that runs.
of() { if [ "$full" ]; then printf %s "$2"; else printf %s "$1"; fi; }

# missed LOG: prints the things that the tests of a log needed and did not find.
missed() { sed -n 's/^.*skipped: \(.*\) is missing$/\1/p' "$1" | sort -u | paste -sd, | sed 's/,/, /g'; }

# wanted LINE: succeeds if this line must run.
wanted() { [ "$lines" = '  ' ] || [[ $lines = *" $1 "* ]]; }

# enter CELL...: adds a row to the table, and prints it.
enter() { { printf '|'; printf ' %s |' "$@"; echo; } | if [ "$list" ]; then cat >> "$rows"; else tee -a "$rows"; fi; }

# took START: prints the time since START, and the day.
took() { printf '%s s on %s' "$((SECONDS - $1))" "$(date -u +%Y-%m-%d)"; }

# shown NUMBER WHAT COUNT COMMAND...: runs the command. It must run at least one test, and all must pass. The row
# says NOT RUN if a test did not find something that it needs.
shown() {
    local number=$1 what=$2 count=$3 log result passed missed start=$SECONDS
    wanted "$number" || return 0
    shift 3
    if [ "$list" ]; then enter "$number" "$what" "$count" "\`$("$@")\`"; return; fi
    log=$logs/$(wc -l < "$rows" 2>/dev/null || echo 0).log
    if ! "$@" > "$log" 2>&1; then
        result="**FAILED**: $log"
        failures=$((failures + 1))
    else
        passed=$(awk '/^test result: ok/ { sum += $4 } END { print sum + 0 }' "$log")
        missed=$(missed "$log")
        result="passed: $passed test$([ "$passed" = 1 ] || printf s)"
        if [ "$missed" ]; then
            result="**NOT RUN** without $missed; otherwise $result"
            gaps=$((gaps + 1))
        fi
        if [ "$passed" = 0 ]; then result="**FAILED**: no test ran"; failures=$((failures + 1)); fi
    fi
    enter "$number" "$what" "$count" "$result" "$(took "$start")"
}

# more NUMBER WHAT COUNT COMMAND...: the same for tests that `cargo test` runs in the same way. The short form runs
# them only if their line was named.
more() { if [ "$full" ] || [ "$lines" != '  ' ]; then shown "$@"; fi; }

# absent NUMBER WHAT WHY: enters a row that says NOT RUN, and the reason.
absent() {
    wanted "$1" || return 0
    enter "$1" "$2" - "**NOT RUN**: $3" -
    gaps=$((gaps + 1))
}

# hour NUMBER WHAT NAME COUNT COMMAND...: starts a command that takes an hour, as soon as a processor has no other such
# command. COUNT is an awk program that prints the count from its log.
hours=()
hour() {
    local number=$1 what=$2 name=$3 count=$4
    wanted "$number" || return 0
    shift 4
    if [ "$list" ]; then enter "$number" "$what" - "\`$(shortened "$@")\`"; return; fi
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    { start=$SECONDS; "$@" || touch "$logs/$name.failed"; took "$start" > "$logs/$name.time"; } > "$logs/$name.log" 2>&1 &
    hours+=("$number" "$what" "$name" "$count")
}

# enter_hours: waits for these commands, and enters their rows.
enter_hours() {
    wait
    set -- ${hours[@]+"${hours[@]}"}
    while [ $# != 0 ]; do
        local result=passed count
        if [ -e "$logs/$3.failed" ]; then result="**FAILED**: $logs/$3.log"; failures=$((failures + 1)); fi
        count=$(awk "$4" "$logs/$3.log")
        enter "$1" "$2" "${count:-none}" "$result" "$(cat "$logs/$3.time")"
        shift 4
    done
}
trap 'trap - TERM; kill 0' INT TERM

# new_machine: runs the README's first commands and its PEM example in a fresh clone. CARGO_HOME is empty but for
# the settings of cargo's registries.
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

# The unit tests of `ed25519-batch` and `vanity-pattern` are programs of their own.
unit() { cargo test "${profile[@]}" --lib --test units -- --nocapture "$@"; }
# tests FILE BEGINNING...: runs the tests of a file of tests/all whose names begin like this.
tests() { local file=$1; shift; cargo test "${profile[@]}" --test all -- --nocapture "${@/#/$file::}"; }
# The same as `unit`, in the build that checks overflow.
checked_unit() { cargo test --lib --test units -- --nocapture "$@"; }
# The same as `unit` and `tests`, with the engine of GPUs.
gpu_unit() { cargo test --features gpu --lib -- --nocapture "$@"; }
gpu_tests() { cargo test --features gpu --test all -- --nocapture "${@/#/gpu::}"; }
# with NAME=VALUE... COMMAND...: runs one of these functions with variables.
with() { while [[ $1 == *=* ]]; do local -x "${1?}"; shift; done; "$@"; }

# Tools that may be missing.
has() { "$@" > /dev/null 2>&1; }
nightly='' fuzz='' miri=''
if [ "$list" ]; then
    # The functions above print their commands.
    nightly=yes fuzz=yes miri=yes
    shortened() { local command="$*"; printf %s "${command/ --nocapture/}"; }
    cargo() { shortened cargo "$@"; }
    env() { shortened env "$@"; }
    with() { while [[ $1 == *=* ]]; do printf '%s ' "$1"; shift; done; "$@"; }
    new_machine() { printf 'cargo run --release -- -o id_alice alice && cargo run --release -- abc > key.pem && cargo test'; }
elif [ "$full" ]; then
    if has cargo +nightly --version; then nightly=yes; fi
    if has cargo +nightly fuzz --version; then fuzz=yes; fi
    if has cargo +nightly miri --version; then miri=yes; fi
fi

# Builds everything first, because a cargo that builds makes the others wait.
built() { if [ "$list" ]; then return; fi; cargo "$@" > "$logs/build.log" 2>&1 || { cat "$logs/build.log"; exit 1; }; }
built test --lib --test units --test all --no-run
if [ "$full" ]; then
    built test --release --lib --test units --test all --no-run
    built build --release --package vanity-search --example constant_time
fi
# Only these lines are also about the engine of GPUs.
for line in 2 3 7 8 16; do
    if wanted "$line"; then built test --features gpu --lib --test all --no-run; break; fi
done
if [ "$fuzz" ] && wanted 5; then built +nightly fuzz build -s none; fi

if [ "$list" ]; then
    printf '| line | what is shown | count | command |\n| --- | --- | --- | --- |\n'
else
    printf '| line | what is shown | count | result | time |\n| --- | --- | --- | --- | --- |\n' | tee "$rows"
fi

more 1 'the vectors of RFC 8032 and NIST, in every lane and with every engine' 'all' unit key:: sha512 chacha self_test
seeds=$(of 100000 10000000)
shown 2 'random seeds: every back end derives the same keys as ed25519-dalek' "$seeds each" with VANITY_SEEDS="$seeds" unit every_back_end_derives
more 2 'chosen and random seeds, in batches of every size: every engine derives the same keys as ed25519-dalek, and hits what matches' \
    "$(of 21,536 101,536) each" with VANITY_SEEDS="$(of 20000 100000)" tests engines every_candidate the_hits_are
more 2 'batches of 1, 2, ... 2N + 1 keys' 'all sizes' unit curve::keys
seeds=$(of 20000 1000000)
shown 2 'random seeds: every device derives the same keys as ed25519-dalek, and draws the right seeds' "$seeds each" \
    with VANITY_SEEDS="$seeds" gpu_unit every_device_derives a_device_draws every_kernel
cases=$(of 20000 1000000)
more 3 'field operations and inversions at their bounds, compared with big integers' "$cases each" with VANITY_CASES="$cases" unit curve::field
more 3 'the same operations, with overflow checked at every step' "$cases each" with VANITY_CASES="$cases" checked_unit curve::field
more 3 'no instruction set loads or stores beyond the end of a slice' 'all lengths' unit simd::moves
shown 3 'the arithmetic for NVIDIA: tests interpret its text, and NVIDIA'"'"'s compiler reads it' 'all' gpu_unit gpu::ptx gpu::cuda
if [ "$nightly" ]; then
    # AddressSanitizer takes 16 TiB of addresses, keeps freed memory, must be the first library, needs /proc, and replaces
    # functions of the C library that allocate, which make system calls.
    shown 4 'all engines under AddressSanitizer' 'all tests but those about memory limits, memory use, the environment and numbers of system calls' \
        env RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0 \
        cargo +nightly test --target x86_64-unknown-linux-gnu --lib --bins --tests -- --nocapture \
        --skip little_memory --skip a_small_stack --skip neither_proc --skip the_clock --skip files_that_only_have_the_name \
        --skip nothing_is_left --skip soak:: --skip no_encrypted_key_is_made --skip hostile_lines_of_a_ledger \
        --skip a_list_that_does_not_fit --skip the_memory_limit_of --skip an_encryption_that_fails \
        --skip a_generator_that_fails_later --skip the_second_try_to_encrypt
elif [ "$full" ]; then
    absent 4 'all engines under AddressSanitizer' 'no nightly Rust'
fi
keys=$(of 50 10000)
more 6 'ssh-keygen -y, ssh-keygen -l and openssl pkey read the program'"'"'s keys, also encrypted ones' "$keys of each form" \
    with VANITY_KEYS="$keys" tests keys ''
costly=$(of 2 100)
more 6 'keys encrypted at full cost: ssh-keygen opens those with 24 rounds, openssl opens PKCS#8' "$costly of each form" \
    with VANITY_COSTLY="$costly" tests passphrase ssh_keygen_opens openssl_opens
more 6 'puttygen reads keys in PuTTY'"'"'s format and writes the same bytes, and plink logs in' \
    "$keys in the clear, $costly encrypted" with VANITY_KEYS="$keys" VANITY_COSTLY="$costly" tests ppk ''
more 6 'sshd accepts a key of the program' 1 tests tools a_real_server
more 7 'the program detects a fault in one lane and a wrong claim' all unit wrong_claim one_fault
more 7 'the whole program keeps no wrong key with a fault in any lane of any back end' 'all lanes' tests faulty a_fault_in_one_lane only_right_keys
shown 7 'devices that fail or compute wrong keys are dropped, finds of devices match, secrets on devices are overwritten' all \
    gpu_unit engine::gpu hybrid
searches=$(of 300 10000)
more 8 'the numbers of keys that searches try are geometric, every engine: mean within 3%, p > 0.001' "$searches searches each" \
    with VANITY_SEARCHES="$searches" unit the_attempts_of_searches
finds=$(of 2000 10000)
more 8 'the gaps between finds are geometric, for engines and kinds of patterns' "$finds finds each" \
    with VANITY_SEARCHES="$finds" unit the_gaps_between_finds_are the_gaps_between_finds_of_every
searches=$(of 1000 10000)
shown 8 'the gaps between finds of devices are geometric, for every kind of pattern' "$searches finds each" \
    with VANITY_SEARCHES="$searches" gpu_unit the_gaps_between_finds_of_devices
more 9 'counts are right beyond 2^32 and 2^53, and streams up to 2^64' all unit the_count_goes_on every_lane_has_the_stream
more 10 'the operating system'"'"'s random generator fails at any call: no key is made' 'all calls' tests observed without_randomness
more 10 'the seeds that one engine finds are unrelated, for every engine' '1,000 each' tests unrelated no_two_seeds
more 11 'files and directories have the right mode under any umask' all unit umask made_for_the_owner
more 11 'the same for the whole program' all tests files modes a_directory_that_exists
more 12 'no core dump, no tracing; memory keeps nothing of keys that were reported or thrown away' 'all engines' \
    tests memory a_crash another_process nothing_is_left
more 12 'no secret on other streams, or in JSON with files' all tests cli stdout_is_only json_with_a_file
more 12 'no secret in a panic with a backtrace, for every back end' all tests faulty a_panic
more 12 'no passphrase on the terminal, in messages or in arguments' all tests passphrase the_passphrase reports_say a_passphrase_is_typed
more 12 'no secret in the environment, the arguments and the open files of a command of --exec' all \
    tests hooks a_command_never without_files
more 13 'existing files are refused and stay as they are' all unit unusable_files taken_name
more 13 'existing files, and places that take no files, are refused before a search' all tests files existing_files a_directory_that_takes a_file_size_limit
more 14 'a key is durable before it is reported, by the order of system calls' all tests observed keys_are_durable a_directory_that_cannot
keys=$(of 1000 10000) kills=$(of 20 200)
more 15 'kill -9 at random moments of a batch loses no reported key' "$kills kills, $keys keys" \
    with VANITY_KEYS="$keys" VANITY_KILLS="$kills" tests batch kills
more 17 'full and read-only disks and file size limits end a batch and lose no reported key' all tests batch a_full_disk a_disk a_limit a_stdout
more 17 'a directory that vanishes ends a search with an error' all tests files a_directory_that_vanishes
more 18 'closed and full streams cause no panic and lose no file' all tests cli closed_streams a_full_stdout
more 18 'a reader that leaves ends the search, and what was found is kept' all tests files a_reader
more 19 'bad input is refused, and every character of the answer is right' all tests bad_input bad_input_is
more 20 'file names are safe and different for any patterns' all tests batch names_are_safe
more 20 'file names are safe for hostile labels' all unit names_are_safe
more 20 'hostile files, names, limits and environments do no harm' all tests hostile ''
if [ "$full" ]; then
    shown 21 'the README'"'"'s commands work in a fresh clone with an empty CARGO_HOME' all new_machine
fi
more 22 'keys in the clear are refused where keys must be encrypted' all tests existing keys_in encrypted_ a_typed
more 23 'a key counts only if its private file was opened and is what the ledger says' all tests existing a_damaged_key a_line a_public hostile_lines
more 24 'files have no names until they are complete, and nothing that another process writes is removed' all \
    unit a_file_has_no_name leftovers no_process_takes
more 25 'names, directories and ledgers that cannot take a key are refused before the search' all \
    tests files names_that a_name_that a_directory_that a_ledger a_trial what_a_trial
calls=$(of 'first and last' all)
more 26 'every system call fails or takes 2 s, or the process dies there: nothing is lost' "$calls calls" with VANITY_FAULTS="$calls" tests faults ''
sequences=$(of 100 10000)
more 27 'runs, kills, damage, changed options and a directory that is taken away, compared with a model' "$sequences sequences" \
    with VANITY_SEQUENCES="$sequences" tests model ''
more 28 'foreign text reaches a terminal only escaped' all tests escaped ''
more 29 'no branch and no address depends on a seed, in the reference engine and in the proof, by memcheck; a branch and an address that do are reported' all \
    tests constant_time ''
# docs/design/verification.md describes these. The build with checks of overflow computes with the ranges.
more 30 'no operation of the field, the inversion, the digits and the hash overflows or leaves its range' 'all inputs' \
    checked_unit ranges:: --skip ranges::split::
more 30 'the split of a product is exact, by Gappa, and its compiled instructions are those' 'all inputs' checked_unit ranges::split::
more 30 'each operation of the field equals its formula modulo p' 'all inputs' checked_unit algebra::
more 30 'the formulas of the curve are the group law, and digits sum to their scalar' "all points and scalars, $(of 'every 17th layout' 'all layouts')" \
    ${full:+with VANITY_CASES=1} checked_unit formulas::
more 30 'no stage of a matcher loses a key' 'all texts that show a literal of the lists, all edges of the automata' unit filters::
cases=$(of 20000 10000000)
more 30 'every instruction does what the model says, and the ranges have that' "$cases operands of each" with VANITY_CASES="$cases" unit model::
more 33 'keys are stored, and signals and timeouts end the program, whatever stream or terminal is blocked, at every write' all \
    tests blocked a_key_is keys_of the_timeout keys_that a_signal a_slow a_stopped a_reader
more 34 'file systems without modes, umasks, unreadable directories and small disks: no exposed key, a whole key or none' all tests files a_file_system a_directory_that_can modes
more 34 'a small disk takes a whole key or none' '4 to 64 KiB' tests batch a_small_disk
more 35 'a key that its destination or the agent does not take is kept elsewhere and named' all tests blocked a_key_whose a_key_that_no
more 45 'the same with stdout: a full disk, a reader that is gone or never reads, a closed terminal' all tests blocked a_key_that_stdout a_reader_that_is keys_that_nobody a_closed
more 35 'the same with the agent' all tests agent a_key_that_the_agent an_agent_that a_find_that_a_silent
more 36 'slow calls and locks of other processes: nothing overtakes, nothing is written twice' all tests existing a_ledger_that_another slow_calls
more 37 'signals that were ignored or blocked, a process that is stopped: statuses and time limits stay true' all tests signals signals_that time_in
more 40 'every signal that ends a process ends a search in good order; a second one ends the waiting for commands' all with VANITY_TIMED=1 tests signals every_signal a_second a_signal_during
more 46 'signals and time limits before the search, while printing and while commands run' all with VANITY_TIMED=1 tests signals nothing_that printing_to the_time_limit
more - 'every package has a reason, `unsafe` code is only where it is allowed, documents name the oldest Rust' all tests supply ''

# Fuzzing begins with the inputs in fuzz/corpus.
for fuzzed in $(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"/\1/p' fuzz/Cargo.toml); do
    if [ "$fuzz" ]; then
        corpora=("$logs/corpus/$fuzzed")
        if [ ! "$list" ]; then mkdir -p "${corpora[0]}"; fi
        if [ -d "fuzz/corpus/$fuzzed" ]; then corpora+=("fuzz/corpus/$fuzzed"); fi
        hour 5 "fuzzing: $fuzzed" "$fuzzed" \
            '/^Done [0-9]* runs in [0-9]* second/ { printf "%d executions, %d s, %d a second", $2, $5, $2 / $5 }' \
            cargo +nightly fuzz run -s none "$fuzzed" "${corpora[@]}" -- -len_control=0 -max_len=1000 -max_total_time=3600
    elif [ "$full" ]; then
        absent 5 "fuzzing: $fuzzed" 'no cargo-fuzz, or no nightly Rust'
    fi
done
if [ "$miri" ]; then
    # Symbolic numbers are a means of other tests, and take too long under Miri.
    hour 4 'the portable engine'"'"'s parts under Miri' miri '/^test result: ok/ { sum += $4 } END { print sum + 0 " tests with small counts" }' \
        env -u VANITY_REQUIRE MIRIFLAGS=-Zmiri-disable-isolation VANITY_CASES=4 \
        cargo +nightly miri test --lib --test units -- --nocapture chacha sha512 curve::field simd:: --skip symbolic_
elif [ "$full" ]; then
    absent 4 'the portable engine'"'"'s parts under Miri' 'no Miri for nightly Rust'
fi
if [ "$full" ]; then
    hour 9 'in a long search every key is right, and memory does not grow' soak '/ keys right, / { sub(/^test .* \.\.\. /, ""); print }' \
        env VANITY_SOAK=3600 cargo test --release --test all -- --nocapture soak::
fi
enter_hours

# Timed tests run last, when nothing else runs.
more 16 'SIGINT, SIGTERM and SIGHUP end a search within a second and keep what was found' all with VANITY_TIMED=1 tests files a_signal a_hangup
more 16 'the same while keys are encrypted' all with VANITY_TIMED=1 tests passphrase a_signal_ends_an_encryption
more 16 'the same in a batch, and the next run goes on' all with VANITY_TIMED=1 tests batch a_signal
shown 16 'the same with devices; the list of devices is right' all with VANITY_TIMED=1 gpu_tests ''
if [ "$full" ]; then
    shown 19 'bad input is refused in less than 50 ms' 'every row' with VANITY_TIMED=1 tests bad_input ''
fi

# sorted: prints the rows in the order of the lines.
sorted() { sort -t'|' -k2,2n -s; }
if [ "$list" ]; then sorted < "$rows"; exit; fi
if [ "$full" ]; then
    results=$target/proof-results.txt
    changed=$([ -z "$(git status --porcelain)" ] || printf ' with changes')
    about=$(printf 'commit %s%s\n%s, %s threads, instruction sets tested: portable%s, %s' "$(git rev-parse HEAD)" "$changed" \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "${sets:+, ${sets//,/, }}" "$(rustc --version)")
    if [ ! "$changed" ] && [ "$lines" != '  ' ] && [ "$(head -2 "$results" 2>/dev/null)" = "$about" ]; then
        # Rows of other lines stay.
        awk -F'|' -v lines="$lines" 'NR > 5 { line = $2; gsub(/ /, "", line); if (!index(lines, " " line " ")) print }' "$results" > "$logs/kept"
    fi
    { printf '%s\n\n' "$about"; head -2 "$rows"; { tail -n +3 "$rows"; cat "$logs/kept" 2>/dev/null; } | sorted; } > "$logs/results"
    mv "$logs/results" "$results"
    missing=$(comm -23 <(./proof.sh --list | cut -d'|' -f2 | sort -u) <(cut -d'|' -f2 "$results" | sort -u) | sort -n | paste -sd' ' | tr -s ' ')
    if [ "$missing" ]; then echo; echo "lines that $results does not have:$missing"; fi
fi
echo
if [ "$gaps" != 0 ]; then echo "$gaps rows say NOT RUN"; fi
if [ "$failures" = 0 ]; then echo "all tests that ran have passed"; else echo "$failures rows say FAILED"; exit 1; fi
