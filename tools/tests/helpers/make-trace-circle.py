#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Changes a trace.dat: the length of an event leads back to where it is.

Usage: make-trace-circle.py TRACE TYPE

TYPE is 0 for a circle with records in it (the type of a long record) and 29 for one
without (padding).
"""
import struct
import sys

data, kind = bytearray(open(sys.argv[1], "rb").read()), int(sys.argv[2])
word = lambda at: struct.unpack_from("=I", data, at)[0]
page = 8192
while not (0 < struct.unpack_from("=Q", data, page + 8)[0] <= 4080 and word(page + 16) & 31 < 29):
    page += 4096
at = page + 16
for _ in range(6):
    at += 8 if word(at) & 31 >= 30 else 4 + 4 * (word(at) & 31)
struct.pack_into("=II", data, at, word(at) >> 5 << 5 | kind, 2 ** 32 - (4 if kind else 16))
open(sys.argv[1], "wb").write(data)
