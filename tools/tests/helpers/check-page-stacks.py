#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the data of a page, on standard input, have the paths of folded stacks?

Usage: check-page-stacks.py FOLDED <DATA
"""
import collections
import json
import sys

folded, page = collections.Counter(), collections.Counter()
for line in open(sys.argv[1]):
    stack, size = line.rsplit(maxsplit=1)
    folded[stack] += int(size)
for site in json.load(sys.stdin)["sites"]:
    page[";".join(site["stack"])] += site["values"][1]
differ = [stack for stack in folded | page if folded[stack] != page[stack]]
assert folded and not differ, differ[:5]
