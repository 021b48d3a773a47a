# SPDX-License-Identifier: GPL-2.0-only
"""trace: the accounts of a log, of saved accounts, of a binary trace and of this machine."""

import array
import fcntl
import os
import random
import re
import resource
import signal
import termios
from collections import Counter, defaultdict
from contextlib import contextmanager
from pathlib import Path

import pytest

from inputs import CODETAG_SLABINFO, CODETAG_TRACE, MODERN_TRACE, OLD_TRACE, RECORDED, V1
from machines import preloaded
from outputs import golden_output, page_data
from recordings import seconds_of, sql
from support import (CODETAG, SCRATCH, background, codetag, features, helper, named, needs_feature, needs_program,
                     refused, run, survives, table, until)

KMALLOC = "%16s-9 [%03d] d..1. %.6f: kmalloc: call_site=%s ptr=%016x bytes_req=%d bytes_alloc=%d gfp_flags=GFP_KERNEL"
NUMBERS = "total_dynamic", "waste", "total_waste", "current_dynamic"


def text_of(file):
    return Path(file).read_text(encoding="utf-8")


def without(result, *keys):
    """The lines of JSON, except for those of some keys"""
    return [line for line in result.lines if not any(f'"{key}"' in line for key in keys)]


@named("trace/cut")
def test_cut(work):
    """A number that is cut is not used."""
    cut = work / "cut.trace"
    cut.write_bytes(OLD_TRACE.read_bytes()[:-20])
    result = codetag("trace --json", cut, status=2)
    assert '"complete": false' in result.out
    assert "cut.trace: not read to its end" in result.err
    lines = text_of(OLD_TRACE).splitlines(keepends=True)
    sound = codetag("trace --json -", stdin="".join(lines[:-1]))
    assert without(result, "source", "complete") == without(sound, "source", "complete")


@named("trace/too-small")
def test_too_small(work):
    """It is found, and does not make the waste of others less."""
    trace = work / "small.trace"
    lines = (KMALLOC % ("x", 0, 1, "f+0x1/0x2", 0x1000 + place, asked, 128) for place, asked in ((1, 100), (2, 172)))
    trace.write_text("\n".join([*lines, ""]), encoding="utf-8")
    result = codetag("trace", trace)
    assert result.has("current wasted bytes: 28")
    assert result.has(r"given less than was asked for.*: 1; the first was allocated by f\+0x1.*")


@table(
    "given",
    ("trace/linear", None),
    ("trace/linear-asked", 65536),
)
def test_linear(work, given):
    """One caller and many sizes, of requests and objects or of requests only: see reads_linearly()."""
    spent = []
    for sizes in 10000, 40000:
        trace = work / f"{sizes}.trace"
        with open(trace, "w", encoding="utf-8") as file:
            for size in range(1, sizes + 1):
                file.write(KMALLOC % ("x", 0, 1, "f+0x1/0x2", 0x1000 + 64 * size, size, given or size) + "\n")
        spent.append(seconds_of("trace", trace))
    short, long = spent
    assert long < 8 * short + 0.2, spent


def make_trace(path, events):
    """A log in which objects at 4,000 places are allocated and freed"""
    numbers, live = random.Random(1), set()
    with open(path, "w", encoding="utf-8") as file:
        for i in range(events):
            place = numbers.randrange(4000)
            if place in live:
                line = "%16s-9 [%03d] d..1. %.6f: kfree: call_site=free_%d+0x10/0x20 ptr=%016x" % (
                    "bash", i % 2, i / 1e6, place % 7, 4096 + place * 64)
            else:
                line = KMALLOC % ("bash", i % 2, i / 1e6, f"alloc_{place % 53}+0x33/0x120", 4096 + place * 64,
                                  50 + place % 60, 128) + " node=-1 accounted=false"
            live ^= {place}
            file.write(line + "\n")


def values_of(line):
    """The numbers of an event by name; its call site is without the size of the function."""
    values = dict(re.findall(r"(\w+)=(\S+)", line))
    return values | {"call_site": values["call_site"].partition("/")[0]}


