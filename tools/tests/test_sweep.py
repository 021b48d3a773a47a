# SPDX-License-Identifier: GPL-2.0-only
"""codetag sweep on a pretended kernel: the command that it runs writes the kernel's files."""

import re
import shlex
import signal
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

from machines import preloaded
from support import CODETAG, background, file_limit, named, run, table, until

A, B = "mm/a.c:3 func:f", "mm/b.c:5 [m] func:g"
COMMAND = """#!/bin/sh
cd {}
last=$(tail -n 1 armed)
case $last in
*probability=0*) cp scan faults; . ./scanned ;;
*'fault nth='*) echo "$last" >>tried; cp hit faults; . ./struck ;;
*) . ./plain ;;
esac
"""


def row(site, passed=0, failed=0, state="armed"):
    return f"{passed:8} {failed:8} {0:8} {state:8} {site}\n"


class Kernel:
    """The files of the kernel, and the command. It runs the shell script `struck` when its allocation fails,
    `scanned` when the sweep looks where it allocates, and `plain` without a fault."""

    def __init__(self, path):
        self.dir, self.command = path, path / "command"
        for name in ("armed", "control", "queries", "kmsg", "make-it-fail", "drop_caches", "allocinfo", "struck",
                     "scanned", "plain"):
            (path / name).touch()
        (path / "boot_id").write_text("11d32da5-57b3-4f2e-a3f4-1d9e6b5c0a87\n")
        (path / "hit").write_text(row(A, 1, 1, "spent"))
        self.command.write_text(COMMAND.format(shlex.quote(str(path))))
        self.command.chmod(0o755)
        self.passes(A)
        self.reset()

    def passes(self, *sites, never=()):
        """The call sites at which the command allocates, and chosen ones at which it does not"""
        (self.dir / "scan").write_text("".join([row(site, 1) for site in sites] + [row(site) for site in never]))

    def on(self, name, script):
        (self.dir / name).write_text(f"{script}\n")

    def complains(self, text):
        """When an allocation fails"""
        self.on("struck", f"printf '%s\\n' {shlex.quote('3,1,1,-;' + text)} >>kmsg")

    def reset(self):
        """As after a boot: nothing is armed."""
        for name in ("faults", "armed", "tried"):
            (self.dir / name).write_text("")

    def words(self, *options, leaks=0, arguments=()):
        return [CODETAG, "sweep", "--leaks", leaks, "--debugfs", self.dir, *options, "--", self.command, *arguments]

    def environment(self):
        return {"PRETEND": self.dir, **preloaded("pretend-faults")}

    def sweep(self, *options, keep=False, status=0, leaks=0, arguments=(), **more):
        if not keep:
            self.reset()
        return run(*self.words(*options, leaks=leaks, arguments=arguments), status=status, env=self.environment(),
                   **more)

    def tried(self):
        return (self.dir / "tried").read_text().splitlines()


@pytest.fixture
def kernel(work):
    return Kernel(work)


BUG = "BUG: KASAN: slab-out-of-bounds in foo+0x{:x}/0x90 [m], addr ffff88800{:07x} by task sh/{}"


@named("sweep/known")
def test_known(kernel, work):
    """The same complaint is known although its numbers differ; another one at the same site is not."""
    kernel.complains(BUG.format(0x12, 0x3a41c00, 1234))
    kernel.sweep("--journal", work / "journal", status=1)
    kernel.complains(BUG.format(0x18, 0x4b52d08, 99))
    result = kernel.sweep("--known", work / "journal")
    assert result.has(r"log .* known"), str(result)
    assert result.has(r"1 call sites passed.*: 1 complaints of the kernel; 1 of these are known"), str(result)
    for text in (BUG.replace("foo", "bar"), "BUG: unable to handle page fault for address: {:x}{:x}{}",
                 "WARNING: CPU: 1 PID: 7 at mm/a.c:9 f+0x{:x}/0x{:x} {}"):
        kernel.complains(text.format(0x18, 0x4b52d08, 99))
        assert "known" not in kernel.sweep("--known", work / "journal", status=1).out


@named("sweep/interrupted-early")
def test_interrupted_early(kernel):
    """A signal before the first failure: it says how far it came."""
    kernel.on("plain", "kill -INT $PPID; sleep 1")
    assert "interrupted before the first allocation failed" in kernel.sweep(status=2).err
    assert not kernel.tried()


