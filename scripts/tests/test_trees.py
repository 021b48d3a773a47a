# SPDX-License-Identifier: GPL-2.0-only
"""kernel-tree, the series in git and back, and KVER, on a small tree with a series of its own."""

import difflib
import hashlib
import os
import re
import shutil
from pathlib import Path

import pytest
from helpers import CACHE, HOME_KVER, KVER, ROOT, SCRIPTS, fails, named, program, run, table, write

LONG_AGO, NEWER = 978307200, 1009843200


def numbers(changes=()):
    """The lines 1 to 40, but for the changes."""
    return "".join(f"{dict(changes).get(number, number)}\n" for number in range(1, 41))


def makefile(version, sublevel=1):
    return "VERSION = {}\nPATCHLEVEL = {}\nSUBLEVEL = {}\n".format(*version.split("."), sublevel)


class Small:
    """A copy of the scripts with two files of sources, a patch and an overlay of two files."""

    def __init__(self, work):
        self.work, self.repo, self.src, self.edit = work, work / "repo", work / "src", work / "edit"
        self.series = self.repo / "kernel-patches" / KVER
        self.overlay = self.repo / "codetag/mm/new"
        shutil.copytree(SCRIPTS, self.repo / "scripts", symlinks=True)
        write(self.src / "Makefile", makefile(KVER))
        write(self.src / "mm/a.c", numbers())
        write(self.src / "mm/b.c", numbers())
        write(self.overlay / "x.c", "one\n")
        write(self.overlay / "y.c", "two\n")
        self.patch({20: "changed"})
        write(self.series / "series", "0001-mm.patch mm/new\n")

    def patch(self, changes):
        """The patch makes these changes to mm/a.c."""
        diff = difflib.unified_diff(numbers().splitlines(True), numbers(changes).splitlines(True),
                                    "a/mm/a.c", "b/mm/a.c")
        write(self.series / "0001-mm.patch", "From: A <a@b>\nSubject: mm: change a line\n\nWhy.\n---\n"
              "diff --git a/mm/a.c b/mm/a.c\n" + "".join(diff))

    def call(self, script, *arguments, by=run, **env):
        return by(self.repo / "scripts" / script, *arguments,
                  **{"CODETAG_CACHE": self.work / "cache", "KSRC": self.src, **env})

    def make_tree(self, **env):
        """Make the tree; its directory is in tree."""
        said = self.call("kernel-tree", **env)
        self.tree = Path(said.splitlines()[-1])
        return self.tree

    def line(self, number):
        return (self.tree / "mm/a.c").read_text().splitlines()[number - 1]

    def written(self):
        """Make the tree again; return the files that were written."""
        for path in self.tree.rglob("*"):
            if path.is_file():
                os.utime(path, (LONG_AGO, LONG_AGO))
        self.make_tree()
        return sorted(str(path.relative_to(self.tree)) for path in self.tree.rglob("*")
                      if path.is_file() and path.stat().st_mtime > NEWER)

    def sums(self, top):
        return {path: hashlib.sha256(path.read_bytes()).digest() for path in top.rglob("*") if path.is_file()}

    def git(self, *arguments, **env):
        return run("git", "-C", self.edit, "-c", "user.name=A", "-c", "user.email=a@b", *arguments, **env)

    def edit_series(self, *arguments, by=run):
        shutil.rmtree(self.edit, ignore_errors=True)
        return self.call("edit-series", "--files", *arguments, self.edit, by=by)

    def import_series(self, **options):
        return self.call("import-series", self.edit, **options)

    def import_refused(self, words):
        """import-series says why, and writes nothing."""
        before = self.sums(self.repo)
        assert words in self.import_series(by=fails)
        assert self.sums(self.repo) == before

    def change(self, number, text):
        path = self.edit / "mm/a.c"
        lines = path.read_text().splitlines(True)
        lines[number - 1] = text + "\n"
        path.write_text("".join(lines))


@pytest.fixture
def small(work):
    return Small(work)


@pytest.fixture
def made(small):
    small.make_tree()
    return small


@named("tree: patch and overlay")
def test_patch_and_overlay(made):
    assert made.line(20) == "changed"
    assert (made.tree / "mm/b.c").read_text() == numbers()
    assert (made.tree / "mm/new/x.c").read_text() == "one\n"


