#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the JSON of codetag where have the kinds of the machine that where.sh makes?

Usage: check-where-kinds.py JSON
"""
import json
import sys

host = json.load(open(sys.argv[1]))
K = 1024
size = {k["name"]: k["size"] // K for k in host["kinds"]}
drop = {k["name"]: k["droppable"] // K for k in host["kinds"]}
want = dict(processes=100000, file_cache=171000, tmpfs=30000, slab_reclaimable=20000, slab=30000,
            huge_pages=20480, page_tables=5000, kernel_stacks=4000, vmalloc=10000, percpu=1000,
            zram=2000, reclaimable=500)
for name, kib in want.items():
    assert size[name] == kib, (name, size[name], kib)
assert drop["file_cache"] == 170000 and drop["slab_reclaimable"] == 20000 and not drop["tmpfs"], drop
assert host["installed"] == 262144 * 4 * K and host["total"] == 1000000 * K
assert host["boot"] == host["installed"] - host["total"] == sum(part["size"] for part in host["boot_parts"])
assert host["boot_parts"][0] == {"what": "struct page of all memory", "size": 4096 * 4 * K}
assert host["cpu_lists"] == 2560 * 4 * K
assert host["used"] + host["free"] + host["cpu_lists"] == host["total"]
assert sum(k["size"] for k in host["kinds"]) == host["used"]
assert size["unaccounted"] == host["used"] // K - sum(want.values())
assert not host["exact"] and host["profiling"] == "unknown"
