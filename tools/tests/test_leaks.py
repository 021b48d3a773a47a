# SPDX-License-Identifier: GPL-2.0-only
"""leaks, of a recording with known trends and of pretended machines."""

from inputs import V2
from machines import in_world
from outputs import as_expected
from recordings import reads_linearly, rebooted, sql
from support import CODETAG, codetag, named, needs_feature, table


@table(
    "name, line, query",
    ("leaks/text", "leaks", "leaks", ()),
    ("leaks/all", "leaks-all", "leaks -H --all", ()),
    ("leaks/json", "leaks-json", "leaks --json", ()),
    ("leaks/none", "leaks-none", "leaks", ("file net/*",)),
)
def test_expected(recording, name, line, query):
    as_expected(name, line, recording, *query)


@named("leaks/min-rate")
def test_min_rate(recording):
    """The leak of the recording is 64K a minute."""
    assert codetag("leaks --min-rate 64K", recording, status=1).has(r" 1\. fs/leaky.*")
    slow = codetag("leaks --min-rate 65K", recording)
    assert slow.has(".*less than --min-rate: 1")
    assert "leaky" not in slow.out


@named("leaks/since-boot")
def test_since_boot(work, recording):
    """After a boot all memory is new: what was held before it says nothing about a leak."""
    db = rebooted(recording, work / "rebooted.db")
    result = codetag("leaks", db, status=1)
    booted = ".*: the machine was booted between snapshots 8 and 9; only the 8 since then are compared"
    assert result.has(booted, result.err), str(result)
    assert result.has("suspects: 1, in 8 snapshots over 420 s.*")
    assert "was booted" not in codetag("leaks", recording, status=1, merge=True).out
    chart = codetag("chart --attr growth", "-o", work / "since-boot.html", db)
    assert chart.has(".*only the 8 since then are compared", chart.err), str(chart)

    # A recording that an earlier version began has no number of the boot.
    sql(db, "DELETE FROM sample WHERE value = 4711")
    assert "was booted" not in codetag("leaks", db, status=1, merge=True).out


@needs_feature("sqlite3")
@named("leaks/boot-recorded")
def test_boot_recorded(work, on_machine):
    """A recording of a machine has a number of its boot."""
    db = work / "boot.db"
    on_machine("record -q -c 1 -o", db, switch=1)
    assert codetag("replay --gauges", db).has(r" *machine\.boot.*")
    on_machine("record -q --append -c 1 -o", db, switch=1)
    on_machine("record -q --append -c 2 -i 0.05 -o", db, switch=1, boot="11d32da6")
    assert sql(db, "SELECT snapshot FROM sample, gauge WHERE gauge = id AND name = 'boot' AND source = 'machine'"
                      " ORDER BY snapshot") == [(1,), (3,)]
    result = codetag("leaks", db, status=2, merge=True)
    assert "was booted between snapshots 2 and 3; only the 2 since" in result.out, str(result)


@named("leaks/linear")
@needs_feature("sqlite3")
def test_linear():
    reads_linearly("leaks")


def watched(pretend, now, *words, status):
    """leaks --live of the file that pretend() writes"""
    return in_world(pretend, CODETAG, "leaks", "--live", "-i", 1, "--allocinfo", now, *words, status=status)


@named("leaks/live")
def test_live(work):
    now = work / "growing"
    text = V2.read_text(encoding="utf-8")
    text = text.replace("func:ext4_alloc_inode", "func:ext4_leaky")

    def pretend(second):
        now.write_text(text.replace(" 32768  ", f" {32768 + 20000 * second}  "))

    found = watched(pretend, now, "-c", 8, "--json", status=1).json()
    assert found["suspects"] == 1
    assert found["rows"][0]["name"] == "fs/ext4/super.c:1384 [ext4] func:ext4_leaky"


@named("leaks/kinds")
def test_kinds(work):
    """Caches, processes and slabs grow like the leak and are no suspects, unless a query names them."""
    now = work / "kinds"

    def pretend(second, leak=0):
        rows = ((9000, "mm/filemap.c:1 func:__filemap_get_folio"), (8000, "fs/dcache.c:2 func:__d_alloc"),
                (7000, "mm/memory.c:3 func:alloc_anon_folio"),
                (6000, "net/ipv4/inet_timewait_sock.c:4 func:inet_twsk_alloc"),
                (9000, "mm/slub.c:5 func:alloc_slab_page"), (leak, "a.c:6 func:f"))
        now.write_text("allocinfo - version: 2.0\n" +
                       "".join(f"{size * second} {second} {site}\n" for size, site in rows))

    result = watched(pretend, now, "-c", 12, status=0)
    assert result.has(r"    cache \+187000 in 2: .*most by mm/filemap\.c:1.*"), str(result)
    assert result.has("    user.*") and result.has("    later.*"), str(result)
    assert "slub" not in result.out
    chosen = watched(pretend, now, "-c", 12, "func", "__d_alloc", status=1)
    assert chosen.has("suspects: 1,.*"), str(chosen)
    leaking = watched(lambda second: pretend(second, leak=5000), now, "-c", 12, status=1)
    assert leaking.has(r" 1\. a\.c:6 func:f.*") and leaking.has("suspects: 1,.*"), str(leaking)


@named("leaks/off")
@needs_feature("sqlite3")
def test_off(work, on_machine):
    """Old numbers are never shown without a message, nor taken for "no leak"."""
    for line in "report", "top --once", "leaks --live -i 0.05 -c 6":
        assert "profiling is off" in on_machine(line, switch=0, status=2, merge=True).out
        assert "profiling is off" not in on_machine(line, switch=1, merge=True).out
    db = work / "off.db"
    on_machine("record -q -c 3 -i 0.05 -o", db, switch=1)
    on_machine("record -q --append -c 4 -i 0.05 -o", db, switch=0)
    assert "profiling was off in some snapshots" in codetag("leaks", db, status=2, merge=True).out
    assert "disabled:yes" not in codetag("replay --text 1", db).out
    assert "disabled:yes" in codetag("replay --text 7", db).out
    codetag("report", f"{db}@1")
    assert "none of these call sites is profiled" in codetag("report", f"{db}@7", status=2, merge=True).out
