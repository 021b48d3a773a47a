# SPDX-License-Identifier: GPL-2.0-only
"""codetag where of this machine, also on a screen."""

import os
import re
import shlex
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from hosts import K, make_host, where_json
from inputs import V1
from machines import in_world
from screen import Screen
from support import CODETAG, codetag, named, needs_feature, needs_program, refused, run, shows, until


def totals():
    """The bytes of all zones, and MemTotal"""
    managed = sum(int(pages) for pages in re.findall(r"(?m)^ +managed +(\d+)$", Path("/proc/zoneinfo").read_text()))
    total = int(re.search(r"(?m)^MemTotal: *(\d+) kB$", Path("/proc/meminfo").read_text())[1]) * K
    return managed * os.sysconf("SC_PAGESIZE"), total


@named("where/live")
def test_live():
    """This machine, whose host may change the totals at any time"""
    for _ in range(10):
        before = totals()
        host = codetag("where --once --json", status=(0, 1)).json()
        if totals() == before:
            break
    assert (host["total"], host["total"] + host["in_no_zone"]) == (min(before), before[1])
    codetag("where --once --pss -N", status=(0, 1))


@named("where/alone")
def test_alone():
    """Without a terminal, codetag alone asks for a command."""
    refused("a command is missing", "")


@needs_feature("sqlite3")
@named("where/boot-recorded")
def test_boot_recorded(work, namespace):
    """Of this machine, from a recording"""
    make_host(work)
    (work / "boot").write_text("boot - version: 1.0\n# x\n 7000 1 init/main.c:621 func:setup_command_line\n")
    recorded = run(
        "unshare", "-m", "sh", "-c",
        'mount -t tmpfs none /sys && mkdir -p /sys/kernel/debug/codetag && cp "$1/boot" /sys/kernel/debug/codetag && '
        f'mount -t tmpfs none /proc && cp "$1"/proc/* /proc && cp {V1} /proc/allocinfo && '
        '"$0" record -q -c 1 -o "$1/one.db"', CODETAG, work, status=None)
    names = [line["name"] for line in where_json(work / "one.db", status=1)["boot_lines"]]
    assert names == ["init/main.c:621 func:setup_command_line"], str(recorded)


def own_files(host, *words):
    """A command with HOST/proc as /proc, and HOST/codetag in debugfs. Sanitizers read their options in
    /proc/self, and threads in /proc/PID."""
    script = """mount -t tmpfs none /sys && mkdir -p /sys/kernel/debug/codetag &&
        mount --bind "$0/codetag" /sys/kernel/debug/codetag && mkdir -p "$0/real" && mount --rbind /proc "$0/real" &&
        ln -sfn "$0/real/self" "$0/proc/self" && ln -sfn "$0/real/$$" "$0/proc/$$" &&
        mount --bind "$0/proc" /proc && exec "$@" """
    return ["unshare", "-m", "sh", "-c", script, str(host), *map(str, words)]


@pytest.fixture
def busy_host(work, namespace):
    """It has three call sites that hold memory, and one that only passes it on."""
    host = make_host(work / "host")
    (host / "codetag").mkdir()
    (host / "proc/allocinfo").write_text("""\
allocinfo - version: 2.0
    40960000    10000 mm/slub.c:2451 func:alloc_slab_page
    30000000   200000 fs/kernfs/dir.c:624 func:__kernfs_new_node
    10240000     2500 drivers/foo/rx.c:412 [foo] func:foo_rx_alloc
           0        0 net/core/skbuff.c:661 func:__alloc_skb
""")
    be_busy(host, 0)
    return host


def be_busy(host, second):
    """The number of allocations of __alloc_skb wraps around after a second."""
    calls = (2 ** 32 - 40000 + 52310 * second) % 2 ** 32
    sites = [(900000 * second, 0, "mm/slub.c:2451 func:alloc_slab_page"),
             (7, 1, "fs/kernfs/dir.c:624 func:__kernfs_new_node"),
             (100 + 2 * second, 90 + 9 * second, "drivers/foo/rx.c:412 [foo] func:foo_rx_alloc"),
             (calls, calls, "net/core/skbuff.c:661 func:__alloc_skb")]
    new = host / "activity.new"
    new.write_text("# activity - version: 1.0\n" + "".join(
        f"{allocs:11} {frees:11} 0 {site}\n" for allocs, frees, site in sites))
    new.rename(host / "codetag/activity")


