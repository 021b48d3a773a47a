# SPDX-License-Identifier: GPL-2.0-only
"""Checks of output: the same as in a file, documented, or read from a page."""

import json
import os
import re
from pathlib import Path

import pytest

from support import SCRATCH, codetag, helper, run


class Written(pytest.skip.Exception):
    """The test has written its expected output, so it neither passed nor failed."""


def golden_output(path, text):
    """The text is that of the file PATH, which has the expected output. With UPDATE=1 the file is written
    instead, and the test ends here: call it last."""
    path = Path(path)
    encoded = text.encode(errors="surrogateescape")
    if os.environ.get("UPDATE") and not (path.exists() and path.read_bytes() == encoded):
        path.write_bytes(encoded)
        raise Written(f"{path} is written")
    (SCRATCH / "actual").write_bytes(encoded)
    difference = run("diff", "-u", "--label", "expected", path, "--label", "actual", SCRATCH / "actual", status=None)
    assert not difference.status, difference.out


def as_expected(name, line, *words):
    """The command prints what expected/NAME says, and exits as it says.

    golden/ has commands whose input is in data/: each of its files is a test by itself. Where a test has
    to make the input first, it calls this function with the command, and the file in expected/ has only
    the output.
    """
    result = codetag(line, *words, status=None, merge=True, env={"TZ": "UTC"})
    golden_output(f"expected/{name}", f"{result.out}exit {result.status}\n".replace(f"{SCRATCH}/", ""))


def json_is_documented(result):
    """Each field of the JSON is in the manual page."""
    path = SCRATCH / "documented.json"
    path.write_bytes(result.raw)
    manual = Path("../man/codetag.1").read_text(encoding="utf-8")
    columns = re.search(r"^\.Sh COLUMNS.*?^\.Sh MEMORY", manual, re.MULTILINE | re.DOTALL)[0]
    images = re.search(r"^\.Sh IMAGES OF MEMORY.*?^\.Sh SOURCES", manual, re.MULTILINE | re.DOTALL)[0]
    helper("check-documented-fields", path, stdin=columns + "\n" + images)


def page_data(html):
    """The data of a page"""
    text = Path(html).read_text(encoding="utf-8")
    return json.loads(re.search(r'^<script type="application/json".*\n([^<]*)</script>', text, re.MULTILINE)[1])