@named("tree: the sources are not written to")
def test_sources_stay(small):
    before = small.sums(small.src)
    small.make_tree()
    assert small.sums(small.src) == before


@named("tree: nothing changed, nothing written")
def test_nothing_written(made):
    assert made.written() == []


@named("tree: an overlay file changes alone")
def test_overlay_file(made):
    write(made.overlay / "x.c", "three\n")
    assert made.written() == ["mm/new/x.c"]
    assert (made.tree / "mm/new/x.c").read_text() == "three\n"


@named("tree: a patch changes its file alone")
def test_patch_alone(made):
    made.patch({25: "other"})
    assert made.written() == ["mm/a.c"]
    assert made.line(20) == "20" and made.line(25) == "other"


@named("tree: the second series, and a tree without it")
def test_second_series(small):
    """It changes the line that the first one has changed."""
    first = (small.series / "0001-mm.patch").read_text()
    second = first.replace("\n-20\n", "\n-changed\n").replace("\n+changed\n", "\n+faster\n")
    write(small.series / "fast-paths/0001-faster.patch", second)
    write(small.series / "fast-paths/series", "0001-faster.patch\n")
    small.make_tree(FAST_PATHS="y")
    assert small.line(20) == "faster"
    small.make_tree(FAST_PATHS="n")
    assert small.line(20) == "changed"
    small.call("kernel-tree", FAST_PATHS="x", by=fails)


@named("tree: an older file of the sources comes through")
def test_older_file(made):
    path = write(made.src / "mm/b.c", numbers() + "more\n")
    os.utime(path, (LONG_AGO - 1000, LONG_AGO - 1000))
    assert made.written() == ["mm/b.c"]
    assert (made.tree / "mm/b.c").read_text() == numbers() + "more\n"


@named("tree: what was edited in it is written over")
def test_edited_tree(made):
    for name in "mm/a.c", "mm/new/x.c":
        path = made.tree / name
        before = path.read_text()
        path.write_text("edited\n")
        made.make_tree()
        assert path.read_text() == before


@named("tree: the mode of an overlay file comes through")
def test_overlay_mode(made):
    (made.overlay / "x.c").chmod(0o755)
    made.make_tree()
    assert (made.tree / "mm/new/x.c").stat().st_mode & 0o777 == 0o755


@named("tree: a removed overlay file goes")
def test_removed_overlay(made):
    (made.overlay / "y.c").unlink()
    made.make_tree()
    assert not (made.tree / "mm/new/y.c").exists() and (made.tree / "mm/new/x.c").exists()


@named("edit: nothing changed, nothing written")
def test_edit_nothing(small):
    small.edit_series()
    small.import_series()
    small.edit_series()
    small.call("import-series", "--check", small.edit)
    assert small.import_series() == "nothing has changed\n"


@named("edit: a squashed commit changes its patch and its file")
def test_edit_squashed(small):
    small.edit_series()
    small.change(10, "tenth")
    write(small.edit / "mm/new/x.c", "four\n")
    small.import_refused("not committed")
    small.git("commit", "-q", "-a", "--fixup", "HEAD")
    small.import_refused("fixup!")
    small.git("rebase", "-q", "-i", "--autosquash", "base", GIT_SEQUENCE_EDITOR=":")
    small.import_series()
    small.make_tree()
    assert small.line(10) == "tenth" and (small.tree / "mm/new/x.c").read_text() == "four\n"


def another_step(small):
    small.edit_series()
    write(small.edit / "mm/new/z.c", "new\n")
    small.change(40, "last")
    small.git("add", "-A")
    small.git("commit", "-q", "-m", "mm: another step", "-m", "Why not.")
    small.import_series()


@named("edit: a new commit is a new step")
def test_edit_step(small):
    another_step(small)
    steps = (small.series / "series").read_text().splitlines()
    assert steps == ["0001-mm.patch mm/new/x.c mm/new/y.c", "0002-mm-another-step.patch mm/new/z.c"]
    small.make_tree()
    assert small.line(40) == "last" and (small.tree / "mm/new/z.c").read_text() == "new\n"


@named("edit: an overlay file in two commits is refused")
def test_edit_twice(small):
    small.edit_series()
    write(small.edit / "mm/new/x.c", "more\n")
    small.git("commit", "-q", "-a", "-m", "mm: the same file")
    small.import_refused('mm/new/x.c is changed by "mm: change a line" and by "mm: the same file"')


