#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the data of a recording's page have the call sites of each snapshot?

Usage: check-page-times.py CODETAG RECORDING DATA
"""
import json
import subprocess
import sys

data = json.load(open(sys.argv[3]))
assert len(data["times"]) == 16 and data["times"][1] - data["times"][0] == 60
for time in range(16):
    text = subprocess.run([sys.argv[1], "replay", sys.argv[2], "--text", str(time + 1)],
                          check=True, capture_output=True).stdout
    report = json.loads(subprocess.run([sys.argv[1], "report", "--json", "-"], input=text,
                                       check=True, capture_output=True).stdout)
    rows = {row["name"]: [row["size"], row["calls"]] for row in report["rows"]}
    shown = {}
    for site in data["sites"]:
        now = [0, 0]
        for at in range(0, len(site["values"]), 3):
            if site["values"][at] <= time:
                now = site["values"][at + 1:at + 3]
        if now != [0, 0]:
            shown[site["name"]] = now
    assert shown == rows, (time, shown, rows)
