#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the CSV of codetag merge say the same as its JSON on standard input?

Usage: compare-merge-csv.py CSV <JSON
"""
import csv
import json
import sys

rows = json.load(sys.stdin)["rows"]
table = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
assert len(rows) == len(table) > 1000
for a, b in zip(rows, table):
    for key in "size", "calls", "hosts", "median", "p99", "largest", "line":
        assert a[key] == int(b[key]), (a, b)
    assert a["largest_host"] == b["largest_host"] and a["func"] == b["func"]
    assert " ".join(o["host"] for o in a["outliers"]) == b["outliers"]
