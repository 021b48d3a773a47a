#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In which functions of a kernel the instructions of a whole program are, from what the
plugin benchmarks/plugin/blocks.c counted in two guests, of which one has run the
program's case more often: an operation is a part of the difference. With two kernels,
where these differ by 3 instructions or more. What is not the kernel's is "(programs)".
With the case alone: nothing, if there is one of that name.

The sum must be what the case itself has measured to within 5 %: else, or when something
is not whole, the exit status is 1."""
import argparse
import bisect
import collections
import os
import re
import sys

import benchlib as lib
from accesses import symbols

KERNEL_BEGINS = 1 << 63


def operations(case):
    """How many a sample of the case has, by the table in the program's source"""
    with open(os.path.join(lib.HERE, "user", "whole.c"), encoding="utf-8") as file:
        table = dict(re.findall(r'\{ "([^"]+)",\s*(\d+),\s*\w+ \}', file.read()))
    if case not in table:
        sys.exit(f"functions.py: no case is called {case}: {', '.join(table)}")
    return int(table[case])


def executed(path, addresses, names):
    """{function: instructions} of what the plugin wrote"""
    found = collections.Counter()
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if lines[-1:] != ["end"]:
        sys.exit(f"functions.py: {path} has no end")
    for line in lines[:-1]:
        address, instructions, times = line.split()
        where = bisect.bisect_right(addresses, int(address, 16)) - 1
        name = names[where] if int(address, 16) >= KERNEL_BEGINS and where >= 0 else "(programs)"
        found[name] += int(instructions) * int(times)
    return found


def measured(path, case):
    """(samples, instructions of an operation) as the guest has printed them"""
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) == 6 and words[0] == case:
                return int(words[1]), int(words[2]) / 1000
    sys.exit(f"functions.py: {path} has nothing of {case}")


def per_operation(case, vmlinux, work):
    """{function: instructions of an operation}, of few.* and many.* in a directory"""
    addresses, names = symbols(vmlinux)
    few, many = (executed(os.path.join(work, f"{n}.blocks"), addresses, names)
                 for n in ("few", "many"))
    (less, _), (more, each) = (measured(os.path.join(work, f"{n}.guest"), case)
                               for n in ("few", "many"))
    ops = (more - less) * operations(case)
    found = {name: (many[name] - few[name]) / ops for name in many | few}
    total = sum(found.values())
    if abs(total - each) > each / 20:
        sys.exit(f"functions.py: {total:.0f} instructions of {vmlinux}, {case} has {each:.0f}")
    return found


def table(first, second=None):
    """Lines of what an operation of one kernel takes, or of what the second one adds"""
    if second is None:
        rows = [(each, f"{each:10.0f} {name}") for name, each in first.items() if each >= 100]
        return [line for _, line in sorted(rows)] + [f"{sum(first.values()):10.0f} (all)"]
    more = {name: second.get(name, 0) - first.get(name, 0) for name in first | second}
    lines = [f"{first.get(name, 0):10.0f} {more[name]:+10.0f} {name}"
             for name in sorted(more, key=more.get) if abs(more[name]) >= 3]
    return lines + [f"{sum(first.values()):10.0f} {sum(more.values()):+10.0f} (all)"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", help="of benchmarks/user/whole.c")
    parser.add_argument("kernels", nargs="*", metavar="vmlinux directory",
                        help="a kernel and where few.blocks, few.guest, many.* are; one or two")
    args = parser.parse_args()
    operations(args.case)
    if not args.kernels:
        return 0
    if len(args.kernels) not in (2, 4):
        parser.error("a kernel and a directory, once or twice")
    found = [per_operation(args.case, *args.kernels[i:i + 2])
             for i in range(0, len(args.kernels), 2)]
    print(*table(*found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