@named("sweep/junit-refused")
def test_junit_refused(kernel, work):
    """A file that cannot be written is refused before the first run."""
    kernel.on("plain", f"touch {work}/ran")
    journal = work / "journal"
    assert "cannot write" in kernel.sweep("--junit", work / "no/such/file", "--journal", journal, status=2).err
    assert not (work / "ran").exists() and not journal.exists()


@named("sweep/known-line")
def test_known_line(kernel, work):
    """A warning of another line of the same function is another one."""
    warning = "WARNING: CPU: {} PID: {} at mm/slub.c:{} f+0x12/0x90"
    kernel.complains(warning.format(1, 77, 4321))
    kernel.sweep("--journal", work / "journal", status=1)
    kernel.complains(warning.format(0, 78, 4321))
    kernel.sweep("--known", work / "journal")
    kernel.complains(warning.format(0, 78, 4330))
    kernel.sweep("--known", work / "journal", status=1)


@named("sweep/known-any")
def test_known_any(kernel, work):
    """An entry without details stands for any complaint at the site, but not for a bad status."""
    (work / "known").write_text(f"log\t1\t{A}\n")
    kernel.complains("BUG: whatever")
    result = kernel.sweep("--known", work / "known", "--ktap")
    assert result.has(rf"not ok 1 {re.escape(A)}, allocation 1 # TODO known: log"), str(result)
    kernel.on("struck", "exit 3")
    kernel.sweep("--known", work / "known", "--allow", 0, status=1)


@named("sweep/known-status")
def test_known_status(kernel, work):
    """The status is the finding: the last line of a command differs from run to run."""
    kernel.on("struck", "echo process $$; exit 3")
    kernel.sweep("--allow", 0, "--journal", work / "journal", status=1)
    kernel.sweep("--allow", 0, "--known", work / "journal")
    kernel.on("struck", "exit 4")
    kernel.sweep("--allow", 0, "--known", work / "journal", status=1)


@named("sweep/known-leak")
def test_known_leak(kernel, work):
    """A leak is known by the call site that loses memory, not by the number of bytes."""
    (work / "held").write_text("0\n")
    leak = ("n=$(($(cat held) + {})); echo $n >held; "
            "printf 'allocinfo - version: 1.0\\n# <size> <calls> <tag info>\\n%s 1 {} func:h\\n' $n >allocinfo")
    (work / "allocinfo").write_text("allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n")
    kernel.on("struck", leak.format(4096, "fs/h.c:7"))
    result = kernel.sweep("--journal", work / "journal", leaks=2, status=1)
    assert result.has(r"leak .* 4096 bytes each time at fs/h\.c:7 func:h"), str(result)
    kernel.on("struck", leak.format(8192, "fs/h.c:7"))
    kernel.sweep("--known", work / "journal", leaks=2)
    kernel.on("struck", leak.format(8192, "fs/h.c:9"))
    kernel.sweep("--known", work / "journal", leaks=2, status=1)


COMPLAINTS = (
    "INFO: trying to register non-static key.",
    "INFO: task sh:77 blocked for more than 120 seconds.",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "WARNING: possible irq lock inversion dependency detected",
    "WARNING: suspicious RCU usage",
    "[ BUG: Invalid wait context ]",
    "BUG: KFENCE: use-after-free read in f+0x12/0x90",
    "BUG kmalloc-64 (Not tainted): Poison overwritten",
    "watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [sh:77]",
    "CPU0: Watchdog detected hard LOCKUP on cpu 1",
    "NMI backtrace for cpu 1",
    "Unable to handle kernel NULL pointer dereference at virtual address 0000000000000010",
    "Internal error: Oops: 0000000096000004 [#1] SMP",
    "kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "unregister_netdevice: waiting for lo to become free. Usage count = 2",
    "Freeing alive in_device 00000000abcdef01",
    "kobject: kobject '(null)' (p): tried to init an initialized object, something is seriously wrong.",
    "sysfs: cannot create duplicate filename '/x'",
    "mm/pgtable-generic.c:42: bad pmd 00000000abcdef01(80)",
)


@table("text", *((f"sweep/complaint-{number}", text) for number, text in enumerate(COMPLAINTS)))
def test_complaint(kernel, text):
    kernel.complains(text)
    result = kernel.sweep(status=1)
    assert result.has(rf"log .* {re.escape(text)}"), str(result)


@table("text", *((f"sweep/no-complaint-{number}", text) for number, text in enumerate((
    "codetag: DEBUG BUGS_ and info: task", "FAULT_INJECTION: forcing a failure", "SELinux: initialized"))))
