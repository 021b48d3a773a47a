# SPDX-License-Identifier: GPL-2.0-only
"""record: recordings are whole whatever happens, and have what the files had."""

import os
import re
import shutil
import signal
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from inputs import CODETAG_ZONEINFO, MAINLINE_ALLOCINFO, RECORDED_ALLOCINFOS, V1, V2, V2_LATER, allocinfo_of, sites_of
from machines import in_world, preloaded
from recordings import sql
from support import (CODETAG, background, codetag, file_limit, helper, named, needs_feature, needs_program, refused,
                     run, survives, table, until)

pytestmark = needs_feature("sqlite3")
SOURCES = [V2_LATER, *RECORDED_ALLOCINFOS]


def snapshots(db):
    """Their number"""
    return len(codetag("replay --list -N", db).lines)


def recorded(db):
    """Whether it has at least one snapshot"""
    return codetag("replay --list -N", db, status=None).out != ""


@contextmanager
def recorder(db, *words):
    """A recorder in the background, which has written the first snapshot"""
    with background(CODETAG, "record", "-o", db, *words) as running:
        until(lambda: recorded(db))
        yield running


@named("record/make")
def test_make(recording):
    """The recording that many tests read: while it is made, each snapshot is compared with its source."""
    assert snapshots(recording) == 16


@table("source", *((f"record/replay-is-source/{source.name}", source) for source in SOURCES))
def test_replay_is_source(work, source):
    """The text of a replay is the recorded text, byte by byte except for "./"."""
    db = work / "source.db"
    codetag("record -q -c 1", "-o", db, "--allocinfo", source)
    want = b"".join(line.replace(b" ./", b" ", 1) for line in source.read_bytes().splitlines(keepends=True))
    assert codetag("replay --text 1", db).raw == want


@named("record/killed")
def test_killed(work):
    """Killed at any moment, a recording opens and has whole snapshots only."""
    whole = codetag("report --json", MAINLINE_ALLOCINFO).json()["total"]
    for seconds in 0.1, 0.3, 0.5:
        db = work / f"killed-{seconds}.db"
        with recorder(db, "-i", "0.001", "--allocinfo", MAINLINE_ALLOCINFO) as running:
            time.sleep(seconds)
            running.signal(signal.SIGKILL)
            assert running.wait() == 128 + signal.SIGKILL
        listed = [line.split() for line in codetag("replay --list -N -b", db).lines]
        assert listed
        assert {(row[3], row[5]) for row in listed} == {(str(whole["size"]), str(whole["rows"]))}
        codetag("record -q -c 1 --append --allocinfo", MAINLINE_ALLOCINFO, "-o", db)
        assert snapshots(db) == len(listed) + 1


@named("record/copied")
def test_copied(work):
    """A copy of the file alone, made while it is written, has all but the snapshot that is written."""
    db, copy = work / "copied.db", work / "copy.db"
    with recorder(db, "-q", "-i", "0.3", "--allocinfo", MAINLINE_ALLOCINFO) as running:
        until(lambda: snapshots(db) > 1)
        # The next snapshot brings along all that readers held back.
        read = time.time_ns()
        until(lambda: db.stat().st_mtime_ns > read + 1_000_000_000)
        running.signal(signal.SIGSTOP)
        shutil.copy(db, copy)
        have = snapshots(db)
    assert 1 < have <= snapshots(copy) + 1
    codetag("report", copy)


@named("record/kept")
def test_kept(work):
    """On a full disk it says how many snapshots it has kept, and a copy of the file alone has these."""
    db, copy, now = work / "kept.db", work / "copy.db", work / "now"
    sites = sites_of(MAINLINE_ALLOCINFO)
    for kept in range(99):
        now.write_text(allocinfo_of(site._replace(size=site.size + 4096 * (kept + 1)) for site in sites))
        result = codetag("record -q -c 1", "-o", db, "--allocinfo", now, *(["--append"] if kept else []),
                         preexec=file_limit(400), status=(0, 2))
        if result.status:
            break
    shutil.copy(db, copy)
    assert kept >= 2
    assert snapshots(copy) == kept
    assert f"{db} is good up to its last snapshot: it has {kept}." in result.err.splitlines()


@named("record/returning-row")
def test_returning_row(work):
    """Within one run: a row that vanishes and comes back as it was."""
    db, now = work / "returning.db", work / "now"
    lines = V2.read_text(encoding="utf-8").splitlines(keepends=True)

    def pretend(second):
        now.write_text("".join(line for line in lines if second != 1 or "zram" not in line))

    in_world(pretend, CODETAG, "record", "-q", "-o", db, "-c", 3, "-i", 1, "--allocinfo", now)
    found = [[line for line in codetag("replay", db, "--text", number).lines if "zram" in line] for number in (1, 2, 3)]
    assert [len(rows) for rows in found] == [1, 0, 1]
    assert found[0] == found[2]