@named("edit: an overlay file that grows")
def test_edit_grows(small):
    """Its first form is in a patch, the last one in codetag/."""
    small.edit_series()
    path = small.edit / "mm/new/x.c"
    path.write_text(path.read_text() + "grown\n")
    small.git("commit", "-q", "-a", "-m", "mm: the file grows", "-m", "Why not.")
    small.call("import-series", "--early=mm/new/x.c", small.edit)
    steps = (small.series / "series").read_text().splitlines()
    assert steps == ["0001-mm.patch mm/new/y.c", "0002-mm-the-file-grows.patch mm/new/x.c"]
    assert "\n+++ b/mm/new/x.c\n" in (small.series / "0001-mm.patch").read_text()
    assert "grown\n" in (small.overlay / "x.c").read_text()
    small.make_tree()
    assert (small.tree / "mm/new/x.c").read_text() == (small.overlay / "x.c").read_text()
    small.edit_series()
    small.call("import-series", "--check", small.edit)
    small.git("reset", "-q", "--hard", "HEAD^")
    small.import_series()
    assert sorted((small.series / "series").read_text().split()) == ["0001-mm.patch", "mm/new/x.c", "mm/new/y.c"]


@named("edit: a series is ported, and again without help")
def test_edit_ported(small):
    """The other kernel has changed the line that the patch changes."""
    after, new = small.work / "next", small.repo / "kernel-patches/9.8"
    write(after / "mm/a.c", numbers({20: "20th"}))
    write(small.work / "next.stamp", "version: 9.8.1\n")
    write(small.series / "BASE", "# What the series was made on\n")
    program(small.repo / "scripts/get-source", f"echo {after}\n")
    assert "does not fit Linux 9.8" in small.edit_series("--onto", "9.8", by=fails)
    path = small.edit / "mm/a.c"
    write(path, re.sub(r"(?ms)^<<<<<<<.*?^>>>>>>>.*?\n", "changed\n", path.read_text()))
    small.git("add", "mm/a.c")
    small.git("rerere")
    small.git("rebase", "--continue", GIT_EDITOR=":")
    small.import_series()
    assert "\n-20th\n" in (new / "0001-mm.patch").read_text()
    assert (new / "series").read_text().split()[0] == "0001-mm.patch"
    assert "version: 9.8.1\n" in (new / "BASE").read_text()
    # A tree of one's own needs no package.
    shutil.rmtree(new)
    write(after / "Makefile", makefile("9.8", 7))
    small.edit_series("--onto", after)
    small.import_series()
    assert "version: 9.8.7\n" in (new / "BASE").read_text()
    small.make_tree(KVER="9.8", KSRC=after)
    assert small.line(20) == "changed"
    # The same once more needs no help, but no series is written over.
    shutil.rmtree(new)
    small.edit_series("--onto", "9.8")
    small.import_series()
    ported = small.sums(new)
    small.call("edit-series", "--files", "--onto", "9.8", small.work / "more", by=fails)
    shutil.rmtree(new)
    small.edit_series("--onto", "9.8")
    small.import_series()
    assert small.sums(new) == ported


@named("edit: a commit that is gone takes its patch and its file along")
def test_edit_removed(small):
    another_step(small)
    small.edit_series()
    small.git("reset", "-q", "--hard", "HEAD^")
    small.import_series()
    assert not (small.overlay / "z.c").exists()
    assert not (small.series / "0002-mm-another-step.patch").exists()


@named("edit: what has changed meanwhile is not lost")
def test_edit_behind(small):
    small.edit_series()
    write(small.overlay / "x.c", "five\n")
    small.import_refused("has changed since")


@named("tree: without series and overlay it is the source")
def test_unpatched(made):
    write(made.series / "series", "")
    shutil.rmtree(made.repo / "codetag")
    made.make_tree()
    assert (made.tree / "mm/a.c").read_text() == numbers() and not (made.tree / "mm/new").exists()


@named("tree: a patch that needs fuzz is refused by name")
def test_fuzz(small):
    write(small.src / "mm/a.c", numbers({19: "moved on"}))
    said = small.call("kernel-tree", by=fails)
    assert "0001-mm.patch" in said and "mm/a.c" in said


@named("tree: a patch at an offset is taken")
def test_offset(small):
    write(small.src / "mm/a.c", "0\n" + numbers())
    small.make_tree()
    assert small.line(21) == "changed"


