#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print the instructions of a whole program by function of the kernel. The plugin
benchmarks/plugin/blocks.c has counted them in two guests, of which one ran the case more
often; the difference is divided by the number of operations. Instructions outside the
kernel are "(programs)". With two kernels, print the functions that differ by 3 instructions
or more. With the case as the only argument, only check that it exists.

The exit status is 1 if a file is incomplete. It is also 1 if the sum differs by more than 5 %
from the instructions that the case itself has measured."""
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
    """The number of operations in a sample of the case, from the table in the program's source"""
    with open(os.path.join(lib.HERE, "user", "whole.c"), encoding="utf-8") as file:
        table = dict(re.findall(r'\{ "([^"]+)",\s*(\d+),\s*\w+ \}', file.read()))
    if case not in table:
        sys.exit(f"functions.py: no case is called {case}: {', '.join(table)}")
    return int(table[case])


def executed(path, addresses, names):
    """{function: instructions} from the file of the plugin"""
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
    """(samples, instructions of an operation) from the output of the guest"""
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) == 6 and words[0] == case:
                return int(words[1]), int(words[2]) / 1000
    sys.exit(f"functions.py: {path} has no result of {case}")


def per_operation(case, vmlinux, work):
    """{function: instructions of an operation} from the files few.* and many.* in a directory"""
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
    """Lines of the cost of an operation in one kernel, or of the second kernel's extra cost"""
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
