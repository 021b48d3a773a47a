# SPDX-License-Identifier: GPL-2.0-only
"""Statements that hold for every input."""

import re
from collections import Counter
from pathlib import Path

from inputs import (CODETAG_ALLOCINFO, CODETAG_SLABINFO, MAINLINE_ALLOCINFO, MAINLINE_SLABINFO, RECORDED_ALLOCINFOS,
                    V1, V2, V2_LATER, sites_of)
from support import codetag, named, needs_feature, refused, table

FILES = [*sorted(Path("data").glob("*-v?.allocinfo")), *RECORDED_ALLOCINFOS]


def sums(rows):
    """The sums of the first two columns"""
    rows = list(rows)
    return sum(int(row[0]) for row in rows), sum(int(row[1]) for row in rows)


def held(file):
    """The memory of the sites that contain others, and of all others: (others, containers)"""
    memory = [0, 0]
    for size, _, tag in sites_of(file):
        container = re.match(r"(\./)?mm/(slub\.c:\d+ func:(alloc_slab_page|allocate_slab)|percpu-[vk]m\.c:)", tag)
        memory[bool(container)] += size
    return tuple(memory)


def sum_of(result):
    """The sum of the last column"""
    return sum(int(line.split()[-1]) for line in result.lines)


@table("file", *((f"sums/once/{file.name}", file) for file in RECORDED_ALLOCINFOS))
def test_counted_once(file):
    """A report counts the memory in slab pages once: at its call sites."""
    others, containers = held(file)
    assert containers > 0
    for by in "-g site", "-g dir:1", "-g subsystem", "-g host", "--tree":
        report = codetag(f"report --json {by} {file}").json()
        assert (report["total"]["size"], report["left_out"]["size"]) == (others, containers), by
    assert sum_of(codetag(f"report -N -b -g dir:1 -o size {file}")) == others
    assert sum_of(codetag(f"export --format folded {file}")) == others
    says = rf"left out so that nothing counts twice: .* {containers} bytes \(--raw\)"
    assert codetag(f"report {file}").has(says)
    assert codetag(f"report -g host {file}").has(says)
    assert not codetag(f"report --raw {file}").has("left out.*")
    refused("--raw", f"export --raw --format csv {file}")


@named("sums/containers-diff")
def test_containers_diff(work):
    """Slab pages are left out of both snapshots, or of none: what another line got has not replaced them."""
    files = work / "old", work / "new"
    for file, other in zip(files, (0, 64)):
        file.write_text("allocinfo - version: 2.0\n"
                        f"524288 128 mm/slub.c:2500 func:alloc_slab_page\n{other} {other // 64} mm/slub.c:5000 func:f\n",
                        encoding="utf-8")
    diff = codetag("diff --json", *files, "file mm/slub.c").json()
    assert [(row["growth"], row["func"]) for row in diff["rows"]] == [(64, "f")]
    assert diff["left_out"]["size"] == diff["left_out"]["before"] == 524288
    same = codetag("diff --json", files[0], files[0], "file mm/slub.c").json()
    assert same["total"]["size"] == 524288 and not same["rows"]


@named("sums/containers-alone")
def test_containers_alone():
    """If a query selects only such sites, nothing is there twice and they are counted."""
    chosen = f"{CODETAG_ALLOCINFO} func alloc_slab_page"
    assert codetag(f"report -N -b -o size {chosen}").out == codetag(f"report --raw -N -b -o size {chosen}").out
    assert codetag(f"report -N {chosen}").out.strip()


@table("file, by", *(
    (f"sums/{file.name}/{by}", file, by) for file in FILES
    for by in ("site", "row", "func", "file", "dir", "dir:1", "dir:2", "module", "subsystem")))
def test_groups_add_up(file, by):
    """Whatever the sites are grouped by, the groups add up to the input."""
    lines = report_all(f"--raw -N -b -g {by} -o size,calls", file).lines
    assert sums(line.split() for line in lines) == sums(sites_of(file))


def status_of(file):
    """The exit status of a command that reads the file: 2 if it has call sites that are not profiled"""
    return 2 if "disabled:yes" in file.read_text(encoding="utf-8") else 0


