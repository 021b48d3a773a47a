# SPDX-License-Identifier: GPL-2.0-only
"""The ends of guests, on a kernel of FLAVOUR (default checks)."""

import os
import re
import shutil

import pytest
from helpers import SCRIPTS, named, outcome, program, run, table

FLAVOUR = os.environ.get("FLAVOUR") or "checks"


@pytest.fixture(scope="session")
def kernel():
    for script in "build-kernel", "build-selftests", "mkinitramfs":
        run(SCRIPTS / script, FLAVOUR)


def ends(status, output, *options, **env):
    """A guest ends with that status, and a line has that."""
    said = outcome(SCRIPTS / "run-qemu", "--name", "test-scripts", *options, **env)
    assert said.status == status, f"status {said.status}, wanted {status}:\n{said}"
    assert re.search(output, said, re.MULTILINE), said


@pytest.fixture(scope="session")
def one_guest(kernel):
    """The output of a guest that ends well."""
    return run(SCRIPTS / "run-qemu", "--name", "test-scripts", "--allow", "mm/x.c", FLAVOUR, "-c", """
        echo hello; echo "processors: $(nproc)"
        mount $GUEST_DISK /mnt && echo x >/mnt/x && umount /mnt && echo "a disk"
        echo "WARNING: CPU: 0 PID: 1 at mm/x.c:1" >/dev/kmsg; echo warned""")


@table(
    "line",
    ("guest: its output and status 0", "hello"),
    ("guest: two processors", "processors: 2"),
    ("guest: a disk", "a disk"),
    ("guest: an expected warning", "warned"),
)
def test_good(line, one_guest):
    assert one_guest.has(line), one_guest


@table(
    "status, output, options",
    ("guest: its status", 3, "status 3", [FLAVOUR, "-c", "exit 3"]),
    ("guest: a panic", 125, "trouble in the kernel log", [FLAVOUR, "-c", "echo c >/proc/sysrq-trigger"]),
    ("guest: a warning", 125, "trouble in the kernel log",
     [FLAVOUR, "-c", 'echo "WARNING: CPU: 0 PID: 1 at mm/x.c:1" >/dev/kmsg']),
    ("guest: a lock report", 125, "trouble in the kernel log",
     [FLAVOUR, "-c", 'echo "WARNING: possible circular locking dependency detected" >/dev/kmsg']),
    ("guest: a time-out", 124, "said nothing for 5 s", ["--timeout", "5", FLAVOUR, "-c", "sleep 60"]),
    ("guest: a slow one that says something", 0, "^3$",
     ["--timeout", "20", FLAVOUR, "-c", "for i in 1 2 3; do sleep 9; echo $i; done"]),
    ("guest: no result", 125, "without a result", [FLAVOUR, "-c", "reboot -f"]),
    ("guest: a killed init", 125, "trouble in the kernel log",
     ["--append", "init=/nothing", "--append", "rdinit=/bin/false", FLAVOUR, "-c", "true"]),
)
def test_end(status, output, options, kernel):
    ends(status, output, *options)


def with_qemu(work, script):
    """An environment in which that script stands in for QEMU; $QEMU is the real one."""
    program(work / "bin/qemu-system-x86_64", script)
    return {"ACCEL": "tcg", "QEMU": shutil.which("qemu-system-x86_64"), "PATH": f"{work}/bin:{os.environ['PATH']}"}


@table(
    "times, status, output",
    ("guest: QEMU dies and is started again", 2, 0, "of signal 11 .*; once more"),
    ("guest: QEMU dies each time", 9, 125, "without a result"),
)
def test_bad_qemu(times, status, output, kernel, work):
    """At first, QEMU is killed by a signal."""
    env = with_qemu(work, f"""\
        echo >>{work}/calls
        [ $(wc -l <{work}/calls) -gt {times} ] || kill -SEGV $$
        exec "$QEMU" "$@"
        """)
    ends(status, output, FLAVOUR, "-c", "true", **env)


@named("guest: and hears what the guest asks for")
def test_guest_asks(kernel, work):
    """The guest asks for memory, of the QEMU that it is in."""
    env = with_qemu(work, f"""\
        [ ! -e {work}/died ] || exec "$QEMU" "$@"
        touch {work}/died
        exec timeout --preserve-status -s SEGV 1 "$QEMU" "$@"
        """)
    ends(0, "of signal 11 .*; once more", "--vmem", "256M", FLAVOUR, "-c", """
        SELFTESTS=/selftests
        . /selftests/codetag.inc
        blocks() { ls -d /sys/devices/system/memory/memory* | wc -l; }
        more() { [ "$(blocks)" -gt "$before" ]; }
        before=$(blocks)
        host qom-set vmem0 requested-size 128M
        until_true 60 more""", **env)
