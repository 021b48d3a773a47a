# SPDX-License-Identifier: GPL-2.0-only
"""Pretended machines: time that passes as a test wants it, a /proc of one's own, and libraries in front of
libc's functions."""

import functools
import os
import shlex
import socket
import subprocess
import sys

from inputs import V1
from support import HELPERS, SCRATCH, Result, checked, environment, run, shell_status, words_of


@functools.cache
def library(name):
    """A library to be put in front of libc's functions, from helpers/NAME.c"""
    path = SCRATCH / f"{name}.so"
    run("gcc", "-shared", "-fPIC", "-o", path, HELPERS / f"{name}.c")
    return path


def preloaded(name):
    """The environment in which the command starts with such a library, built with sanitizers or not"""
    return {"LD_PRELOAD": str(library(name)),
            "ASAN_OPTIONS": f"{os.environ['ASAN_OPTIONS']}:verify_asan_link_order=0"}


def in_world(pretend, *words, status=0, env=None):
    """Run a command in pretended time, which passes only while it sleeps: a busy machine makes no
    difference, and no test waits.

    pretend(second) is called at once with second 0, before the command starts, and after each of its
    sleeps with the second that it is then. It changes the files that the command reads. It may return
    the number of a signal, which the command then gets; at second 0 it must not. A command that hangs
    is killed. An example, in which a site holds 100 bytes more each second:

        def pretend(second):
            now.write_text(f"{100 * second} 1 a.c:1 func:f\\n")
        in_world(pretend, CODETAG, "leaks", "--live", "-i", 1, "-c", 8, "--allocinfo", now, status=1)
    """
    parent, child = socket.socketpair()
    assert not pretend(0)
    words = words_of(words)
    env = environment((env or {}) | {"WORLD": child.fileno()} | preloaded("pretend-time"))
    out, err = SCRATCH / "world.out", SCRATCH / "world.err"
    with parent, out.open("wb") as out_file, err.open("wb") as err_file:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file,
                                   pass_fds=[child.fileno()], env=env)
        child.close()
        parent.settimeout(300)
        try:
            while second := parent.recv(8):
                parent.sendall(bytes([pretend(int.from_bytes(second, sys.byteorder)) or 0]))
            code = process.wait(300)
        finally:
            process.kill()
            process.wait()
    return checked(Result(words, shell_status(code), out.read_bytes(), err.read_bytes()), status)


def run_on_machine(program, line, *words, switch=None, boot="11d32da5", **options):
    """Run it where /proc has only an allocinfo and, if switch is a number, this state of profiling and a
    number of the boot. Tests call it through the fixture on_machine of conftest.py."""
    proc = f"mount -t tmpfs none /proc && cp {V1} /proc/allocinfo"
    if switch is not None:
        proc += (f" && mkdir -p /proc/sys/vm /proc/sys/kernel/random && echo {switch} >/proc/sys/vm/mem_profiling"
                 f" && echo {boot}-57b3-4f2e-a3f4-1d9e6b5c0a87 >/proc/sys/kernel/random/boot_id")
    return run("unshare", "-m", "sh", "-c", f'{proc} && exec "$0" "$@"', program, *shlex.split(line),
               *words, **options)
