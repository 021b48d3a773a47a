# SPDX-License-Identifier: GPL-2.0-only
"""Allocations and frees: two readings, a recording, a counter that wraps around, a module that is
loaded again."""

import re
import shutil

import pytest

from inputs import V1, V2, V2_ACTIVITY
from machines import in_world
from recordings import sql
from screen import Screen
from support import CODETAG, codetag, named, needs_feature, needs_program, refused, run, shows

NOT_KNOWN = "its allocations and frees are not known"
INODE = "fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode"
QUIET = "fs/ext4/mballoc.c:3712 [ext4] func:ext4_mb_init"
ZRAM = "drivers/block/zram/zcomp.c:41 [zram] func:zcomp_strm_init"


class Counts:
    """The counters of the kernel at each second, in two files. A busy line allocates 2 a second and frees 1, and its
    counters wrap around within 10 s. zram is gone from second 10 to 19, and has counted from 0 to a
    larger number then. ext4_mb_init is quiet."""

    def __init__(self, path):
        self.allocinfo, self.activity = path / "allocinfo", path / "activity"
        self.options = ["--allocinfo", self.allocinfo, "--activity", self.activity]

    def pretend(self, second):
        """Write the files of this second; see in_world()."""
        lines = [((2 * second - 10) % 2 ** 32, (second - 9) % 2 ** 32, INODE), (1, 0, QUIET)]
        if not 10 <= second < 20:
            lines.append((50 if second < 10 else 3 * second, 1, ZRAM))
        self.allocinfo.write_text(
            "allocinfo - version: 2.0\n" + "".join(f"64 1 {tag} \n" for _, _, tag in lines))
        self.activity.write_text(
            "# activity - version: 1.0\n" +
            "".join(f"{allocs:11} {frees:10} 0 {tag} \n" for allocs, frees, tag in lines))

    def run(self, *words, env=None):
        return in_world(self.pretend, CODETAG, *words, *self.options, env=env)


@pytest.fixture
def counts(work):
    return Counts(work)


@named("rates/top")
def test_top(counts):
    """An interval is named, the busiest comes first, and what wrapped around is bridged."""
    top = counts.run("top", "--once", "-s", "allocs", "-d", 8, "file", "fs/*")
    shows(top, "allocations and frees of 8.0 s",
          f"     2.0      1.0    64      1  {INODE}",
          f"     0.0      0.0    64      1  {QUIET}")
    header = next(number for number, line in enumerate(top.lines) if "ALLOCS/S" in line)
    assert "alloc_inode" in top.lines[header + 1]
    top = counts.run("top", "--once", "--json", "-o", "allocs_recent,frees_rate,name", "-d", 8).json()
    row = next(row for row in top["rows"] if row["name"].endswith(":ext4_alloc_inode"))
    assert (top["seconds"], row["allocs_recent"], row["frees_rate"]) == (8, 16, 1)


@named("rates/diff-live")
def test_diff_live(counts):
    shows(counts.run("diff", "--live", 20, "-s", "frees"),
          "allocations and frees of 20.0 s",
          f"     2.0      1.0             40            20       0    64  {INODE}",
          f"     0.5      0.0             10             0       0    64  {ZRAM}")


@named("rates/stopped")
def test_stopped(counts):
    """A process that was stopped for 16 s divides by the time that passed."""
    diff = counts.run("diff", "--live", 4, "-s", "frees", "file", "fs/*", env={"STOPPED": "16"})
    shows(diff, "allocations and frees of 20.0 s", f"     2.0      1.0             40            20       0    64  {INODE}")
    json = counts.run("diff", "--live", 4, "--json", env={"STOPPED": "16"}).json()
    assert json["seconds"] == 20

    def grow(second):
        counts.allocinfo.write_text(f"allocinfo - version: 1.0\n{100 * second} 1 a.c:1 func:f\n0 0 b.c:1 func:g\n")
    grown = in_world(grow, CODETAG, "diff", "--live", 1, "--allocinfo", counts.allocinfo, env={"STOPPED": "4"})
    shows(grown, "0 -> 500, +500 in +0 allocations, 100 per second")


