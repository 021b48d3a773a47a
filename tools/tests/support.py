# SPDX-License-Identifier: GPL-2.0-only
"""Shared by the tests of the command. They run in tools/tests, so names of files are relative to it."""

import functools
import json
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

BUILD = Path(os.environ["BUILD"])
SCRATCH = Path(os.environ["SCRATCH"])
CODETAG = BUILD / "asan/codetag"
HELPERS = Path("helpers")
OURS, MAINLINE = "data/recorded-ours-6.12.allocinfo", "data/recorded-mainline-6.12.allocinfo"
needs_feature, needs_program = pytest.mark.feature, pytest.mark.program


def named(name):
    """The name of a test, which make -C tools test T=NAME takes."""
    return pytest.mark.named(name)


def table(arguments, *rows):
    """A test for each row: its name, then values for the arguments."""
    return pytest.mark.parametrize(arguments, [
        pytest.param(*row[1:], marks=named(row[0])) for row in rows])


class Result:
    """The output of a command, and its exit status"""

    def __init__(self, words, status, out, err):
        self.words, self.status, self.raw = words, status, out
        self.out, self.err = out.decode(errors="replace"), (err or b"").decode(errors="replace")

    def __str__(self):
        text = f"exit {self.status}: {shlex.join(self.words)}\n{self.out}"
        return (text + self.err)[:20000]

    @property
    def lines(self):
        return self.out.splitlines()

    def json(self):
        return json.loads(self.out)

    def has(self, pattern, text=None):
        """Whether a line of the output matches from end to end."""
        return re.search(rf"^(?:{pattern})$", self.out if text is None else text, re.MULTILINE) is not None


def words_of(words):
    return [str(word) for word in words]


def run(*words, status=0, cwd=None, timeout=300, merge=False, stdin=None, env=None, preexec=None):
    """Run a command and return its Result.

    status is the exit status that it has to have, a tuple of several, or None for any. stdin is
    text or bytes (default: nothing to read), env adds to the environment, merge sends stderr to stdout.
    """
    words = words_of(words)
    done = subprocess.run(
        words, cwd=cwd, timeout=timeout, check=False, preexec_fn=preexec,
        input=(stdin.encode() if isinstance(stdin, str) else stdin or b""),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if merge else subprocess.PIPE,
        env=os.environ | {name: str(value) for name, value in (env or {}).items()})
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return checked(Result(words, code, done.stdout, done.stderr), status)


def checked(result, status):
    for text in result.out, result.err:
        assert not re.search("runtime error:|Sanitizer:", text), str(result)
    if status is not None:
        assert result.status in (status if isinstance(status, tuple) else (status,)), str(result)
    return result


def codetag(line, *words, **options):
    """Run the command: words as in a shell, then words that are taken as they are; see run()."""
    return run(options.pop("command", CODETAG), *shlex.split(line), *words, **options)


def refused(text, line, *words, **options):
    """The command exits with status 2 and such a message, and prints nothing else."""
    result = codetag(line, *words, status=2, **options)
    assert not result.out and re.search(text, result.err), str(result)
    return result


def shows(result, *lines):
    """Each of the lines is in the output, as it is."""
    missing = [line for line in lines if line not in result.lines]
    assert not missing, f"lacks {missing}\n{result}"


def until(condition, seconds=60):
    """Wait until it holds, a minute at most, for the machine may be busy."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come within a minute"
        time.sleep(0.1)


@functools.cache
def features():
    return set(re.findall(r"[\w-]+", codetag("--version").out))


@functools.cache
def built(name, *variables):
    """Build the command in another way; return the path of the program."""
    run("nice", "-n", "5", "make", "-s", "-C", "..", f"O={BUILD / name}", *variables, timeout=1200)
    return BUILD / name / "codetag"


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


def helper(name, *words, **options):
    """Run helpers/NAME.py, without packages outside the standard library."""
    return run(sys.executable, "-BIS", HELPERS / f"{name}.py", *words, **options)


def limited(seconds, memory=None):
    """For preexec=: limits of processor time, in seconds, and of memory, in bytes"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    return limit


