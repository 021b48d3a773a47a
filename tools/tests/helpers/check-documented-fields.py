#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Does the manual page on standard input name each field of a JSON file?

Usage: check-documented-fields.py JSON <PAGE
"""
import json
import re
import sys

man = sys.stdin.read()


def fields(value):
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(key, str):
            yield key
        if isinstance(inner, (dict, list)):
            yield from fields(inner)


names = sorted(set(fields(json.load(open(sys.argv[1])))))
missing = [name for name in names if not re.search(rf"\b{re.escape(name)}\b", man)]
assert names and not missing, f"not in codetag.1: {missing}"
