#!/usr/bin/env python3
"""Finds vector instructions behind calls in a program, and calls in its hot loops.

usage: inlined.py OBJDUMP PROGRAM...   (benches/inlined.sh says more)
"""

import collections
import gc
import re
import subprocess
import sys

# The crates whose functions are checked: the packages of this repository, and their benches.
PACKAGE = re.compile(r"\b(vanity_ed25519|ed25519_batch|vanity_pattern|engines|patterns|plain|parts|tables|starts|record)::")
# Generic functions of these crates are compiled in the crate that uses them. They belong to a
# package if one of its functions calls them.
GENERIC = re.compile(r"^(<.* as )?(&mut )?<?(core|alloc|std)::|^<&mut |^<\[|^core$")
# The drop of a list of vectors has their type in its name, and no vector.
INTRINSIC = re.compile(r"^(?!core::ptr::drop_in_place<).*\bcore_arch::(?!.*::(_xgetbv|__cpuid))")
# The functions that `Words::run` calls: everything below them is compiled for the instruction set.
ENTRY = re.compile(r"\bsimd::(?:\w+::)+with_\w+")
# Where vectors belong. Elsewhere the compiler makes its own vectors of ordinary loops.
ROOMS = re.compile(r"\b((ed25519_batch|parts|tables)::(simd|hash|curve|batch)|vanity_pattern::(matcher|fingerprint)|vanity_search::(engine|search::stream))::")
# Intrinsics and their helpers have no other name in these files.
INSTRUCTIONS = re.compile(r"^<?(ed25519_batch|parts|tables)::simd::(x86|aarch64|sha256|sha512)::")
NOT_INSTRUCTIONS = re.compile(r"::(detect|need|too_short|no_such_row|without_sha(256|512))$|::with_\w+$")
NEVER_RETURNS = re.compile(r"panic|_fail\b|_failed\b|too_short|no_such_row|handle_error|handle_alloc_error|unwind_resume|abort")

# A loop is hot if it has at least this number of vector instructions of its own. One that holds
# other loops is hot if also half of its own instructions are.
HOT = 12


class X86:
    vector = re.compile(r"%[yz]mm|^sha256")
    call = re.compile(r"^(?:notrack )?call\s")
    jump = re.compile(r"^(?:notrack |bnd )?(j[a-z]+)\s+(.*)")
    ends = re.compile(r"^(ret|ud2|hlt|int3)")
    multiplies = re.compile(r"^({vex} )?(vfn?m(add|sub)|vpmadd52)")
    turns = re.compile(r"^vpro[rl]|^vps[lr]l|^sha256")
    looks_up = re.compile(r"^vpshufb|^vpermb|^vpmaddubsw")

    @staticmethod
    def is_always(jump):
        return jump == "jmp"


class Aarch64:
    vector = re.compile(r"\bv\d+\.(2d|4s|8h|16b)")
    call = re.compile(r"^blr?\s")
    jump = re.compile(r"^(b(?:\.\w+)?|cbn?z|tbn?z)\s+(.*)")
    ends = re.compile(r"^(ret|brk|udf|br)\b")
    multiplies = re.compile(r"^fml[as]")
    turns = re.compile(r"^(sha512|sli|sri|ushr|shl|ushl|rev32|xar)")
    looks_up = re.compile(r"^tbl")

    @staticmethod
    def is_always(jump):
        return jump == "b"


Instruction = collections.namedtuple("Instruction", "address text symbol target")


def functions(objdump, program):
    """Returns the machine, and the name and the instructions of every function by its address."""
    command = [objdump, "--disassemble", "--demangle", "--no-show-raw-insn", "--wide", program]
    machine, found, body, slots = None, {}, None, relocations(objdump, program)
    header = re.compile(r"^([0-9a-f]+) <(.*)>:$")
    comment = re.compile(r"\s+(//|;)")
    target = re.compile(r"(?:^|[\s,])([0-9a-f]+) <(.*?)(?:\+0x[0-9a-f]+)?>$")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        # A program has a million instructions, so most lines meet no regular expression.
        for line in process.stdout:
            address, is_instruction, text = line.partition(":\t")
            if is_instruction:
                address, text = int(address, 16), text.strip()
                if "//" in text or ";" in text:
                    text = comment.split(text)[0]
                text = text.replace("\t", " ")
                to = target.search(text) if text.endswith(">") else None
                symbol, place = (to[2], int(to[1], 16)) if to else (None, None)
                if place in slots and machine.call.match(text):
                    symbol, place = None, slots[place]
                body.append(Instruction(address, text, symbol, place))
            elif begins := header.match(line):
                body = []
                found[int(begins[1], 16)] = (begins[2], body)
            elif "file format" in line:
                machine = Aarch64 if "aarch64" in line else X86 if "x86-64" in line else None
    if process.returncode or machine is None or not found:
        sys.exit(f"error: {objdump} cannot read {program}")
    for name, body in found.values():
        for number, at in enumerate(body):
            if at.symbol is None and at.target in found:
                body[number] = at._replace(symbol=found[at.target][0])
    return machine, found


def relocations(objdump, program):
    """Returns the function that each slot holds through which a program calls functions."""
    command = [objdump, "--dynamic-reloc", program]
    lines = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return {int(slot, 16): int(to, 16) for slot, to in re.findall(r"^([0-9a-f]+) R_\w+_RELATIVE +\*ABS\*\+0x([0-9a-f]+)$", lines, re.M)}


def calls(machine, body):
    """Returns each call of a function, and each jump out of it, as the name and the target."""
    if not body:
        return
    first, last = body[0].address, body[-1].address
    for at in body:
        if machine.call.match(at.text):
            yield at
        elif machine.jump.match(at.text) and at.target is not None and not first <= at.target <= last:
            yield at