def in_world(pretend, *words, status=0, env=None, **options):
    """Run a command in pretended time, which passes only while it sleeps: a busy machine makes no
    difference, and no test waits.

    pretend(second) is called at second 0 and after each sleep. It changes the files that the command
    reads; if it returns a number, the command gets this signal. A command that hangs is killed.
    """
    ours, theirs = socket.socketpair()
    assert not pretend(0)
    words = words_of(words)
    env = os.environ | {name: str(value) for name, value in (env or {}).items()} | {
        "WORLD": str(theirs.fileno())} | preloaded("pretend-time")
    out, err = SCRATCH / "world.out", SCRATCH / "world.err"
    with ours, out.open("wb") as out_file, err.open("wb") as err_file:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file,
                                   pass_fds=[theirs.fileno()], env=env, **options)
        theirs.close()
        ours.settimeout(300)
        try:
            while second := ours.recv(8):
                ours.sendall(bytes([pretend(int.from_bytes(second, sys.byteorder)) or 0]))
            code = process.wait(300)
        finally:
            process.kill()
    result = Result(words, code if code >= 0 else 128 - code, out.read_bytes(), err.read_bytes())
    return checked(result, status)


def on_machine(program, line, *words, switch=None, boot="11d32da5", **options):
    """Run it where /proc has only an allocinfo, and if switch is a number this state of profiling."""
    proc = "mount -t tmpfs none /proc && cp data/handmade-v1.allocinfo /proc/allocinfo"
    if switch is not None:
        proc += (f" && mkdir -p /proc/sys/vm /proc/sys/kernel/random && echo {switch} >/proc/sys/vm/mem_profiling"
                 f" && echo {boot}-57b3-4f2e-a3f4-1d9e6b5c0a87 >/proc/sys/kernel/random/boot_id")
    return run("unshare", "-m", "sh", "-c", f'{proc} && exec "$0" "$@"', program, *shlex.split(line),
               *words, **options)


def survives(times, file, copy, most, first, *words):
    """Damaged copies of a file give an error or a result, never a crash: TIMES copies, in each of which
    up to MOST bytes from byte FIRST on (or of a range "FIRST-END") are changed; one in three is cut."""
    helper("run-on-damaged-copies", times, file, copy, most, first, *words, timeout=1200)


