#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the JSON of codetag where have the exact numbers if the kernel has counted?

Usage: check-where-charged.py JSON
"""
import json
import sys

host = json.load(open(sys.argv[1]))
kinds = {k["name"]: k for k in host["kinds"]}
counters = sum(k["size"] for n, k in kinds.items() if n not in ("pages", "unaccounted"))
assert host["exact"] and not kinds["unaccounted"]["at_most"]
assert kinds["percpu"]["size"] == 409600 and not kinds["percpu"]["at_most"]
assert host["charged_pages"] == 455305600
assert kinds["pages"]["size"] == 455305600 - counters, (kinds["pages"], counters)
assert kinds["unaccounted"]["size"] == host["used"] - 455305600
assert kinds["pages"]["owners"][0]["name"] == "drivers/foo/rx.c:412 [foo] func:foo_rx_alloc"
assert kinds["slab"]["owners"][0]["name"] == "fs/kernfs/dir.c:624 func:__kernfs_new_node"