def test_no_complaint(kernel, text):
    kernel.complains(text)
    kernel.sweep()


@named("sweep/complaints-of-guests")
def test_complaints_of_guests(work):
    """The tests in guests take their list from the command's."""
    (work / "log").write_text("\n".join((*COMPLAINTS, "DEBUG BUGS", "kasan: KernelAddressSanitizer initialized", "")))
    found = run("bash", "-c", 'set -euo pipefail; ROOT=$PWD/../.. SCRIPTS=$ROOT/scripts; . "$SCRIPTS/guest-lib.sh"; '
                'console_trouble "$0" ""', work / "log")
    assert found.lines == list(COMPLAINTS)


def control(*sites):
    return "".join(f"{site} =p id {number}{' fault ' + fault if fault else ''}\n" for site, number, fault in sites)


@named("sweep/copies")
def test_copies(kernel, work):
    """Each copy of an inlined function is tried alone, and plan, results and journal agree."""
    kernel.passes(A, A, B)
    (work / "control").write_text(control((A, 7, ""), (B, 8, ""), (A, 9, "")))
    result = kernel.sweep("--ktap", "--journal", work / "journal", "--junit", work / "xml")
    assert result.has(r"1\.\.3") and len(re.findall(r"^ok \d", result.out, re.MULTILINE)) == 3, str(result)
    assert result.has(rf"ok 2 {re.escape(A)} copy:2, allocation 1"), str(result)
    assert result.has(r"# 3 call sites passed, 0 never passed, 3 tried, 3 allocations made to fail: 3 ok"), str(result)
    assert [re.findall(r"file mm/(.)\.c line \d func \w (?:id (\d+)|module m) fault", line) for line in kernel.tried()] == [
        [("a", "7")], [("a", "9")], [("b", "")]]
    again = kernel.sweep("--ktap", "--journal", work / "journal")
    assert again.has(r"1\.\.3") and again.has(r"ok 3 .*") and not kernel.tried(), str(again)
    assert len(ElementTree.parse(work / "xml").findall(".//testcase")) == 3


@table("query, order",
       ("sweep/copies-in-turn", ("id", "7", ";", "id", "9"), ("7", "9")),
       ("sweep/copies-in-reverse", ("id", "9", ";", "id", "7"), ("9", "7")),
       ("sweep/copies-armed-again", ("file", "mm/a.c", ";", "id", "7"), ("9", "7")))
def test_copies_order(kernel, work, query, order):
    """The kernel lists call sites as they were armed last. The counts are those of the right copy."""
    (work / "scan").write_text(row(A, 1) + row(A, 2))
    (work / "control").write_text(control((A, 7, ""), (B, 8, ""), (A, 9, "")))
    kernel.sweep("--nth", 2, " ".join(query))
    tried = Counter(re.search(r"id (\d+) fault", line)[1] for line in kernel.tried())
    assert tried == {order[0]: 1, order[1]: 2}, tried


@table("ids", ("sweep/copies-no-ids", (0, 9)), ("sweep/copies-unloaded", ()))
def test_copies_together(kernel, work, ids):
    """Copies that no id tells apart are one, in plan and results."""
    kernel.passes(A, A)
    (work / "control").write_text(control(*((A, number, "") for number in ids)))
    result = kernel.sweep("--ktap")
    assert result.has(r"1\.\.1") and result.has(r"ok 1 .*") and not result.has(r"ok 2 .*"), str(result)
    assert result.has(r"# 1 call sites passed, 0 never passed, 1 tried, .*") and len(kernel.tried()) == 1, str(result)


@table(
    "before, now, text",
    ("sweep/journal-allow", ("--allow", "0,1"), (), r'has "--allow 0,1", and this one "--allow all"'),
    ("sweep/journal-nth", (), ("--nth", 2), r'has "--nth 1", and this one "--nth 2"'),
    ("sweep/journal-limit", (), ("--limit", 2), r'has "--limit none", and this one "--limit 2"'),
    ("sweep/journal-timeout", (), ("--timeout", 9), r'has "--timeout 60", and this one "--timeout 9"'),
    ("sweep/journal-query", ("file", "mm/*"), ("file", "fs/*"), r"has \"query 'file mm/\*'\""),
)
def test_journal_options(kernel, work, before, now, text):
    kernel.sweep("--journal", work / "journal", *before)
    result = kernel.sweep("--journal", work / "journal", *now, status=2)
    assert re.search(rf"not the journal of this sweep: it {text}", result.err) and not result.out, str(result)
    kernel.sweep("--journal", work / "journal", *before)
    assert not kernel.tried()