def accounts_of(path):
    """The numbers, allocations/frees and name of each caller"""
    objects, sums, allocs, frees = {}, defaultdict(Counter), Counter(), Counter()
    for line in text_of(path).splitlines():
        event = values_of(line)
        if " kmalloc: " in line:
            caller, size = event["call_site"], int(event["bytes_alloc"])
            waste = size - int(event["bytes_req"])
            objects[event["ptr"]] = caller, size, waste
            allocs[caller] += 1
            sums[caller].update(total_dynamic=size, current_dynamic=size, total_waste=waste, waste=waste)
        else:
            caller, size, waste = objects.pop(event["ptr"])
            frees[caller] += 1
            sums[caller].subtract(current_dynamic=size, waste=waste)
    return [[*(str(sums[caller][name]) for name in NUMBERS), f"{allocs[caller]}/{frees[caller]}", caller]
            for caller in allocs]


@named("trace/like-awk")
def test_accounts(work):
    """Totals and every caller, by a function that knows nothing of the command"""
    trace = work / "long.trace"
    make_trace(trace, 40000)
    accounts = codetag("trace -N -b -o", ",".join([*NUMBERS, "alloc/free", "caller"]), trace)
    assert sorted(line.split() for line in accounts.lines) == sorted(accounts_of(trace))


@named("trace/drawn")
def test_drawn(work):
    """Charts and exports of a trace show the same as its accounts."""
    trace, page = CODETAG_TRACE, work / "trace.html"
    rows = codetag("trace --json", trace).json()["rows"]
    for attr in "waste", "total_waste", "total_dynamic", "current_dynamic":
        want = sum(row[attr] for row in rows)
        folded = codetag(f"export --trace {trace} --attr {attr} --format folded")
        assert sum(int(line.split()[-1]) for line in folded.lines) == want, attr
        if "d3" in features():
            codetag(f"chart --trace {trace} --attr {attr} -o", page)
            sites = page_data(page)["sites"]
            assert sum(site["values"][1] for site in sites) == want, attr
            assert all(site["stack"][0] == "vmlinux" for site in sites)


def opened(pid, path):
    """Whether a process has a file open"""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if link.samefile(path):
                return True
        except FileNotFoundError:  # closed meanwhile
            pass
    return False


def waits_for(pid, path, pipe):
    """Whether a process has read everything in a pipe and waits for more"""
    left = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, left)
    asleep = text_of(f"/proc/{pid}/stat").rpartition(") ")[2].startswith("S")
    return opened(pid, path) and not left[0] and asleep


@named("trace/interrupted")
def test_interrupted(work):
    """A pipe without an end: the accounts until Ctrl-C."""
    path = work / "endless"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR)
    try:
        with background(CODETAG, "trace", path) as running:
            os.write(pipe, MODERN_TRACE.read_bytes())
            until(lambda: waits_for(running.pid, path, pipe))
            running.signal(signal.SIGINT)
            result = running.result(status=2)
    finally:
        os.close(pipe)
    assert result.out == codetag("trace", MODERN_TRACE, status=2).out
    assert result.has("codetag trace: interrupted.*", result.err)


@named("trace/sites")
def test_events_of_sites(work):
    """A saved log of traced call sites: the command says what accounts for it."""
    log = work / "sites.trace"
    log.write_text("sh-50 [001] d..2 12.345678: alloc: id=17 address=0xffff888003a1c040 bytes=128 gfp=GFP_KERNEL node=0\n",
                   encoding="utf-8")
    result = codetag("trace", log, status=2)
    assert "no kmem events" in result.err
    assert "codetag trace --record SECONDS QUERY" in result.err
    assert "events/kmem/enable" not in result.err


