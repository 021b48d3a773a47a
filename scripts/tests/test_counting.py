# SPDX-License-Identifier: GPL-2.0-only
"""Programs that count: ktap, kcsan-reports."""

import subprocess

import pytest
from helpers import SCRIPTS, outcome, run, table, write

HEAD = "KTAP version 1"


@table(
    "total, lines",
    ("ktap: all good", "2 passed, 0 failed, 0 skipped", [HEAD, "1..2", "ok 1 a", "ok 2 - b"]),
    ("ktap: a failure", "1 passed, 1 failed, 0 skipped", [HEAD, "1..2", "ok 1 a", "not ok 2 b"]),
    ("ktap: a skipped test has not passed", "1 passed, 0 failed, 1 skipped",
     [HEAD, "1..2", "ok 1 a", "ok 2 b # SKIP no such thing"]),
    ("ktap: a failure cannot be skipped", "0 passed, 1 failed, 0 skipped", [HEAD, "1..1", "not ok 1 a # SKIP"]),
    ("ktap: subtests count, their sum does not", "2 passed, 0 failed, 0 skipped",
     [HEAD, "1..1", "  " + HEAD, "  1..2", "  ok 1 a", "  ok 2 b", "ok 1 both"]),
    ("ktap: a failed subtest under a good parent", "1 passed, 1 failed, 0 skipped",
     [HEAD, "1..1", "  " + HEAD, "  1..2", "  ok 1 a", "  not ok 2 b", "ok 1 both"]),
    ("ktap: a failed parent of good subtests", "1 passed, 1 failed, 0 skipped",
     [HEAD, "1..1", "  " + HEAD, "  1..1", "  ok 1 a", "not ok 1 all"]),
    ("ktap: three levels", "2 passed, 0 failed, 0 skipped",
     [HEAD, "1..1", "  " + HEAD, "  1..1", "    " + HEAD, "    1..2", "    ok 1 a", "    ok 2 b",
      "  ok 1 in", "ok 1 out"]),
    ("ktap: truncated", "1 passed, 1 failed, 0 skipped", [HEAD, "1..3", "ok 1 a"]),
    ("ktap: truncated in a subtest", "1 passed, 3 failed, 0 skipped",
     [HEAD, "1..1", "  " + HEAD, "  1..2", "  ok 1 a"]),
    ("ktap: more than planned", "2 passed, 1 failed, 0 skipped", [HEAD, "1..1", "ok 1 a", "ok 2 b"]),
    ("ktap: no plan", "1 passed, 1 failed, 0 skipped", [HEAD, "ok 1 a"]),
    ("ktap: parameters of KUnit have no plan", "2 passed, 0 failed, 0 skipped",
     [HEAD, "1..1", "  " + HEAD, "  # Subtest: s", "  ok 1 a", "  ok 2 b", "ok 1 s"]),
    ("ktap: but their end", "1 passed, 3 failed, 0 skipped",
     [HEAD, "1..1", "  " + HEAD, "  # Subtest: s", "  ok 1 a"]),
    ("ktap: a subtest of another kind without plan", "1 passed, 1 failed, 0 skipped",
     [HEAD, "1..1", "  " + HEAD, "  # something", "  ok 1 a", "ok 1 s"]),
    ("ktap: numbers twice", "2 passed, 1 failed, 0 skipped", [HEAD, "1..2", "ok 1 a", "ok 1 a"]),
    ("ktap: bailed out", "1 passed, 1 failed, 0 skipped", [HEAD, "1..1", "ok 1 a", "Bail out! no memory"]),
    ("ktap: no tests", "0 passed, 1 failed, 0 skipped", [HEAD, "1..0"]),
    ("ktap: everything skipped", "0 passed, 0 failed, 1 skipped", [HEAD, "1..0 # SKIP"]),
    ("ktap: nothing", "0 passed, 1 failed, 0 skipped", [""]),
    ("ktap: other text between", "1 passed, 0 failed, 0 skipped",
     ["[    0.1] booting", HEAD, "# Subtest: x", "1..1", "something else ok 7", "ok 1 a"]),
)
def test_ktap(total, lines):
    done = subprocess.run([SCRIPTS / "ktap", "-"], input="\n".join(lines) + "\n", text=True,
                          stdout=subprocess.PIPE, check=False)
    assert done.stdout.splitlines()[-1] == total


@pytest.fixture(scope="session")
def kcsan_kernel(tmp_path_factory):
    """A program whose debugging information has paths like those of a kernel."""
    top = tmp_path_factory.mktemp("kcsan")
    write(top / "include/linux/alloc_tag.h", "static inline int alloc_tag_read(volatile int *p) { return *p; }\n")
    write(top / "mm/codetag/fake.c", "int codetag_read(volatile int *p) { return *p + 1; }\n")
    write(top / "mm/other.c", """\
        #include "../include/linux/alloc_tag.h"
        int other_inlined(volatile int *p) { return alloc_tag_read(p); }
        int other_alone(volatile int *p) { return *p + 2; }
        """)
    run("gcc", "-g", "-O2", "-nostdlib", "-static", "-Wl,-e,0", "-o", top / "vmlinux",
        top / "mm/codetag/fake.c", top / "mm/other.c")
    return top / "vmlinux"


def kcsan_report(vmlinux, functions):
    """A report as it is in a log, of an access in the first function, which the next one calls."""
    sizes = {name: size.lstrip("0") for _, size, _, name in
             (line.split() for line in run("nm", "-S", vmlinux).splitlines() if line.count(" ") == 3)}
    lines = ["=========", f"BUG: KCSAN: data-race in {functions[0]} / other_alone", "",
             "read to 0x1 of 4 bytes by task 1 on cpu 0:",
             *(f" {name}+0x1/0x{sizes[name]}" for name in functions), "", "========="]
    return "".join(f"[    1.0] {line}\n" for line in lines)


@table(
    "total, reports",
    ("kcsan: an access of other code", "1 reports, 0 of codetag, 0 different", ["other_alone"]),
    ("kcsan: an access of codetag, twice", "2 reports, 2 of codetag, 1 different", ["codetag_read", "codetag_read"]),
    ("kcsan: an inlined access of codetag", "1 reports, 1 of codetag, 1 different", ["other_inlined"]),
    ("kcsan: codetag is the caller", "1 reports, 1 of codetag, 1 different", ["other_alone codetag_read"]),
    ("kcsan: the caller has an inlined function", "1 reports, 0 of codetag, 0 different",
     ["other_alone other_inlined"]),
)
def test_kcsan(total, reports, kcsan_kernel, work):
    log = write(work / "log", "".join(kcsan_report(kcsan_kernel, report.split()) for report in reports))
    assert outcome(SCRIPTS / "kcsan-reports", kcsan_kernel, log).splitlines()[-1] == f"kcsan: {total}"