@needs_feature("sqlite3")
@named("rates/recorded")
def test_recorded(counts, work):
    """A recording has each step: a row that was gone counts from 0, and a counter may wrap around twice."""
    db = work / "activity.db"
    counts.run("record", "-q", "-o", db, "-c", 5, "-i", 5)
    shows(codetag("diff -s allocs", db),
          "allocations and frees of 20.0 s",
          f"     2.0      1.0             40            20       0    64  {INODE}",
          f"     3.0      0.1             60             1       0    64  {ZRAM}")
    shows(codetag("diff -s allocs", f"{db}@2", f"{db}@3"),
          f"     2.0      1.0             10             5       0    64  {INODE}")
    shows(codetag("report -s allocs", f"{db}@1"),
          f"4294967286  4294967287    64      1  {INODE}")
    rows = codetag("diff --json -s allocs", db).json()["rows"]
    inode = next(row for row in rows if row["func"] == "ext4_alloc_inode")
    assert (inode["allocs_recent"], inode["frees_rate"]) == (40, 1)
    # One that does not change is stored once.
    assert sql(db, "SELECT count(*) FROM activity JOIN site ON site = id WHERE func = 'ext4_mb_init'") == [(1,)]


def append_to(db):
    """The option for a recording to go on, unless this is its first snapshot"""
    return ["--append"] if db.exists() else []


MODULE = "m.c:2 [m] func:g"
GONE = MODULE + " unloaded:yes"


def record_counts(path, *snapshots):
    """Record snapshots of (allocations, frees, line); returns the recording."""
    db, allocinfo, activity = (path / name for name in ("counts.db", "allocinfo", "activity"))
    db.unlink(missing_ok=True)
    for rows in snapshots:
        allocinfo.write_text("allocinfo - version: 2.0\n0 0 x.c:1 func:x\n" + "".join(
            f"{allocs - frees} {allocs - frees} {tag}\n" for allocs, frees, tag in rows))
        activity.write_text("# activity - version: 1.0\n0 0 0 x.c:1 func:x\n" + "".join(
            f"{allocs} {frees} 0 {tag}\n" for allocs, frees, tag in rows))
        codetag("record -q -c 1 -o", db, *append_to(db), "--allocinfo", allocinfo, "--activity", activity)
    return db


@needs_feature("sqlite3")
@named("rates/unloaded")
def test_unloaded(work):
    """Each row keeps its history when that of an unloaded module vanishes, or when one is added."""
    def counted(*snapshots):
        db = record_counts(work, *snapshots)
        row = codetag("diff --json -a -s allocs", db, "module m").json()["rows"][0]
        return row["allocs_recent"], row["frees_recent"]

    loaded, reloaded, ended = [(1000, 990, MODULE)], [(1000, 990, GONE), (100, 100, MODULE)], [(110, 105, MODULE)]
    assert counted(reloaded, ended) == (10, 5)
    assert counted(loaded, reloaded, ended) == (110, 105)
    # The new row has the number of another one that is gone.
    assert counted(reloaded, ended, [(111, 105, GONE), (7, 3, MODULE)]) == (18, 8)
    assert counted(loaded, [(1000, 995, GONE)], [(1000, 996, GONE), (30, 20, MODULE)]) == (30, 26)
    # It was loaded after the first snapshot, and is unloaded in the last one.
    assert counted([], [(30, 20, MODULE)], [(30, 25, GONE)]) == (30, 25)
    again = codetag("diff -s allocs", record_counts(work, loaded, [(9, 4, MODULE)]))
    shows(again, "counted from 0 again, because the module was loaded again or the machine booted: 1")


@needs_feature("sqlite3")
@named("rates/unloaded-series")
def test_unloaded_series(work):
    """The history of a row in a series is that of one row, too."""
    db = record_counts(work, [(1000, 990, GONE), (100, 80, MODULE)], [(100, 80, MODULE)], [(100, 80, GONE), (9, 4, MODULE)])
    rows = sql(db, "SELECT name, snapshot, bytes FROM row JOIN site ON site = id WHERE module = 'm' ORDER BY id, snapshot")
    assert rows == [(MODULE, 1, 10), (MODULE, 2, None), (MODULE, 3, 5),
                    (MODULE + " #2", 1, 20), (MODULE + " #2", 3, 20)]


