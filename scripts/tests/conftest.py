# SPDX-License-Identifier: GPL-2.0-only
"""Tests are chosen by a pattern of bash, and reported in KTAP."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def matching(pattern, names):
    """Which names match, as bash sees it: patterns like @(a|b)* are its own."""
    script = 'for name in "${@:2}"; do [[ $name != $1 ]] || printf "%s\\n" "$name"; done'
    return subprocess.run(["bash", "-c", script, "-", pattern, *names],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def name_of(item):
    return item.get_closest_marker("named").args[0]


class Ktap:
    """Prints a plan and a line for each result."""

    def __init__(self):
        self.number, self.troubles = 0, []

    def pytest_collectreport(self, report):
        if report.failed:
            print(report.longreprtext, file=sys.stderr)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        names = {item: name_of(item) for item in items}
        assert len(set(names.values())) == len(names), "two tests have the same name"
        wanted = matching(os.environ["WANT"], names.values())
        # Those that build a kernel and boot it come last.
        items[:] = sorted((item for item in items if names[item] in wanted),
                          key=lambda item: "kernel" in item.fixturenames)
        if names and not items:
            print(f"test-scripts: no test of scripts is called {os.environ['WANT']}\n  they begin with:",
                  *sorted({name.split(":")[0] for name in names.values()}), file=sys.stderr)
        print(f"KTAP version 1\n1..{len(items)}")

    def pytest_runtest_makereport(self, item, call):
        if call.excinfo:
            self.troubles += str(call.excinfo.getrepr(style="short")).splitlines()
        if call.when == "teardown":
            self.number += 1
            print(f"{'not ok' if self.troubles else 'ok'} {self.number} {name_of(item)}")
            print("".join(f"# {line}\n" for line in self.troubles[-8:]), end="", flush=True)
            self.troubles = []


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "named(name): the name of the test")
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Ktap())


@pytest.fixture
def work():
    """A directory that goes with the test."""
    path = Path(os.environ["WORK"]) / "test"
    path.mkdir()
    yield path
    shutil.rmtree(path)
