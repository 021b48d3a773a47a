#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the JSON of codetag where have the parts and lines of memory kept at boot?

Usage: check-where-boot.py JSON
"""
import json
import sys

host = json.load(open(sys.argv[1]))
parts = {part["what"]: part["size"] for part in host["boot_parts"]}
assert parts["struct page of all memory"] == 20000000 and parts["kernel text and data"] == 20000000, parts
assert parts["hash tables"] == 4194304 and parts["reserved for a crash kernel"] == 3000000, parts
assert sum(parts.values()) == host["boot"], parts
assert parts["initramfs"] == 300000 and parts["firmware tables, first megabyte"] == 100000, parts
assert parts["others"] == host["boot"] - 47594304, parts
assert host["boot_lines"][0] == {"name": "mm/sparse-vmemmap.c:69 func:vmemmap_alloc_block",
                                 "what": "struct page of all memory", "size": 20000000}
assert len(host["boot_lines"]) == 8 and host["boot_lines"][5]["what"] == "others"
