# SPDX-License-Identifier: GPL-2.0-only
"""golden/NAME: a command, what it prints, and how it exits; and the unit tests of the library."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from support import BUILD, golden_output, run, table

GOLDEN = sorted(Path("golden").iterdir())


@pytest.fixture
def again(path):
    """The command that repeats the test by hand"""
    return f"cd tools/tests && PATH={BUILD}/asan:$PATH {command_of(path)}"


def command_of(path):
    return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()[0].removeprefix("$ ")


@table("path", *((str(path), path) for path in GOLDEN))
def test_golden(path, again):
    command = command_of(path)
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    text = done.stdout.decode(errors="surrogateescape")
    golden_output(path, f"$ {command}\n{text}exit {code}\n")


def unit_results():
    """The results of the program of unit tests: a line for each test, behind the lines about its failure"""
    if os.environ["WANT"][:1] not in "u*?[@!+":
        return
    done = run(BUILD / "asan/unit", merge=True, status=None, timeout=1200)
    said = []
    for line in done.lines:
        result = re.fullmatch(r"(ok|not ok) (.*)", line)
        if result:
            yield f"unit/{result[2]}", "" if result[1] == "ok" else "\n".join([*said, line])
            said = []
        else:
            said.append(line)
    if done.status > 1:
        yield "unit", done.out[-4000:]


@table("trouble", *unit_results())
def test_unit(trouble):
    assert not trouble, trouble
