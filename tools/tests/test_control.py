# SPDX-License-Identifier: GPL-2.0-only
"""Writes to the control files, and messages about a refusal."""

import errno
import re
import shutil

from inputs import CODETAG_DEBUGFS, HANDMADE_DEBUGFS, SPLIT_CONTEXTS, context_sizes
from machines import in_world, library
from support import CODETAG, codetag, named, table


@named("control/list-chosen")
def test_list_chosen():
    """A query that selects none of the guards, and one that selects no call site at all"""
    for command, what in ("guard", "guards"), ("fault", "faults"):
        line = f"{command} --list --debugfs {HANDMADE_DEBUGFS}"
        assert codetag(line, "func do_initcalls").out == f"there are no {what} at the chosen call sites\n"
        assert "no call site is chosen" in codetag(line, "func nosuch", status=1).err


@table(
    "file, line, text",
    ("control/enable", "control", "enable module ext4", "module ext4 +p"),
    ("control/two", "control", "disable 'file a;' 'func \"b c\" # why'", 'file a -p\nfunc "b c" -p'),
    ("control/all", "control", "disable --all", "-p"),
    ("control/fault", "control", "fault func f", "func f fault"),
    ("control/fault-settings", "control", "fault line 3-7 --probability 5 --times -1 --task-filter=1",
     "line 3-7 fault probability=5 times=-1 task-filter=1"),
    ("control/fault-nth", "control", "fault --nth=3 --verbose 0 id 9", "id 9 fault nth=3 verbose=0"),
    ("control/fault-off", "control", "fault --off --all", "fault=off"),
    ("control/guard", "control", "guard func f", "func f guard"),
    ("control/guard-rate", "control", "guard line 3-7 --rate 100", "line 3-7 guard rate=100"),
    ("control/guard-off", "control", "guard --off module m", "module m guard=off"),
    ("control/trace", "control", "trace --on func f", "func f trace"),
    ("control/trace-all", "control", "trace --all --on", "trace"),
    ("control/trace-off", "control", "trace module m --off line 3-7", "module m line 3-7 trace=off"),
    ("control/split", "control", "split func __alloc_skb stack age depth=8", "func __alloc_skb keys=stack,age depth=8"),
    ("control/split-none", "control", "split func task none", "func task keys=none"),
    ("control/split-two", "control", "split 'func a; func \"b c\"' size max=9",
     'func a keys=size max=9\nfunc "b c" keys=size max=9'),
    ("control/split-all", "control", "split --all node,cpu", "keys=node,cpu"),
    ("control/forget", "queries", "remembered --forget 3", "remove 3"),
    ("control/forget-all", "queries", "remembered --forget all", "remove all"),
)
def test_written(work, file, line, text):
    (work / file).touch()
    codetag(line, "--debugfs", work)
    assert (work / file).read_text() == f"{text}\n"


def preload(error):
    """The environment in which a write() in front of libc's refuses in the kernel's place."""
    return {"REFUSE": error, "LD_PRELOAD": library("refuse-writes")}


@table(
    "error, text, file, line",
    ("control/EINVAL", errno.EINVAL, "dmesg | grep", "control", "enable func f"),
    ("control/E2BIG", errno.E2BIG, "64 KiB", "control", "disable func f"),
    ("control/ENOSPC", errno.ENOSPC, "codetag remembered", "control", "enable module m"),
    ("control/EOPNOTSUPP", errno.EOPNOTSUPP, "CONFIG_CODETAG_FAULT_INJECTION", "control", "fault func f"),
    ("control/guard-EOPNOTSUPP", errno.EOPNOTSUPP, "CONFIG_CODETAG_GUARD", "control", "guard func f"),
    ("control/trace-EOPNOTSUPP", errno.EOPNOTSUPP, "CONFIG_TRACEPOINTS", "control", "trace --on func f"),
    ("control/guard-EINVAL", errno.EINVAL, "no pool of KFENCE", "control", "guard func f"),
    ("control/guard-EBUSY", errno.EBUSY, "no pool of KFENCE", "control", "guard func f"),
    ("control/split-EOPNOTSUPP", errno.EOPNOTSUPP, "CONFIG_CODETAG_CONTEXTS", "control", "split func f size"),
    ("control/ENOMEM", errno.ENOMEM, "changed nothing", "control", "fault func f"),
    ("control/EIO", errno.EIO, "Input/output error", "control", "fault func f"),
    ("control/audit-EPERM", errno.EPERM, "Operation not permitted", "audit", "audit"),
)
def test_refused(work, clang, error, text, file, line):
    refuse(work, clang, error, 2, text, file, line)


@table(
    "status, text, file, line",
    ("control/ENOENT", 1, "no call site is chosen", "control", "disable func f"),
    ("control/trace-ENOENT", 1, "no call site is chosen", "control", "trace --off func f"),
    ("control/split-ENOENT", 1, "no call site is chosen", "control", "split func f size"),
    ("control/forget-none", 1, "there is no query 3", "queries", "remembered --forget 3"),
)
def test_nothing_chosen(work, clang, status, text, file, line):
    refuse(work, clang, errno.ENOENT, status, text, file, line)


def refuse(work, clang, error, status, text, file, line):
    (work / file).touch()
    result = codetag(line, "--debugfs", work, command=clang, env=preload(error), status=status, merge=True)
    assert text in result.out
    assert not (work / file).read_text()


@named("control/one-write")
def test_one_write(work, clang):
    """All or nothing: the kernel has to get the queries in one write, so only one works."""
    (work / "control").touch()
    codetag("disable 'file a; file b' --debugfs", work, command=clang, env=preload("later"))
    assert (work / "control").read_text() == "file a -p\nfile b -p\n"


