# SPDX-License-Identifier: GPL-2.0-only
"""Which tests run, how they are reported, and what more than one file of them needs.

Tests have names. make -C tools test T=PATTERN chooses them by a pattern of bash, for example
T='golden/*', T='@(rates|leaks)/*' or T='*/json'. Each that fails is printed with a command that repeats it,
and the last line is the sum.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest

import machines
from outputs import Written
from recordings import make_recording
from support import CODETAG, HELPERS, SCRATCH, built, features, run

WANT = os.environ["WANT"]


def matching(pattern, names):
    """Which names match, as bash sees it: patterns like @(a|b)* are its own."""
    script = 'while IFS= read -r name; do [[ $name != $1 ]] || printf "%s\\n" "$name"; done'
    return set(subprocess.run(["bash", "-c", script, "-", pattern], input="\n".join([*names, ""]),
                              stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())


def may_match(pattern, start):
    """Whether the pattern may match a name that begins so: its letters before the first special character
    do not contradict that."""
    letters = re.match(r"(?:[^*?\[\\@!+]|[@!+](?!\())*", pattern)[0]
    return letters.startswith(start) or start.startswith(letters) and letters != pattern


def name_of(item):
    return item.get_closest_marker("named").args[0]


# Only the run of a program tells the names of unit tests. It takes seconds.
collect_ignore = [] if may_match(WANT, "unit/") else ["test_unit.py"]


class Report:
    """Prints the tests that fail or cannot run here, and the sum."""

    def __init__(self):
        self.passed = self.failed = self.skipped = self.written = 0
        self.troubles, self.why, self.is_written = [], None, False

    def refuse(self, trouble):
        """No test runs."""
        self.failed += 1
        raise pytest.UsageError(trouble)

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed += 1
            print(report.longreprtext)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        nameless = [item.nodeid for item in items if not item.get_closest_marker("named")]
        if nameless:
            self.refuse(f"without @named or a name in its table: {', '.join(nameless)}")
        names = [name_of(item) for item in items]
        counted = Counter(name for name in names if not name.startswith("unit/"))
        twice = [name for name, count in counted.items() if count > 1]
        if twice:
            self.refuse(f"two tests have the same name: {', '.join(twice)}")
        wanted = matching(WANT, names)
        some_unit_test = WANT.startswith("unit/") or any(name.startswith("unit/") for name in wanted)
        items[:] = [item for item in items if name_of(item) in wanted
                    or some_unit_test and item.get_closest_marker("crashed")]

    def pytest_runtest_makereport(self, item, call):
        if call.excinfo and call.excinfo.errisinstance(Written):
            self.is_written = True
        elif call.excinfo and call.excinfo.errisinstance(pytest.skip.Exception):
            self.why = call.excinfo.value.msg
        elif call.excinfo:
            self.troubles += str(item.repr_failure(call.excinfo)).splitlines()
        if call.when != "teardown":
            return
        name = name_of(item)
        if self.troubles:
            self.failed += 1
            again = item.funcargs.get("again") or f"make -C tools test T='{name}'"
            print(f"FAILED {name}", *(f"    {line}" for line in self.troubles[-40:]),
                  f"    reproduce: {again}", sep="\n")
        elif self.why:
            self.skipped += 1
            print(f"skipped {name}: {self.why}")
        elif self.is_written:
            self.written += 1
            print(f"written {name}: read the difference")
        else:
            self.passed += 1
        self.troubles, self.why, self.is_written = [], None, False
        sys.stdout.flush()

    def pytest_sessionfinish(self, session):
        if not session.items and not self.failed:
            print(f"no test is called {WANT}", file=sys.stderr)
        print(f"{self.passed} passed, {self.failed} failed" +
              (f", {self.skipped} skipped" if self.skipped else "") +
              (f", {self.written} written" if self.written else ""))
        if self.failed or not (self.passed or self.written):
            session.exitstatus = 1


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "named(name): the name of the test")
    config.addinivalue_line("markers", "feature(name): the command has to be built with it")
    config.addinivalue_line("markers", "program(name): the machine has to have it")
    config.addinivalue_line("markers", "crashed: the result of a program of unit tests that did not end well")
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Report())


def pytest_runtest_setup(item):
    for mark in item.iter_markers("program"):
        if not shutil.which(mark.args[0]):
            pytest.skip(f"there is no {mark.args[0]}")
    for mark in item.iter_markers("feature"):
        if mark.args[0] not in features():
            pytest.skip(f"built without {mark.args[0]}")


@pytest.fixture
def work():
    """An empty directory that goes with the test."""
    path = SCRATCH / "work"
    path.mkdir()
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def clang():
    """The command, built without sanitizers, for tests that need it so"""
    if not shutil.which("clang"):
        pytest.skip("there is no clang")
    return built("clang", "CC=clang")


@pytest.fixture(scope="session")
def namespace():
    """The test may mount file systems that nobody else sees."""
    if run("unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc", status=None).status:
        pytest.skip("no mount namespace of its own: that needs root, in a container also --privileged")


@pytest.fixture(scope="session")
def on_machine(clang, namespace):
    """on_machine(line, *words, switch=None, boot=...) runs the command where /proc has only an allocinfo: see
    machines.py. It needs root. The command is the one without sanitizers, which need a whole /proc."""
    return functools.partial(machines.run_on_machine, clang)


@pytest.fixture(scope="session")
def make_image():
    """make_image(path, ...) writes the image of that name, or the one that the arguments name."""
    program = SCRATCH / "make-image"
    run("gcc", "-std=gnu17", "-I../lib", "-I.", "-o", program, HELPERS / "make-image.c")

    def make(path, *what):
        path.write_bytes(run(program, *what).raw)
        return path
    return make


@pytest.fixture(scope="session")
def recording():
    """A recording with a leak, of 16 snapshots"""
    if "sqlite3" not in features():
        pytest.skip("built without sqlite3")
    return make_recording(CODETAG)
