# SPDX-License-Identifier: GPL-2.0-only
"""Files that cost their reader more work or memory than their size explains: each is read in seconds, or
refused with the reason."""

import io
import sqlite3
import tarfile

from inputs import V1, V2_LATER
from support import codetag, limited, named, needs_feature


def ends(seconds, line):
    """It ends within so much processor time, with a result or a message."""
    return codetag(line, status=(0, 1, 2), merge=True, preexec=limited(seconds))


def archive(path, hosts, sites, own=False):
    """A tar of so many hosts with so many call sites each, which have the same names on all of them, or
    names of their own"""
    with tarfile.open(path, "w") as tar:
        for host in range(hosts):
            text = "".join(f"1 1 a.c:{site} func:f{host if own else 0}_{site}\n"
                           for site in range(1, sites + 1)).encode()
            member = tarfile.TarInfo(f"{host}/proc/allocinfo")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    return path


@named("work/machines")
@needs_feature("libarchive")
def test_machines(work):
    """Files are assigned to machines."""
    result = ends(20, f"report -b -N {archive(work / 'machines.tar', 4000, 1)}")
    assert result.has(" *4000 .*"), str(result)


@named("work/files")
@needs_feature("libarchive")
def test_files(work):
    """No fleet has an archive with so many files."""
    result = ends(20, f"report {archive(work / 'files.tar', 20001, 1)}")
    assert "too many" in result.out, str(result)


@named("work/values")
@needs_feature("libarchive")
def test_values(work):
    """Each host has a value for each call site."""
    result = ends(20, f"merge {archive(work / 'values.tar', 4000, 50, own=True)}")
    assert "too many" in result.out, str(result)


@named("work/hosts")
@needs_feature("sqlite3")
def test_hosts(work):
    """The same in a database, in which a host takes some bytes."""
    path = work / "hosts.db"
    codetag(f"merge --sqlite {path} {V1} {V2_LATER}")
    numbers = [(number,) for number in range(1000, 41000)]
    db = sqlite3.connect(path)
    db.executemany("INSERT INTO host VALUES (?, 1, 1, 1, 1)", numbers)
    db.executemany("INSERT INTO site VALUES (?1, 1, ?1, 1, 1, 1, 1)", numbers)
    db.commit()
    db.close()
    for command in "report", "merge", "report --group host":
        result = ends(20, f"{command} {path}")
        assert "too many" in result.out, str(result)


@named("work/copies")
@needs_feature("sqlite3")
def test_copies(work):
    """Copies of a list come in the wrong order: no copy waits for the disk, either."""
    copies = work / "copies"
    copies.write_text("".join(f"{second}\n1 1 a.c:1 func:f\n" for second in range(1700020000, 1700000000, -1)))
    ends(30, f"leaks {copies}")


@named("work/lines")
def test_lines(work):
    """Lines of one function are in the wrong order, and the other list has none of them."""
    even, odd = work / "even", work / "odd"
    for file, last in (even, 200000), (odd, 199999):
        file.write_text("".join(f"1 1 a.c:{line} func:f\n" for line in range(last, 0, -2)))
    ends(20, f"diff {even} {odd}")
    ends(20, f"merge {even} {odd}")


@named("work/pointers")
def test_pointers(work):
    """Pointers would share a slot of a table if its hash were not secret."""
    trace = work / "pointers.trace"
    trace.write_text("".join(
        f"x-1 [000] 1.0: kmalloc: call_site=f ptr={number:x}00000000000 bytes_req=8 bytes_alloc=8\n"
        for number in range(1, 120001)))
    result = ends(20, f"trace {trace}")
    assert "120000" in result.out, str(result)