def write_activity(path, counts):
    """An activity file with all rows of V1, and these numbers of some"""
    tags = [line.split(None, 2)[2].strip() for line in V1.read_text().splitlines()[2:]]
    assert set(counts) <= set(tags)
    path.write_text("# activity - version: 1.0\n" + "".join(
        "{} {} 0 {}\n".format(*counts.pop(tag, (0, 0)), tag) for tag in tags))


@needs_feature("sqlite3")
@named("rates/far")
def test_far(work, on_machine):
    """More than 2^31 allocations between two readings are no restart, also if the number wraps around.
    If the boot is not known, a number that is less than before begins again from 0."""
    activity, site = work / "activity", "mm/slub.c:2325 func:alloc_slab_page"
    for first, second, grown in (100, 4000000000, 3999999900), (3000000000, 2000000000, 3294967296):
        db = work / f"{first}.db"
        for allocs in first, second:
            write_activity(activity, {site: (allocs, 0)})
            on_machine("record -q -c 1 -o", db, *append_to(db), "--activity", activity, switch=1)
        diff = codetag("diff --raw -o allocs_recent,name -s allocs", db)
        shows(diff, f"   {grown}  {site}")
        assert "counted from 0 again" not in diff.out
    plain = record_counts(work, [(100, 0, "a.c:1 func:f")], [(4000000000, 0, "a.c:1 func:f")], [(7, 0, "a.c:1 func:f")])
    shows(codetag("diff -o allocs_recent,name -s allocs -N", f"{plain}@1", f"{plain}@2"), "3999999900  a.c:1 func:f")
    unknown = record_counts(work, [(300, 0, "a.c:1 func:f")], [(200, 0, "a.c:1 func:f")])
    shows(codetag("diff -o allocs_recent,name -s allocs", unknown), "          200  a.c:1 func:f",
          "counted from 0 again, because the module was loaded again or the machine booted: 1")


@needs_feature("sqlite3")
@named("rates/wraps")
def test_wraps(work):
    """The counter wraps around twice in a recording."""
    db, allocinfo, activity = (work / name for name in ("wraps.db", "allocinfo", "activity"))
    allocinfo.write_text("allocinfo - version: 1.0\n64 1 a.c:1 func:f\n0 0 b.c:1 func:g\n")
    for step in range(6):
        activity.write_text(f"# activity - version: 1.0\n{step * 2000000000 % 2 ** 32} 0 0 a.c:1 func:f\n"
                            "0 0 0 b.c:1 func:g\n")
        codetag("record -q -c 1 -o", db, *append_to(db), "--allocinfo", allocinfo, "--activity", activity)
    shows(codetag("diff -o allocs_recent,name -s allocs -N", db), "10000000000  a.c:1 func:f")
    part = codetag("diff -o allocs_recent,name -s allocs -N", f"{db}@2", f"{db}@4")
    assert part.has(" *4000000000  a.c:1 func:f"), str(part)


@needs_feature("sqlite3")
@named("rates/boot")
def test_boot(work, on_machine):
    """After a boot the kernel counts from 0. The number from before the boot must not be subtracted,
    whether it was smaller, larger (which looks like a wrap-around) or equal."""
    activity = work / "activity"
    for before in 60, 3900000000, 100:
        db = work / f"{before}.db"
        for boot, allocs in ("11d32da5", before), ("11d32da6", 100):
            write_activity(activity, {INODE: (allocs, 5)})
            on_machine("record -q -c 1 -o", db, *append_to(db), "--activity", activity, switch=1, boot=boot)
        shows(codetag("diff -o allocs_recent,frees_recent,name -s allocs -N", db), f"100  5  {INODE}")


