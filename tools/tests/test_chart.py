# SPDX-License-Identifier: GPL-2.0-only
"""Charts are well-formed, have the requested size, and are as long as their values."""

import os
import re
import sqlite3
import struct
import time
import zlib
from xml.etree import ElementTree

import pytest

from inputs import (CODETAG_ALLOCINFO, CODETAG_MEMINFO, CODETAG_SLABINFO, MAINLINE_ALLOCINFO, SPLIT_CONTEXTS, V1, V2,
                    V2_LATER, context_sizes)
from recordings import reads_linearly, reads_once
from support import codetag, helper, named, needs_feature, refused, table

pytestmark = needs_feature("cairo")
SVG = "{http://www.w3.org/2000/svg}"
KINDS = "ring", "treemap", "bars"


def paths(svg):
    return list(ElementTree.parse(svg).iter(f"{SVG}path"))


def texts(svg):
    return [text.text for text in ElementTree.parse(svg).iter(f"{SVG}text")]


def is_unfilled(path):
    """Newer cairo writes attributes, older cairo writes a style."""
    return path.get("fill") == "none" or "fill:none" in path.get("style", "")


def points(path):
    return [(float(x), float(y)) for x, y in re.findall(r"([-\d.]+) ([-\d.]+)", path.get("d"))]


def bars_match(svg, count, *words):
    """The widths of the bars are in proportion to the sizes in the report with these words."""
    sizes = codetag(f"report -N -b -n {count} -o size", *words).out
    helper("check-svg-bars", svg, count, stdin=sizes)


@named("chart/bars-values")
def test_bars_values(work):
    svg = work / "bars.svg"
    codetag(f"chart --kind bars -n 6 -o {svg} {MAINLINE_ALLOCINFO}")
    bars_match(svg, 6, MAINLINE_ALLOCINFO)


@named("chart/bars-branch")
def test_bars_branch(work):
    svg = work / "branch.svg"
    codetag(f"chart --kind bars -n 5 --start-branch fs/ -o {svg} {MAINLINE_ALLOCINFO}")
    bars_match(svg, 5, MAINLINE_ALLOCINFO, "file fs/*")


@named("chart/bars-fit")
def test_bars_fit(work):
    """More bars than a person can read: those that fit are drawn, and a line says how many more there are."""
    svg = work / "many.svg"
    codetag(f"chart --kind bars -n 60 --size 900x500 -o {svg} {MAINLINE_ALLOCINFO}")
    bars_match(svg, 16, MAINLINE_ALLOCINFO)
    assert "and 44 more" in texts(svg)


@named("chart/text")
def test_text(work):
    """Names are text, also if they contain characters that XML reserves."""
    svg, names = work / "text.svg", work / "names"
    names.write_text('8192 1 net/a<b>&"c.c:7 func:f\n4096 1 fs/b.c:8 func:g\n')
    codetag(f"chart --kind bars --title 'A & B' -o {svg} {names}")
    assert not re.search("<use |<symbol|<glyph", svg.read_text())
    assert {"A & B", 'net/a<b>&"c.c:7 func:f'} <= set(texts(svg))


@named("chart/kernel")
def test_kernel(work, on_machine):
    """The chart of the running kernel names its release. A made-up /proc has an allocinfo on any kernel."""
    svg = work / "kernel.svg"
    on_machine(f"chart --kind bars -o {svg}")
    assert any(text.startswith(f"Linux {os.uname().release} · ") for text in texts(svg)), texts(svg)


@named("chart/no-kernel")
def test_no_kernel(work):
    """That of a file does not."""
    svg = work / "file.svg"
    codetag(f"chart --kind bars -o {svg} {V1}")
    assert not any(text.startswith("Linux") for text in texts(svg)), texts(svg)


def ticks(work, recording, apart, zone):
    """The times on the axis of a recording with so many seconds between its snapshots"""
    db, svg = work / "ticks.db", work / "ticks.svg"
    db.write_bytes(recording.read_bytes())
    with sqlite3.connect(db) as connection:
        connection.execute("UPDATE snapshot SET time = 1767225677000 + ? * (id - 1)", (apart * 1000,))
    codetag(f"chart --kind area -o {svg} {db}", env={"TZ": zone})
    return [text for text in texts(svg) if re.fullmatch("[0-9-]+[:-][0-9:-]+( [0-9:]+)?", text)]


