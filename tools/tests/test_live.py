# SPDX-License-Identifier: GPL-2.0-only
"""top and slabs on a terminal of their own, driven through tmux."""

import itertools
import re
import shutil
import time
from pathlib import Path

import pytest

from inputs import CODETAG_SLABINFO, V2
from screen import Screen
from support import CODETAG, codetag, named, needs_feature, needs_program, until

pytestmark = [needs_program("tmux"), needs_feature("ncursesw")]


@pytest.fixture
def allocinfo(work):
    """A file for top, which a test can change"""
    return Path(shutil.copy(V2, work / "live.allocinfo"))


def marked(screen, name):
    """Whether the row of this name is reversed"""
    return re.search(rf"^\x1b\[7m.* {name}", screen.tmux("capture-pane", "-pe"), re.MULTILINE)


def rows_begin_blank(screen):
    return {line[:2] for line in screen.text().splitlines()[4:10]} == {"  "}


@named("top/live")
def test_top(work, allocinfo):
    text = V2.read_text(encoding="utf-8")

    def holds(size):
        allocinfo.write_text(text.replace("1048576 ", f"{size} "))

    with Screen(80, 24, f"{CODETAG} top -b -d 0.3 {allocinfo.name}", work) as screen:
        screen.has("12 sites hold 1114208 in 311 allocations", "by site, sorted by size, every 0.3 s",
                   " filemap.c:1950")
        growth(screen, holds)
        filters(screen)
        unreadable(screen, allocinfo)
        groups_and_help(screen)
        cursor_and_size(screen)
        screen.keys("q")
        screen.has("left 0")


def growth(screen, holds):
    """The file changes: growth, and its rate, show up for one refresh each time."""
    sizes = itertools.count(9048576, 8000000)

    def grows():
        holds(next(sizes))
        return re.search(r"\+[1-9]\d*000000", screen.text())

    screen.keys("g")
    screen.has("sorted by growth")
    until(grows)
    holds(9048576)
    screen.has("9114208 in 311")
    # Since the start the growth stays on the screen; from now on there is none.
    time.sleep(1)
    assert not screen.now("+8000000")
    screen.keys("d")
    screen.has(", changes since ", "+8000000")
    screen.keys("0")
    screen.lacks("+8000000")
    holds(9048577)
    screen.has(" +1 ")
    time.sleep(1)
    assert screen.now(" +1 ")
    holds(9048576)
    screen.keys("d")
    screen.lacks("changes since")


def filters(screen):
    screen.keys("s", "/", "module ext4", "Enter")
    screen.has("3 sites hold 36864 in 9 allocations", "filter: module ext4")
    screen.keys("/", "bad x", "Enter")
    screen.has("bad query, at 'bad'")
    # Escape keeps the present filter, at once; typed letters can be deleted.
    screen.keys("/", "module nope", "Escape")
    screen.has("q quit, h help", "3 sites hold 36864 in 9 allocations")
    screen.keys("/", "junk", "C-u", "module virx", "BSpace", "tio_net", "Enter")
    screen.has("filter: module virtio_net")
    screen.keys("/", "Enter", "End")


def unreadable(screen, file):
    """A file that is gone for a while is a message, for that while."""
    gone = file.rename(f"{file}.good")
    screen.has(f"cannot read {file.name}: No such file or directory")
    gone.rename(file)
    screen.has("q quit, h help")


def groups_and_help(screen):
    screen.keys("b", "b", "b", "b")
    screen.has("by module, sorted", "vmlinux")
    # t is a tree, as in htop.
    screen.keys("t")
    screen.has("by tree, sorted by size", "100.0% ./", "  mm/", "    filemap.c")
    screen.keys("t")
    screen.has("by module, sorted")
    screen.keys(" ")
    screen.has("FROZEN")
    screen.keys("h")
    screen.has("this help")
    screen.keys("p")
    screen.has("not a file")
    screen.keys("Enter")
    screen.has("not a copy of allocinfo")
    screen.keys("h", "u")
    screen.has("8.7M")


def cursor_and_size(screen):
    """The row of the cursor is marked; names are scrolled sideways. On a narrow screen the least
    important columns go, and no line wraps."""
    screen.keys("Down")
    until(lambda: marked(screen, "ext4"))
    screen.keys("Right")
    screen.has("<")
    assert not screen.now("vmlinux")
    screen.keys("Left")
    screen.has("vmlinux")
    screen.resize(40, 10)
    screen.has("   SIZE   CHANGE  SHARE NAME")
    screen.keys("h")
    screen.has("  s c a n g       sort by size, calls, >")
    until(lambda: rows_begin_blank(screen))
    screen.keys("h")
    screen.resize(5, 2)
    time.sleep(0.3)
    screen.resize(120, 30)
    screen.has("vmlinux")