def file_limit(kib):
    """For preexec=: a limit of the size of files. A write beyond it fails, as on a full disk."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (kib << 10, kib << 10))
    return limit


def sql(db, statement, *values):
    """The rows that a statement of SQL returns"""
    with closing(sqlite3.connect(db)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def rebooted(recording, path):
    """A copy of a recording whose machine was booted before snapshot 9"""
    shutil.copy(recording, path)
    gauge = sql(path, "INSERT INTO gauge SELECT coalesce(max(id), 0) + 1, 'machine', 'boot' FROM gauge RETURNING id")[0][0]
    for snapshot, boot in (1, 4711), (9, 4712):
        sql(path, "INSERT INTO sample VALUES (?, ?, ?)", gauge, snapshot, boot)
    return path


def page_data(html):
    """The data of a page"""
    text = Path(html).read_text(encoding="utf-8")
    return json.loads(re.search(r'^<script type="application/json".*\n([^<]*)</script>', text, re.MULTILINE)[1])


def make_recording(command, path=SCRATCH / "recording.db", snapshots=16):
    helper("make-recording", command, path, snapshots, env={"TZ": "UTC"})
    return path


def seconds_of(line, *words):
    """The least processor time of three runs: a busy machine only ever adds to it."""
    def once():
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        codetag(line, *words)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return min(once() for _ in range(3))


@functools.cache
def large_recording(sites, snapshots):
    path = SCRATCH / f"large-{sites}-{snapshots}.db"
    helper("make-large-recording", path, sites, snapshots)
    return path


def reads_linearly(line):
    """Processor time grows with the number of rows, not with its square: four times as many snapshots
    may take eight times as long."""
    short, long = (seconds_of(line, large_recording(400, n)) for n in (400, 1600))
    assert long < 8 * short + 0.2, (short, long)


def reads_once(line):
    """It takes not much more time than the list of snapshots of the same recording."""
    db = large_recording(2000, 800)
    listed, read = seconds_of("replay --list", db), seconds_of(line, db)
    assert read < 3 * listed + 0.3, (listed, read)


def held(file):
    """The sum of the sites that contain others, and that of all others: (others, containers)"""
    sums = [0, 0]
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        if re.match(r" *-?\d+ ", line):
            container = re.search(r"mm/(slub\.c:\d+ func:(alloc_slab_page|allocate_slab)|percpu-[vk]m\.c:)", line)
            sums[bool(container)] += int(line.split()[0])
    return tuple(sums)


def json_is_documented(result):
    """Each field of the JSON is in the manual page."""
    path = SCRATCH / "documented.json"
    path.write_bytes(result.raw)
    manual = Path("../man/codetag.1").read_text(encoding="utf-8")
    columns = re.search(r"^\.Sh COLUMNS.*?^\.Sh MEMORY", manual, re.MULTILINE | re.DOTALL)[0]
    images = re.search(r"^\.Sh IMAGES OF MEMORY.*?^\.Sh SOURCES", manual, re.MULTILINE | re.DOTALL)[0]
    helper("check-documented-fields", path, stdin=columns + "\n" + images)


def golden_output(path, text):
    """Compare with a file of expected output, or write it with UPDATE=1."""
    path = Path(path)
    if os.environ.get("UPDATE"):
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        golden_output.written += 1
        return
    (SCRATCH / "actual").write_text(text, encoding="utf-8", errors="surrogateescape")
    difference = run("diff", "-u", "--label", "expected", path, "--label", "actual", SCRATCH / "actual", status=None)
    assert not difference.status, difference.out


golden_output.written = 0


def as_expected(name, line, *words):
    """The same for a command that golden/ cannot hold, because a test makes its input"""
    result = codetag(line, *words, status=None, merge=True, env={"TZ": "UTC"})
    golden_output(f"expected/{name}", f"{result.out}exit {result.status}\n".replace(f"{SCRATCH}/", ""))


class Screen:
    """A command on a terminal of its own, driven through tmux: a context manager."""

    def __init__(self, columns, rows, command, cwd):
        self.size, self.command, self.cwd = (columns, rows), command, Path(cwd)

    def tmux(self, *words, status=0):
        return run("tmux", "-L", f"codetag-test-{os.getpid()}", *words, status=status).out

    def __enter__(self):
        self.tmux("kill-server", status=None)
        columns, rows = self.size
        # A relative path, for messages of a line to fit into it.
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, "-c", self.cwd,
                  f"{self.command} 2>{SCRATCH}/screen.err; echo left $?; sleep 600")
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")
        text = (SCRATCH / "screen.err").read_text(encoding="utf-8", errors="replace")
        assert not re.search("runtime error:|Sanitizer:", text), text

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def text(self):
        return self.tmux("capture-pane", "-p")

    def now(self, text):
        return text in self.text()

    def has(self, *texts):
        """Wait for each of the texts."""
        for text in texts:
            try:
                until(lambda: self.now(text))
            except AssertionError:
                raise AssertionError(f"no {text!r} on the screen:\n{self.text()}") from None

    def lacks(self, text):
        """Wait until the text is gone."""
        try:
            until(lambda: not self.now(text))
        except AssertionError:
            raise AssertionError(f"{text!r} stays on the screen:\n{self.text()}") from None


def on_terminal(command, **env):
    """The output of a command of the shell on a terminal, by script(1)"""
    return run("script", "-qec", command, "/dev/null", env=env, merge=True, status=None)


def interrupt(process, number=signal.SIGINT):
    process.send_signal(number)
    return process.wait(60)
