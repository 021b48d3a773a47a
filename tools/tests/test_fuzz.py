# SPDX-License-Identifier: GPL-2.0-only
"""15 s of fuzzing for each parser; make fuzz takes a minute for each. A parser that has not changed since
then only gets its old inputs and a few new ones."""

import os
from pathlib import Path

import pytest

from support import BUILD, named, needs_feature, needs_program, run

NEEDS = {"map": "libelf", "database": "sqlite3"}


def parsers():
    for name in sorted(path.stem for path in Path("fuzz").glob("*.c")):
        needed = [needs_feature(NEEDS[name])] if name in NEEDS else []
        yield pytest.param(name, marks=[named(f"fuzz/{name}"), *needed])


@needs_program("clang")
@pytest.mark.parametrize("name", parsers())
def test_fuzz(name):
    run("./run-fuzz", BUILD, os.environ.get("FUZZ_SECONDS", "15"), name, env={"FUZZ_AGAIN": 2}, timeout=1800)
