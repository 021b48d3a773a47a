#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Waits until Prometheus raises the alert about a leak, and for no other function.

Usage: wait-for-leak-alert.py PORT SECONDS
"""
import json
import sys
import time
import urllib.request


def ask(what):
    with urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/api/v1/{what}") as answer:
        return json.load(answer)["data"]


def leaks():
    try:
        return [a for a in ask("alerts")["alerts"] if a["labels"]["alertname"] == "KernelMemoryLeak"]
    except OSError:
        return []


end = time.time() + int(sys.argv[2])
while not leaks() and time.time() < end:
    time.sleep(0.2)
time.sleep(1)  # the others had their chance, too
found = leaks()
print(json.dumps(found, indent=1))
assert [a["labels"]["func"] for a in found] == ["__kernfs_new_node"], found
assert found[0]["state"] == "firing" and found[0]["labels"]["file"] == "fs/kernfs/dir.c"
held = ask("query?query=count(codetag_allocated_bytes)")["result"]
assert int(held[0]["value"][1]) > 100, held