@needs_feature("sqlite3")
@named("rates/peaks")
def test_peaks(work):
    """A peak is the largest sum in a snapshot, not the sum of the peaks of lines. A message says that it
    is of samples."""
    db, allocinfo = work / "peaks.db", work / "allocinfo"
    for first, second in (100, 50), (300, 10), (20, 90):
        allocinfo.write_text(
            f"allocinfo - version: 1.0\n{first} 1 a.c:1 func:f\n{second} 1 a.c:2 func:f\n0 0 b.c:1 func:g\n")
        codetag("record -q -c 1 -o", db, *append_to(db), "--allocinfo", allocinfo)
    shows(codetag("report -o peak,size,name", db),
          " 300    20  a.c:1 func:f",
          "  90    90  a.c:2 func:f",
          "peaks are the largest of 3 snapshots: between these there can have been more")
    shows(codetag("report -o peak,size,name -g func", db), " 310   110  f")
    shows(codetag("report -o peak,size,name -g func", f"{db}@1"), " 150   150  f")
    file = codetag(f"report -o peak {V1}", status=2)
    assert "only a recording has peaks" in file.err


@needs_feature("sqlite3")
@named("rates/before")
def test_before(work):
    """A recording that lacks them is read, says so if it is asked, and goes on with them."""
    db = work / "before.db"
    codetag(f"record -q -c 1 --allocinfo {V2} -o", db)
    sql(db, "DROP TABLE activity")
    assert "ext4_alloc_inode" in codetag("report", db, "file fs/*").out
    refused(NOT_KNOWN, "report -s allocs", db)
    codetag(f"record -q -c 1 --append --allocinfo {V2} --activity {V2_ACTIVITY} -o", db)
    assert codetag("report -s allocs", db, "file fs/*").has("4294967290 .*")
    refused(NOT_KNOWN, "diff -s allocs", db)
    codetag("diff", db, status=2)


@named("rates/not-counted")
def test_not_counted(work):
    """If the kernel does not count them, a command that asks for them says so, and nothing else changes."""
    refused(NOT_KNOWN, f"top --once -s frees {V2}")
    refused(NOT_KNOWN, f"diff -s allocs {V2} {V2}")
    refused("No such file", f"report {V2} --activity", work / "nowhere")
    refused("does not begin with", f"record -q -c 1 --allocinfo {V2} --activity {V2} -o", work / "never.db")
    assert not (work / "never.db").exists()
    assert "_total{" not in codetag(f"export --format prometheus {V2}").out
    assert "allocs" not in codetag(f"report --json {V2}", status=2).out


@named("rates/missing")
def test_missing(work):
    """A number that is missing is shown as missing, with a message."""
    allocinfo, activity = work / "allocinfo", work / "activity"
    allocinfo.write_text("allocinfo - version: 2.0\n64 1 a.c:1 func:f\n64 1 a/b.c:1 func:g\n64 1 c.c:1 func:g\n")
    rows = "# activity - version: 1.0\n", "7 6 0 a.c:1 func:f\n", "9 8 0 c.c:1 func:g\n"
    options = ["--activity", activity, allocinfo]

    def run_with(line, text, count):
        activity.write_text(text)
        result = codetag(line, *options, status=2)
        assert f"the allocations and frees of {count} of its 3 rows are missing" in result.err, str(result)
        return result
    cut = "".join(rows)
    shows(run_with("report -N -o allocs,frees,name", cut, 1), "7  6  a.c:1 func:f", "-  -  a/b.c:1 func:g", "9  8  c.c:1 func:g")
    # The sum of a group is missing with one of its rows.
    shows(run_with("report -N -o allocs,name -g func", cut, 1), "7  f", "-  g")
    json = run_with("report --json", cut, 1).json()["rows"]
    assert [(row["allocs"], row["frees"]) for row in json] == [(7, 6), (None, None), (9, 8)]
    series = run_with("export --format prometheus -g file", cut, 1).out
    assert 'codetag_allocations_total{file="a.c"} 7' in series
    assert 'codetag_allocations_total{file="a/b.c"}' not in series
    none = run_with("export --format prometheus", rows[0], 3).out
    assert "codetag_allocations_total{" not in none


