#!/usr/bin/env bash
# Checks, in machine code, that key generation's fixed-base multiplication uses no vector field arithmetic.
#
# The published record of January 2026 withdrew its claim that dalek's AVX2 back end speeds key generation
# up. This script builds mul_base.rs, which has two multiplications. It follows the calls from each of them
# and counts vector instructions in the functions that it reaches. The variable-base multiplication is the
# control: dalek has a vector back end for it, and the count must find it.
#
# Vector field arithmetic is a packed product of 32 or 52 bits (pmuludq, pmuldq, vpmadd52), or any function
# of curve25519_dalek::backend::vector. The script also lists what else the compiler does in vector
# registers: moves, table selection, and additions of the limbs of one element.
#
# It follows direct calls and jumps, and every function whose address the code takes, also through the
# global offset table. It stops at core::panicking and at libraries that are not part of the binary.
#
# usage: check.sh
# It needs cargo, objdump (binutils) and awk, on x86-64. It exits with 1 if the fixed-base multiplication reaches
# vector field arithmetic, or if the control does not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

target=${CARGO_TARGET_DIR:-target}/no-vector-field
env -u CARGO_BUILD_TARGET cargo build --quiet --release --locked --manifest-path benches/no-vector-field/Cargo.toml --target-dir "$target"
binary=$target/release/mul_base

listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
{
    objdump --dynamic-reloc "$binary"
    objdump --disassemble --no-show-raw-insn --demangle "$binary"
} > "$listing"

# walk <function>: prints what the function reaches. The last line is "<field products> <vector functions>".
walk() {
    awk -v root="$1" '
        function plain(hex) { sub(/^0+/, "", hex); return hex }
        function say(what, count) { printf "  %-62s%5d\n", what, count }
        function instructions(what, pattern, listed,    op, list, count) {
            for (op in kinds) if (op ~ pattern) {
                list = list " " op ":" kinds[op]
                count += kinds[op]
                delete kinds[op]
            }
            printf "  %-62s%5d%s\n", what, count, listed ? list : ""
        }

        # The dynamic relocations come first. They say where each slot of the offset table points to.
        $2 == "R_X86_64_RELATIVE" { sub(/.*\+0x/, "", $3); slot[plain($1)] = plain($3); next }
        $2 ~ /^R_X86_64_(GLOB_DAT|JUMP_SLOT)$/ { sub(/@.*/, "", $3); library[plain($1)] = $3; next }

        /^[0-9a-f]+ <.*>:$/ {
            here = plain($1)
            gsub(/^[0-9a-f]+ <|>:$/, "")
            name[here] = $0
            if ($0 ~ vector) in_binary++
            if ($0 == root) start = here
        }
        BEGIN { vector = "curve25519_dalek::backend::vector" }
        !/^ *[0-9a-f]+:\t/ { next }
        {
            op = $2 ~ /^(addr32|bnd|data16|lock|notrack|rep)$/ ? $3 : $2
            if (op ~ /^mul[lq]?$|^mulx/) wide[here]++
            if (/%[xyz]mm/) uses[here] = uses[here] " " op

            # An address follows the instruction, or "#" if it is relative to %rip.
            address = ""
            if (match($0, /# [0-9a-f]+ </)) address = substr($0, RSTART + 2, RLENGTH - 4)
            else if (op ~ /^(call|j)/ && match($0, / [0-9a-f]+ </)) address = substr($0, RSTART + 1, RLENGTH - 3)
            if (address != "") links[here] = links[here] " " address

            # A call through a register is known if the function has loaded the register from a known slot.
            if (address in slot || address in library) {
                register = $0
                sub(/ +# .*/, "", register)
                sub(/.*,/, "", register)
                known[here, register] = 1
            }
            if (op ~ /^call/ && address == "" && !((here, substr($NF, 2)) in known)) blind[here]++
        }
        END {
            if (start == "") { print root ": not in the binary" > "/dev/stderr"; exit 2 }
            queue[last = 1] = start
            seen[start] = 1
            for (first = 1; first <= last; first++) {
                f = queue[first]
                if (name[f] ~ /core::panicking::/) { panics++; continue }
                reached++
                names = names "\n    " name[f]
                vectors += name[f] ~ vector
                products += wide[f]
                unknown += blind[f]
                n = split(uses[f], ops, " ")
                for (i = 1; i <= n; i++) { kinds[ops[i]]++; packed += ops[i] ~ /^v?pmulu?dq$|^vpmadd52/ }
                n = split(links[f], to, " ")
                for (i = 1; i <= n; i++) {
                    if (to[i] in library) outside[library[to[i]]]
                    if (to[i] in slot) to[i] = slot[to[i]]
                    if ((to[i] in name) && !(to[i] in seen)) { seen[to[i]] = 1; queue[++last] = to[i] }
                }
            }
            print root
            say("functions reached", reached)
            say("  of these in " vector, vectors)
            say("  in the whole binary in " vector, in_binary)
            say("ways into core::panicking, not followed", panics)
            say("calls through a register to an unknown target", unknown)
            say("scalar wide multiplications (mul, mulx)", products)
            instructions("packed multiplications, 32 or 52 bits", "^v?pmulu?dq$|^vpmadd52", 1)
            instructions("packed multiplications, other", "^v?pm(ul|add)", 1)
            instructions("packed additions and subtractions", "^v?p(add|sub)[bwdq]$", 1)
            instructions("other instructions on vector registers", "", !vectors)
            printf "  library functions called:"
            for (symbol in outside) printf " %s", symbol
            print "\n  functions:" names
            print packed + 0, vectors + 0
        }' "$listing"
}

fixed=$(walk mul_base::fixed_base_of_key_generation)
control=$(walk mul_base::variable_base_for_control)
printf '%s\n' "${fixed%$'\n'*}" "${control%$'\n'*}"

read -r products functions <<< "${fixed##*$'\n'}"
if ((products > 0 || functions > 0)); then
    echo "FAILED: the fixed-base multiplication reaches vector field arithmetic"
    exit 1
fi
read -r products functions <<< "${control##*$'\n'}"
if ((products == 0 || functions == 0)); then
    echo "FAILED: no vector field arithmetic in the control, so the count proves nothing"
    exit 1
fi
echo "ok: the fixed-base multiplication reaches no vector field arithmetic; the control does"
