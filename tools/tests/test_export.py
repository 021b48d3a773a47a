# SPDX-License-Identifier: GPL-2.0-only
"""The formats of other tools, read by other programs."""

import csv
import os
import re
import stat
import subprocess

import pytest

from inputs import (CODETAG_ALLOCINFO, MAINLINE_ALLOCINFO, OLD_TRACE, RECORDED_ALLOCINFOS, SPLIT_CONTEXTS, V2, V2_LATER,
                    context_sizes, sites_of)
from support import built, codetag, file_limit, helper, named, needs_feature, needs_program, refused, run, table

FILES = [V2_LATER, *RECORDED_ALLOCINFOS]


def each_file(kind):
    """A test for each file of allocinfo"""
    return table("file", *((f"export/{kind}/{file.name}", file) for file in FILES))


def weights(folded):
    """The weights of folded stacks"""
    return [int(line.rsplit(" ", 1)[1]) for line in folded.lines]


def pprof_is_folded(work, line):
    """The stacks of pprof are those of the folded format, with the same weights."""
    path = work / "x.pb.gz"
    codetag(f"export --format pprof -o {path} {line}")
    run("gzip", "-t", path)
    # Names can have blanks, the last two words are numbers.
    stacks = [text.rsplit(" ", 2) for text in helper("decode-pprof", path).lines]
    by_size = codetag(f"export --format folded {line}")
    assert sorted(by_size.lines) == sorted(f"{stack} {size}" for stack, _, size in stacks if int(size) > 0)
    by_calls = codetag(f"export --format folded --attr calls {line}")
    assert sorted(by_calls.lines) == sorted(f"{stack} {calls}" for stack, calls, _ in stacks if int(calls) > 0)


@each_file("pprof")
def test_pprof(work, file):
    pprof_is_folded(work, file)


@named("export/contexts-pprof")
def test_contexts_pprof(work):
    pprof_is_folded(work, f"--contexts={SPLIT_CONTEXTS} --skip")


@needs_feature("zlib")
@named("export/pprof/packed")
def test_packed(work):
    """The file is smaller than its content; without zlib the content itself is written."""
    packed, plain = work / "packed.pb.gz", work / "plain.pb"
    codetag(f"export --format pprof -o {packed} {MAINLINE_ALLOCINFO}")
    codetag(f"export --format pprof -o {plain} {MAINLINE_ALLOCINFO}", command=built("static", "STATIC=1"))
    assert run("gzip", "-dc", packed).raw == plain.read_bytes()
    assert packed.stat().st_size < plain.stat().st_size * 2 // 3


@each_file("folded")
def test_folded(file):
    folded = codetag(f"export --raw --format folded --attr size {file}")
    assert sum(weights(folded)) == sum(size for size, *_ in sites_of(file) if size > 0)


@each_file("folded-calls")
def test_folded_calls(file):
    folded = codetag(f"export --raw --format folded --attr calls {file}")
    assert sum(weights(folded)) == sum(calls for _, calls, _ in sites_of(file) if calls > 0)


@named("export/contexts-folded")
def test_contexts_folded():
    """Memory in contexts, and memory in none"""
    contexts, outside = context_sizes(SPLIT_CONTEXTS)
    assert contexts and outside
    folded = codetag(f"export --contexts={SPLIT_CONTEXTS} --format folded")
    assert sum(weights(folded)) == sum(size for size, *_ in contexts + outside)


def speedscope_is_sound(line):
    scope = codetag(f"export --format speedscope {line}").json()
    frames, profile = scope["shared"]["frames"], scope["profiles"][0]
    assert len(profile["samples"]) == len(profile["weights"])
    assert all(0 <= frame < len(frames) for stack in profile["samples"] for frame in stack)
    assert sum(profile["weights"]) == profile["endValue"]


@each_file("speedscope")
def test_speedscope(file):
    speedscope_is_sound(file)


@named("export/contexts-speedscope")
def test_contexts_speedscope():
    speedscope_is_sound(f"--contexts={SPLIT_CONTEXTS}")


@each_file("csv")
def test_csv(file):
    lines = codetag(f"export --format csv {file}").out.splitlines(keepends=True)
    rows = csv.DictReader(lines, strict=True)
    assert sum(int(row["size"]) for row in rows) == sum(size for size, *_ in sites_of(file))


@each_file("prometheus")
def test_prometheus(file):
    """Listed groups and the others add up to the total, however many are listed."""
    text = codetag(f"export --format prometheus --top 3 {file}").out
    listed = re.findall(r"^codetag_allocated_bytes\{.* (\d+)$", text, re.MULTILINE)
    others = re.findall(r"^codetag_other_allocated_bytes (\d+)$", text, re.MULTILINE)
    total, = re.findall(r"^codetag_total_allocated_bytes (\d+)$", text, re.MULTILINE)
    assert len(listed) <= 3
    assert sum(map(int, listed + others)) == int(total)


@each_file("json")
def test_json(file):
    codetag(f"export --format json {file}").json()


@needs_program("promtool")
@each_file("promtool")
def test_promtool(file):
    promtool_takes(codetag(f"export --format prometheus {file}").raw)


def promtool_takes(series):
    run("promtool", "check", "metrics", stdin=series)


@pytest.fixture
def not_utf8(work):
    """Tags that are not UTF-8, and one that looks alike"""
    file = work / "latin1"
    file.write_bytes(b"allocinfo - version: 2.0\n#\n"
                     b" 5 1 a\xff.c:1 func:f\n"
                     b" 6 1 a\xfe.c:1 func:f\n"
                     b' 7 1 b.c:2 func:"\xc3\xa9\\\n')
    return file


