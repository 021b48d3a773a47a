# SPDX-License-Identifier: GPL-2.0-only
"""The unit tests of the library: the lines that their program prints. Not collected if the wanted pattern
cannot match one: see conftest.py."""

import re
import subprocess

import pytest

from support import BUILD, named, sanitizer_report, shell_status

PROGRAM = BUILD / "asan/unit"


@pytest.fixture
def again():
    """The command that repeats the test by hand: other tests of the program cannot be left out."""
    return PROGRAM


def ended_badly(done, failures):
    """The reason why the program did not end as it should, or nothing"""
    status = shell_status(done.returncode)
    if sanitizer_report(done.stdout):
        return "a sanitizer's report"
    if status != (failures > 0):
        return f"exit {status} with {failures} failures"
    return ""


def results():
    """Name and trouble of each test: a line for each, behind the lines about its failure. The program itself
    is a test, too: it ended, and not by a crash."""
    done = subprocess.run([PROGRAM], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace", timeout=1200, check=False)
    said, failures = [], 0
    for line in done.stdout.splitlines():
        result = re.fullmatch(r"(ok|not ok) (.*)", line)
        if not result:
            said.append(line)
            continue
        failed = result[1] != "ok"
        failures += failed
        yield f"unit/{result[2]}", "\n".join([*said, line]) if failed else "", []
        said = []
    why = ended_badly(done, failures)
    yield "unit/(the program)", f"{done.stdout[-4000:]}\n{why}" if why else "", [pytest.mark.crashed] if why else []


def pytest_generate_tests(metafunc):
    metafunc.parametrize("trouble", [
        pytest.param(trouble, marks=[named(name), *marks]) for name, trouble, marks in results()])


@pytest.mark.usefixtures("again")
def test_unit(trouble):
    assert not trouble, trouble
