#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# drop-image-pages.py IMAGE OUT IOMEM: the image in kdump's format without every seventh of its
# pages above 64 MiB, as makedumpfile writes one that leaves these pages out. Keeps the kernel
# itself, which is where the file IOMEM, a copy of /proc/iomem, says.
import re
import struct
import sys

DESCRIPTOR = 24			# of a page: offset, size, flags, page_flags
FIRST = 64 << 20
HEADER_AT = 428			# of block_size in struct disk_dump_header

FLAT_HEADER = 4096		# before the pieces of a flattened image: offset, size, bytes


def unflatten(flat):
    data, at = bytearray(), FLAT_HEADER
    while True:
        offset, size = struct.unpack_from(">2q", flat, at)
        if offset < 0:
            return data
        if offset + size > len(data):
            data.extend(bytes(offset + size - len(data)))
        data[offset:offset + size] = flat[at + 16:at + 16 + size]
        at += 16 + size


data = bytearray(open(sys.argv[1], "rb").read())
if data[:12] == b"makedumpfile":
    data = unflatten(data)
assert data[:8] == b"KDUMP   "
block, sub_blocks, bitmap_blocks = struct.unpack_from("<3i", data, HEADER_AT)
bitmaps = (1 + sub_blocks) * block
half = bitmap_blocks * block // 2
there = bytearray(data[bitmaps + half:bitmaps + 2 * half])	# the second: pages in the file
descriptors = bitmaps + 2 * half
frames = [pfn for pfn in range(len(there) * 8) if there[pfn // 8] >> pfn % 8 & 1]
kernel = [(int(start, 16) // block, int(end, 16) // block)
          for start, end in re.findall(r"([0-9a-f]+)-([0-9a-f]+) : Kernel", open(sys.argv[3]).read())]
assert kernel
kept = bytearray()
for i, pfn in enumerate(frames):
    if i % 7 == 3 and pfn * block >= FIRST and not any(start <= pfn <= end for start, end in kernel):
        there[pfn // 8] &= ~(1 << pfn % 8)
    else:
        kept += data[descriptors + i * DESCRIPTOR:descriptors + (i + 1) * DESCRIPTOR]
data[bitmaps + half:bitmaps + 2 * half] = there
data[descriptors:descriptors + len(kept)] = kept
open(sys.argv[2], "wb").write(data)