@named("trace/other-events")
def test_other_events():
    """A trace without a kmem event is a trace; other text is none."""
    head = "# tracer: nop\n#\n"
    event = " sh-4     [000]    10.500000: sched_switch: prev_comm=sh\n"
    dumped = "sh-4         0..... 1234us : sched_switch: prev_comm=sh\n"
    marked = "  sh-4  0d..2.  5us+: sched_switch: prev_comm=sh\n"
    perf = "sh 4 [000] sched:sched_switch: prev_comm=sh\n"
    for text in head, event, dumped, marked, perf, "cpus=2\n", "CPU:1 [LOST 1234 EVENTS]\n":
        assert "no kmem events" in codetag("trace -", stdin=text, status=2).err
    for text in ("root:x:0:0:root:/root:/bin/bash\n", "Note: this: is: prose.\n", "a.c:10:5: error: foo\n",
                 "[    1.234567] e1000 0000:00:03.0: eth0: up\n"):
        assert "no line of it is an event" in codetag("trace -", stdin=text, status=2).err


@named("trace/interrupted-early")
def test_interrupted_early(work):
    """A signal that comes just before the command waits for a pipe is not lost."""
    path = work / "silent"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR)
    try:
        result = codetag("trace", path, status=2, timeout=60, env=preloaded("early-signal"))
    finally:
        os.close(pipe)
    assert result.has("codetag trace: interrupted.*", result.err)


@named("slabs/grow")
def test_slabs_grow(work):
    """A cache whose slabs have become larger has grown, though it has as many of them."""
    slabinfo, larger = CODETAG_SLABINFO, work / "larger"
    larger.write_text(re.sub("^(dentry .* 21 *)1 :", r"\g<1>2 :", text_of(slabinfo), flags=re.MULTILINE),
                      encoding="utf-8")
    grown = codetag(f"slabs --page-size 4096 --diff {slabinfo} -f", larger)
    assert grown.has(r" *\+159744 .* dentry")


@named("trace/callers")
def test_callers(work):
    codetag(f"trace {OLD_TRACE} --callers", work / "callers")
    assert text_of(work / "callers") == "ffffffff810a0033\nffffffff81100010\n"


@named("trace/json")
def test_json():
    codetag("trace --json", MODERN_TRACE, status=2).json()


def requested_not_known(db):
    """As in a recording of call sites: there is no waste then."""
    def known(value):
        sql(db, "UPDATE meta SET value = ? WHERE key = 'requested_unknown' RETURNING key", value)

    known(1)
    accounts = codetag("trace --json --db-file", db, status=2).json()
    for row in accounts["total"], *accounts["rows"]:
        assert {row[key] for key in ("waste", "total_waste", "fragmentation", "total_requested", "mean_requested")} == {None}
        assert row["total_dynamic"] is not None
    shown = codetag("trace --db-file", db, status=2)
    assert shown.has("the events of call sites do not tell .*") and not shown.has(".*wasted bytes.*|fragmentation.*")
    for words in "trace -s waste --db-file", "trace --slab-account --db-file", "export --format folded --attr waste --trace":
        refused("do not tell how much was requested", words, db)
    known(0)


@needs_feature("sqlite3")
@named("trace/db")
def test_saved(work, recording):
    """Saved accounts give the same answers as the log, in any order."""
    db = work / "trace.db"
    shown = codetag(f"trace {MODERN_TRACE} --save-db", db, status=2)
    assert codetag("trace --db-file", db, status=2).out == shown.out
    for option in "--malloc", "--cache", "--cache=dentry", "--slab-account", "--group=size":
        from_log = codetag(f"trace {MODERN_TRACE} {option}", status=2)
        assert codetag(f"trace {option} --db-file", db, status=2).out == from_log.out, option
    ordered = "trace --json --order-by waste"
    from_log = codetag(ordered, MODERN_TRACE, status=2)
    assert without(codetag(f"{ordered} --db-file", db, status=2), "source") == without(from_log, "source")
    refused("exists", f"trace {MODERN_TRACE} --save-db", db)
    refused("not the accounts of a trace", f"trace --db-file {V1}")
    other = refused("not the accounts of a trace", "trace --db-file", recording)
    assert "codetag trace --save-db" in other.err
    requested_not_known(db)
    assert sql(db, "UPDATE meta SET value = 1 WHERE key = ? AND value = 0 RETURNING key", "cut") == [("cut",)]
    cut = codetag("trace --json --db-file", db, status=2)
    assert '"complete": false' in cut.out
    assert "not read to its end" in cut.err
    assert len(sql(db, "DELETE FROM caller WHERE id = (SELECT max(id) FROM caller) RETURNING id")) == 1
    refused("callers that are not there", "trace --db-file", db)


