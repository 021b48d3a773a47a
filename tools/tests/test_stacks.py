# SPDX-License-Identifier: GPL-2.0-only
"""leaks --stacks with a made-up kernel: files that change like those of a kernel in which one caller
of a helper leaks."""

import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from inputs import CODETAG_ALLOCINFO, SPLIT_CONTEXTS
from machines import in_world
from outputs import json_is_documented
from recordings import sql
from support import CODETAG, SCRATCH, codetag, named, needs_feature, refused, survives, table


class Kernel:
    """The files of a made-up kernel in a directory. take() leaks and give() does not; alloc() of b.c is idle.

    From second `when` on happens `event`: a signal, or "contexts", which are gone. `second_site` is a
    line of allocinfo, the second that grows. `task` makes the leaking contexts name a task, and
    `causes` adds a leak that comes in by several stacks.
    """

    def __init__(self, path):
        self.path = path
        self.allocinfo, self.contexts, self.control, self.written, self.split_before = (
            path / name for name in ("allocinfo", "contexts", "control", "written", "split-before"))
        self.when, self.event = 1000, None
        self.second_site, self.task, self.causes = "mm/slub.c:9 func:alloc_slab_page", None, False
        self.control.write_text(
            "a.c:1 func:helper =p id 40\n"
            "b.c:2 func:alloc =p id 41 keys=size,node max=9\n"
            "mm/slub.c:9 func:alloc_slab_page =p id 42\n")
        (path / "age_interval").write_text("60\n")
        self.written.touch()

    def pretend(self, second):
        """Write the files of this second; see in_world()."""
        self.allocinfo.write_text(
            "allocinfo - version: 2.0\n"
            f"{100000 + 640 * second} {100 + second} a.c:1 func:helper\n"
            "5000 5 b.c:2 func:alloc\n"
            f"{9 * second} {second} {self.second_site}\n")
        self.contexts.write_text(
            "# contexts - version: 1.0\n"
            "# site: 100000 100 0 a.c:1 func:helper keys=age,stack depth=16 max=4096 contexts=9\n" +
            "".join(self.contexts_of_age(second - born) for born in range(second + 1)))
        if second < self.when:
            return 0
        if self.event == "contexts":
            self.contexts.unlink()
            return 0
        return self.event

    def contexts_of_age(self, seconds):
        age = f"age={max(seconds - 1, 0)}-{seconds}"
        task = f" task={self.task}" if self.task else ""
        text = (f"640 10 1000 a.c:1 func:helper {age}{task}\n"
                " helper+0x10/0x20\n kstrdup+0x1/0x2\n take+0x10/0x20 [leaky]\n")
        if self.causes:
            text += (f"320 5 5 a.c:1 func:helper {age} task=eater\n"
                     " helper+0x10/0x20\n open_it+0x1/0x2\n do_it+0x1/0x2\n ksys_write+0x1/0x2\n"
                     f"320 5 5 b.c:2 func:alloc {age} task=eater\n"
                     " alloc+0x10/0x20\n do_it+0x5/0x9\n ksys_write+0x1/0x2\n"
                     f"320 5 5 b.c:2 func:alloc {age} task=eater\n"
                     " alloc+0x10/0x20\n other_call+0x5/0x9\n __x64_sys_other+0x1/0x2\n")
        if seconds <= 1:
            text += (f"64000 990 990 a.c:1 func:helper {age}\n"
                     " helper+0x10/0x20\n give+0x10/0x20 [leaky]\n")
        return text

    def run(self, *words, status):
        """Run the command in this world, in which it notes what it writes to the kernel's files."""
        return in_world(self.pretend, CODETAG, *words, "--debugfs", self.path, status=status,
                        env={"WRITTEN": self.written})

    def leaks(self, *words, status=1):
        return self.run("leaks", "--stacks", *words, status=status)

    def wrote(self, *lines):
        assert self.written.read_text().splitlines() == [str(line) for line in lines]

    def split_and_put_back(self, interval):
        """Both sites are split, as few enough are chosen, and restored."""
        self.wrote(interval, "id 40 keys=stack,age,task max=4096", "id 41 keys=stack,age,task max=4096",
                   "id 40 keys=none", "id 41 keys=size,node max=9", 60)


@pytest.fixture
def kernel(work):
    return Kernel(work)


def names_the_caller(result):
    assert " 1. take [leaky] leaks" in result.out
    assert "leaks: 1, unsure: 0" in result.out
    assert "give" not in result.out


