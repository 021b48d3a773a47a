# SPDX-License-Identifier: GPL-2.0-only
"""golden/NAME: a command, what it prints, and how it exits."""

import subprocess
from pathlib import Path

import pytest

from outputs import golden_output
from support import BUILD, shell_status, table

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
    text = done.stdout.decode(errors="surrogateescape")
    golden_output(path, f"$ {command}\n{text}exit {shell_status(done.returncode)}\n")