def listed(*rows):
    """An allocinfo of (size, tag)"""
    return "allocinfo - version: 2.0\n" + "".join(f"{size} {int(size > 0)} {tag}\n" for size, tag in rows)


F, G, X, Z = "a.h:1 func:f", "b.h:1 func:g", "x.c:1 func:x", "z.c:1 func:z"
QUIETS = [(0, f"q.c:{line} func:q") for line in range(3)]
SAME = (100, F), (70, X), (50, F), (0, Z), (7, G), (9, G)
JOINED = "call sites whose rows cannot be told apart in the two snapshots, so that each is one row"


def diff_rows(old, new, *words):
    """(growth, name) of the rows that changed, and the messages"""
    diff = codetag("diff -N -g row -o growth,name", *words, old, new)
    return [tuple(line.split(None, 1)) for line in diff.lines], diff.err


def joined(count):
    """The message about two files"""
    return (f"codetag diff: {JOINED}: {count}\n"
            "Only the order of the kernel's list tells them apart. Compare whole copies of /proc/allocinfo.\n")


@named("rates/rows")
def test_rows(work):
    """Rows of one call site are compared with each other only where the order of the kernel tells them apart."""
    old, new = work / "old", work / "new"

    def changed(before, now):
        old.write_text(listed(*before, *QUIETS))
        new.write_text(listed(*now, *QUIETS))
        return diff_rows(old, new)
    # The same order: each row by itself, but for those that follow each other, which a sort can have done.
    grown = [(size + 20 * number, tag) for number, (size, tag) in enumerate(SAME)]
    assert changed(SAME, grown) == (
        [("+180", G), ("+60", Z), ("+40", F + " #2"), ("+20", X)], joined(1))
    # A row is missing, one is new, lines of the list are missing, and another kernel
    assert changed(SAME, SAME[1:]) == ([("-100", F)], joined(2))
    assert changed(SAME[1:], SAME) == ([("+100", F)], joined(2))
    assert changed(SAME, SAME[1:] + SAME[:1]) == ([], joined(2))
    for path, more in (old, 0), (new, 1):
        path.write_text(listed(*((size + more, tag) for size, tag in SAME if size), (1, "y.c:1 func:y"), (3, "y.c:2 func:y")))
    assert diff_rows(old, new)[0] == [("+2", F), ("+2", G), ("+1", X)]
    # Sorted by size, two rows have changed places.
    by_size = sorted(SAME[:4], reverse=True)
    assert changed(by_size, [(100, F), (70, X), (60, F), (0, Z)]) == ([("+10", F)], joined(1))
    moved = [(size, tag.replace("z.c:1", "z.c:2")) for size, tag in SAME]
    assert changed(SAME, moved)[1] == joined(2)
    # A module alone has another order, or was unloaded.
    loaded = *SAME[:4], (10, MODULE), (5, "m.c:9 [m] func:h"), (20, MODULE), (6, "m.c:10 [m] func:k")
    assert changed(loaded, [*loaded[:4], *loaded[:3:-1]]) == ([], joined(1))
    assert changed(loaded, [*SAME[:4], (8, GONE), *loaded[4:]]) == ([("+8", MODULE)], joined(1))


@needs_feature("sqlite3")
@named("rates/rows-recorded")
def test_rows_recorded(work):
    """A recording numbers the rows of a module; reports and diffs of it have the same numbers."""
    db = record_counts(work, [(1000, 990, GONE), (100, 80, MODULE)], [(100, 80, MODULE)])
    assert diff_rows(f"{db}@1", f"{db}@2") == ([("-10", MODULE)], "")
    assert codetag("report -N -g row -o size,peak,name", db, "module m").out.split(None, 2) == ["20", "20", f"{MODULE} #2\n"]
    # A built-in row does not vanish: the list lacked it.
    db.unlink()
    for rows in SAME, SAME[1:]:
        (work / "list").write_text(listed(*rows, *QUIETS))
        codetag("record -q -c 1 -o", db, *append_to(db), "--allocinfo", work / "list")
    assert diff_rows(f"{db}@1", f"{db}@2") == ([("-100", F)], f"codetag diff: {JOINED}: 1\n")