@pytest.fixture
def saved(work):
    """The saved accounts of the recorded trace"""
    codetag(f"trace {CODETAG_TRACE} --save-db", work / "slabs.db")
    return work / "slabs.db"


def live_dentries():
    """How many objects each caller that allocated freed dentries still has"""
    objects, live, callers = {}, Counter(), set()
    for line in text_of(CODETAG_TRACE).splitlines():
        if " kmem_cache_alloc: " in line:
            event = values_of(line)
            objects[event["ptr"]] = event["call_site"]
            live[event["call_site"]] += 1
        elif " kmem_cache_free: " in line:
            event = values_of(line)
            caller = objects.pop(event["ptr"], None)
            live[caller] -= 1
            if event["name"] == "dentry":
                callers.add(caller)
    return [[str(live[caller]), caller] for caller in callers if caller and live[caller] > 0]


@needs_feature("sqlite3")
@named("slabs/trace")
def test_slabs(saved):
    """The live objects of a cache by caller, the same as the log has."""
    want = live_dentries()
    assert want
    shown = codetag(f"slabs -N -b -f {CODETAG_SLABINFO} --trace-db", saved, "dentry")
    rows = [line.split() for line in shown.lines[1:]]
    assert sorted([row[0], row[2]] for row in rows) == sorted(want)


@needs_feature("sqlite3")
@named("slabs/trace-lost")
def test_slabs_lost(work, saved):
    """A message if the log lacks events, and only then"""
    assert not codetag(f"slabs -f {CODETAG_SLABINFO} --trace-db", saved).err
    lost = work / "lost.db"
    codetag(f"trace {MODERN_TRACE} --save-db", lost, status=2)
    assert "events are missing" in codetag(f"slabs -f {CODETAG_SLABINFO} --trace-db", lost, status=2).err


@needs_feature("sqlite3")
@table(
    "option",
    ("slabs/trace-pages", "--pages"),
    ("slabs/trace-tasks", "--group process"),
)
def test_slabs_by_others(work, option):
    """Saved accounts of pages, or by tasks, do not have the call sites of objects."""
    db = work / "other.db"
    codetag(f"trace {option} data/handmade-pages.trace --save-db", db)
    slabs = codetag(f"slabs -f {CODETAG_SLABINFO} --trace-db", db, status=2)
    assert "not the call sites of slab objects" in slabs.err
    assert f"without {option}" in slabs.err


@needs_feature("libtracecmd")
@named("trace/dat")
def test_binary():
    """A binary trace gives the same as the text that trace-cmd makes of it."""
    assert codetag(f"trace {RECORDED}.trace.dat").out == codetag(f"trace {RECORDED}-tracecmd.trace").out
    assert '"caller": "alloc_empty_file' in codetag(f"trace --json {RECORDED}.trace.dat --cache=filp").out


@needs_feature("libtracecmd")
@named("trace/dat-lost")
def test_binary_lost():
    result = codetag(f"trace -n 3 {RECORDED}-lost.trace.dat", merge=True, status=None)
    golden_output("expected/trace-dat-lost", f"{result.out}exit {result.status}\n")


@needs_feature("libtracecmd")
@named("trace/dat-cut")
def test_binary_cut(work):
    cut = work / "cut.dat"
    cut.write_bytes(Path(f"{RECORDED}.trace.dat").read_bytes()[:9000])
    assert "cut.dat: not read to its end" in codetag("trace", cut, status=2).err