@named("control/status")
def test_status():
    """Every line of the file is a call site, in its order."""
    with open(f"{CODETAG_DEBUGFS}/control", encoding="utf-8") as file:
        lines = file.read().splitlines()
    want = []
    for line in lines:
        switch = re.search(r" (=\S*)", line)[1]
        want.append(["yes" if switch == "=p" else "no", re.search(r" id (\S+)", line)[1],
                     line.split()[0].removeprefix("./")])
    status = codetag(f"status -a -N --debugfs {CODETAG_DEBUGFS}")
    assert [line.split()[:3] for line in status.lines] == want


@table(
    "action, note, says",
    ("control/reset-guard", "guard", "guard rate=100", "1 guard removed"),
    ("control/reset-trace", "trace", "trace", "1 call site no longer traced"),
    ("control/reset-fault", "fault", "fault times=1", "1 fault removed"),
)
def test_reset(work, action, note, says):
    """reset removes what the line of a site says, and nothing else."""
    (work / "queries").touch()
    (work / "control").write_text(f"a.c:1 func:f =p id 33 {note}\n")
    assert codetag("reset --debugfs", work).out == f"{says}\n"
    assert (work / "control").read_text().splitlines()[0] == f"{action}=off"
    assert not (work / "queries").read_text()


@table(
    "line",
    ("json/status", f"status -a --json --debugfs {HANDMADE_DEBUGFS}"),
    ("json/fault", f"fault --list --json --debugfs {HANDMADE_DEBUGFS}"),
    ("json/guard", f"guard --list --json --debugfs {HANDMADE_DEBUGFS}"),
    ("json/contexts", f"contexts --json -f {SPLIT_CONTEXTS}"),
    ("json/contexts-tree", f"contexts --json --tree -f {SPLIT_CONTEXTS}"),
    ("json/remembered", f"remembered --json --debugfs {HANDMADE_DEBUGFS}"),
)
def test_json(line):
    codetag(line).json()


@named("control/locked-down")
def test_locked_down(work, clang):
    """On a locked-down kernel nobody can open control: the list comes from sites, and a message says why."""
    for file in HANDMADE_DEBUGFS.iterdir():
        shutil.copy(file, work)
    shutil.copy(work / "control", work / "sites")
    locked = {"LD_PRELOAD": library("pretend-lockdown")}
    status = codetag(f"status -a --debugfs {work}", command=clang, env=locked, merge=True)
    assert status.out == codetag(f"status -a --debugfs {HANDMADE_DEBUGFS}").out
    disable = codetag(f"disable --debugfs {work} func f", command=clang, env=locked, status=2)
    assert "locked down (integrity" in disable.err


@named("control/debugfs-everywhere")
def test_debugfs_everywhere(work):
    """--debugfs is for all commands that read there."""
    assert codetag(f"stats --debugfs {CODETAG_DEBUGFS}").out == codetag(f"stats {CODETAG_DEBUGFS}/stats").out
    audit = shutil.copy("data/recorded-ours-6.12.audit", work / "audit")
    assert codetag(f"audit --debugfs {work}").out == codetag(f"audit {audit}").out


@named("control/cut")
def test_cut(work):
    """A last line without its end is not taken for a whole one."""
    for whole, line, message in ((CODETAG_DEBUGFS / "stats", "stats", "it is cut"),
                                 (HANDMADE_DEBUGFS / "queries", "remembered", "1 lines not understood")):
        file = work / whole.name
        shutil.copy(whole, file)
        codetag(f"{line} --debugfs {work}")
        file.write_bytes(whole.read_bytes()[:-2])
        result = codetag(f"{line} --debugfs {work}", status=2)
        assert message in result.err, str(result)


@named("control/audit-started")
def test_audit_started(work):
    """A write starts an audit; a saved result, a named file and the file of a kernel that starts
    one at a read are only read."""
    audit = work / "audit"
    audit.touch()
    codetag(f"audit {audit}", status=2)
    assert not audit.read_text(), "a named file was written to"
    audit.chmod(0o400)
    codetag(f"audit --debugfs {work}", status=2)
    assert not audit.read_text(), "a read-only file was written to"
    audit.chmod(0o600)
    codetag(f"audit --debugfs {work}", status=2)
    assert audit.read_text() == "1"


def sums(rows):
    """The sum of each column"""
    return [sum(column) for column in zip(*rows)]


@named("control/contexts-add-up")
def test_contexts_add_up():
    """However contexts are summed, the sum is that of their lines."""
    contexts, _ = context_sizes(SPLIT_CONTEXTS)
    for group in "site", "caller", "function", "stack", "task,age", "size,site":
        summed = codetag(f"contexts -a -N -b -g {group} -o size,calls,allocs {SPLIT_CONTEXTS}")
        assert sums(map(int, line.split()) for line in summed.lines) == sums(contexts), f"by {group}"


@named("control/account-rates")
def test_account_rates(work):
    """Rates are per second between two readings, 2 s apart: 100 allocations and 40 frees of kstrdup."""
    def pretend(second):
        held = "4480 70 120" if second else "640 10 20"
        (work / "contexts").write_text(
            "# contexts - version: 1.0\n"
            "# site: 0 0 0 mm/util.c:64 func:kstrdup keys=size max=9 contexts=1\n"
            f"{held} mm/util.c:64 func:kstrdup size=50\n")

    result = in_world(pretend, CODETAG, "contexts", "--account", "--delay", 2, "--json", "--debugfs", work)
    row, = result.json()["rows"]
    assert (row["size"], row["requested"], row["waste"]) == (4480, 3500, 980)
    assert (row["allocs"], row["frees"]) == (120, 50)
    assert (row["alloc_rate"], row["free_rate"]) == (50, 20)