@named("tree: another kernel version is refused")
def test_version(small):
    write(small.src / "Makefile", makefile("6.99"))
    assert "is no Linux" in small.call("kernel-tree", by=fails)


# --- which kernel ---

@pytest.fixture
def other(small):
    """With a second kernel, 9.9."""
    new = small.repo / "kernel-patches/9.9"
    write(new / "series", "0001-new.patch mm/new\n")
    write(new / "0001-new.patch", "From: A <a@b>\nSubject: mm: new files\n\nWhy.\n")
    home = small.repo / "kernel-patches" / HOME_KVER / "series"
    home.parent.mkdir(exist_ok=True)
    home.touch()
    write(small.src / "Makefile", makefile("9.9"))
    program(small.repo / "scripts/get-source", """\
        . "${0%/*}/lib.sh"
        mkdir -p "$PRISTINE"
        printf 'VERSION = 9\\nPATCHLEVEL = 9\\nEXTRAVERSION =\\n' >"$PRISTINE/Makefile"
        echo "asked for: $*" >"$PRISTINE.stamp"
        """)
    return small


@named("KVER: chooses its places")
def test_places(other):
    script = '. "$1"; echo "$PATCHES $PRISTINE $TREE $OBJ $LOGS"; echo "$CHOICE"'

    def places(version):
        said = run("bash", "-c", script, "-", other.repo / "scripts/lib.sh", KVER=version, KSRC="", FAST_PATHS="y",
                   CODETAG_CACHE=other.work / "cache")
        return said.replace(f"{other.repo}/", "").replace(f"{other.work}/cache/", "")

    home = f"kernel-patches/{HOME_KVER} src/linux-source-{HOME_KVER} tree/{HOME_KVER} obj log\n\n"
    assert places("9.9") == "kernel-patches/9.9 src/linux-source-9.9 tree/9.9 obj/9.9 log/9.9\nKVER=9.9 \n"
    assert places(HOME_KVER) == home and places("") == home


@named("scripts: --help and a sourced library make no directories")
def test_help(work):
    """Each script prints its help, and creates no file for that."""
    scripts = [path for path in SCRIPTS.iterdir() if path.is_file() and (
        path.name in ("run-tests", "test-scripts") or '\n. "$(dirname "$0")/lib.sh"' in path.read_text())]
    assert len(scripts) > 30
    for path in scripts:
        assert run(path, "--help", CODETAG_CACHE=work / "none").has("Usage: .*"), path
        assert not (work / "none").exists(), path
    for path in sorted(SCRIPTS.glob("*lib.sh")):
        run("bash", "-c", f". {SCRIPTS}/lib.sh && . {path}", CODETAG_CACHE=work / "none")
        assert not (work / "none").exists(), path


@named("KSRC: a directory that is not there")
def test_no_ksrc():
    assert "KSRC=/nonexistent is not a directory" in fails(SCRIPTS / "kernel-tree", KSRC="/nonexistent")
    assert "KSRC=/usr has no sources of a kernel" in fails(SCRIPTS / "kernel-tree", KSRC="/usr")


@table("version", ("KVER: an unknown one is refused", "9.8"), ("KVER: and a directory in one", "9.9/../9.9"))
def test_unknown(version, other):
    said = other.call("kernel-tree", by=fails, KVER=version)
    assert f"KVER={version}: there is no series" in said and said.has(f".*known: {re.escape(HOME_KVER)} .*9.9")


@named("KVER: and as a variable of make")
def test_make():
    fails("make", "-s", "-C", ROOT, "tree", "KVER=9.8")


@named("KVER: the overlay is in its tree and in its patches")
def test_overlay(other):
    other.make_tree(KVER="9.9")
    assert (other.tree / "mm/new/x.c").read_text() == "one\n"
    other.call("export-series", other.work / "export", KVER="9.9")
    assert any("\n+one\n" in path.read_text() for path in (other.work / "export").glob("*.patch"))


@named("KVER: its sources are fetched")
def test_fetched(other):
    tree = other.make_tree(KVER="9.9", KSRC="")
    assert tree == other.work / "cache/tree/9.9"
    assert "asked for: 9.9\n" in tree.with_name("9.9.stamp").read_text()