@named("top/toggle")
def test_toggle(work, allocinfo):
    """p switches the call site under the cursor, by the ids of its rows."""
    control = work / "control"
    sites = [re.sub(r" *\d* *\d* ", "", line, count=1).rstrip() for line in allocinfo.read_text().splitlines()[2:]]
    before = "".join(f"{site} =p id 40\n" for site in sites)
    control.write_text(before)
    with Screen(100, 24, f"{CODETAG} top -b -d 9 {allocinfo} --debugfs {work}", work) as screen:
        screen.has("12 sites hold")
        # It asks, and any other key but y changes nothing.
        screen.keys("p")
        screen.has("switch profiling of mm/filemap.c:1950 __filemap_get_folio? y/n")
        screen.keys("t")
        screen.has("q quit, h help")
        assert control.read_text() == before
        screen.keys("p", "y")
        screen.has("mm/filemap.c:1950 __filemap_get_folio: no longer profiled")
        assert control.read_text().splitlines()[0] == "id 40 -p"
        # The same line of a header can be in a module, too, which is another site.
        control.write_text("mm/filemap.c:1950 func:__filemap_get_folio =_ id 41\n"
                           "mm/filemap.c:1950 [x] func:__filemap_get_folio =p id 42\n"
                           "mm/filemap.c:1950 func:__filemap_get_folio =_ id 43\n")
        screen.keys("p", "y")
        screen.has("__filemap_get_folio: profiled from now on")
        assert control.read_text().splitlines()[:2] == ["id 41 +p", "id 43 +p"]
        refusals(screen, control)


def refusals(screen, control):
    """Rows that cannot be switched, and why"""
    control.write_text("")
    screen.keys("p", "y")
    screen.has("the kernel has no such call site now")
    control.write_text("mm/filemap.c:1950 func:__filemap_get_folio =_ id 0\n")
    screen.keys("p", "y")
    screen.has("no id of its own")
    control.unlink()
    screen.keys("p", "y")
    screen.has("this kernel cannot switch call sites")
    screen.keys("b", "p")
    screen.has("only call sites can be switched")


@named("top/contexts")
def test_contexts(work, allocinfo):
    """Enter shows the contexts of the row, and what they hold now."""
    contexts, new = work / "contexts", work / "new"
    contexts.write_text("# contexts - version: 1.0\n"
                        "640 10 20 mm/filemap.c:1950 func:__filemap_get_folio age=0-9\n one+0x1/0x2\n"
                        "64000 10 20 mm/filemap.c:1950 func:__filemap_get_folio age=9-19\n two+0x1/0x2\n"
                        "4711 10 20 mm/other.c:1950 func:other age=0-9\n")
    with Screen(100, 24, f"{CODETAG} top -b -d 0.3 {allocinfo} --debugfs {work}", work) as screen:
        screen.has("12 sites hold")
        screen.keys("Enter")
        screen.has("ALLOCS  CONTEXT", "64000       10       20  age=9-19 two", "Enter goes back")
        text = screen.text()
        assert "4711" not in text and "filemap" not in text
        new.write_text(contexts.read_text().replace("\n640 10 ", "\n777640 12 "))
        new.rename(contexts)
        screen.has("777640       12       20  age=0-9 one")
        assert not screen.now("not understood")
        with contexts.open("a") as file:
            file.write("what is this\n")
        screen.has("some lines were not understood")
        screen.keys("Enter")
        screen.has("filemap.c:1950")
        screen.keys("Down", "Enter")
        screen.has("it is not split: codetag split func")
        contexts.unlink()
        screen.keys("Home", "Enter")
        screen.has("there are no contexts")
        screen.keys("b", "Enter")
        screen.has("contexts belong to call sites")
        screen.keys("q")
        screen.has("left 0")


@named("slabs/live")
def test_slabs(work):
    """The first cache is the one that slabs prints first; the letters are those of slabtop."""
    slabinfo, new = work / "slabinfo", work / "new"
    shutil.copy(CODETAG_SLABINFO, slabinfo)

    def first_is(name):
        return screen.text().splitlines()[6].split()[-1:] == [name]

    with Screen(90, 24, f"{CODETAG} slabs --live -b -d 0.3 -f slabinfo --page-size 4096", work) as screen:
        screen.has(codetag("slabs -b -f", CODETAG_SLABINFO).lines[0], "sorted by size of the cache")
        for key in "ablnOpsuvc":
            screen.keys(key)
            name = codetag("slabs -N -b -n 1 -o name -s", key.lower(), "-f", CODETAG_SLABINFO).out.strip()
            assert name
            until(lambda: first_is(name))
        text = CODETAG_SLABINFO.read_text(encoding="utf-8")
        row = "kmalloc-8 700 800 8 512 1 : tunables 0 0 0 : slabdata 9999 9999 0"
        new.write_text(re.sub("^kmalloc-8 .*", row, text, flags=re.MULTILINE))
        new.rename(slabinfo)
        screen.has("  87.5%        8    9999      512    40955904 kmalloc-8")
        gone = slabinfo.rename(work / "slabinfo.gone")
        screen.has("cannot read slabinfo: No such file")
        gone.rename(slabinfo)
        screen.has("q quit, h help")
        screen.keys("h")
        screen.has("sort by pages per slab")
        screen.resize(20, 4)
        screen.keys("h", "NPage", "Down", "Up", "PPage", " ", "Q")
        screen.resize(90, 24)
        screen.has("left 0")
