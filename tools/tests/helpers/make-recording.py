#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a recording with known trends through 'codetag record'.

Usage: make-recording.py CODETAG OUT.db COUNT

One site leaks, one is a sawtooth, one grows once, one stops growing. One row is
doubled, one vanishes and comes back, one module goes and another comes. The times are then set to
one minute apart, so that what is printed does not depend on the machine.
"""
import os
import sqlite3
import subprocess
import sys
import tempfile

codetag, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
START = 1767225600000


def snapshot(i):
    rows = [
        (100000 + 1024 * 64 * i, 100 + 64 * i, "fs/leaky/inode.c:77 func:leaky_alloc"),
        (500000 + 200000 * (i % 4), 50 + i % 4, "net/core/skbuff.c:660 func:__alloc_skb"),
        (4096 if i < 4 else 4198400, 1, "drivers/once/probe.c:12 func:once_probe"),
        (65536 * min(i, 5), min(i, 5), "kernel/fork.c:311 func:alloc_thread_stack_node"),
        (10000000, 1000, "mm/filemap.c:1950 func:__filemap_get_folio"),
        (64, 1, "include/linux/slab.h:1 func:kzalloc_inline"),
        (128, 2, "include/linux/slab.h:1 func:kzalloc_inline"),
        (0, 0, "lib/zero.c:1 func:zero accurate:no"),
    ]
    if i < count // 2:
        rows.append((8192, 2, "drivers/block/zram/zcomp.c:41 [zram] func:zcomp_strm_init"))
    else:
        rows.append((4096, 1, "fs/xfs/super.c:5 [xfs] func:xfs_init"))
    if i % 3:  # vanishes and comes back as it was
        rows.append((256, 4, "net/ipv4/route.c:9 func:rt_dst_alloc"))
    head = "allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n"
    return head + "".join(f"{b:12d} {c:8d} {tag} \n" for b, c, tag in rows)


with tempfile.TemporaryDirectory() as scratch:
    path = os.path.join(scratch, "allocinfo")
    for i in range(count):
        with open(path, "w", encoding="ascii") as file:
            file.write(snapshot(i))
        subprocess.run([codetag, "record", "-q", "-o", out, "-c", "1", "--allocinfo", path]
                       + (["--append"] if i else []), check=True)
        text = subprocess.run([codetag, "replay", out, "--text", "-1"], check=True,
                              capture_output=True, text=True).stdout
        # The order of rows is not kept across snapshots, the rows are.
        assert sorted(text.split("\n")) == sorted(snapshot(i).split("\n")), text

with sqlite3.connect(out) as db:
    db.execute("UPDATE snapshot SET time = ? + 60000 * (id - 1)", (START,))
