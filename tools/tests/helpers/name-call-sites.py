#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints a trace with names where it has addresses, as kernels since 2.6.37 write it.

Usage: name-call-sites.py SYSTEM.MAP TRACE
"""
import bisect
import re
import sys

symbols = sorted((int(l.split()[0], 16), l.split()[2]) for l in open(sys.argv[1])
                 if l.split()[1] in "tT")


def name(match):
    at = int(match[1], 16)
    start, symbol = symbols[bisect.bisect(symbols, (at, "")) - 1]
    return "call_site=%s+0x%x/0x1000" % (symbol, at - start)


for line in open(sys.argv[2]):
    print(re.sub("call_site=([0-9a-f]+)", name, line), end="")
