# SPDX-License-Identifier: GPL-2.0-only
"""The files of data/ that more than one test reads, and parsers of their formats that know nothing of the
command. Tests run in tools/tests, so names of files are relative to it."""

import re
from collections import namedtuple
from pathlib import Path

DATA = Path("data")
V1, V2, V2_LATER = (DATA / f"handmade-{name}.allocinfo" for name in ("v1", "v2", "v2-later"))
V2_ACTIVITY = DATA / "handmade-v2.activity"
OLD_TRACE, MODERN_TRACE, LARGE_TRACE = (DATA / f"handmade-{name}.trace" for name in ("old", "modern", "large"))
HANDMADE_DEBUGFS = DATA / "handmade.debugfs"

# Recorded on a kernel with codetag, which has more files, and on kernels without it
RECORDED = "data/recorded-ours-6.12"
CODETAG_ALLOCINFO, CODETAG_SLABINFO, CODETAG_MEMINFO, CODETAG_ZONEINFO, CODETAG_TRACE, CODETAG_DEBUGFS = (
    Path(f"{RECORDED}.{kind}") for kind in ("allocinfo", "slabinfo", "meminfo", "zoneinfo", "trace", "debugfs"))
SPLIT_CONTEXTS = Path(f"{RECORDED}-split.debugfs/contexts")
MAINLINE_ALLOCINFO, MAINLINE_SLABINFO = (DATA / f"recorded-mainline-6.12.{kind}" for kind in ("allocinfo", "slabinfo"))
NEWER_MAINLINE_ALLOCINFO = DATA / "recorded-mainline-7.3.allocinfo"
RECORDED_ALLOCINFOS = sorted(DATA.glob("recorded-*.allocinfo"))

Site = namedtuple("Site", "size calls tag")


def sites_of(file):
    """The call sites of an allocinfo, in its order. A tag is the rest of the line, for example
    "fs/a.c:7 [module] func:f"."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    rows = [line.split(None, 2) for line in lines if not line.startswith(("allocinfo ", "#"))]
    return [Site(int(size), int(calls), tag.strip()) for size, calls, tag in rows]


def allocinfo_of(sites):
    """The text of an allocinfo with these sites"""
    return ("allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n" +
            "".join(f"{size:12} {calls:8} {tag} \n" for size, calls, tag in sites))


def context_sizes(file):
    """Of a file of contexts: (size, calls, allocations) of each context, and of each site the same of its
    memory that is in no context, as two lists. The third number of a site is of lost allocations."""
    rows = re.findall(r"^(# site:)? *(\d+) +(\d+) +(\d+) ", Path(file).read_text(encoding="utf-8"), re.MULTILINE)
    contexts, outside = [], []
    for of_site, *numbers in rows:
        (outside if of_site else contexts).append(tuple(map(int, numbers)))
    return contexts, outside
