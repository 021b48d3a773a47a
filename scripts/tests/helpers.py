# SPDX-License-Identifier: GPL-2.0-only
"""Shared by the tests of the scripts"""

import os
import re
import subprocess
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
KVER, HOME_KVER = os.environ["KVER"], os.environ["HOME_KVER"]
CACHE = Path(os.environ["CACHE"])


def named(name):
    """The name of a test, which make test T=scripts/NAME takes."""
    return pytest.mark.named(name)


def table(arguments, *rows):
    """A test for each row: its name, then values for the arguments."""
    return pytest.mark.parametrize(arguments, [
        pytest.param(*row[1:], marks=named(row[0])) for row in rows])


class Result(str):
    """The output of a command, and its exit status"""
    status: int

    def has(self, pattern):
        """Whether a line matches from end to end."""
        return re.search(rf"^(?:{pattern})$", self, re.MULTILINE) is not None


def outcome(*command, cwd=None, timeout=None, **env):
    """Run a command without input, with more in its environment."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, timeout=timeout, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | {name: str(value) for name, value in env.items()})
    result = Result(done.stdout.decode(errors="replace"))
    result.status = done.returncode
    return result


def run(*command, **options):
    """Run a command that has to succeed."""
    result = outcome(*command, **options)
    assert result.status == 0, f"status {result.status} of {command}:\n{result}"
    return result


def fails(*command, **options):
    """Run a command that has to fail."""
    result = outcome(*command, **options)
    assert result.status != 0, f"no failure of {command}:\n{result}"
    return result


def write(path, text, mode=0o644):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    path.chmod(mode)
    return path


def program(path, text):
    return write(path, "#!/bin/bash\n" + textwrap.dedent(text), 0o755)


def until(condition, seconds=100):
    """Wait until it holds; the machine may be busy."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.1)


def runs(pattern):
    """Whether a process has that in its command line."""
    return subprocess.run(["pgrep", "-f", pattern], stdout=subprocess.DEVNULL, check=False).returncode == 0
