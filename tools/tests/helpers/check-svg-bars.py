#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Are the bars of an SVG as long as the values on standard input?

Usage: check-svg-bars.py SVG COUNT
"""
import re
import sys
import xml.etree.ElementTree as tree

values = [int(line) for line in sys.stdin]
widths = []
for path in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}path"):
    points = [tuple(map(float, p)) for p in re.findall(r"([-\d.]+) ([-\d.]+)", path.get("d"))]
    xs = [x for x, _ in points]
    if len(points) == 5 and min(xs) == 20:
        widths.append(max(xs) - 20)
assert len(widths) == len(values) == int(sys.argv[2]), (widths, values)
for value, width in zip(values, widths):
    assert abs(width / widths[0] - value / values[0]) < 0.002, (value, width)