def report_all(line, file):
    """A report of all call sites"""
    return codetag(f"report -a {line} {file}", status=status_of(file))


@table("file", *((f"json/{file.name}", file) for file in FILES))
def test_report_json(file):
    report_all("--json", file).json()


@table(
    "line",
    ("json/stats", "stats --json data/handmade.stats"),
    ("json/audit", "audit --json data/handmade-good.audit"),
    ("json/diff", f"diff --raw --json {V2_LATER} {V1}"),
    ("json/tree", f"report --json --tree {MAINLINE_ALLOCINFO}"),
    ("json/slabs", f"slabs --json -f {MAINLINE_SLABINFO}"),
)
def test_json(line):
    codetag(line).json()


@table("file, by", *(
    (f"diff-equal/{file.name}/{name}", file, by) for file in FILES
    for name, by in (("site", "site"), ("dir", "dir:1"))))
def test_diff_of_equal(file, by):
    """A file does not differ from itself, in whatever order its rows are."""
    assert not codetag(f"diff -N -g {by} {file} {file}", status=status_of(file)).out
    lines = sorted(file.read_text(encoding="utf-8").splitlines(keepends=True), reverse=True)
    assert not codetag(f"diff -N -g {by} {file} -", stdin="".join(lines), status=status_of(file)).out


def says_unprofiled(line, *words):
    """A command that shows numbers of call sites that are not profiled says so and ends with 2."""
    assert re.search("not profiled", codetag(line, *words, V2, status=2).err)
    codetag(line, *words, V2_LATER)


@table(
    "line",
    ("unprofiled/report", "report"),
    ("unprofiled/report-hosts", "report -g host"),
    ("unprofiled/diff", f"diff {V2_LATER}"),
    ("unprofiled/diff-hosts", f"diff -g host {V2_LATER}"),
    ("unprofiled/merge", "merge"),
    ("unprofiled/export-csv", "export --format csv"),
    ("unprofiled/slabs", f"slabs --sites -f {CODETAG_SLABINFO} --allocinfo"),
    ("unprofiled/export-folded", "export --format folded"),
    ("unprofiled/export-hosts", "export --format json -g host"),
)
def test_unprofiled(line):
    says_unprofiled(line)


@named("unprofiled/shown")
def test_unprofiled_shown(work):
    """Sites that are not shown, and those of modules that are gone, do not count."""
    file = work / "file"
    for site in "mm/slub.c:2412 func:alloc_slab_page", "x.c:1 [x] func:f unloaded:yes":
        file.write_text(f"allocinfo - version: 2.0\n4096 1 {site} disabled:yes\n8192 1 a.c:1 func:a\n", encoding="utf-8")
        for command in "report", "report -g host", "merge", "export --format folded", f"diff {file}", f"diff -g host {file}":
            assert not codetag(f"{command} {file}").err


@needs_feature("sqlite3")
@named("unprofiled/fleet")
def test_unprofiled_fleet(work):
    """A database of many hosts knows on which of them a site is not profiled."""
    fleet = work / "fleet.db"
    codetag(f"merge {V1} {V2} {V2_LATER} --sqlite {fleet}", status=2)
    message = "on 1 of 3 hosts: their numbers are old: handmade-v2$"
    for command in "merge", "report -g host", "export --format prometheus -g host":
        assert re.search(message, codetag(f"{command} {fleet}", status=2).err, re.MULTILINE)
    refused("the label x is for one", f"report -g host --label host=x {fleet}")
    assert codetag(f"report --json -g host {fleet}", status=2).json()["total"]["not_profiled"] == 1


@needs_feature("cairo")
@named("unprofiled/chart-branch")
def test_unprofiled_branch(work):
    codetag(f"chart --start-branch mm -o {work}/x.svg {V2}")


@needs_feature("cairo")
@named("unprofiled/chart")
def test_unprofiled_chart(work):
    says_unprofiled("chart --kind bars -o", work / "x.svg")
    says_unprofiled("chart --kind bars --attr growth -o", work / "x.svg", V1)