@named("record/goes-on")
def test_goes_on(work):
    """A read that fails is reported, and does not end the recording."""
    db, now = work / "gap.db", work / "now"
    files = "handmade-v1.allocinfo", "handmade.stats", "handmade-v2.allocinfo"

    def pretend(second):
        shutil.copy(f"data/{files[second]}", now)

    result = in_world(pretend, CODETAG, "record", "-o", db, "-c", 3, "-i", 1, "--allocinfo", now, status=2)
    assert "snapshot 2 is left out, going on" in result.err
    assert result.has(r".*gap\.db: 2 snapshots"), str(result)
    assert snapshots(db) == 2


@named("record/interrupted")
def test_interrupted(work):
    db = work / "interrupted.db"
    with recorder(db, "-i", "0.1", "--allocinfo", V1) as running:
        running.signal(signal.SIGINT)
        running.result()
    assert not Path(f"{db}-wal").exists()


@named("record/interrupted-early")
def test_interrupted_early(work):
    """A signal that comes just before the recorder sleeps is not lost."""
    db = work / "early.db"
    codetag("record -i 3600 --allocinfo", V1, "-o", db, timeout=60, env=preloaded("early-signal"))
    assert snapshots(db) == 1


@named("record/written")
def test_written(work):
    """A second recorder is refused at once, and the first goes on; after that another may start."""
    db = work / "written.db"
    with recorder(db, "-q", "-i", "0.1", "--allocinfo", V1) as first:
        result = refused(r"written\.db: being written by another codetag record\n",
                         "record -i 0.1 -c 3 --append --allocinfo", V1, "-o", db)
        assert "Wait for it" in result.err
        assert len(result.err.splitlines()) == 2
        before = snapshots(db)
        until(lambda: snapshots(db) > before)
        first.signal(signal.SIGINT)
        first.result()
    codetag("record -q -c 1 --append --allocinfo", V1, "-o", db)


@named("record/stopped")
def test_stopped(work):
    """After it was stopped for some intervals it skips them and keeps to the beat: no two snapshots are
    closer than the interval, except for the late one."""
    db = work / "stopped.db"
    with recorder(db, "-q", "-c", "6", "-i", "1", "--allocinfo", V1) as running:
        running.signal(signal.SIGSTOP)
        time.sleep(5.5)
        running.signal(signal.SIGCONT)
        running.result()
    times = [row["time"] for row in codetag("replay --list --json", db).json()["snapshots"]]
    steps = [later - earlier for earlier, later in zip(times, times[1:])]
    assert sum(step < 0.5 for step in steps) <= 1, steps


@named("record/kernel")
def test_kernel(work, on_machine):
    """Snapshots of another kernel are not added, those of files are."""
    db = work / "other-kernel.db"
    on_machine("record -q -c 1 -o", db)
    on_machine("record -q -c 1 --append -o", db)
    sql(db, "UPDATE meta SET value = ? WHERE key = ?", "6.6.6-other", "kernel")
    result = on_machine("record -c 1 --append -o", db, status=2)
    message = f"other-kernel.db: recorded on Linux 6.6.6-other, and this is {os.uname().release}"
    assert result.has(".*" + re.escape(message), result.err), str(result)
    assert "Begin a new recording" in result.err
    codetag("record -q -c 1 --append --allocinfo", V1, "-o", db)
    assert snapshots(db) == 3


@named("record/refuses")
def test_refuses(recording):
    """Without --append, a recording that exists stays as it is."""
    before = recording.read_bytes()
    refused("recording.db", "record -q -c 1 --allocinfo", V1, "-o", recording)
    assert recording.read_bytes() == before


@named("record/names")
def test_names(work):
    """":memory:" is not a file for SQLite, but here it is one; an empty name is refused."""
    shutil.copy(V1, work / "allocinfo")
    codetag("record -q -c 1 -o :memory: --allocinfo allocinfo", cwd=work)
    codetag("record -q -c 1 -o :memory: --append --allocinfo allocinfo", cwd=work)
    assert (work / ":memory:").stat().st_size
    assert len(codetag("replay --list -N :memory:", cwd=work).lines) == 2
    result = refused("empty", "record -c 1 -o '' --allocinfo allocinfo", cwd=work)
    assert "--help" in result.err


