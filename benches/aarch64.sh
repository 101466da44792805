#!/usr/bin/env bash
# Counts and models what an addition and a key cost on aarch64, without such a processor.
#
# usage: benches/aarch64.sh [PROGRAM]
#
# First it prints the loops of a batch: of `portable`, which works on one key at a time, and of `neon`,
# which works on two. It prints their instructions, those that use a vector register, products (mul,
# umulh, fmla), accesses to the stack, and the cycles that llvm-mca models for some processors. The
# first loop of an engine begins a batch. The next four are an addition: slope, x, y, open. The rest
# ends a batch. Then it prints how many instructions an emulated processor executes for each key of a
# search.
#
# Needs aarch64-linux-gnu-gcc and -objdump, qemu-aarch64, llvm-mca of LLVM 16 or later (the variable
# LLVM_MCA can name it), awk and jq. The default program is target/aarch64-unknown-linux-gnu/release/vanity-ed25519.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${1:-target/aarch64-unknown-linux-gnu/release/vanity-ed25519}
mca=${LLVM_MCA:-llvm-mca}
processors=(apple-m1 neoverse-v2 neoverse-n1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The innermost loops with 15 or more products in the passes of a batch, each in a file.
aarch64-linux-gnu-objdump --disassemble --demangle --no-show-raw-insn "$program" | awk -v work="$work" '
    function report(first, last,    at, vector, product, stack, file) {
        for (at = first; at <= last; at++) {
            if (text[at] ~ /(^|[ ,{])[vq][0-9]+/) vector++
            if (name[at] ~ /^(fmla|u?mulh?|madd)$/) product++
            if (text[at] ~ /\[sp/) stack++
        }
        if (product < 15) return
        file = work "/" sprintf("%02d", ++loops)
        for (at = first; at <= last; at++) print assembly[at] > file
        close(file)
        print vector ? "neon" : "portable", last - first + 1, vector + 0, product, stack + 0, file
    }
    # A jump backward closes a loop. The innermost ones have no other inside.
    function finish(    at, target, begin) {
        for (at = 1; wanted && at <= count; at++) {
            target = number[goal[at]]
            if (target && target <= at && target > begin) { report(target, at); begin = target }
        }
        count = 0; delete number
    }
    /^[0-9a-f]+ </ { finish(); wanted = /Batch<F>::all_windows/; next }
    /^ *[0-9a-f]+:\t/ {
        count++
        sub(/ *\/\/.*/, "")
        number[substr($1, 1, length($1) - 1)] = count
        name[count] = $2
        text[count] = $0; sub(/^[^\t]*\t[^\t]*\t?/, "", text[count])
        goal[count] = match($0, /[0-9a-f]+ </) && $2 !~ /^adrp?$/ ? substr($0, RSTART, RLENGTH - 2) : ""
        # llvm-mca needs no addresses.
        assembly[count] = $2 "\t" text[count]; sub(/[0-9a-f]+ <.*/, "there", assembly[count])
    }
    END { finish() }' > "$work/loops"

printf '%-9s %12s %7s %9s %6s' engine instructions vector products stack
printf ' %12s' "${processors[@]}"; echo
while read -r engine instructions vector products stack file; do
    printf '%-9s %12d %7d %9d %6d' "$engine" "$instructions" "$vector" "$products" "$stack"
    for processor in "${processors[@]}"; do
        cycles=$("$mca" -mtriple=aarch64-linux-gnu -mcpu="$processor" -iterations=100 "$file" |
            awk '/^Total Cycles:/ { print $3 / 100 }')
        printf ' %12.1f' "$cycles"
    done
    echo
done < "$work/loops"

# The plugin uses the interface of QEMU 7, version 1.
cat > "$work/count.c" <<'C'
#include <stdint.h>
#include <stdio.h>
struct tb;
size_t qemu_plugin_tb_n_insns(const struct tb *);
void qemu_plugin_register_vcpu_tb_exec_inline(struct tb *, int, void *, uint64_t);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct tb *));
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
int qemu_plugin_version = 1;
static uint64_t count;
static void translated(uint64_t id, struct tb *tb) {
    qemu_plugin_register_vcpu_tb_exec_inline(tb, 0, &count, qemu_plugin_tb_n_insns(tb));
}
static void ended(uint64_t id, void *data) { fprintf(stderr, "executed %llu\n", (unsigned long long)count); }
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, 0);
    return 0;
}
C
cc -shared -fPIC -o "$work/count.so" "$work/count.c"

# counted ENGINE WITHOUT SECONDS: the instructions and the keys of a search.
counted() {
    local keys
    keys=$(VANITY_WITHOUT=$2 qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu max -plugin "$work/count.so" "$program" \
        --engine "$1" -q --json -t 1 --table-memory 30MiB --timeout "$3s" xxxxxxxxxx 2> "$work/log" |
        jq -r 'select(.type == "summary") | .attempts') || true
    echo "$(sed -n 's/^executed //p' "$work/log") $keys"
}

# The difference of two searches is without tables and start.
printf '\n%-22s %s\n' engine 'instructions a key'
for run in neon 'neon sha3' portable reference; do
    read -r engine without <<< "$run"
    printf '%-22s %s\n' "$engine${without:+ without $without}" \
        "$(echo "$(counted "$engine" "$without" 5) $(counted "$engine" "$without" 30)" | awk '{ printf "%.0f", ($3 - $1) / ($4 - $2) }')"
done
