# Finds the loops of the curve in the output of `objdump --disassemble --no-show-raw-insn`.
#
# Prints each instruction of each innermost loop with 20 or more fused multiply-adds: engine, loop,
# address of the loop, and the instruction, with tabs between them. An addition of a window is four
# loops, one after the other, and each of them prefetches: slope, x, y, open. Other loops are "other".

# Returns the engine whose instructions a loop has.
function engine_of(begin, end,    at, wide, madd52) {
    for (at = begin; at <= end; at++) {
        if (text[at] ~ /zmm/) wide = 1
        if (text[at] ~ /vpmadd52/) madd52 = 1
    }
    return wide ? madd52 ? "avx512ifma" : "avx512f" : madd52 ? "avxifma" : "avx2"
}

# Keeps a loop if it has enough multiply-adds.
function keep(begin, end,    at, multiply, prefetch) {
    for (at = begin; at <= end; at++) {
        if (text[at] ~ /vfn?m(add|sub)|vpmadd52/) multiply++
        if (text[at] ~ /^prefetch/) prefetch++
    }
    if (multiply < 20) return
    loops++
    first[loops] = begin; last[loops] = end; prefetches[loops] = prefetch
}

# Ends a function. A jump backward closes a loop; the innermost loops have no other inside.
function finish(    at, of, target, begin) {
    for (at = 1; at <= count; at++) {
        target = text[at] ~ /^j/ ? number[word[at]] : 0
        if (target && target <= at && target > begin) { keep(target, at); begin = target }
    }
    for (at = 1; at <= loops; at++) name[at] = "other"
    for (at = 1; at + 3 <= loops; at++) {
        for (of = 0; of < 4 && prefetches[at + of]; of++);
        if (of == 4) {
            name[at] = "slope"; name[at + 1] = "x"; name[at + 2] = "y"; name[at + 3] = "open"
            at += 3
        }
    }
    for (at = 1; at <= loops; at++)
        for (of = first[at]; of <= last[at]; of++)
            printf "%s\t%s\t%s\t%s\n", engine_of(first[at], last[at]), name[at], address[first[at]], text[of]
    count = loops = 0
    delete number
}

/^[0-9a-f]+ </ { finish(); next }
/^ *[0-9a-f]+:\t/ {
    count++
    address[count] = $1; sub(":", "", address[count]); number[address[count]] = count
    word[count] = $3
    text[count] = $0
    sub(/^[^\t]*\t/, "", text[count]); sub(/ *(#.*)?$/, "", text[count]); sub(/ <[^>]*>/, "", text[count])
}
END { finish() }