@named("sweep/journal-words")
def test_journal_words(kernel, work):
    """Two arguments are not one with a blank, and no character breaks the line."""
    for number, words in enumerate((("a", "b"), ("a b",), ("a' 'b",), ("a\tb", "c\nd\\"), ("",), ())):
        journal = work / f"journal{number}"
        kernel.sweep("--journal", journal, arguments=words)
        head = journal.read_text().splitlines()[0].split("\t")
        assert head[-1].startswith("command ") and len(head) == 8, head
        quoted = run("bash", "-c", f"printf '%s\\0' {head[-1].removeprefix('command ')}").raw
        assert quoted.decode().split("\0")[1:-1] == list(words), head
        for other in range(number):
            kernel.sweep("--journal", work / f"journal{other}", arguments=words, status=2)


@named("sweep/output")
def test_output(kernel):
    """The output of the command goes to no file that could grow, and its last line is reported."""
    kernel.on("plain", "head -c 3000000 /dev/zero")
    kernel.on("struck", "head -c 3000000 /dev/zero; echo; echo the end; exit 3")
    result = kernel.sweep("--allow", 0, status=1, preexec=file_limit(64))
    assert result.has(r"status .* status 3: the end"), str(result)


@named("sweep/output-endless")
def test_output_endless(kernel):
    """A command that prints for ever hangs, and one whose children do has ended."""
    kernel.on("struck", "yes &")
    kernel.sweep(timeout=60)
    kernel.on("struck", "exec yes")
    result = kernel.sweep("--timeout", 1, status=1, timeout=60)
    assert result.has("hang .* more than 1 seconds"), str(result)


@named("sweep/output-closed")
def test_output_closed(kernel):
    """A command may close its output and go on."""
    kernel.on("struck", "exec >&- 2>&-; sleep 0.3; exit 3")
    assert kernel.sweep("--allow", 0, status=1).has("status .* status 3")


def killed(kernel, when, *options):
    """A sweep that is killed while the command runs; the command ends, too."""
    kernel.on(when, "echo $$ >pid; kill -9 $PPID; sleep 60")
    kernel.reset()
    result = run(*kernel.words(*options), status=128 + signal.SIGKILL, env=kernel.environment())
    stat = Path(f"/proc/{(kernel.dir / 'pid').read_text().strip()}/stat")
    until(lambda: not stat.exists() or ") Z " in stat.read_text(), 10)
    kernel.on(when, "")
    return result


NTH = "nth=1 verbose=0 task-filter=1"
SCAN = "probability=0 interval=1 times=-1 space=0 verbose=0 task-filter=1"


@table("when, site, fault, query",
       ("sweep/killed", "struck", A, NTH, f"file mm/a.c line 3 func f module vmlinux fault {NTH}"),
       ("sweep/killed-scan", "scanned", A, SCAN, "module m fault probability=0 times=-1 verbose=0 task-filter=1"))
def test_killed(kernel, work, when, site, fault, query):
    """The same command line removes the fault that a killed sweep has left, says so, and goes on."""
    options = "--journal", work / "journal"
    killed(kernel, when, *options)
    (work / "faults").write_text(row(site, 1))
    (work / "control").write_text(control((site, 7, fault)))
    (work / "queries").write_text(f"4: {query}\n" if query else "")
    (work / "armed").write_text("")
    result = kernel.sweep(*options, keep=True)
    assert "the sweep of this journal was killed" in result.err, str(result)
    assert (work / "armed").read_text().startswith("fault=off\n")
    assert ("remove 4" in (work / "queries").read_text()) == bool(query)
    assert result.has(r"1 call sites passed, .*: 1 ok"), str(result)