def loops(machine, body):
    """Returns the loops of a function: the instructions of each without those of inner loops, and
    whether there are inner loops."""
    place = {at.address: number for number, at in enumerate(body)}
    begins, after = {0}, {}
    for number, at in enumerate(body):
        jump = machine.jump.match(at.text)
        if jump:
            to = place.get(at.target)
            always = machine.is_always(jump[1])
            after[number] = ([to] if to is not None else []) + ([] if always else [number + 1])
        elif machine.ends.match(at.text):
            after[number] = []
        elif machine.call.match(at.text) and NEVER_RETURNS.search(at.symbol or ""):
            after[number] = []
        else:
            continue
        begins.update(after[number])
        begins.add(number + 1)
    begins = sorted(number for number in begins if number < len(body))
    blocks = {}
    for number, begin in enumerate(begins):
        end = begins[number + 1] if number + 1 < len(begins) else len(body)
        last = end - 1
        blocks[begin] = (range(begin, end), [to for to in after.get(last, [end]) if to < len(body)])

    def inside(nodes, without):
        """Adds the loops among these blocks. Edges to `without` do not count."""
        of_this = []
        for part in components(nodes, lambda node: [to for to in blocks[node][1] if to in nodes and to not in without]):
            edges = [to for node in part for to in blocks[node][1] if to not in without]
            if len(part) == 1 and part[0] not in edges:
                continue
            members = set(part)
            entries = {to for node in nodes - members for to in blocks[node][1] if to in members}
            head = min(entries or members)
            inner = inside(members, without | {head})
            own = members - set().union(*inner)
            found.append(([body[at] for block in sorted(own) for at in blocks[block][0]], bool(inner)))
            of_this.append(members)
        return of_this

    found = []
    inside(set(blocks), frozenset())
    return found


def components(nodes, after):
    """Returns the strongly connected components (Tarjan), without recursion."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in nodes:
        if root in number:
            continue
        work = [(root, iter(after(root)))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for to in rest:
                if to not in number:
                    number[to] = low[to] = len(number)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(after(to))))
                    break
                if to in on_stack:
                    low[node] = min(low[node], number[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    part = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                        on_stack.discard(part[-1])
                    found.append(part)
    return found


def short(name):
    return re.sub(r"\b(vanity_ed25519|ed25519_batch|vanity_pattern)::", "", name)


def check(objdump, program):
    """Prints the hot loops of a program and what is wrong. Returns the number of faults."""
    machine, found = functions(objdump, program)
    callers = collections.defaultdict(set)
    outgoing = {}
    for address, (name, body) in found.items():
        outgoing[address] = list(calls(machine, body))
        for at in outgoing[address]:
            callers[at.target].add(address)

    ours = {address for address, (name, _) in found.items() if PACKAGE.search(name) and not name.startswith("core::ptr::drop_in_place")}
    generic = {address for address, (name, _) in found.items() if address not in ours and GENERIC.search(name)}
    rest = list(ours)
    while rest:
        for at in outgoing[rest.pop()]:
            if at.target in generic:
                generic.discard(at.target)
                ours.add(at.target)
                rest.append(at.target)

    faults, hot = collections.Counter(), []
    for address in sorted(ours):
        name, body = found[address]
        for at in outgoing[address]:
            if INTRINSIC.search(at.symbol or ""):
                faults[f"{short(name)} calls {at.symbol}"] += 1
            elif INSTRUCTIONS.search(at.symbol or "") and not NOT_INSTRUCTIONS.search(at.symbol):
                faults[f"{short(name)} calls {short(at.symbol)}"] += 1
        vectors = sum(1 for at in body if machine.vector.search(at.text))
        if machine is X86 and vectors and not ENTRY.search(name):
            names = sorted({short(found[caller][0]) for caller in callers[address]}) or ["a pointer"]
            faults[f"{', '.join(names)} calls {short(name)}, which holds {vectors} vector instructions"] += 1
        if not (ENTRY.search(name) if machine is X86 else ROOMS.search(name)):
            continue
        for loop, has_inner in loops(machine, body):
            def count(pattern):
                return sum(1 for at in loop if pattern.search(at.text))
            vectors = count(machine.vector)
            if vectors < HOT or has_inner and 2 * vectors < len(loop):
                continue
            kind = "other"
            if count(machine.multiplies) >= 12:
                kind = "pass"
            elif count(machine.turns) >= 12:
                kind = "hash"
            elif count(machine.looks_up):
                kind = "filter"
            called = [at for at in loop if machine.call.match(at.text)
                      and not NEVER_RETURNS.search(at.symbol or "")]
            hot.append((kind, short(name), loop[0].address, len(loop), vectors, len(called)))
            for at in called:
                faults[f"{short(name)}, in the {kind} loop at {loop[0].address:x}, calls {short(at.symbol or at.text)}"] += 1

    print(f"\n{program}: {len(ours)} functions, {len(hot)} hot loops")
    print(f"{'kind':<7} {'function':<44} {'address':>9} {'instructions':>13} {'vector':>7} {'calls':>6}")
    for kind, name, address, instructions, vectors, called in hot:
        print(f"{kind:<7} {name:<44} {address:>9x} {instructions:>13} {vectors:>7} {called:>6}")
    if not ours:
        faults["this program has no functions of this package, or no symbols"] = 1
    for fault, times in faults.items():
        print(f"FAULT: {fault}" + (f" ({times} times)" if times > 1 else ""))
    return len(faults)


if __name__ == "__main__":
    # What is read stays until the end, so looking for garbage would only take time.
    gc.disable()
    all_faults = sum(check(sys.argv[1], program) for program in sys.argv[2:])
    sys.exit(1 if all_faults else 0)