@named("chart/ticks")
def test_ticks(work, recording):
    """The times on the axis are round. The first snapshot is at 00:01:17."""
    for apart, want in (
            (1, "00:01:18 00:01:20 00:01:22 00:01:24 00:01:26 00:01:28 00:01:30 00:01:32"),
            (10, "00:01:30 00:02:00 00:02:30 00:03:00 00:03:30"),
            (60, "00:02 00:04 00:06 00:08 00:10 00:12 00:14 00:16"),
            (3600, "02:00 04:00 06:00 08:00 10:00 12:00 14:00"),
            (43200, "2026-01-02 2026-01-03 2026-01-04 2026-01-05 2026-01-06 2026-01-07 2026-01-08"),
            (0, "00:01:17")):
        assert ticks(work, recording, apart, "UTC") == want.split(), apart
    in_india = "06:00 08:00 10:00 12:00 14:00 16:00 18:00 20:00"
    assert ticks(work, recording, 3600, "Asia/Kolkata") == in_india.split()


@named("chart/colours")
def test_colours(work):
    """A colour that repeats gets a texture."""
    many, few, svg = work / "many", work / "few", work / "many.svg"
    lines = [f"{100000 - i * 1000} 1 d{i}/x.c:1 func:f\n" for i in range(10, 40)]
    many.write_text("".join(lines))
    for kind in "ring", "treemap":
        codetag(f"chart --kind {kind} -o {work}/many.png {many}")
        codetag(f"chart --kind {kind} -o {svg} {many}")
        textures = [group for group in ElementTree.parse(svg).iter(f"{SVG}g") if "clip-path" in group.attrib]
        strokes = [path for group in textures for path in group.iter(f"{SVG}path") if is_unfilled(path)]
        # There are 30 directories, 18 of them behind the twelfth, with two levels each below and a legend.
        assert len(textures) >= 18 * 3 and len(strokes) > 200, (kind, len(textures), len(strokes))
    few.write_text("".join(lines[:12]))
    codetag(f"chart -o {work}/few.svg {few}")
    assert "clip-path" not in (work / "few.svg").read_text()


@named("chart/deeper")
def test_deeper(work):
    """A chart says how many levels it does not draw."""
    deep, svg = work / "deep", work / "deep.svg"
    deep.write_text("4096 1 a/b/c/d/e/f/g/h.c:1 func:i\n")
    codetag(f"chart -o {svg} {deep}")
    assert "3 deeper levels are not drawn: see --start-branch" in texts(svg)
    codetag(f"chart --kind treemap -o {svg} {deep}")
    assert "2 deeper levels are not drawn: see --start-branch" in texts(svg)
    codetag(f"chart --start-branch a/b/c -o {svg} {deep}")
    assert "deeper" not in "\n".join(texts(svg))


@table("kind", *((f"chart/odd-names/{kind}", kind) for kind in KINDS))
def test_odd_names(work, kind):
    """Cairo would stop drawing at a character that is cut, and at invalid UTF-8."""
    odd, svg, title = work / "odd", work / "odd.svg", "ä" * 130
    odd.write_bytes(b"8192 2 fs/\xff.c:1 func:f\n")
    codetag(f"chart --kind {kind}", "--title", title, "-o", svg, odd, f"not func {title[:45]}")
    assert any("\N{REPLACEMENT CHARACTER}" in text for text in texts(svg)), texts(svg)


@table("suffix", ("chart/full/svg", "svg"), ("chart/full/png", "png"))
def test_full(work, suffix):
    """A disk that is full"""
    full = work / f"full.{suffix}"
    full.symlink_to("/dev/full")
    refused(f"cannot write .*full.{suffix}: No space left on device",
            f"chart --kind bars -o {full} {V2}")


@table(
    "line",
    *((f"chart/png/{kind}", f"--kind {kind} {MAINLINE_ALLOCINFO}") for kind in KINDS),
    ("chart/png/calls", f"--attr calls {MAINLINE_ALLOCINFO}"),
    ("chart/png/start", f"--start-branch mm {MAINLINE_ALLOCINFO}"),
    ("chart/png/query", f"{MAINLINE_ALLOCINFO} 'file drivers/*'"),
    ("chart/png/growth",
     f"--attr growth --kind bars {V1} {V2_LATER}"),
)
def test_png(work, line):
    png_is_drawn(work, line)


