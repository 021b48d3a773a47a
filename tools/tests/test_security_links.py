# SPDX-License-Identifier: GPL-2.0-only
"""Directories in which other users can put links, and files that are not ordinary ones."""

import errno
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from inputs import LARGE_TRACE, V1
from support import CODETAG, codetag, limited, named, needs_feature, needs_program, needs_root, refused, run

NOBODY, SOMEBODY = 65534, 65533


def with_other_users(test):
    """A test that gives files away, and in which each command may write"""
    for mark in needs_root, needs_feature("sqlite3"), needs_feature("cairo"):
        test = mark(test)
    return test


def writers(out):
    """The ways to write a file"""
    return [f"export --format csv -o {out} {V1}", f"chart -o {out} {V1}",
            f"trace {LARGE_TRACE} --callers {out}"]


def creators(out):
    """The commands that make a file which must not exist"""
    return [f"record -q -c 1 -o {out} --allocinfo {V1}", f"merge --sqlite {out} {V1}",
            f"report --sqlite {out} {V1}", f"trace {LARGE_TRACE} --save-db {out}"]


def directory(path, *names):
    """A directory with these in it, instead of one that may be there"""
    if path.exists():
        shutil.rmtree(path)
    path.mkdir()
    for name in names:
        (path / name).mkdir()
    return path


def give(user, *paths):
    for path in paths:
        os.chown(path, user, -1, follow_symlinks=False)


def fails(command, reason):
    """The command exits with status 2 for this reason, whatever it has printed before."""
    result = codetag(command, status=2)
    assert re.search(reason, result.err), str(result)


def csv_of(file):
    return codetag(f"export --format csv {file}").raw


@named("security/link")
@with_other_users
def test_link(work):
    """Another user's link or file in a directory like /tmp is not followed, whatever the sysctl says."""
    victim = work / "victim"
    for name in "link.svg", "file.svg":
        for command in writers(work / "sticky" / name):
            sticky = directory(work / "sticky")
            sticky.chmod(0o1777)
            link, file = sticky / "link.svg", sticky / "file.svg"
            victim.write_text("keep\n")
            link.symlink_to(victim)
            file.write_text("keep\n")
            give(NOBODY, sticky)
            give(SOMEBODY, link, file)
            fails(command, "Permission denied")
            assert (victim.read_bytes(), file.read_bytes()) == (b"keep\n", b"keep\n"), command
            assert link.is_symlink(), command


@named("security/target")
@with_other_users
def test_target(work):
    """Nor is one's own link to another user's file there."""
    sticky = directory(work / "sticky")
    sticky.chmod(0o1777)
    file, own = sticky / "file.svg", work / "own.svg"
    own.symlink_to("sticky/file.svg")
    for command in writers(own):
        file.write_text("keep\n")
        give(SOMEBODY, file)
        fails(command, "Permission denied")
        assert file.read_bytes() == b"keep\n", command


@named("security/way")
@with_other_users
def test_way(work):
    """Nor a link of somebody else's anywhere in the path, in whatever directory: to a file, to the directory
    of one, or to nothing."""
    way = work / "way"
    for out in "theirs/out.svg", "theirs/none.svg", "theirs/out/real.svg", "sticky/out/real.svg", "sticky/out/none.svg":
        for command in writers(way / out) + creators(way / out):
            directory(way, "theirs", "sticky", "mine")
            theirs, sticky, mine = way / "theirs", way / "sticky", way / "mine"
            sticky.chmod(0o1777)
            (mine / "real.svg").write_text("keep\n")
            (sticky / "out").symlink_to("../mine")
            if out.startswith("theirs/out/"):
                (theirs / "out").symlink_to("../mine")
            else:
                (theirs / "out.svg").symlink_to("../mine/real.svg")
                (theirs / "none.svg").symlink_to("../mine/made.svg")
            give(SOMEBODY, theirs, *theirs.iterdir(), *sticky.iterdir())
            fails(command, "Permission denied| exists")
            assert os.listdir(mine) == ["real.svg"], command
            assert (mine / "real.svg").read_bytes() == b"keep\n", command


