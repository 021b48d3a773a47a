# SPDX-License-Identifier: GPL-2.0-only
"""Tests are chosen by a pattern of bash. Each that fails is printed with a command that repeats it, and
the last line is the sum."""

import os
import shutil
import subprocess
import sys
from collections import Counter

import pytest

from support import CODETAG, HELPERS, SCRATCH, built, features, golden_output, make_recording, run

WANT = os.environ["WANT"]


def matching(pattern, names):
    """Which names match, as bash sees it: patterns like @(a|b)* are its own."""
    script = 'while read -r name; do [[ $name != $1 ]] || printf "%s\\n" "$name"; done'
    return set(subprocess.run(["bash", "-c", script, "-", pattern], input="\n".join([*names, ""]),
                              stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())


def name_of(item):
    return item.get_closest_marker("named").args[0]


class Report:
    """Prints the tests that fail or cannot run here, and the sum."""

    def __init__(self):
        self.passed = self.failed = self.skipped = self.written = 0
        self.troubles, self.why = [], None

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed += 1
            print(report.longreprtext)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        # A table without rows leaves one without a name.
        items[:] = [item for item in items if item.get_closest_marker("named")]
        names = [name_of(item) for item in items]
        counted = Counter(name for name in names if not name.startswith("unit/"))
        twice = [name for name, count in counted.items() if count > 1]
        assert not twice, f"two tests have the same name: {twice}"
        wanted = matching(WANT, names)
        items[:] = [item for item in items if name_of(item) in wanted]

    def pytest_runtest_makereport(self, item, call):
        if call.excinfo and call.excinfo.errisinstance(pytest.skip.Exception):
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
        else:
            self.passed += 1
        self.troubles, self.why = [], None
        sys.stdout.flush()

    def pytest_sessionfinish(self, session):
        if golden_output.written:
            print(f"{golden_output.written} written: read the difference")
        if not session.items:
            print(f"no test is called {WANT}", file=sys.stderr)
        print(f"{self.passed} passed, {self.failed} failed" +
              (f", {self.skipped} skipped" if self.skipped else ""))
        if self.failed or not self.passed:
            session.exitstatus = 1


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "named(name): the name of the test")
    config.addinivalue_line("markers", "feature(name): the command has to be built with it")
    config.addinivalue_line("markers", "program(name): the machine has to have it")
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
    return built("clang", "CC=clang")


@pytest.fixture(scope="session")
def namespace():
    """The test may mount file systems that nobody else sees."""
    if run("unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc", status=None).status:
        pytest.skip("no mount namespace of its own")


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
