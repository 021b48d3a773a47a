# SPDX-License-Identifier: GPL-2.0-only
"""replay, of a recording with known trends and of others."""

import pytest

from inputs import V1, V2
from machines import in_world
from outputs import as_expected
from recordings import reads_linearly
from screen import Screen
from support import CODETAG, codetag, named, needs_feature, needs_program, table

pytestmark = needs_feature("sqlite3")


@table(
    "name, line",
    ("replay/list", "replay-list", "replay --list"),
    ("replay/columns", "replay-columns", "replay --list -o size,number"),
    ("replay/columns-json", "replay-columns-json", "replay --list --json -o number,size"),
    ("replay/columns-live", "replay-columns-live", "replay -o size"),
    ("replay/beyond", "replay-beyond", "replay --text 17"),
)
def test_expected(recording, name, line):
    as_expected(name, line, recording)


@table(
    "name, line",
    ("replay/not-a-recording", "replay-not", f"replay {V1} --list"),
    ("replay/missing", "replay-missing", "replay no-such-file"),
)
def test_no_recording(name, line):
    as_expected(name, line)


@named("replay/json")
def test_json(recording):
    listed = codetag("replay --list --json", recording).json()["snapshots"]
    assert len(listed) == 16
    for query in [], ["file mm/slub.c"], ["func alloc_slab_page"]:
        held = codetag("report --json", recording, *query).json()["total"]
        row = codetag("replay --list --json", recording, *query).json()["snapshots"][-1]
        assert (row["size"], row["calls"]) == (held["size"], held["calls"]), query


@named("replay/times")
def test_times(work):
    """Snapshots less than a second apart have times of their own."""
    db = work / "times.db"
    in_world(lambda second: None, CODETAG, "record", "-q", "-o", db, "-c", 3, "-i", "0.25",
             "--allocinfo", V1)
    listed = codetag("replay --list --json", db).json()["snapshots"]
    assert [row["time"] for row in listed] == [1e9, 1e9 + 0.25, 1e9 + 0.5]


@named("replay/linear")
def test_linear():
    reads_linearly("replay --list")


@named("replay/live")
@needs_program("tmux")
@needs_feature("ncursesw")
def test_live(work, recording):
    with Screen(100, 24, f"TZ=UTC {CODETAG} replay {recording.resolve()} -b -d 0.2", work) as screen:
        screen.has("this is the last snapshot", "codetag replay  00:15:00")
        screen.keys("Left", "Left")
        screen.has("00:13:00", "FROZEN")
        screen.keys("Right")
        screen.has("00:14:00", "+65536")
        screen.keys("q")
        screen.has("left 0")


@pytest.fixture
def split_later(work):
    """A recording before any site was split, while the first row was, and together with others"""
    db, now = work / "contexts-live.db", work / "contexts"

    def pretend(second):
        rows = [] if not second else [
            f"{1000 * second} 10 20 mm/filemap.c:1950 func:__filemap_get_folio age=0-9", " one+0x1/0x2",
            "4711 10 20 mm/other.c:1950 func:other age=0-9"]
        now.write_text("\n".join(["# contexts - version: 1.0", *rows, ""]))

    in_world(pretend, CODETAG, "record", "-q", "-o", db, "-c", 3, "-i", 1,
             "--allocinfo", V2, "--contexts", now)
    return db


@named("replay/contexts")
@needs_program("tmux")
@needs_feature("ncursesw")
def test_contexts(work, split_later):
    """Enter shows the contexts of the row in that snapshot."""
    with Screen(100, 24, f"{CODETAG} replay {split_later} -b -d 0.2", work) as screen:
        screen.has("this is the last snapshot")
        screen.keys("Enter")
        screen.has("2000       10       20  age=0-9 one", "ALLOCS  CONTEXT")
        text = screen.text()
        assert "4711" not in text and "filemap" not in text
        screen.keys("Left")
        screen.has("1000       10       20  age=0-9 one")
        screen.keys("Left")
        screen.has("no contexts in this snapshot: no call site was split", "filemap.c:1950")
        screen.keys("Right", "Down", "Enter")
        screen.has("it was not split in this snapshot")
        screen.keys("b", "Enter")
        screen.has("contexts belong to call sites")
        screen.keys("q")
        screen.has("left 0")