@named("security/append")
@with_other_users
def test_append(work, recording):
    """Neither is more appended there."""
    want = recording.read_bytes()
    for name in "sticky/x.db", "theirs/x.db", "sticky/way/x.db":
        top = directory(work / "append", "theirs", "sticky", "mine")
        theirs, sticky, mine = top / "theirs", top / "sticky", top / "mine"
        sticky.chmod(0o1777)
        shutil.copy(recording, mine / "x.db")
        shutil.copy(recording, sticky / "x.db")
        (theirs / "x.db").symlink_to("../mine/x.db")
        (sticky / "way").symlink_to("../mine")
        give(SOMEBODY, theirs, *theirs.iterdir(), *sticky.iterdir())
        refused("Permission denied", f"record -q -c 1 --append -o {top / name} --allocinfo {V1}")
        for database in mine / "x.db", sticky / "x.db":
            same = database.read_bytes() == want
            assert same, f"{database} has changed"


@named("security/name")
@with_other_users
def test_name(work):
    """Nor a file of root's that somebody has linked into such a directory."""
    file = work / "named-twice"
    for command in writers(work / "sticky/out.svg"):
        sticky = directory(work / "sticky")
        sticky.chmod(0o1777)
        file.write_text("keep\n")
        (sticky / "out.svg").hardlink_to(file)
        fails(command, "Permission denied")
        assert (file.read_bytes(), (sticky / "out.svg").read_bytes()) == (b"keep\n", b"keep\n"), command


@named("security/attributes")
@with_other_users
def test_attributes(work):
    """A file that is replaced keeps its owner, mode and attributes, also behind a link."""
    def attributes(path):
        status = path.stat()
        extended = {name: os.getxattr(path, name) for name in os.listxattr(path)}
        return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode), extended

    for command in writers(work / "attributes/out.svg"):
        top = directory(work / "attributes")
        real, out = top / "real.svg", top / "out.svg"
        real.write_text("old\n")
        out.symlink_to("real.svg")
        os.chown(real, 1234, 4321)
        real.chmod(0o640)
        os.setxattr(real, "user.test", b"here")
        want = attributes(real)
        codetag(command)
        assert attributes(real) == want, command
        assert real.read_bytes() != b"old\n", command
        assert out.is_symlink(), command
        assert sorted(os.listdir(top)) == ["out.svg", "real.svg"], command


@named("security/in-place")
@with_other_users
@needs_program("setpriv")
def test_in_place():
    """If the file can be written but its directory cannot, it is written in place."""
    # Nobody can enter the directory of the other tests.
    with tempfile.TemporaryDirectory(prefix="codetag-", dir="/tmp") as name:
        top = Path(name)
        shutil.copy(CODETAG, top / "codetag")
        shutil.copy(V1, top / "in")
        (top / "out").write_bytes(bytes(100000))
        give(NOBODY, top / "out")
        top.chmod(0o755)
        run("setpriv", f"--reuid={NOBODY}", "--clear-groups", top / "codetag", "export", "--format", "csv",
            "-o", top / "out", top / "in")
        assert (top / "out").read_bytes() == csv_of(top / "in")


@named("security/dangling")
@needs_feature("sqlite3")
def test_dangling(work):
    """A dangling link creates no file."""
    made, dangling = work / "made", work / "dangling"
    dangling.symlink_to(made)
    for command in creators(dangling):
        fails(command, "File exists")
        assert not made.exists(), command
        assert dangling.is_symlink(), command


@named("security/private")
@needs_feature("sqlite3")
def test_private(work):
    """Output from files that only root can read is readable by root alone."""
    private = work / "private"
    for command in creators(private):
        codetag(command, preexec=lambda: os.umask(0o022))
        assert stat.S_IMODE(private.stat().st_mode) == 0o600, command
        private.unlink()


