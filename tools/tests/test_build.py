# SPDX-License-Identifier: GPL-2.0-only
"""The ways the command is built."""

import re
from pathlib import Path

from inputs import CODETAG_ALLOCINFO, V1, V2
from screen import on_terminal
from support import BUILD, CODETAG, built, codetag, named, needs_feature, refused, run


@named("build/static")
def test_static():
    """make without a target builds the command, and says which features it leaves out."""
    directory = BUILD / "static"
    made = run("nice", "-n", "5", "make", "-s", "-C", "..", f"O={directory}", "STATIC=1", timeout=1200)
    assert made.has("built without what needs .*cairo.*"), str(made)
    assert "NEEDED" not in run("readelf", "-d", directory / "codetag").out
    codetag(f"top --once {V1}", command=directory / "codetag")


@named("build/clang")
def test_clang(clang):
    """Other tests use this build, too, if they need one without sanitizers."""
    codetag(f"report {V1}", command=clang)


@needs_feature("d3")
@named("build/without-cairo")
def test_without_cairo(work):
    """Pages need no cairo; charts that do say so."""
    without = built("no-cairo", "CAIRO=0", "CFLAGS=-O0")
    codetag("chart -o", work / "without.html", CODETAG_ALLOCINFO, command=without)
    codetag("chart -o", work / "with.html", CODETAG_ALLOCINFO)
    assert (work / "without.html").read_bytes() == (work / "with.html").read_bytes()
    result = refused("without cairo", "chart -o", work / "without.svg", CODETAG_ALLOCINFO, command=without)
    assert "Try .html" in result.err
    assert not (work / "without.svg").exists()


@named("build/source-clean")
def test_source_clean():
    """With O= the source tree stays as it was."""
    assert not [path for name in ("lib", "cmd", "tests") for path in Path("..", name).rglob("*.[oad]")]


@named("build/layers")
def test_layers():
    """A directory of the library includes its own headers and those of directories that README.md lists
    above it, and none of the subcommands."""
    listed = Path("../README.md").read_text(encoding="utf-8").partition("\n\tlib/kernel")[0]
    layers = re.findall(r"^\t  ([a-z_]*)/ ", listed, re.MULTILINE)
    assert sorted(layers) == sorted(path.name for path in Path("../lib").iterdir()
                                   if path.is_dir() and path.name != "kernel")
    for number, layer in enumerate(layers):
        allowed = {*layers[:number + 1], "codetag"}
        for path in Path("../lib", layer).glob("*.[ch]"):
            included = re.findall('#include "(.*)"', path.read_text(encoding="utf-8"))
            wrong = [name for name in included if name.partition("/")[0] not in allowed]
            assert not wrong, f"{path} includes {wrong}"


@named("output/full-disk")
def test_full_disk():
    for words in f"report {V2}", f"export --format pprof {CODETAG_ALLOCINFO}":
        assert "No space left" in run("sh", "-c", f"{CODETAG} {words} >/dev/full", status=2).err


@named("output/closed-pipe")
def test_closed_pipe():
    """A reader that closes the pipe early is no error."""
    for way in "", "trap '' PIPE;":
        result = run("bash", "-c", f"{way} {CODETAG} report -a {CODETAG_ALLOCINFO} | head -n 1")
        assert len(result.lines) == 1 and not result.err, str(result)


@named("output/expected")
def test_no_sanitizer_expected():
    """UPDATE=1 accepts any output, so look for output that is always wrong."""
    files = [path for name in ("golden", "expected") for path in Path(name).rglob("*") if path.is_file()]
    assert files and not [path for path in files if re.search(b"runtime error|Sanitizer", path.read_bytes())]


@named("output/units")
def test_units():
    """Human units only on a terminal, where script(1) makes one."""
    line = f"report --raw {V1}"
    assert codetag(line).has("4096 .*")
    shown = on_terminal(f"{CODETAG} {line}", TERM="dumb")
    assert any(row.startswith("4.0K ") for row in shown.lines), str(shown)