@named("record/needs")
def test_needs(work):
    """A named file that cannot be read is an error, and leaves no recording behind."""
    for option, file in (
            ("--allocinfo", "no-such"), ("--allocinfo", "data/handmade.stats"), ("--meminfo", "no-such"),
            ("--vmstat", "no-such"), ("--slabinfo", "no-such"), ("--slabinfo", V1), ("--meminfo", V1)):
        sound = [] if option == "--allocinfo" else ["--allocinfo", V1]
        refused(re.escape(str(file)), "record -q -c 1", "-o", work / "needs.db", *sound, option, file)
        assert not list(work.iterdir()), (option, file)


@named("record/zoneinfo-cut")
def test_zoneinfo_cut(work):
    """Sums of a part of the zones would be too small."""
    cut = work / "zoneinfo"
    cut.write_text(CODETAG_ZONEINFO.read_text(encoding="utf-8")[:-2])
    refused("or damaged", "record -q -c 1 -o", work / "cut.db", "--allocinfo", V1, "--zoneinfo", cut)
    assert not (work / "cut.db").exists()


@named("record/no-slabinfo")
def test_no_slabinfo(work):
    """A snapshot without a slabinfo has no caches; that is not a wrong format."""
    db = work / "no-slabinfo.db"
    codetag("record -q -c 1 --allocinfo", V1, "-o", db)
    refused("there is no slabinfo in this snapshot", "slabs -f", db)


def write_slabs(file, *rows):
    """A slabinfo; a row is the name of a cache and its numbers, in their order there."""
    row_format = "{} {} {} {} {} {} : tunables 0 0 0 : slabdata {} {} 0\n"
    file.write_text("slabinfo - version: 2.1\n" + "".join(row_format.format(*row) for row in rows))


def slab_values(db, cache, number):
    """The recorded values of the cache in a snapshot, in the order of slabinfo."""
    listed = codetag("replay --list --json --gauge", f"slabinfo.{cache}/*", db).json()
    return list(listed["snapshots"][number - 1]["gauges"].values())


@named("record/repeated")
def test_repeated(work):
    """Rows with one name are one cache: counts are summed, sizes are those of the last row. If meminfo
    has a name twice, the first counts."""
    db, slabinfo, meminfo = work / "repeated.db", work / "slabinfo", work / "meminfo"
    write_slabs(slabinfo, ("twice", 1, 20, 64, 10, 1, 2, 3), ("other", 5, 6, 7, 8, 9, 10, 11),
                ("twice", 30, 40, 128, 20, 2, 4, 5))
    meminfo.write_text("MemTotal: 8 kB\nTwice: 1 kB\nTwice: 2 kB\n")
    for append in [], ["--append"]:
        codetag("record -q -c 1 --allocinfo", V1, "-o", db, *append, "--slabinfo", slabinfo, "--meminfo", meminfo)
    assert slab_values(db, "twice", 1) == [31, 60, 128, 20, 2, 6, 8]
    assert slab_values(db, "other", 2) == [5, 6, 7, 8, 9, 10, 11]
    assert codetag("slabs", "--diff", f"{db}@1", "-f", db).has("0 caches grew.*")
    assert codetag("replay --list --bytes --gauge meminfo.Twice", db).has(".* 1024")


def caches_of(snapshot):
    """Their names"""
    return sorted(row["name"] for row in codetag("slabs --all --json -f", snapshot).json()["rows"])


@named("record/gone-cache")
def test_gone_cache(work):
    """A cache that is gone is in no later snapshot, and 0 as a gauge. Without a whole slabinfo, no cache
    is taken to be gone."""
    db, now = work / "gone.db", work / "slabinfo"
    both, one, broken = (work / name for name in ("both", "one", "broken"))
    stays, goes = ("stays", 5, 6, 7, 8, 9, 10, 11), ("goes", 1, 2, 3, 4, 5, 6, 7)
    write_slabs(both, stays, goes)
    write_slabs(one, stays)
    write_slabs(broken, stays, ("broken", -1, 0, 0, 0, 0, 0, 0))

    def pretend(second):
        shutil.copy((both, broken, one, one)[second], now)

    in_world(pretend, CODETAG, "record", "-q", "-o", db, "-c", 4, "-i", 1, "--allocinfo", V1, "--slabinfo", now,
             status=2)
    for slabinfo in one, both, None, one:
        codetag("record -q -c 1 --append --allocinfo", V1, "-o", db,
                *(["--slabinfo", slabinfo] if slabinfo else []))
    assert [caches_of(f"{db}@{number}") for number in range(1, 9)] == [
        ["goes", "stays"], ["goes", "stays"], ["stays"], ["stays"],
        ["stays"], ["goes", "stays"], ["goes", "stays"], ["stays"]]
    assert slab_values(db, "goes", 2) == [1, 2, 3, 4, 5, 6, 7]
    assert slab_values(db, "goes", 4) == [0] * 7
    assert slab_values(db, "goes", 6) == [1, 2, 3, 4, 5, 6, 7]
    assert codetag("slabs", "--diff", f"{db}@1", "-f", f"{db}@4").has(".* gone  *goes")
    assert sql(db, "SELECT snapshot, count(*) FROM sample GROUP BY snapshot ORDER BY snapshot") == [
        (1, 14), (3, 7), (6, 7), (8, 7)]