@named("security/own-way")
def test_own_way(work):
    """One's own links are followed, and those of the kernel to open files."""
    file = V1.resolve()
    real, a, b = work / "real", work / "a", work / "b"
    real.mkdir()
    a.symlink_to("real")
    b.symlink_to(a)
    (real / "link").symlink_to("../b/out")
    want = csv_of(file)
    codetag(f"export --format csv -o {b}/link {file}")
    assert (real / "out").read_bytes() == want
    codetag(f"export --format csv -o ../b/.//new {file}", cwd=a)
    assert (real / "new").read_bytes() == want
    assert codetag(f"export --format csv -o /dev/stdout {file}").raw == want
    run("sh", "-c", 'exec "$@" 7>"$0"', work / "seven", CODETAG, "export", "--format", "csv", "-o", "/dev/fd/7", file)
    assert (work / "seven").read_bytes() == want
    (work / "loop").symlink_to("loop")
    refused(os.strerror(errno.ELOOP), f"export --format csv -o {work}/loop/x {file}")


@named("security/long-names")
@needs_feature("libarchive")
def test_long_names(work):
    """A name has at most 255 bytes, and so has the temporary name of the file."""
    name = "n" * 251
    codetag(f"export --format csv -o {work}/{name}.csv {V1}")
    assert (work / f"{name}.csv").read_bytes() == csv_of(V1)
    (work / f"{name}.gz").write_bytes(run("gzip", "-c", LARGE_TRACE).raw)
    assert codetag(f"trace {work}/{name}.gz", merge=True).out == codetag(f"trace {LARGE_TRACE}", merge=True).out


@named("security/beside")
def test_beside(work):
    """Files beside an allocinfo are not read if reading them could wait or never end."""
    proc, fifo = work / "hosts/a/proc", work / "hosts/fifo"
    proc.mkdir(parents=True)
    fifo.mkdir()
    shutil.copy(V1, proc / "allocinfo")
    os.mkfifo(proc / "meminfo")
    os.mkfifo(fifo / "allocinfo")
    (proc / "slabinfo").symlink_to("/dev/zero")
    codetag(f"report {proc}/allocinfo", preexec=limited(20), timeout=60)
    result = codetag(f"report {work}/hosts", preexec=limited(20), timeout=60)
    assert "fifo/allocinfo is left out" in result.err, str(result)


LEFT_OUT = "is left out: it leads to files of the kernel"


@named("security/kernel-files")
def test_kernel_files(work):
    """No link leads to files of the kernel: some wait, and some lose what is read."""
    fleet, proc = work / "fleet", work / "host/proc"
    for path in fleet / "a", fleet / "b", proc:
        path.mkdir(parents=True)
    shutil.copy(V1, fleet / "a/allocinfo")
    (fleet / "b/allocinfo").symlink_to("/proc/version")
    (fleet / "c").symlink_to("/proc/self")
    shutil.copy(V1, proc / "allocinfo")
    (proc / "meminfo").symlink_to("/proc/meminfo")
    # a link that was named
    (work / "link").symlink_to("/proc/self")
    refused(f"link {LEFT_OUT}", f"merge {work}/link", timeout=20)
    result = codetag(f"report {fleet}")
    assert result.err.count(LEFT_OUT) == 2, str(result)
    refused("meminfo is left out", f"where {work}/host")


@named("security/kernel-mount")
@pytest.mark.usefixtures("namespace")
def test_kernel_mount(work):
    """Nor does a mount in a directory."""
    (work / "a").mkdir()
    (work / "d").mkdir()
    shutil.copy(V1, work / "a/allocinfo")
    result = run("unshare", "--mount", "sh", "-c", 'mount -t proc proc "$1/d" && "$0" report "$1"', CODETAG, work)
    assert f"{work.name}/d {LEFT_OUT}" in result.err, str(result)