@named("rates/rows-live")
def test_rows_live(work):
    """The kernel lists its rows in one order."""
    allocinfo = work / "allocinfo"

    def grow(second):
        allocinfo.write_text(listed(*((size + second * number, tag) for number, (size, tag) in enumerate(SAME)), *QUIETS))

    diff = in_world(grow, CODETAG, "diff", "--live", 1, "-N", "-g", "row", "-o", "growth,name", "--allocinfo", allocinfo)
    shows(diff, f"+4  {G}", f"+5  {G} #2")


@named("rates/first-lacks")
def test_first_lacks(work):
    """A number that only the earlier reading lacks is missing: the row has not counted from 0 since."""
    counts = Counts(work)

    def pretend(second):
        counts.pretend(second)
        if not second:
            lines = counts.activity.read_text().splitlines(keepends=True)
            counts.activity.write_text("".join(line for line in lines if "alloc_inode" not in line))
    for words in ("top", "--once", "-d", 5), ("diff", "--live", 5):
        result = in_world(pretend, CODETAG, *words, "-N", "-a", "-o", "allocs_recent,allocs_rate,name", *counts.options,
                          status=2)
        shows(result, f"-    -  {INODE}", f"0  0.0  {QUIET}")
        assert "the allocations and frees of 1 of its 3 rows are missing" in result.err


@needs_feature("sqlite3")
@named("rates/gap")
def test_gap(work):
    """A snapshot without allocations and frees, or with a part of them, does not show those of the one before."""
    db = record_counts(work, [(100, 90, MODULE), (1, 0, F)])
    allocinfo, activity = work / "allocinfo", work / "activity"
    codetag("record -q -c 1 --append -o", db, "--allocinfo", allocinfo)
    refused(NOT_KNOWN, "report -s allocs", db)
    assert codetag("report --json", db).json()["rows"][0].get("allocs") is None
    text = activity.read_text()
    activity.write_text(text.replace("100 90", "130 120"))
    codetag("record -q -c 1 --append -o", db, "--allocinfo", allocinfo, "--activity", activity)
    diff = codetag("diff -N -a -s allocs -o allocs_recent,name", f"{db}@1", db)
    assert diff.has(rf" *30  {re.escape(MODULE)}"), str(diff)
    both = codetag("diff -a -o allocs,allocs_recent,name", f"{db}@1", db)
    assert both.has(r" *ALLOCS +RECENT ALLOCS +NAME") and both.has(r"allocations and frees of \d.*")
    assert both.has(r"ALLOCS and FREES: allocations and frees since boot.*"), str(both)
    boot = codetag("diff -a -o allocs,name", f"{db}@1", db)
    assert boot.has("allocations and frees since boot.*") and not boot.has("allocations and frees of.*"), str(boot)
    refused(NOT_KNOWN, "diff -s allocs", f"{db}@2", f"{db}@3")


@needs_feature("sqlite3")
@named("rates/record-part")
def test_record_part(work):
    """A snapshot that lacks rows or numbers is not recorded: they would seem to have vanished."""
    db, allocinfo, activity = (work / name for name in ("part.db", "allocinfo", "activity"))
    rows = *SAME, *QUIETS
    allocinfo.write_text(listed(*rows))
    good = "# activity - version: 1.0\n" + "".join(f"9 {9 - (size > 0)} 0 {tag}\n" for size, tag in rows)
    options = "--allocinfo", allocinfo, "--activity", activity

    def left_out(message, *words, snapshots):
        result = codetag("record -c 1 -o", db, *words, *options, status=2)
        assert message in result.err, str(result)
        assert db.exists() == bool(snapshots)
        assert not snapshots or sql(db, "SELECT count(*) FROM snapshot") == [(snapshots,)]
    damaged = (("\n".join(good.splitlines()[:3]) + "\n", "the allocations and frees of 7 of its 9 rows are missing"),
               (good[:-5], "it is cut"), (good.replace("9 8", "9 x", 1), "does not begin with three numbers"))
    for text, message in damaged:
        activity.write_text(text)
        left_out(message, snapshots=0)
    activity.write_text(good)
    codetag("record -q -c 1 -o", db, *options)
    for text, message in damaged:
        activity.write_text(text)
        left_out(message, "--append", snapshots=1)
    activity.write_text(good)
    allocinfo.write_text(listed(*rows)[:-3])
    left_out("was it cut?", "--append", snapshots=1)