class Archives:
    """Debian's, with source packages whose only patch of PREEMPT_RT changes the Makefile."""

    def __init__(self, small):
        self.small, self.bin, self.archive = small, small.work / "bin", small.work / "archive"
        self.archive.mkdir()
        program(self.bin / "dpkg-query", "echo linux 9.9.1-2\n")
        program(self.bin / "apt-get", f"""\
            case " $* " in
            *' indextargets '*) echo http://archive suite Debian main ;;
            *' source '*) cp "{self.archive}/${{!#/=/_}}.debian.tar.xz" . ;;
            esac
            """)
        program(self.bin / "apt-cache", f"ls {self.archive} | sed 's/^linux_\\(.*\\)\\.debian.*/Version: \\1/'\n")

    def put(self, version, line, text, removed="EXTRAVERSION =", top=None):
        """The archives get this version. Its patch expects that line and sets that EXTRAVERSION."""
        debian = self.small.work / "debian"
        write(debian / "patches-rt/series", "one.patch\n")
        write(debian / "patches-rt/one.patch", f"--- a/Makefile\n+++ b/Makefile\n@@ -1,3 +1,3 @@\n VERSION = 9\n"
              f" {line}\n-{removed}\n+EXTRAVERSION = {text}\n")
        tar = (top or self.archive) / f"linux_{version}.debian.tar.xz"
        run("tar", "-C", self.small.work, "-cJf", tar, "debian")
        return tar

    def source(self, *arguments, by=run, **env):
        return self.small.call("get-rt-source", *arguments, by=by, **{
            "KVER": "9.9", "KSRC": "", "PATH": f"{self.bin}:{os.environ['PATH']}", **env})

    def extra(self, said):
        return (Path(said.splitlines()[-1]) / "Makefile").read_text().splitlines()[2]


@pytest.fixture
def archives(other):
    """With another version than that of the kernel."""
    archives = Archives(other)
    archives.put("9.9.1-1", "PATCHLEVEL = 8", "other")
    return archives


@named("KVER: PREEMPT_RT of another version where that of its own is not to be had")
def test_rt_other(archives):
    said = archives.source()
    assert archives.extra(said) == "EXTRAVERSION = other"
    assert "no longer have debian.tar.xz of 9.9.1-2; using that of 9.9.1-1" in said
    assert "one.patch applies with other lines around it" in said


@named("KVER: and nothing is done again")
def test_rt_same(archives):
    archives.source()
    said = archives.source()
    assert archives.extra(said) == "EXTRAVERSION = other" and "applies" not in said


@named("KVER: with no archives it stays")
def test_rt_cut_off(archives):
    archives.source()
    (archives.archive / "linux_9.9.1-1.debian.tar.xz").unlink()
    said = archives.source()
    assert archives.extra(said) == "EXTRAVERSION = other"
    assert "could not be fetched" in said and "the existing tree with the patches of linux_9.9.1-1.debian.tar.xz" in said
    archives.source(by=fails, CODETAG_CACHE=archives.small.work / "empty")


@named("KVER: until it is there")
def test_rt_own(archives):
    archives.source()
    archives.put("9.9.1-2", "PATCHLEVEL = 9", "own")
    said = archives.source()
    assert archives.extra(said) == "EXTRAVERSION = own" and said.count("\n") == 1


@named("KVER: then none is looked for")
def test_rt_offline(archives):
    archives.put("9.9.1-2", "PATCHLEVEL = 9", "own")
    archives.source()
    for path in archives.archive.iterdir():
        path.unlink()
    assert archives.extra(archives.source()) == "EXTRAVERSION = own"


@named("KVER: a patch that does not apply is refused")
def test_rt_refused(archives):
    tar = archives.put("9.9.1-3", "PATCHLEVEL = 9", "bad", removed="NOTHING", top=archives.small.work)
    said = archives.source(tar, by=fails)
    assert said.has(r".*one.patch of .*linux_9.9.1-3.*does not apply to linux-source-9.9.*")


@named("config: a symbol that is not taken is named")
def test_config(small):
    """With the kernel itself: only its configuration is made."""
    write(small.repo / "scripts/configs/broken.config", "CONFIG_NO_SUCH_SYMBOL=y\n")
    said = small.call("build-kernel", "plain-broken", by=fails, CODETAG_CACHE=CACHE, KSRC=os.environ.get("KSRC", ""))
    shutil.rmtree(os.path.join(os.environ["OBJ"], "plain-broken"))
    assert "CONFIG_NO_SUCH_SYMBOL" in said
