# SPDX-License-Identifier: GPL-2.0-only
"""Terminals, colours and memory checks of the ordinary build."""

from pathlib import Path

import pytest

from inputs import CODETAG_ALLOCINFO, MAINLINE_ALLOCINFO, MODERN_TRACE, V1
from screen import on_terminal
from support import CODETAG, HELPERS, SCRATCH, named, needs_feature, needs_program, run, table

REPORT = f"{CODETAG} report {V1}"


@named("terminal/colours")
def test_colours():
    result = on_terminal(REPORT, TERM="xterm")
    assert result.status == 0 and "\x1b" in result.out, str(result)


@table(
    "env",
    ("terminal/no-color", {"TERM": "xterm", "NO_COLOR": 1}),
    ("terminal/dumb", {"TERM": "dumb"}),
)
def test_no_colours(env):
    result = on_terminal(REPORT, **env)
    assert result.status == 0 and "ext4_alloc_inode" in result.out and "\x1b" not in result.out, str(result)


@needs_feature("ncursesw")
@named("terminal/where-headings")
def test_where_headings():
    """The screen always has headings, so without them the table is printed once."""
    result = on_terminal(f"timeout 60 {CODETAG} where --no-recount -N", TERM="xterm")
    assert result.status in (0, 1) and "\x1b[?1049h" not in result.out, str(result)


@needs_feature("ncursesw")
@named("terminal/unknown")
def test_unknown():
    """Not with status 1, as curses would exit; that also leaks."""
    result = on_terminal(f"{CODETAG} top {V1}", TERM="nonesuch",
                         ASAN_OPTIONS="detect_leaks=0")
    assert result.status == 2 and "the terminal 'nonesuch' is not known here" in result.out, str(result)


@named("terminal/safe")
def test_safe(work):
    """Nothing unsafe reaches a terminal; characters that the end of a buffer cuts stay whole."""
    harmless = "x" * 1023 + "äöü" * 3000
    (work / "text").write_text(f"{harmless}\u009b31m\n", encoding="utf-8")
    base = Path("../lib/base")
    sources = [base / f"{name}.c" for name in ("terminal", "text", "message", "memory")]
    run("gcc", "-D_GNU_SOURCE", "-I../lib", "-o", work / "print", HELPERS / "print-guarded.c", *sources)
    assert on_terminal(f"{work}/print {work}/text").out.replace("\r", "") == f"{harmless}?31m\n"


@named("terminal/pprof")
def test_pprof_refuses():
    result = on_terminal(f"{CODETAG} export --format pprof {V1}")
    assert result.status == 2, str(result)


@pytest.fixture(scope="session")
def stripped(clang):
    """Valgrind 3.19 cannot read clang's DWARF 5: it gives up, with status 1."""
    path = SCRATCH / "codetag"
    run("strip", "--strip-debug", "-o", path, clang)
    return path


def memory_is_clean(program, *words, status=0):
    run("valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite",
        "--error-exitcode=99", program, *words, status=status)


@needs_program("valgrind")
@table(
    "status, words",
    ("valgrind/report", 0, ["report", "--tree", MAINLINE_ALLOCINFO]),
    ("valgrind/diff", 0, ["diff", MAINLINE_ALLOCINFO, CODETAG_ALLOCINFO]),
    ("valgrind/trace", 2, ["trace", MODERN_TRACE]),
)
def test_memory(stripped, status, words):
    memory_is_clean(stripped, *words, status=status)


@needs_program("valgrind")
@named("valgrind/pprof")
def test_memory_of_pprof(work, stripped):
    memory_is_clean(stripped, "export", "--format", "pprof", "-o", work / "v.pb.gz", MAINLINE_ALLOCINFO)


@needs_program("valgrind")
@named("valgrind/leaks")
def test_memory_of_leaks(stripped, recording):
    memory_is_clean(stripped, "leaks", recording, status=1)