@named("export/prometheus-not-utf8")
def test_prometheus_not_utf8(not_utf8):
    series = codetag(f"export --format prometheus {not_utf8}").raw.decode("utf-8", errors="strict")
    names = [line.rsplit(" ", 1)[0] for line in series.split("\n") if line and line[0] != "#"]
    assert len(names) == len(set(names)) == 11


@named("export/prometheus-not-profiled")
def test_prometheus_not_profiled():
    assert "\ncodetag_sites_not_profiled 1\n" in codetag(f"export --format prometheus {V2}").out
    assert "\ncodetag_sites_not_profiled 0\n" in codetag(f"export --format prometheus {CODETAG_ALLOCINFO}").out


@needs_program("promtool")
@named("export/promtool/not-utf8")
def test_promtool_not_utf8(not_utf8):
    promtool_takes(codetag(f"export --format prometheus {not_utf8}").raw)


@named("export/prometheus-stable")
def test_prometheus_stable():
    """A site whose line moves stays the same series."""
    text = V2.read_text(encoding="utf-8")
    assert "mm/filemap.c:1950 " in text
    moved = text.replace("mm/filemap.c:1950 ", "mm/filemap.c:1951 ")
    before = codetag(f"export --format prometheus {V2}")
    assert codetag("export --format prometheus -", stdin=moved).out == before.out


@table("label", *((f"export/label-own/{label}", label) for label in (
    "file", "line", "module", "func", "kind", "release", "dir", "subsystem")))
def test_own_labels(label):
    """The user cannot give a series a label that it has itself."""
    refused(f"have a label {label} of their own", f"export --format prometheus --label {label}=x {V2}")


@table("label", *((f"export/label/{label}", label) for label in ("site", "row", "place", "rack")))
def test_labels(label):
    """Names that groupings have, but no label, are the user's: every series has the label once."""
    for group in "place", "site", "func", "file", "dir", "module", "subsystem":
        lines = codetag(f"export --format prometheus -g {group} --label {label}=x {V2}").lines
        series = [line for line in lines if not line.startswith("#")]
        assert len(series) > 8, group
        for line in series:
            assert re.findall(r"[{,](\w+)=", line).count(label) == 1, line


@named("export/atomic")
def test_atomic(work):
    """A failed export leaves neither a file nor a temporary one."""
    (work / "old.prom").touch()
    new = work / "new.prom"
    codetag(f"export --format prometheus -o {new} {V2}")
    assert set(os.listdir(work)) == {"new.prom", "old.prom"}
    codetag(f"export --format csv -o {work}/missing/x {V2}", status=2)
    codetag(f"export --format csv -o {new} {V2}", status=2, preexec=file_limit(0))
    assert set(os.listdir(work)) == {"new.prom", "old.prom"}
    assert re.search("^# HELP", new.read_text(encoding="utf-8"), re.MULTILINE)


@named("export/refused-leaves-nothing")
def test_refused_leaves_nothing(work):
    """If the input is refused, no output file is made, and none is left."""
    bad = work / "bad"
    bad.write_text("nonsense\n", encoding="utf-8")
    for command in ("export --format sqlite -o", "export --format json -o", "report --sqlite",
                    "merge --sqlite", "trace --save-db", "trace --callers", "graph -o"):
        codetag(f"{command} {work}/out.svg {bad}", status=2)
        assert os.listdir(work) == ["bad"], command


@named("export/in-place")
def test_in_place(work):
    """A pipe, a device and a symbolic link stay what they are."""
    want = codetag(f"export --format csv {V2_LATER}").raw
    into_pipe(work / "pipe", want)
    into_links(work, want)
    into_device(work / "null")
    assert not list(work.glob(".*.??????")), "a temporary file is left"


def export_csv(path):
    codetag(f"export --format csv -o {path} {V2_LATER}")


def into_pipe(pipe, want):
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        try:
            export_csv(pipe)
            got, _ = reader.communicate(timeout=60)
        finally:
            reader.kill()
    assert reader.returncode == 0 and got == want
    assert pipe.is_fifo()


def into_links(work, want):
    link, real, dangling, absent = (work / name for name in ("link", "real", "dangling", "absent"))
    real.write_text("old\n", encoding="utf-8")
    link.symlink_to("real")
    dangling.symlink_to("absent")
    export_csv(link)
    assert link.is_symlink() and real.read_bytes() == want
    export_csv(dangling)
    assert dangling.is_symlink() and absent.read_bytes() == want
    codetag(f"trace {OLD_TRACE} --callers {link}")
    assert link.is_symlink() and "ffffffff810a0033" in real.read_text(encoding="utf-8").splitlines()


def into_device(null):
    """Not everyone may make a device and write to it."""
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_bytes(b"")
    except OSError:
        return
    export_csv(null)
    assert null.is_char_device()


@table(
    "text, line",
    ("docs/refuses/contexts-csv", "--contexts", f"export --contexts={SPLIT_CONTEXTS} --format csv"),
    ("docs/refuses/contexts-group", "--group", f"export --contexts={SPLIT_CONTEXTS} --format folded -g dir"),
    ("docs/refuses/contexts-file", "no other file", f"export --contexts={SPLIT_CONTEXTS} --format folded x"),
    ("docs/refuses/skip-alone", "--contexts", f"export --skip --format folded {V2}"),
)
def test_refused(text, line):
    refused(text, line)