@named("rates/one-snapshot")
def test_one_snapshot():
    """Rates of one snapshot are asked for: a message says that they are not known."""
    for line in "report -o allocs_rate,name", "report --csv -o frees_recent":
        result = codetag(f"{line} --activity {V2_ACTIVITY} {V2}", status=2)
        assert "is one snapshot: allocations and frees between two are not known" in result.err, str(result)


SERIES = f"export --format prometheus --activity {V2_ACTIVITY} {V2} -g dir"


@named("rates/prometheus")
def test_prometheus():
    """A group that wraps around is a small number again, not 4 billion less."""
    shows(codetag(SERIES), "# TYPE codetag_allocations_total counter",
          'codetag_allocations_total{dir="fs/ext4"} 499995', 'codetag_frees_total{dir="mm"} 555')


@needs_program("promtool")
@named("rates/promtool")
def test_promtool():
    run("promtool", "check", "metrics", stdin=codetag(SERIES).raw)


@needs_feature("ncursesw")
@needs_program("tmux")
@named("rates/screen")
def test_screen(work):
    for file in V2, V2_ACTIVITY:
        shutil.copy(file, work)
    command = f"{CODETAG} top -b -d 0.3 handmade-v2.allocinfo"
    with Screen(140, 24, f"{command} --activity handmade-v2.activity", work) as screen:
        screen.has(" ALLOCS/S", "sorted by size")
        screen.keys("A")
        screen.has("sorted by allocations", "rates over 0.")
        screen.keys("t", "A")
        screen.has("a tree is not sorted by these")
        screen.keys("t", "F")
        screen.has("sorted by frees")
        screen.keys("q")
        screen.has("left 0")
    with Screen(140, 24, command, work) as screen:
        screen.has("sorted by size")
        screen.keys("A")
        screen.has("allocations and frees are not known here")
        screen.keys("q")
        screen.has("left 0")


@needs_feature("ncursesw")
@needs_program("tmux")
@named("rates/screen-missing")
def test_screen_missing(work):
    """A number that is missing is marked, and a message says how many rows lack theirs and why."""
    shutil.copy(V2, work)
    lines = V2_ACTIVITY.read_text(encoding="utf-8").splitlines(keepends=True)
    (work / "cut").write_text("".join(line for line in lines if "alloc_inode" not in line), encoding="utf-8")
    with Screen(140, 24, f"{CODETAG} top -b -d 0.3 handmade-v2.allocinfo --activity cut", work) as screen:
        screen.has("1 NOT COUNTED", "1 of 13 rows lack allocations and frees: the file is cut, or of another kernel",
                   "       0        0 ")
        assert re.search(r" - +- +\S+ fs/ext4/super", screen.text()), screen.text()
        screen.keys("q")
        screen.has("left 0")


@needs_feature("sqlite3")
@needs_feature("ncursesw")
@needs_program("tmux")
@named("rates/screen-rows")
def test_screen_rows(work):
    """Rows keep their numbers from snapshot to snapshot of a recording."""
    db = record_counts(work, [(1000, 990, GONE), (100, 80, MODULE)], [(100, 80, MODULE)])
    with Screen(140, 24, f"{CODETAG} replay -g row {db.name} module m", work) as screen:
        screen.has("by row", f"{MODULE} #2")
        screen.keys(">")
        screen.lacks(" 10 ")
        screen.has(f"{MODULE} #2")
        screen.keys("q")
        screen.has("left 0")