@named("leaks/stacks")
def test_names_it(kernel):
    """A whole run: only the site that grows is split, and the leaking caller is named."""
    result = kernel.leaks("--for", 18, "--sites", 1, kernel.allocinfo)
    names_the_caller(result)
    assert "1 in 100 of the allocations of these intervals was not freed" in result.out
    assert "Random ups and downs alone look like this" in result.out
    assert "1 call sites of caches, process memory, slabs" in result.out
    assert not kernel.split_before.exists()
    kernel.wrote(1, "id 40 keys=stack,age,task max=4096", "id 40 keys=none", 60)


@named("leaks/stacks-causes")
def test_causes(kernel):
    """One line for each cause: by the entry function, and by the task. The tool's own allocations are no leak."""
    kernel.causes = True
    kernel.task = "codetag"
    result = kernel.leaks("--for", 18, kernel.allocinfo)
    assert "in do_it, by eater; 3 stacks, 2 call sites" in result.out
    assert "leaks: 1, unsure: 0" in result.out
    assert "take" not in result.out
    kernel.task = "daemon"
    result = kernel.leaks("--for", 18, kernel.allocinfo)
    assert "leaks: 2, unsure: 0" in result.out
    assert ", by daemon" in result.out
    assert len(re.findall(r"^ *\d*\. ", result.out, re.MULTILINE)) == 2


@named("leaks/stacks-off")
def test_off(kernel):
    """A leak at a site that is not profiled cannot be seen, and a message says so."""
    stats = kernel.path / "stats"
    stats.write_text("enabled: 0\n")
    result = kernel.leaks("--for", 18, kernel.allocinfo, status=2)
    assert "profiling is off" in result.err
    kernel.wrote()
    stats.unlink()
    # The kernel makes no contexts for it any more.
    kernel.task = "codetag"
    kernel.control.write_text(kernel.control.read_text().replace("helper =p", "helper =_"))
    result = kernel.leaks("--for", 18, kernel.allocinfo, status=2)
    assert "1 of 2 call sites are not profiled: their numbers are old: a.c:1 helper" in result.err


@named("leaks/stacks-limits")
def test_limits(kernel):
    """A message counts the growing sites that are not watched."""
    kernel.control.write_text(kernel.control.read_text().replace(kernel.second_site, "c.c:9 func:other"))
    kernel.second_site = "c.c:9 func:other"
    result = kernel.leaks("--for", 18, "--sites", 1, kernel.allocinfo)
    assert "2 call sites grew, of which the 1 that grew most" in result.out


@named("leaks/stacks-drop")
def test_drop(kernel):
    """Caches are dropped at the end, and this leak stays; a missing file is reported."""
    result = kernel.leaks("--for", 18, "--drop", kernel.allocinfo, status=2)
    assert "cannot write" in result.err
    (kernel.path / "drop_caches").touch()
    result = kernel.leaks("--for", 18, "--drop", kernel.allocinfo)
    assert "leaks: 1, unsure: 0" in result.out


@named("leaks/stacks-killed")
def test_killed(kernel):
    """A killed run leaves the sites split; the next run, or --restore, restores them."""
    kernel.when, kernel.event = 8, signal.SIGKILL
    kernel.leaks("--for", 40, status=128 + signal.SIGKILL)
    left = kernel.split_before.read_text()
    assert left
    kernel.wrote(3, "id 40 keys=stack,age,task max=4096", "id 41 keys=stack,age,task max=4096")
    kernel.written.write_text("")
    result = kernel.run("split", "--restore", status=0)
    assert "as they were before" in result.out
    kernel.wrote("id 40 keys=none", "id 41 keys=size,node max=9", 60)
    assert not kernel.split_before.exists()
    assert "nothing to put back" in codetag("split --restore --debugfs", kernel.path).out

    kernel.split_before.write_text(left)
    kernel.when = 1000
    result = kernel.leaks("--for", 18, kernel.allocinfo)
    assert "an earlier run was killed" in result.err
    assert not kernel.split_before.exists()

    # The sites of a run that has not ended stay split.
    stat = Path("/proc/self/stat").read_text(encoding="utf-8")
    started = stat.rpartition(") ")[2].split()[19]
    kernel.split_before.write_text(f"{os.getpid()} {started}\n")
    result = kernel.leaks("--for", 18, kernel.allocinfo, status=2)
    assert "runs already" in result.err


@table(
    "number",
    ("leaks/stacks-SIGINT", signal.SIGINT),
    ("leaks/stacks-SIGTERM", signal.SIGTERM),
)
def test_interrupted(kernel, number):
    kernel.when, kernel.event = 8, number
    result = kernel.leaks("--for", 40, status=2)
    assert "too short to tell" in result.err
    kernel.split_and_put_back(3)


