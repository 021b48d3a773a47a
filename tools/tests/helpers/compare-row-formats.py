#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the table "rows" of a database, a JSON file and a CSV file have the same rows?

Usage: compare-row-formats.py DATABASE JSON CSV
"""
import csv
import json
import sqlite3
import sys

rows = json.load(open(sys.argv[2]))["rows"]
flat = [{k: " ".join(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows]
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
held = [dict(row) for row in db.execute("SELECT * FROM rows ORDER BY rowid")]
for a, b in zip(flat, held):
    if "share" in a:
        assert abs(a.pop("share") - b.pop("share")) < 0.001, (a, b)
assert flat == held and len(held) > 1, (flat[:2], held[:2])
table = list(csv.DictReader(open(sys.argv[3], newline=""), strict=True))
for row in table:
    row.pop("share", None)
assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in held] == table
