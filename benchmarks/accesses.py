#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print the memory accesses of one operation of each case. The plugin
benchmarks/plugin/accesses.c writes its counters at each read of the time-stamp
counter. With the kernel as the only argument: print the range of addresses of these reads.

Each case has a line: place, name, then in thousandths loads, stores, lines
touched, L1 misses, L2 misses. The exit status is 1 if the number of instructions
differs from that of the benchmark: then the intervals are not those that it measured."""
import argparse
import bisect
import glob
import os
import re
import statistics
import subprocess
import sys

import benchlib as lib

BATCH = 512
COUNTERS = ["instructions"] + lib.ACCESSES


def cases():
    """{function: (case, rounds of a sample)} of the tables in the module's sources"""
    found = {}
    for path in glob.glob(os.path.join(lib.HERE, "module", "*.c")):
        with open(path, encoding="utf-8") as file:
            for name, rounds, function in re.findall(
                    r'\{ "([^"]+)",\s*(\d+),\s*(\w+) \}', file.read()):
                found[function] = (name, int(rounds))
    return found


def symbols(kernel):
    """([address], [name]) of the kernel's functions, by address"""
    done = subprocess.run(["nm", kernel], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    rows = sorted((int(r[0], 16), r[2]) for r in rows if len(r) == 3 and r[1] in "tT")
    return [r[0] for r in rows], [r[1] for r in rows]


def code_range(kernel):
    """The addresses from the first function of a case to the end of the last one"""
    addresses, names = symbols(kernel)
    where = [i for i, name in enumerate(names) if name in cases()]
    if not where:
        sys.exit(f"accesses.py: no benchmark in {kernel}")
    return addresses[where[0]], addresses[where[-1] + 1]


def read_guest(path):
    """{case: (samples, thousandths of an instruction)} of the kernel's call sites"""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) == 7 and words[0] == "kernel":
                found[words[1]] = (int(words[2]), int(words[3]))
    return found


def read_counters(path, kernel):
    """{function: [[counters of a marker]]}"""
    addresses, names = symbols(kernel)
    found = {}
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if lines[-1:] != ["end"]:
        sys.exit(f"accesses.py: {path} has no end")
    for line in lines[:-1]:
        words = line.split()
        function = names[bisect.bisect_right(addresses, int(words[0], 16)) - 1]
        found.setdefault(function, []).append([int(w) for w in words[1:]])
    return found


def per_operation(markers, samples, rounds):
    """{counter: median of the samples}, in thousandths; None if markers are missing

    A sample has two markers, around its pairs, or three in each of its rounds:
    before the allocations of a batch, between, and after the frees. The first
    sample warms up."""
    samples += 1
    if len(markers) == 2 * samples:
        each, ops = 2, rounds
    elif len(markers) == 3 * rounds * samples:
        each, ops = 3 * rounds, rounds * BATCH
    else:
        return None
    step = 2 if each == 2 else 3
    values = {name: [] for name in COUNTERS}
    for first in range(each, len(markers), each):
        for i, name in enumerate(COUNTERS):
            total = sum(markers[k + step - 1][i] - markers[k][i]
                        for k in range(first, first + each, step))
            # All pairs touch the same lines; each object of a batch has lines of its own.
            times = 1 if name == "lines" and step == 2 else ops
            values[name].append(total * 1000 // times)
    return {name: statistics.median_high(v) for name, v in values.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", help="vmlinux")
    parser.add_argument("guest", nargs="?", help="output of the benchmark")
    parser.add_argument("counters", nargs="?", help="output of the plugin")
    args = parser.parse_args()
    if not args.counters:
        print(*(f"{a:#x}" for a in code_range(args.kernel)))
        return 0
    guest = read_guest(args.guest)
    table = cases()
    status = 0 if guest else 1
    for function, markers in read_counters(args.counters, args.kernel).items():
        name, rounds = table.get(function, (function, 0))
        if name not in guest:
            continue
        samples, instructions = guest.pop(name)
        value = per_operation(markers, samples, rounds)
        if not value or abs(value["instructions"] - instructions) > 1:
            found = f"{value['instructions']} instructions" if value else f"{len(markers)} markers"
            print(f"accesses.py: {name}: {found}, the benchmark has {instructions}",
                  file=sys.stderr)
            status = 1
            continue
        print("kernel", name, *(value[c] for c in lib.ACCESSES))
    for name in guest:
        print(f"accesses.py: {name}: no markers", file=sys.stderr)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