@table(
    "line",
    ("chart/png/area", "--kind area"),
    ("chart/png/recording-growth", "--attr growth"),
)
def test_png_of_recording(work, recording, line):
    png_is_drawn(work, line, recording)


def png_is_drawn(work, line, *words):
    """The chart is a PNG of 640 x 480 pixels, and not of one colour."""
    png = work / "chart.png"
    codetag(f"chart --size 640x480 -o {png} {line}", *words)
    data = png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (640, 480)
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    pixels = zlib.decompress(packed)
    assert len(pixels) == 480 * (640 * 3 + 1)
    assert len(set(pixels)) > 20


@table(
    "line",
    *((f"chart/svg/{kind}", f"--kind {kind} {MAINLINE_ALLOCINFO}") for kind in KINDS),
    *((f"chart/svg/{kind}/negative", f"--kind {kind} {V2_LATER}") for kind in KINDS),
    ("chart/svg/flame", f"--flame={SPLIT_CONTEXTS} --skip"),
    ("chart/svg/flame-calls", f"--flame={SPLIT_CONTEXTS} --attr calls func kstrdup"),
)
def test_svg(work, line):
    svg_is_sound(work, line)


@named("chart/svg/area")
def test_svg_of_recording(work, recording):
    svg_is_sound(work, "--kind area -g dir:1", recording)


def svg_is_sound(work, line, *words):
    svg = work / "chart.svg"
    codetag(f"chart -o {svg} {line}", *words)
    assert ElementTree.parse(svg).getroot().tag == f"{SVG}svg"
    assert len(paths(svg)) > 8 and len(texts(svg)) > 8, (len(paths(svg)), len(texts(svg)))
    assert not any("nan" in path.get("d", "") for path in paths(svg))


SIZES = "400x300", "1200x900"


@table(
    "size, line",
    *((f"chart/readable/{kind}/{size}", size, f"--kind {kind} {MAINLINE_ALLOCINFO}")
      for size in SIZES for kind in KINDS),
    ("chart/readable/flame", "1200x900", f"--flame={SPLIT_CONTEXTS}"),
    ("chart/readable/flame-small", "640x480", f"--flame={SPLIT_CONTEXTS} func kstrdup"),
    ("chart/readable/legend", "400x300", f"--kind ring --start-branch mm {MAINLINE_ALLOCINFO}"),
)
def test_readable(work, size, line):
    svg_is_readable(work, size, line)


@table("size", *((f"chart/readable/area/{size}", size) for size in SIZES))
def test_readable_of_recording(work, recording, size):
    svg_is_readable(work, size, "--kind area -n 30", recording)


def svg_is_readable(work, size, line, *words):
    """Nothing is outside the page, and letters contrast with their background."""
    svg = work / "readable.svg"
    codetag(f"chart --size {size} -o {svg} {line}", *words)
    helper("check-svg-legible", svg, size)


@named("chart/flame")
def test_flame(work):
    """The base of the flames is the sum of all contexts and of the memory in none."""
    svg = work / "flame.svg"
    contexts, outside = context_sizes(SPLIT_CONTEXTS)
    size = sum(size for size, *_ in contexts + outside)
    codetag(f"chart --flame={SPLIT_CONTEXTS} -o {svg}")
    assert f"all  {size / 2**20:.1f}M" in texts(svg)
    assert any(text.startswith("iget_locked  2.7M") for text in texts(svg)), texts(svg)


@table(
    "text, line",
    ("chart/refuses/flame-nothing", "there is nothing to draw", f"--flame={SPLIT_CONTEXTS} --min-age 100"),
    ("chart/refuses/flame-bad", "not in the format", f"--flame={V2}"),
    ("chart/refuses/flame-kind", "--kind.* are for call sites", f"--flame={SPLIT_CONTEXTS} --kind treemap"),
    ("chart/refuses/flame-group", "--group.* are for call sites", f"--flame={SPLIT_CONTEXTS} -g dir"),
    ("chart/refuses/flame-skip", "--skip .*go with --flame", f"--skip {V2}"),
    ("chart/refuses/start", "nothing is below nowhere", f"--start-branch nowhere {MAINLINE_ALLOCINFO}"),
    ("chart/refuses/start-bars", "nothing is below nowhere",
     f"--kind bars --start-branch nowhere {MAINLINE_ALLOCINFO}"),
    ("chart/refuses/nothing-bars", "there is nothing to draw", f"--kind bars {MAINLINE_ALLOCINFO} 'file nowhere'"),
    ("chart/refuses/area", "is not a recording", f"--kind area {MAINLINE_ALLOCINFO}"),
    ("chart/refuses/missing", "cannot read no-such-file: No such file", "no-such-file"),
    ("chart/refuses/growth", "growth needs two files", f"--attr growth {MAINLINE_ALLOCINFO}"),
)
def test_refuses(work, text, line):
    chart_refuses(work, text, line)