@needs_feature("libtracecmd")
@named("trace/dat-damaged")
def test_binary_damaged(work):
    bad = work / "bad.dat"
    survives(CODETAG, "trace", bad, file=f"{RECORDED}.trace.dat", copy=bad, times=40, most=5)


@pytest.fixture
def plain(work):
    """The recorded binary trace without compression, the checksum of which would tell that it was changed"""
    run("trace-cmd", "convert", "-i", f"{RECORDED}.trace.dat", "-o", work / "plain.dat", "--file-version", 6)
    return work / "plain.dat"


@needs_feature("libtracecmd")
@needs_program("trace-cmd")
@named("trace/dat-stacks")
def test_binary_stacks(work, plain):
    """A binary trace also by stack, by process and of pages, with other CPUs between an event and its stack"""
    dat, text = work / "stacks.dat", work / "stacks.trace"
    helper("make-trace-dat", plain, dat)
    text.write_bytes(run("trace-cmd", "report", dat).raw)
    for how in ("", "--stack", "--stack=2", "--stack=9", "--group process", "--pages", "--pages --stack",
                "--pages --group process"):
        from_text = codetag(f"trace {how}", text, merge=True, status=None)
        from_dat = codetag(f"trace {how}", dat, merge=True, status=from_text.status)
        assert from_dat.out.replace(str(dat), str(text)) == from_text.out, how
    stacks = codetag("trace --stack -N -b -o alloc_count,total_dynamic,caller", dat)
    want = text_of("expected/trace-dat-stacks").splitlines()
    assert sorted(line.split() for line in stacks.lines) == sorted(line.split() for line in want)


@needs_feature("libtracecmd")
@needs_program("trace-cmd")
@named("trace/dat-big-endian")
def test_binary_big_endian(work, plain):
    """A binary trace of a big-endian machine, with the same numbers"""
    little, big = work / "little.dat", work / "big.dat"
    helper("make-trace-dat", plain, little)
    helper("make-trace-dat", plain, big, "big")
    assert big.read_bytes()[12] == 1
    for how in "--json", "--stack=2", "--pages", "--group process":
        want = codetag(f"trace {how}", little).out
        assert codetag(f"trace {how}", big).out.replace("big.dat", "little.dat") == want, how


@needs_feature("libtracecmd")
@needs_program("trace-cmd")
@named("trace/dat-again")
def test_binary_again(work, plain):
    """Many CPUs that all have the same records, or more pages than the file has: reading ends soon."""
    two, again = work / "two.dat", work / "again.dat"
    helper("make-trace-dat", plain, two)
    for times in "4000:8", "20000:1":
        helper("repeat-trace-pages", two, again, times)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        result = codetag("trace", again, merge=True, status=None)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        assert re.search("damaged|cut", result.out), str(result)
        assert spent < 3, times


@needs_feature("libtracecmd")
@needs_program("trace-cmd")
@table(
    "kind",
    ("trace/dat-circle-records", 0),
    ("trace/dat-circle", 29),
)
def test_binary_circle(plain, kind):
    """The length of an event leads back to where it is: with records in the circle (0, the type of a long
    record), and without (29, padding)."""
    assert codetag("trace", plain).out == codetag(f"trace {RECORDED}.trace.dat").out
    helper("make-trace-circle", plain, kind)
    result = codetag("trace", plain, merge=True, status=2, timeout=120, env=preloaded("fast-timers"))
    assert "not read to its end" in result.out


def ended(pid):
    """Whether a process ended, or is a zombie"""
    try:
        return ") Z " in text_of(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError):
        return True


@needs_feature("libtracecmd")
@needs_program("trace-cmd")
@named("trace/dat-killed")
def test_binary_killed(plain):
    """Ending the command also ends its process that reads the file, which is stopped: it cannot end by itself."""
    helper("make-trace-circle", plain, 29)
    child = None
    try:
        with background(CODETAG, "trace", plain) as running:
            until(lambda: run("pgrep", "-P", running.pid, status=None).out)
            child = int(run("pgrep", "-P", running.pid).out)
            until(lambda: opened(child, plain))
            os.kill(child, signal.SIGSTOP)
            assert not ended(child)
            running.signal(signal.SIGKILL)
            running.wait()
            until(lambda: ended(child))
    finally:
        if child and not ended(child):
            os.kill(child, signal.SIGKILL)