@named("sweep/killed-copy")
def test_killed_copy(kernel, work):
    """The fault of the second copy of an inlined function is removed, and that copy is tried next."""
    kernel.passes(A, A)
    (work / "control").write_text(control((A, 7, ""), (A, 9, "")))
    options = "--journal", work / "journal"
    killed(kernel, "struck", *options)
    kernel.on("struck", "")
    (work / "faults").write_text(row(A, 1))
    (work / "control").write_text(control((A, 7, NTH), (A, 9, "")))
    first = kernel.sweep(*options, keep=True)
    assert "was killed" in first.err and first.has(r"2 call sites passed, .*: 2 ok"), str(first)
    (work / "journal").unlink()
    kernel.on("struck", "case $(tail -n 1 armed) in *'id 9 '*) echo $$ >pid; kill -9 $PPID; sleep 60 ;; esac")
    kernel.reset()
    run(*kernel.words(*options), status=128 + signal.SIGKILL, env=kernel.environment())
    assert " copy:2" in (work / "journal").read_text()
    kernel.on("struck", "")
    (work / "faults").write_text(row(A, 1))
    (work / "control").write_text(control((A, 7, ""), (A, 9, NTH)))
    (work / "tried").write_text("")
    second = kernel.sweep(*options, keep=True)
    assert "was killed" in second.err and second.has(r"2 call sites passed, .*: 2 ok"), str(second)
    assert [re.search(r"id (\d+)", line)[1] for line in kernel.tried()] == ["9"]


@named("sweep/killed-module")
def test_killed_module(kernel, work):
    """The query that waits for an unloaded module is removed, too."""
    options = "--journal", work / "journal"
    killed(kernel, "struck", *options)
    kernel.reset()
    (work / "queries").write_text(f"4: module m fault {NTH}\n5: module m fault nth=7\n")
    assert "was killed" in kernel.sweep(*options, keep=True).err
    assert (work / "queries").read_text().startswith("remove 4\n")


@table("site, fault", ("sweep/killed-other-site", B, NTH), ("sweep/killed-other-fault", A, "nth=1 verbose=1 task-filter=0"))
def test_not_left(kernel, work, site, fault):
    """Faults of somebody else stay."""
    options = "--journal", work / "journal"
    killed(kernel, "struck", *options)
    (work / "armed").write_text("")
    (work / "faults").write_text(row(site, 1))
    (work / "control").write_text(control((site, 7, fault)))
    result = kernel.sweep(*options, keep=True, status=2)
    assert "1 call sites have a fault already" in result.err and not (work / "armed").read_text(), str(result)


@named("sweep/two")
def test_two(kernel, work):
    """A second sweep is refused, and changes nothing."""
    kernel.on("struck", "touch there; sleep 60")
    environment = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in kernel.environment().items())
    with background("sh", "-c", f"{environment} exec \"$@\"", "sh", *kernel.words()) as first:
        until((work / "there").exists)
        before = (work / "armed").read_text()
        assert "another sweep is running" in kernel.sweep(keep=True, status=2).err
        assert (work / "armed").read_text() == before
        first.signal(signal.SIGINT)
        first.wait()


@named("sweep/unpassed")
def test_unpassed(kernel, work):
    """Chosen call sites that the command never passes are counted, and listed if asked for."""
    kernel.passes(A, never=(B, "mm/c.c:1 func:c"))
    summary = "1 call sites passed, 2 never passed, 1 tried, 1 allocations made to fail: 1 ok"
    assert kernel.sweep().lines[1:] == [summary]
    assert kernel.sweep("--json").json()["unpassed"] == 2
    result = kernel.sweep("--unpassed")
    assert result.has(rf"unpassed +{re.escape(B)}") and summary in result.lines, str(result)
    result = kernel.sweep("--unpassed", "--ktap", "--journal", work / "journal", "--junit", work / "xml")
    assert result.lines[1:] == ["1..3", f"ok 1 {A}, allocation 1", f"ok 2 {B} # SKIP never passed",
                                "ok 3 mm/c.c:1 func:c # SKIP never passed", f"# {summary}"], str(result)
    suite = ElementTree.parse(work / "xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "0", "2")
    again = kernel.sweep("--unpassed", "--ktap", "--journal", work / "journal")
    assert again.out == result.out, str(again)


@named("sweep/escapes")
def test_escapes(kernel, work):
    """Complaints with characters that XML or KTAP give a meaning to"""
    kernel.complains("BUG: <a> & \"b\" # SKIP 'c'")
    result = kernel.sweep("--ktap", "--junit", work / "xml", status=1)
    assert result.has(rf"not ok 1 {re.escape(A)}, allocation 1"), str(result)
    assert result.has(r"# log: BUG: <a> & \"b\" # SKIP 'c'"), str(result)
    failure = ElementTree.parse(work / "xml").find(".//failure")
    assert failure.get("message").endswith("BUG: <a> & \"b\" # SKIP 'c'")