@named("chart/refuses/nothing-area")
def test_refuses_nothing_area(work, recording):
    chart_refuses(work, "there is nothing to draw", f"--kind area {recording} 'file nowhere'")


@table("kind", ("chart/moved/ring", "ring"), ("chart/moved/bars", "bars"))
def test_moved(work, kind):
    """In another kernel lines differ, which is no growth: there is nothing to draw."""
    moved, text = work / "moved", MAINLINE_ALLOCINFO.read_text(encoding="utf-8")
    moved.write_text(re.sub(r"(mm.slub.c:)(\d*)", r"\g<1>1\2", text))
    assert moved.read_text() != text
    chart_refuses(work, "there is nothing to draw", f"--attr growth --kind {kind} {MAINLINE_ALLOCINFO} {moved}")


def chart_refuses(work, text, line):
    """A chart that cannot be drawn leaves no file, and the command says why."""
    svg = work / "refused.svg"
    refused(text, f"chart -o {svg} {line}")
    assert not svg.exists()


@table("kind", *((f"chart/once/{kind}", kind) for kind in KINDS))
def test_once(work, kind):
    once, raw = counted_once(work, kind, CODETAG_ALLOCINFO)
    size = codetag(f"report --json {CODETAG_ALLOCINFO}").json()["total"]["size"]
    assert f" {size / 2**20:.1f}M in" in once
    if kind == "bars":
        assert "alloc_slab" in raw


@pytest.fixture
def twice(work):
    """A recording of two snapshots"""
    db = work / "twice.db"
    codetag(f"record -q -c 2 -i 0.01 -o {db} --allocinfo {CODETAG_ALLOCINFO}")
    return db


@needs_feature("sqlite3")
@named("chart/once/area")
def test_once_area(work, twice):
    counted_once(work, "area", twice)


def counted_once(work, kind, file):
    """The texts of a chart that counts memory once, and of one that counts it at each site. Only
    the first says what it leaves out, and does not name it."""
    svg = work / "sum.svg"
    codetag(f"chart --kind {kind} -o {svg} {file}")
    once = "\n".join(texts(svg))
    codetag(f"chart --raw --kind {kind} -o {svg} {file}")
    raw = "\n".join(texts(svg))
    assert re.search("without .* of slab pages and percpu chunks", once) and "alloc_slab" not in once, once
    assert "percpu chunks" not in raw, raw
    return once, raw


@needs_feature("sqlite3")
@named("chart/once/area-names")
def test_area_names(work, twice):
    """Areas leave them out, too, if there is any other site."""
    svg = work / "area.svg"
    codetag(f"chart --kind area -o {svg} {twice} file mm/slub.c")
    assert "alloc_slab_page" not in "\n".join(texts(svg))
    codetag(f"chart --kind area -o {svg} {twice} func alloc_slab_page")
    assert "alloc_slab_page" in "\n".join(texts(svg))


@needs_feature("sqlite3")
@named("chart/gauges")
def test_gauges(work):
    """Other recorded values are lines: on the axis if they are bytes, else on a scale of their own."""
    db, svg = record_gauges(work), work / "lines.svg"
    codetag(f"chart --kind area --gauge meminfo.Slab --gauge slabinfo.dentry/active -o {svg} {db}")
    assert {"3.9M  meminfo.Slab", "3000 of 4000  slabinfo.dentry/active"} <= set(texts(svg))
    lines = [[y for _, y in points(path)] for path in paths(svg) if is_unfilled(path) and len(points(path)) == 3]
    # They rise by 1 and 2 parts, and fall by 2 and rise by 1; each is drawn twice, to be seen on any colour.
    parts = [round((y[0] - y[1]) / (y[1] - y[2]), 2) for y in lines]
    assert parts == [0.5, 0.5, -2, -2], lines

    chart_refuses(work, "no gauge .* is called .no.such", f"--kind area --gauge no.such {db}")
    refused("goes with --kind area", f"chart --gauge meminfo.Slab -o {svg} {db}")


