# SPDX-License-Identifier: GPL-2.0-only
"""Compressed files and archives."""

import gzip
import shutil
from pathlib import Path

import pytest

from inputs import CODETAG_ALLOCINFO, CODETAG_MEMINFO, CODETAG_SLABINFO, CODETAG_ZONEINFO, RECORDED, V1
from support import CODETAG, built, codetag, named, needs_feature, needs_program, refused, run, survives, table


@named("archive/static")
def test_static(work):
    """A build without libarchive says what it cannot do."""
    small = work / "packed"
    small.write_bytes(gzip.compress(V1.read_bytes()))
    refused("cannot unpack", "report", small, command=built("static", "STATIC=1"))


@needs_feature("libarchive")
@named("merge/names")
def test_names_of_hosts(work):
    proc = work / "web1/proc"
    proc.mkdir(parents=True)
    shutil.copy(V1, proc / "allocinfo")
    shutil.copy(CODETAG_MEMINFO, proc / "meminfo")
    (work / "web2").mkdir()
    (work / "web2/allocinfo.gz").write_bytes(gzip.compress(V1.read_bytes()))
    (work / "README").write_text("not an allocinfo\n", encoding="utf-8")
    assert [host["host"] for host in codetag("merge --json", work).json()["hosts"]] == ["web1", "web2"]


@pytest.fixture
def sosreport(work):
    """The directory of a sosreport of one host"""
    root = work / "sosreport-db1-2026"
    for directory in "proc", "sos_commands/kernel", "sys/devices/system/node/node0":
        (root / directory).mkdir(parents=True)
    for file in "allocinfo", "meminfo", "slabinfo", "zoneinfo":
        shutil.copy(f"{RECORDED}.{file}", root / "proc" / file)
    (root / "sys/devices/system/node/node0/meminfo").write_text("wrong\n", encoding="utf-8")
    (root / "sos_commands/kernel/uname_-a").write_text(
        "Linux db1.example 6.12.117-test #1 SMP x86_64 GNU/Linux\n", encoding="utf-8")
    return root


def packed(sosreport, extension):
    archive = sosreport.parent / f"sos.{extension}"
    run("tar", "-C", sosreport.parent, "-caf", archive, sosreport.name)
    return archive


@needs_feature("libarchive")
@table(
    "extension",
    ("archive/tar", "tar"),
    ("archive/tar.gz", "tar.gz"),
    ("archive/tar.xz", "tar.xz"),
    ("archive/tar.zst", "tar.zst"),
)
def test_archive(sosreport, extension):
    """All files from one archive"""
    sos = packed(sosreport, extension)
    machine = f"--meminfo {CODETAG_MEMINFO} --slabinfo {CODETAG_SLABINFO} --zoneinfo {CODETAG_ZONEINFO}"
    assert codetag("report", sos).out == codetag(f"report {CODETAG_ALLOCINFO} {machine}").out
    assert codetag("slabs -f", sos).out == codetag(f"slabs -f {CODETAG_SLABINFO}").out
    merged = codetag("merge", sos).out
    assert "kernels: 6.12.117-test on 1" in merged
    assert " db1.example " in merged


@needs_feature("libarchive")
@named("archive/numbered")
def test_archive_numbered(sosreport):
    """A number chooses one of several snapshots, and an archive is of one moment."""
    refused("a number chooses a snapshot of a recording", f"report {packed(sosreport, 'tar')}@1")


@needs_feature("libarchive")
@named("archive/without")
def test_archive_without(sosreport):
    (sosreport / "proc/allocinfo").unlink()
    refused("no file proc/allocinfo", "report", packed(sosreport, "tar"))


@needs_feature("libarchive")
@pytest.mark.parametrize("tool", [
    pytest.param(tool, marks=[named(f"archive/{tool}"), needs_program(tool)]) for tool in ("gzip", "xz", "zstd")])
def test_compressed(work, tool):
    for line, file in ("report", "allocinfo"), ("slabs -f", "slabinfo"), ("trace", "trace"):
        plain = Path(f"{RECORDED}.{file}")
        compressed = work / file
        compressed.write_bytes(run(tool, "-c", stdin=plain.read_bytes()).raw)
        assert codetag(line, compressed).out == codetag(line, plain).out
    report = codetag("report -", stdin=(work / "allocinfo").read_bytes())
    assert report.out == codetag(f"report {CODETAG_ALLOCINFO}").out


@needs_feature("libarchive")
@named("archive/damaged")
def test_damaged(work, sosreport):
    sound, damaged = packed(sosreport, "tar.gz"), work / "damaged.gz"
    survives(CODETAG, "report", damaged, file=sound, copy=damaged, times=20, most=6, first=2)
    damaged.write_bytes(sound.read_bytes()[:5000])
    refused("damaged or cut", "report", damaged)


@needs_feature("libarchive")
@named("archive/empty")
def test_empty(work):
    """An empty file that is compressed is empty."""
    (work / "empty.gz").write_bytes(gzip.compress(b""))
    refused("empty.gz is empty", "report", work / "empty.gz")


@needs_feature("libarchive")
@named("archive/bomb")
def test_bomb(work):
    """A file much larger than any real one is not unpacked."""
    part = gzip.compress((b"12345678\n" * 333334)[:3000000], 1)
    (work / "bomb.gz").write_bytes(part * 100)
    refused("too large", "report", work / "bomb.gz")