@named("record/no-room")
def test_no_room(work):
    """If there is no space for the first snapshot, no file is left; an existing recording stays."""
    db = work / "no-room.db"
    for kib in 2, 64:  # no room for the tables, and for them alone
        refused(r"no-room\.db", "record -q -c 1 --allocinfo", MAINLINE_ALLOCINFO, "-o", db, preexec=file_limit(kib))
        assert not list(work.iterdir()), kib
    codetag("record -q -c 1 --allocinfo", V1, "-o", db)
    codetag("record -q -c 1 --append --allocinfo", MAINLINE_ALLOCINFO, "-o", db, preexec=file_limit(64), status=2)
    assert snapshots(db) == 1


@pytest.fixture
def place():
    """A directory that every user can reach"""
    with tempfile.TemporaryDirectory(prefix="codetag-", dir="/tmp") as name:
        yield Path(name)
        os.chmod(name, 0o755)


@named("record/read-only")
@needs_program("setpriv")
def test_read_only(place, recording):
    """A file is read, whatever its name, even if neither it nor its directory can be written. A file of
    SQLite's beside it that cannot be read is an error, which SQLite reports."""
    user = ["setpriv", "--reuid=65534", "--clear-groups"] if os.getuid() == 0 else []
    db = "a?b#c%20%d e.db"

    def listed(*words, **options):
        return run(*user, "./codetag", "replay", "--list", *words, cwd=place, **options)

    shutil.copy(CODETAG, place / "codetag")
    shutil.copy(recording, place / db)
    (place / "link.db").symlink_to(db)
    (place / "none.db").write_text("nothing\n")
    (place / "cut.db").write_bytes(recording.read_bytes()[:2048])
    for name in db, "none.db", "cut.db":
        (place / name).chmod(0o444)
    (place / "codetag").chmod(0o555)
    place.chmod(0o555)
    for file in db, place / db, f"//{place}/{db}", "link.db":
        assert len(listed("-N", file).lines) == 16, file
    none, cut = listed("none.db", status=2), listed("cut.db", status=2)
    assert none.has(r".*none\.db: not a recording of codetag", none.err), str(none)
    assert cut.has(r".*cut\.db: database disk image is malformed", cut.err), str(cut)
    place.chmod(0o755)
    (place / f"{db}-wal").write_text("something\n")
    place.chmod(0o555)
    beside = listed(db, status=2)
    assert beside.has(r".*e\.db: unable to open database file", beside.err), str(beside)


@named("record/no-allocinfo")
def test_no_allocinfo(recording):
    """A user who takes it for an allocinfo gets a hint."""
    refused("codetag replay", "disable --dry-run --all --allocinfo", recording)


@named("record/damaged")
def test_damaged(work, recording):
    copy = work / "damaged.db"
    survives(CODETAG, "leaks", "--all", copy, file=recording, copy=copy, times=25, most=60, first=100)


@named("record/large-schema")
def test_large_schema(work, recording):
    """The large recordings are made by a script that has to know the schema."""
    def schema(db):
        rows = sql(db, "SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name")
        return [" ".join(text.split()) for text, in rows]

    helper("make-large-recording", work / "schema.db", 3, 4)
    assert schema(work / "schema.db") == schema(recording)


@named("record/service")
def test_service(work):
    """The script of Debian's service begins another recording only if this one is damaged."""
    state, command, once = work / "state", work / "codetag", work / "once"
    state.mkdir()
    # The command reads the file "once" one time only.
    command.write_text(f'#!/bin/sh\ncd {work}\nmv once now 2>/dev/null || cp {V2.resolve()} now\n'
                       f'cd {state}\nexec {CODETAG} "$@" --allocinfo ../now\n')
    command.chmod(0o755)

    def service(status):
        run("../../packaging/debian/snapshot", status=status,
            env={"STATE_DIRECTORY": state, "PATH": f"{work}:{os.environ['PATH']}"})
        return sorted(state.glob("*.db"))

    db, = service(0)
    # The name of a recording is the time in seconds.
    time.sleep(1)
    assert service(0) == [db] and snapshots(db) == 2
    for rows in V2.read_bytes()[:-9], b"something else\n":
        once.write_bytes(rows)
        assert service(2) == [db] and snapshots(db) == 2
    db.write_bytes(b"x" * 4096)
    damaged, other = service(0)
    assert damaged == db and snapshots(other) == 1
