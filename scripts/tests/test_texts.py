# SPDX-License-Identifier: GPL-2.0-only
"""The scripts and the texts themselves: shellcheck, check-text, the tables of results."""

import hashlib
import os
import re
from pathlib import Path

from helpers import ROOT, SCRIPTS, fails, named, run, table, write


@named("shellcheck")
def test_shellcheck():
    """Once the scripts are clean, they stay it until one of them changes."""
    kept = Path(os.environ["OBJ"]) / ".codetag-shellcheck"
    paths = sorted(path for top in ("scripts", "packaging", ".ci")
                   for path in (ROOT / top).rglob("*") if path.is_file())
    sums = [f"{path} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in paths]
    now = hashlib.sha256("".join([run("shellcheck", "--version"), *sums]).encode()).hexdigest()
    if kept.exists() and kept.read_text() == now:
        return
    kept.unlink(missing_ok=True)
    shell = re.compile(rb"^#!/bin/(bash|sh)|^# shellcheck shell=", re.MULTILINE)
    run("shellcheck", "-x", "-P", "SCRIPTDIR", *(path for path in paths if shell.search(path.read_bytes())), cwd=ROOT)
    kept.write_text(now)


@named("text: plain sentences")
def test_texts():
    run(SCRIPTS / "check-text")


@table(
    "text",
    ("text: a long sentence is found", "word " * 31 + "end."),
    ("text: a word of the list is found", "The second series makes SLUB faster."),
    ("text: a date is found", "It was 39 until 2026-11-23."),
    ("text: a link to nothing is found", "See [below](#nowhere)."),
    ("text: a clause as a subject is found", "What is skipped cannot be on that kernel."),
)
def test_planted(text, work):
    planted = write(work / "planted.md", f"# Title\n\n{text}\n")
    assert fails(SCRIPTS / "check-text", planted).has("1 findings.*")


@table(
    "name, text",
    ("text: a comment of a script", "planted.sh", "#!/bin/sh\n# {}\n{}\n"),
    ("text: a comment of a script without a suffix", "planted", "#!/bin/sh\n# {}\n{}\n"),
    ("text: a comment of C", "planted.c", "/* {} */\n{}\n"),
    ("text: the message of a patch", "planted.patch", "Subject: [PATCH] x\n\n{}\n---\n\n{}\n"),
    ("text: a message in C", "planted.c", 'print("is "\n"it? {}" /* */\n);\nprint("  {}");\n'),
    ("text: a comment that a patch adds", "planted.patch", "---\n+++ b/x.c\n@@ -0,0 +1 @@\n+/* {} */\n-/* {} */\n"),
    ("text: the help of an option", "Kconfig", "config X\n\thelp\n\t  {}\n\tdefault {}\n"),
    ("text: the description of an interface", "debugfs-codetag", "What:\t\tx\nDescription:\n\t\t{}\nWhat: {}\n"),
    ("text: a comment inside a comment that a patch changes", "planted.patch",
     "---\n+++ b/x.c\n@@ -1,3 +1,4 @@\n  * One.\n+ *\n+ * {}\n  */\n-/* {} */\n"),
    ("text: help of an option that a patch changes", "planted.patch",
     "---\n+++ b/Kconfig\n@@ -1,1 +1,2 @@\n \t  One.\n+\t  {}\n-\t  {}\n"),
    ("text: a comment of Rust", "planted.rs", '/// {}\nfn f() {{ g("x {}") }}\n'),
    ("text: a comment of a Makefile in a patch", "planted.patch",
     "---\n+++ b/Makefile\n@@ -0,0 +1 @@\n+# {}\n-# {}\n"),
    ("text: the text of --help", "planted", '#!/bin/sh\nusage="x \\"y\\" z\n\n{}"\nrows="x\n{}"\n'),
    ("text: a message of a script", "planted", '#!/bin/sh\ndie "it is no \\"x\\": {}"\necho "{}"\n'),
    ("text: the help of an option of Python", "planted.py", 'add_argument("x", help="{}")\nprint("{}")\n'),
    ("text: a docstring", "planted.py", 'def f():\n    """One "x".\n\n    {}\n    """\n    x = "{}"\n'),
    ("text: a cover letter", "cover-letter", "Title\n\n{}\n\n  {}\n"),
)
def test_kinds(name, text, work):
    """A bad sentence is found where people read it, and not in code, diffs and tables."""
    planted = text.format("What is skipped cannot be.", "What is shown cannot be.")
    assert fails(SCRIPTS / "check-text", write(work / name, planted)).has("1 findings.*")
    run(SCRIPTS / "check-text", write(work / name, ""))


@named("text: tables are those of the results")
def test_tables():
    run(ROOT / "benchmarks/write-tables", "--check")


@named("text: another number in a table is found")
def test_changed_table(work):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    changed = re.sub(r"^\| kmalloc 64 \|.*", "| kmalloc 64 | 1 | 1 | 1 | 1 |", text, flags=re.MULTILINE)
    assert changed != text
    fails(ROOT / "benchmarks/write-tables", "--check", write(work / "table.md", changed))
