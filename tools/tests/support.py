# SPDX-License-Identifier: GPL-2.0-only
"""Names of tests, and how they run the command and other programs. They run in tools/tests, so names of
files are relative to it."""

import functools
import inspect
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

BUILD = Path(os.environ["BUILD"])
SCRATCH = Path(os.environ["SCRATCH"])
CODETAG = BUILD / "asan/codetag"
HELPERS = Path("helpers")
needs_feature, needs_program = pytest.mark.feature, pytest.mark.program
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


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


def environment(more):
    """The environment of this process, and more"""
    return os.environ | {name: str(value) for name, value in (more or {}).items()}


def shell_status(code):
    """The exit status as a shell has it: 128 and the number of a signal that ended the command"""
    return code if code >= 0 else 128 - code


def sanitizer_report(text):
    """Whether a sanitizer has found an error"""
    return re.search("runtime error:|Sanitizer:", text) is not None


def run(*words, status=0, cwd=None, timeout=300, merge=False, stdin=None, env=None, preexec=None):
    """Run a command and return its Result. No shell is involved: each argument is one word.

    status is the exit status that the command has to have (0, if the test does not say), a tuple of
    several, or None for any. stdin is text or bytes (default: nothing to read), env adds to the
    environment, merge sends stderr to stdout. A sanitizer's report always fails the test.
    """
    words = words_of(words)
    done = subprocess.run(
        words, cwd=cwd, timeout=timeout, check=False, preexec_fn=preexec,
        input=(stdin.encode() if isinstance(stdin, str) else stdin or b""),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if merge else subprocess.PIPE, env=environment(env))
    return checked(Result(words, shell_status(done.returncode), done.stdout, done.stderr), status)


def checked(result, status):
    assert not sanitizer_report(result.out) and not sanitizer_report(result.err), str(result)
    if status is not None:
        assert result.status in (status if isinstance(status, tuple) else (status,)), str(result)
    return result


def codetag(line, *words, **options):
    """Run the command, and assert that its exit status is 0 or what the test says: see run().

    The line is split into words as a shell does it, with quotes. Later words are not split, so names
    of files belong there: codetag("report -n 3", path, "file fs/*").
    """
    return run(options.pop("command", CODETAG), *shlex.split(line), *words, **options)


def refused(text, line, *words, **options):
    """The command exits with status 2, prints nothing to stdout, and to stderr a message that the
    regular expression text matches. The line and words are those of codetag()."""
    result = codetag(line, *words, status=2, **options)
    assert not result.out and re.search(text, result.err), str(result)
    return result


def shows(result, *lines):
    """Each of the lines is in the output, as it is."""
    missing = [line for line in lines if line not in result.lines]
    assert not missing, f"lacks {missing}\n{result}"


def until(condition, seconds=60):
    """Wait until condition() holds. It may take long, for the machine may be busy."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            caller = inspect.getframeinfo(sys._getframe(1))
            line = "".join(caller.code_context or []).strip()
            raise AssertionError(f"not within {seconds} s: {line} ({Path(caller.filename).name}:{caller.lineno})")
        time.sleep(0.1)


class Background:
    """A command that runs while the test goes on: see background()."""

    def __init__(self, words, process, out, err):
        self.words, self.process, self.out, self.err = words, process, out, err

    @property
    def pid(self):
        return self.process.pid

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        """Wait for its end and return the status as a shell has it."""
        return shell_status(self.process.wait(60))

    def result(self, status=0):
        """Wait for its end and return its Result, with this status."""
        code = self.wait()
        return checked(Result(self.words, code, self.out.read_bytes(), self.err.read_bytes()), status)

    def report(self):
        """The report of a sanitizer, or nothing"""
        text = self.err.read_text(encoding="utf-8", errors="replace")
        return text if sanitizer_report(text) else ""


@contextmanager
def background(*words, preexec=None):
    """Run a command while the test goes on, and kill it afterwards. A sanitizer's report fails the test,
    and is also the reason if the test fails otherwise."""
    words = words_of(words)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as directory:
        out, err = Path(directory) / "out", Path(directory) / "err"
        with out.open("wb") as out_file, err.open("wb") as err_file:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file,
                                       preexec_fn=preexec)
        started = Background(words, process, out, err)
        try:
            yield started
        except Exception as trouble:
            if started.report():
                raise AssertionError(started.report()) from trouble
            raise
        finally:
            process.kill()
            process.wait()
        assert not started.report(), started.report()


@functools.cache
def features():
    """The libraries that the command is built with"""
    return set(re.findall(r"[\w-]+", codetag("--version").out))


@functools.cache
def built(name, *variables):
    """Build the command in another way; return the path of the program."""
    run("nice", "-n", "5", "make", "-s", "-C", "..", f"O={BUILD / name}", *variables, timeout=1200)
    return BUILD / name / "codetag"


def helper(name, *words, **options):
    """Run helpers/NAME.py, without packages outside the standard library."""
    return run(sys.executable, "-BIS", HELPERS / f"{name}.py", *words, **options)


def limited(seconds):
    """For preexec=: a limit of processor time, in seconds"""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    return limit


def file_limit(kib):
    """For preexec=: a limit of the size of files. A write beyond it fails, as on a full disk."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (kib << 10, kib << 10))
    return limit


def survives(*words, file, copy, times, most, first=0):
    """The command WORDS, which reads COPY, gives an error or a result for damaged copies of FILE, never a
    crash. There are so many copies (times); in each, up to so many bytes (most) are changed, from byte
    FIRST on or in a range "FIRST-END". One copy in three is cut, too."""
    helper("run-on-damaged-copies", times, file, copy, most, first, *words, timeout=1200)
