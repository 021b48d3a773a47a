#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Is everything of an SVG inside its borders, and each text legible on what is below it?

Usage: check-svg-legible.py SVG WIDTHxHEIGHT
"""
import re
import sys
import xml.etree.ElementTree as tree

width, height = map(float, sys.argv[2].split("x"))


def bright(fill):
    part = [float(p) / 100 for p in re.findall(r"([\d.]+)%", fill)]
    return sum(weight * p ** 2.2 for weight, p in zip((0.2126, 0.7152, 0.0722), part))


def inside(point, corners):
    (x, y), odd = point, False
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            odd = not odd
    return odd


shapes, texts = [], []


def walk(node, fill):
    tag = node.tag.split("}")[1]
    # An attribute or in the style, as cairo is older or newer.
    own = re.search(r"fill:([^;]+)", node.get("style", ""))
    fill = node.get("fill", own[1] if own else fill)
    if tag in ("defs", "clipPath") or "clip-path" in node.attrib:
        return
    if tag in ("path", "rect") and fill.startswith("rgb"):
        corners = [(float(x), float(y)) for x, y in
                   re.findall(r"(-?[\d.]+) (-?[\d.]+)", node.get("d", ""))]
        for x, y in corners:
            assert -1 <= x <= width + 1 and -1 <= y <= height + 1, node.get("d")
        shapes.append((corners, bright(fill)))
    if tag == "text":
        a, b, c, d, e, f = map(float, re.findall(r"[-\d.]+", node.get("transform", "1 0 0 1 0 0")))
        size, long = float(node.get("font-size")), float(node.get("textLength"))
        # Its ends and its middle, at half the height of a letter.
        for along in (1, long / 2, long - 1):
            x, y = float(node.get("x")) + along, float(node.get("y")) - size / 3
            texts.append((a * x + c * y + e, b * x + d * y + f, bright(fill), node.text))
    for child in node:
        walk(child, fill)


walk(tree.parse(sys.argv[1]).getroot(), "")
for x, y, ink, text in texts:
    assert 0 <= x < width and 0 <= y < height, (x, y, text)
    below = next((light for corners, light in reversed(shapes) if inside((x, y), corners)), 1)
    dark, light = sorted((ink, below))
    # On what covers it, if it is beside something dark it is on white.
    assert (light + 0.05) / (dark + 0.05) > 4 or ink < 0.2, (text, ink, below)
    assert ink < 0.5 or below < 0.2, (text, ink, below)
assert len(texts) > 20, texts