@needs_feature("sqlite3")
@needs_feature("cairo")
@named("unprofiled/chart-recorded")
def test_unprofiled_recorded(work):
    """An area shows all snapshots of a recording, other charts the last one."""
    db, svg = work / "x.db", work / "x.svg"
    for allocinfo, *append in (V2,), (V2_LATER, "--append"):
        codetag(f"record -q -c 1 -o {db} --allocinfo {allocinfo}", *append)
    codetag(f"chart --kind bars -o {svg} {db}")
    refused("were not profiled in some snapshots", f"chart --kind area -o {svg} {db}")
    assert svg.exists()


@table("before, after, by", *(
    (f"diff-sums/{where}{by}", V2, after, by) for where, after in (("", MAINLINE_ALLOCINFO), ("later/", V2_LATER))
    for by in ("site", "row", "func", "file", "dir", "module", "subsystem")))
def test_diff_adds_up(before, after, by):
    """Where the sums of two files differ, the growths add up to the difference."""
    want = sum(held(after)) - sum(held(before))
    diff = codetag(f"diff --raw -a -N -b -g {by} -o growth {before} {after}", status=status_of(before))
    assert sum_of(diff) == want


@table("key, column", *(
    (f"slabs/sort-{key}", key, column) for key, column in (
        ("o", "objects"), ("a", "active"), ("u", "use"), ("s", "object_size"), ("l", "slabs"),
        ("b", "objects_per_slab"), ("c", "size"), ("p", "pages_per_slab"), ("v", "active_slabs"))))
def test_slabs_sorted(key, column):
    """Each sort key of slabs puts the largest value of its column first."""
    lines = codetag(f"slabs -a -N -b -s {key} -o {column} -f {MAINLINE_SLABINFO}").lines
    values = [float(re.sub("[% ]", "", line)) for line in lines]
    assert len(set(values)) > 1
    assert values == sorted(values, reverse=True)


def slabs_of(file):
    """The size, objects and slabs of each cache"""
    rows = [line.split() for line in codetag(f"slabs -a -N -b -o name,size,objects,slabs -f {file}").lines]
    caches = {name: tuple(map(int, numbers)) for name, *numbers in rows}
    assert len(caches) == len(rows)
    return caches


@named("slabs/diff-none")
def test_slabs_diff_none():
    """As without --diff: no cache has such a name."""
    slabs = f"slabs --diff {MAINLINE_SLABINFO} -f {CODETAG_SLABINFO}"
    assert "no cache is called 'nosuch'" in codetag(f"{slabs} nosuch", status=1).err
    assert not codetag(f"{slabs} dentry").err


@named("slabs/diff")
def test_slabs_diff():
    """Growths are the differences between the lists of the two files, sorted by size."""
    before, after, none = slabs_of(MAINLINE_SLABINFO), slabs_of(CODETAG_SLABINFO), (0, 0, 0)
    want = []
    for name in before.keys() | after.keys():
        old, new = before.get(name, none), after.get(name, none)
        if old != new:
            growth, objects, slabs = (b - a for a, b in zip(old, new))
            want.append((growth, old[0], new[0], objects, slabs, name))
    assert len(want) > 40

    columns = "growth,size_before,size,objects_growth,slabs_growth,name"
    lines = codetag(f"slabs --diff {MAINLINE_SLABINFO} -f {CODETAG_SLABINFO} -N -b -o {columns}").lines
    got = [(*map(int, numbers), name) for *numbers, name in map(str.split, lines)]
    assert sorted(got) == sorted(want)
    growths = [abs(row[0]) for row in got]
    assert growths == sorted(growths, reverse=True)

    assert not codetag(f"slabs --diff {MAINLINE_SLABINFO} -f {MAINLINE_SLABINFO} -N").out
    states = Counter(codetag(f"slabs --diff {MAINLINE_SLABINFO} -f {MAINLINE_SLABINFO} -N -a -o state").out.split())
    caches = re.findall("^[^#].*slabdata", MAINLINE_SLABINFO.read_text(encoding="utf-8"), re.MULTILINE)
    assert states == {"same": len(caches)}
