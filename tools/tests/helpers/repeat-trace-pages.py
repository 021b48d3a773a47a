#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a trace.dat whose CPUs all have the first page of another one, several times.

Usage: repeat-trace-pages.py TRACE OUT CPUS:PAGES
"""
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
cpus, pages = map(int, sys.argv[3].split(":"))
at = data.index(b"flyrecord\0")
first = struct.unpack("=Q", data[at + 10:at + 18])[0]
place = (at + 10 + 16 * cpus + 4095) // 4096 * 4096
head = (data[:at - 4] + struct.pack("=I", cpus) + data[at:at + 10] +
        struct.pack("=QQ", place, 4096 * pages) * cpus)
with open(sys.argv[2], "wb") as file:
    file.write(head.ljust(place, b"\0") + data[first:first + 4096] * pages)