def record_gauges(work):
    """A recording in which slab memory and the number of dentries change"""
    db, append = work / "lines.db", []
    meminfo = CODETAG_MEMINFO.read_text(encoding="utf-8")
    slabinfo = CODETAG_SLABINFO.read_text(encoding="utf-8")
    for slab, dentries in (1000, 4000), (2000, 2000), (4000, 3000):
        (work / "meminfo").write_text(re.sub("(?m)^Slab: .*", f"Slab: {slab} kB", meminfo))
        (work / "slabinfo").write_text(re.sub(r"(?m)^dentry +\d+ +\d+", f"dentry {dentries} 9999", slabinfo))
        codetag(f"record -q -c 1 -o {db} --allocinfo {V2_LATER}"
                f" --meminfo {work}/meminfo --slabinfo {work}/slabinfo", *append)
        append = ["--append"]
        # Each snapshot has a time of its own.
        time.sleep(0.05)
    return db


@named("chart/shrunk")
def test_shrunk(work):
    """A chart mentions sites that have shrunk; bars draw them."""
    old, new, svg = work / "old", work / "new", work / "shrunk.svg"
    old.write_text("8192 2 fs/a.c:1 func:f\n9000 1 fs/b.c:1 func:g\n")
    new.write_text("4096 1 fs/a.c:1 func:f\n9500 1 fs/b.c:1 func:g\n")
    for kind, note in ("ring", " (not drawn)"), ("treemap", " (not drawn)"), ("bars", ""):
        codetag(f"chart --kind {kind} --attr growth -o {svg} {old} {new}")
        want = f"grown by 500 at 1 sites, shrunk by 4.0K at 1{note}"
        assert any(text.endswith(want) for text in texts(svg)), (kind, texts(svg))
    assert len([text for text in texts(svg) if re.search("fs/[ab].c", text)]) == 2


@needs_feature("sqlite3")
@named("chart/area-once")
def test_area_reads_once(work):
    reads_once(f"chart --kind area -o {work}/once.svg")


@needs_feature("sqlite3")
@named("chart/area-linear")
def test_area_reads_linearly(work):
    reads_linearly(f"chart --kind area -o {work}/linear.svg")


def boxes(svg):
    """The left end, right end and top of each shape that has four corners or more"""
    shapes = [points(path) for path in paths(svg) if path.get("d").startswith("M")]
    return [(min(x for x, _ in shape), max(x for x, _ in shape), min(y for _, y in shape))
            for shape in shapes if len(shape) >= 4]


@named("chart/directions")
def test_directions(work):
    """Sites that shrank go to the other side of zero; the size is in px, not in points."""
    old, new, svg = work / "old", work / "new", work / "bars.svg"
    header = "allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n"
    old.write_text(f"{header}4096 1 mm/a.c:1 func:up\n9192 1 mm/b.c:1 func:down\n")
    new.write_text(f"{header}9192 1 mm/a.c:1 func:up\n4096 1 mm/b.c:1 func:down\n")
    codetag(f"chart --attr growth --kind bars -o {svg} {old} {new}")
    root = ElementTree.parse(svg).getroot()
    assert (root.get("width"), root.get("height")) == ("1200px", "900px")
    bars = sorted((left, right) for left, right, _ in boxes(svg) if 100 < right - left < 1000)
    assert len(bars) == 2
    (_, end), (start, _) = bars
    assert start >= end - 0.1


@named("chart/flames-hang")
def test_flames_hang(work):
    """Flames hang from their root in pictures as on pages."""
    svg = work / "hang.svg"
    codetag(f"chart --flame={SPLIT_CONTEXTS} -o {svg}")
    roots = [top for left, right, top in boxes(svg) if 1100 < right - left < 1190]
    others = [top for left, right, top in boxes(svg) if right - left <= 1100]
    assert len(roots) == 1 and others
    assert roots[0] < min(others)
