#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Is a file a PNG of 640 x 480 pixels, and not of one colour?

Usage: check-png.py PNG
"""
import struct
import sys
import zlib

data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (640, 480)
at, pixels = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IDAT":
        pixels += data[at + 8:at + 8 + size]
    at += size + 12
pixels = zlib.decompress(pixels)
assert len(pixels) == 480 * (640 * 3 + 1)
assert len(set(pixels)) > 20
