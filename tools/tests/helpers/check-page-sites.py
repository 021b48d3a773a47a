#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the data of a page, on standard input, have the call sites of a report?

Usage: check-page-sites.py REPORT.json <DATA
"""
import json
import sys

report, data = json.load(open(sys.argv[1])), json.load(sys.stdin)
assert [a["key"] for a in data["attributes"]] == ["size", "calls"]
rows = {row["name"]: (row["size"], row["calls"]) for row in report["rows"]}
sites = {site["name"]: tuple(site["values"]) for site in data["sites"]}
assert sites == {name: (0,) + row for name, row in rows.items()}, set(sites) ^ set(rows)
assert rows and sum(v[1] for v in sites.values()) == report["total"]["size"]
for site in data["sites"]:
    assert site["name"].startswith("/".join(site["stack"][:-1]) + ":"), site
