#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does a Grafana dashboard ask only for series and labels that exist?

Usage: check-dashboard.py DASHBOARD EXPORTED RULES OUT

EXPORTED has the series that codetag exports, RULES those that Prometheus records. OUT
becomes a file of rules with the queries of the dashboard, for promtool.
"""
import json
import re
import sys

dashboard, exported, rules, out = sys.argv[1:]
lines = [line for line in open(exported) if line[0] != "#"]
names = {re.match(r"\w+", line)[0] for line in lines} | set(re.findall(r"record: (\S+)", open(rules).read()))
labels = set(re.findall(r'[{,](\w+)="', "".join(lines))) | {"instance"}
with open(dashboard) as file:
    board = json.load(file)
asked = [t["expr"] for p in board["panels"] for t in p["targets"]]
assert len(asked) >= 8 and len({p["id"] for p in board["panels"]}) == len(board["panels"])
for expr in asked + [v["query"] for v in board["templating"]["list"] if v["type"] == "query"]:
    for name in re.findall(r"codetag[\w:]*", expr):
        assert name in names, f"{name} of '{expr}' is not exported"
    for label in re.findall(r"[{,]\s*(\w+)[=!]", expr):
        assert label in labels, f"no label {label}, of '{expr}'"
for panel in board["panels"]:
    for label in re.findall(r"{{(\w+)}}", panel["targets"][0]["legendFormat"]):
        assert label in labels, f"no label {label}, of the legend of {panel['title']}"
with open(out, "w") as file:
    print("groups:\n  - name: asked\n    rules:", file=file)
    for i, expr in enumerate(asked):
        print(f"      - record: asked:{i}\n        expr: {json.dumps(expr)}", file=file)