def record_here(*words, status):
    """Record this machine while programs run."""
    with background("sh", "-c", "while :; do ls -R /usr/include >/dev/null; sleep 0.05; done"):
        return codetag("trace --record 1 --json", *words, status=status)


@pytest.fixture(scope="session")
def recorded():
    """The events of this machine in a second, unless it does not let this user trace"""
    result = record_here("--buffer", "16M", "--save-db", SCRATCH / "recorded-here.db", status=None)
    refusal = "Permission denied|Operation not permitted|there is no tracefs"
    if result.has(f".*cannot trace: ({refusal})", result.err):
        pytest.skip(result.err.partition("\n")[0])
    return result


@needs_feature("libtracecmd")
@named("trace/record")
def test_record(recorded):
    """Allocations and frees were recorded."""
    assert not recorded.status or "events are missing" in recorded.err, str(recorded)
    got = recorded.json()
    rows = got["rows"]
    assert got["events"] and rows and not got["not_understood"]
    assert sum(row["total_dynamic"] for row in rows) == got["total"]["total_dynamic"]
    assert any("+0x" in row["caller"] for row in rows)
    assert not list(Path("/sys/kernel/tracing/instances").glob("codetag-*"))


@needs_feature("libtracecmd")
@named("trace/record-lost")
@pytest.mark.usefixtures("recorded")
def test_record_lost():
    """If the buffer is too small, a message says so and counts the lost events."""
    lost = record_here("--buffer", "4k", status=2)
    assert "events are missing" in lost.err
    assert lost.json()["overwritten"] > 0


def holds(path, text):
    """Whether there is such a file with such a text"""
    return path.exists() and text_of(path) == text


@contextmanager
def recorder_here(preexec=None):
    """A recorder of this machine in the background, and its trace instance"""
    instance = None
    try:
        with background(CODETAG, "trace", "--record", "60", preexec=preexec) as running:
            instance = Path(f"/sys/kernel/tracing/instances/codetag-{running.pid}")
            until(instance.is_dir)
            yield running, instance
    finally:
        if instance and instance.exists():
            instance.rmdir()


@needs_feature("libtracecmd")
@named("trace/record-hung-up")
@pytest.mark.usefixtures("recorded")
def test_record_hung_up():
    """If the terminal goes away, for example with its connection, the kernel stops tracing."""
    # nohup may be around the tests.
    with recorder_here(lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)) as (running, instance):
        running.signal(signal.SIGHUP)
        running.wait()
        assert not instance.exists()


@needs_feature("libtracecmd")
@named("trace/record-held")
@pytest.mark.usefixtures("recorded")
def test_record_held():
    """The kernel removes no instance that another process has open: a message names what is left."""
    with recorder_here() as (running, instance):
        # Events are switched on while tracing is off.
        until(lambda: holds(instance / "events/kmem/kmem_cache_free/enable", "1\n"))
        until(lambda: holds(instance / "tracing_on", "1\n"))
        # Unlike this file, an open trace would stop the events.
        with (instance / "tracing_on").open():
            running.signal(signal.SIGINT)
            result = running.result(status=None)
        assert not result.status or "events are missing" in result.err, str(result)
        assert f"cannot remove {instance}: Device or resource busy" in result.err
        assert f"rmdir {instance}" in result.err
        assert (instance / "events/enable").read_text() == "0\n"


@named("trace/long-line")
def test_long_line(work):
    """A line without an end is no reason to take all memory, and not the end of the file."""
    log = work / "log"
    log.write_text(OLD_TRACE.read_text() + "x" * (2 << 20) + "\n")
    refused("a line is longer than 1 MiB", "trace", log)
    refused("a line is longer than 1 MiB", "trace /dev/zero")
