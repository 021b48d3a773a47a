#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do the two lines over the areas of an SVG have the shape of the recorded gauges?

Usage: check-svg-gauge-lines.py SVG
"""
import re
import sys
import xml.etree.ElementTree as tree

lines = []
for path in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}path"):
    points = [tuple(map(float, p)) for p in re.findall(r"([-\d.]+) ([-\d.]+)", path.get("d"))]
    if path.get("fill", path.get("style")) .startswith(("none", "fill:none")) and len(points) == 3:
        lines.append([y for _, y in points])
# 1, 2, 4 and 4, 2, 3 parts; each twice, for it is to be seen on any colour.
parts = [(y[0] - y[1]) / (y[1] - y[2]) for y in lines]
assert [round(p, 2) for p in parts] == [0.5, 0.5, -2, -2], lines