@named("where/busy")
def test_busy(busy_host):
    """The line that allocates most often is named, even if it holds nothing, and over which time."""
    def where(*words):
        result = in_world(lambda second: be_busy(busy_host, second),
                          *own_files(busy_host, CODETAG, "where", "-d", 8, *words), status=1)
        assert not result.err
        return result

    shows(where(), "Busiest over 8 s: net/core/skbuff.c:661 func:__alloc_skb, 52310 allocs/s, 52310 frees/s")
    busiest = where("--json", "-n", 2).json()["busiest"]
    assert busiest["seconds"] == 8
    assert [(site["name"][-12:], site["size"], site["allocs_recent"], site["frees_rate"])
            for site in busiest["sites"]] == [(":__alloc_skb", 0, 418480, 52310), ("foo_rx_alloc", 10240000, 16, 9)]
    (busy_host / "codetag/activity").unlink()
    result = run(*own_files(busy_host, CODETAG, "where", "-d", "0.1"), status=1)
    shows(result, "Allocations and frees are not known: that needs root, and a kernel with codetag.")
    assert "Busiest" not in result.out
    result = run(*own_files(busy_host, CODETAG, "where"), status=1)
    assert "process memory" in result.out and "Allocations and frees" not in result.out + result.err


@contextmanager
def busy_all_the_time(host):
    """Yields an event: the machine rests while it is set."""
    end, rest = threading.Event(), threading.Event()

    def allocate():
        second = 0
        while not end.wait(0.2):
            if not rest.is_set():
                second += 1
                be_busy(host, second)

    worker = threading.Thread(target=allocate)
    worker.start()
    try:
        yield rest
    finally:
        end.set()
        worker.join()


def first_owner_is(screen, name):
    """Wait until the first row below the headings ends in it."""
    def is_first():
        row = re.search(r" SIZE .*\n(.*)", screen.text())
        return row and row[1].endswith(name)
    until(is_first)


@needs_program("tmux")
@needs_feature("ncursesw")
@named("where/busy-screen")
def test_busy_screen(work, busy_host):
    command = shlex.join(own_files(busy_host, CODETAG, "where", "-d", "0.3"))
    with busy_all_the_time(busy_host) as rest, Screen(80, 24, f"ASAN_OPTIONS=detect_leaks=0 {command}", work) as screen:
        screen.has("codetag where", "Busiest over 0.", "s: skbuff.c:661 __alloc_skb, ")
        screen.keys("A")
        screen.has("           SIZE  ALLOCS/S   FREES/S  everything: call sites")
        first_owner_is(screen, "__alloc_skb")
        assert not screen.now("Busiest")
        rest.set()
        screen.has("nothing was allocated or freed since the last refresh")
        rest.clear()
        screen.lacks("nothing was allocated")
        screen.keys("F")
        first_owner_is(screen, "__alloc_skb")
        screen.keys("s")
        screen.has("           SIZE   SHARE      NUMBER  everything: call sites")
        first_owner_is(screen, "__kernfs_new_node")
        screen.resize(120, 30)
        screen.has("SHARE      NUMBER  ALLOCS/S   FREES/S  everything: call sites")
        first_owner_is(screen, "__kernfs_new_node")
        # Modules, then processes, which the kernel does not count
        screen.keys("Tab", "A")
        screen.has("ALLOCS/S   FREES/S  everything: modules")
        first_owner_is(screen, "vmlinux")
        screen.keys("q")
        screen.has("Busiest over 0.")
        screen.keys("q")
        screen.has("left 0")


@needs_program("tmux")
@needs_feature("ncursesw")
@named("where/screen")
def test_screen(work):
    our_name = Path("/proc/self/comm").read_text().strip()
    with Screen(80, 24, f"ASAN_OPTIONS=detect_leaks=0 {CODETAG}", work) as screen:
        screen.has("codetag where", " at boot + ", "Enter opens, Tab other owners", "process memory")
        screen.keys("/", "PROCESS mem", "Enter")
        screen.has("only: PROCESS mem")
        screen.lacks("unaccounted")
        screen.keys("Enter")
        screen.has("process memory: processes (Tab: others)", our_name)
        screen.keys("Enter")
        screen.has("only a call site has callers")
        screen.keys("h")
        screen.has("show only lines with a text")
        screen.keys("h", "i")
        screen.has("meminfo SReclaimable")
        screen.keys("i", "q")
        screen.has("unaccounted")
        screen.keys("u")
        screen.lacks("G  ")
        screen.keys("Right", "Right", "Left")
        screen.resize(200, 50)
        screen.has("LARGEST OWNER")
        screen.resize(5, 2)
        # Nothing fits, so there is nothing to wait for.
        time.sleep(0.3)
        screen.resize(80, 24)
        screen.has("q quits")
        screen.keys("q")
        screen.has("left 0")