@named("leaks/stacks-error")
def test_error(kernel):
    kernel.when, kernel.event = 6, "contexts"
    result = kernel.leaks("--for", 40, status=2)
    assert "No such file" in result.err
    kernel.split_and_put_back(3)


@named("docs/json/leaks-stacks")
def test_json(kernel):
    """Its JSON, from a run that is interrupted as soon as it has enough data."""
    kernel.when, kernel.event = 16, signal.SIGINT
    json_is_documented(kernel.leaks("--for", 20, "--json"))


@pytest.fixture(scope="session")
def recorded():
    """A made-up kernel, and a recording of its first 20 seconds"""
    path = SCRATCH / "stacks-recorded"
    path.mkdir()
    machine, db = Kernel(path), path / "recorded.db"
    in_world(machine.pretend, CODETAG, "record", "-q", "-o", db, "-c", 20, "-i", 1,
             "--allocinfo", machine.allocinfo, "--contexts", machine.contexts)
    return machine, db


@needs_feature("sqlite3")
@named("record/contexts")
def test_recorded(recorded):
    """A recording has all contexts unchanged, and leaks --stacks finds the same caller in it."""
    machine, db = recorded
    for snapshot in 1, 7, 20:
        machine.pretend(snapshot - 1)
        assert codetag("replay --contexts", snapshot, db).raw == machine.contexts.read_bytes()
        of_recording = codetag("contexts", f"{db}@{snapshot}").out.replace(f"{db}@{snapshot}", "x")
        assert of_recording == codetag("contexts", machine.contexts).out.replace(str(machine.contexts), "x")
    assert "take [leaky]" in codetag(f"export --format folded --contexts={db}").out
    names_the_caller(codetag("leaks --stacks", db, status=1))
    result = codetag("leaks --stacks", db, "func other", status=2)
    assert "no call site was split" in result.err


@needs_feature("sqlite3")
@named("record/contexts-damaged")
def test_recorded_damaged(recorded, work):
    """A damaged one gives an error or a result."""
    copy = work / "contexts.db"
    survives(CODETAG, "leaks", "--stacks", copy, file=recorded[1], copy=copy, times=20, most=60, first=100)


@needs_feature("sqlite3")
@named("record/contexts-guest")
def test_recorded_from_guest(work):
    """From a real kernel: each line is unchanged, and each stack is in the file once."""
    db, contexts = work / "guest.db", SPLIT_CONTEXTS.read_bytes()
    codetag(f"record -q -c 2 -i 0.01 --allocinfo {CODETAG_ALLOCINFO} --contexts {SPLIT_CONTEXTS} -o", db)
    assert codetag("replay --contexts 2", db).raw == contexts
    stored = sql(db, "SELECT sum(length(frames)) + (SELECT sum(length(text)) FROM contexts) FROM stack")[0][0]
    assert 0 < stored < len(contexts)


@needs_feature("sqlite3")
@named("record/no-contexts")
def test_recorded_before(kernel, recording):
    """A recording of an earlier version has no contexts and gets them when it goes on."""
    db, bad = kernel.path / "before.db", kernel.path / "bad.db"
    kernel.pretend(3)
    shutil.copy(recording, db)
    for table_name in "contexts", "stack":
        sql(db, f"DROP TABLE {table_name}")
    result = codetag("replay --contexts 1", db, status=2)
    assert "no contexts in snapshot 1" in result.err
    result = codetag("leaks --stacks", db, status=2)
    assert "codetag split QUERY stack age" in result.err

    once = f"record -q -c 1 --allocinfo {kernel.allocinfo}"
    codetag(f"{once} --append --contexts {kernel.contexts} -o", db)
    assert codetag("replay --contexts -1", db).raw == kernel.contexts.read_bytes()
    refused("no contexts in snapshot 1", "replay --contexts 1", db)
    refused("is not in the format of codetag's contexts", f"{once} --contexts {kernel.allocinfo} -o", bad)
    assert not bad.exists()


@table(
    "text, line",
    ("docs/refuses/split-restore", "alone", "split --restore func f none"),
    ("docs/refuses/drop", "--live", "leaks --drop x.db"),
    ("docs/refuses/stacks-for", "too short", "leaks --stacks --for 5s"),
    ("docs/refuses/stacks-live", "--for", "leaks --stacks --live"),
    ("docs/refuses/for", "--stacks", "leaks --for 2m x.db"),
    ("docs/refuses/stacks-group", "--group", "leaks --stacks -g dir"),
)
def test_refuses(text, line):
    refused(text, line)
