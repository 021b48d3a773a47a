# SPDX-License-Identifier: GPL-2.0-only
"""The static footprint of a small tree, made here as Kbuild makes a large one."""

import bisect
import re
import shutil
import sys
from collections import Counter

import pytest

from inputs import MODERN_TRACE, OLD_TRACE
from outputs import json_is_documented, page_data
from support import (CODETAG, HELPERS, SCRATCH, codetag, helper, named, needs_feature, needs_program, refused, run,
                     survives, table)

pytestmark = needs_feature("libelf")


def compiled(path, part, *flags, compiler="gcc"):
    """Compile a part of helpers/static-tree.c to an object of this path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    run(compiler, *flags, f"-D{part}", "-c", "-o", path, HELPERS / "static-tree.c")
    return path


def by_kbuild(tree, name, part):
    """Compile an object, and note it in the way of Kbuild."""
    path = compiled(tree / f"{name}.o", part, "-O1", "-fno-asynchronous-unwind-tables")
    (path.parent / f".{path.name}.cmd").write_text(f"savedcmd_{name}.o := gcc -c\n\nsource_{name}.o := {name}.c\n")


@pytest.fixture(scope="session")
def tree():
    """A small tree of objects"""
    path = SCRATCH / "tree"
    (path / "include/config").mkdir(parents=True)
    (path / "include/config/kernel.release").write_text("6.12.0-test\n")
    for name, part in (("fs/ext4/inode", "INODE"), ("fs/ext4/super", "TAGS"), ("mm/slub", "SLUB"),
                       ("fs/dcache", "DCACHE"), ("scripts/host", "HOST")):
        by_kbuild(path, name, part)
    (path / "System.map").write_text("ffffffff810a0000 T f\nffffffff81100000 t twice\nffffffff82000000 D data\n")
    ext4 = path / "fs/ext4"
    run("ld", "-r", "-o", ext4 / "ext4.o", ext4 / "inode.o", ext4 / "super.o")
    (ext4 / ".ext4.o.cmd").write_text("savedcmd_fs/ext4/ext4.o := ld -r\n")
    return path


@pytest.fixture(scope="session")
def apart():
    """A tree with a module that has sections .init and .exit"""
    path = SCRATCH / "apart"
    core = compiled(path / "drivers/foo-core.o", "SECTIONS", "-O1")
    shutil.copy(core, path / "drivers/built.o")
    (path / "drivers/foo-bar.mod").write_text("drivers/foo-core.o\n")
    run("ld", "-r", "-o", path / "drivers/foo-bar.ko", core)
    return path


def rows(line, *words):
    """The words of each line that the command prints"""
    return [row.split() for row in codetag(line, *words).lines]


def total(line, *words):
    """The sum of a column, the only one that the command prints"""
    return sum(int(row[0]) for row in rows(line, *words))


@named("static/sizes")
def test_sizes(tree):
    sections = [line.split() for line in run("size", "-A", tree / "fs/ext4/inode.o").lines]
    text = next(int(words[1]) for words in sections if words[:1] == [".text"])
    found = {row[-1]: row[:-1] for row in rows("static -b -N", tree)}
    assert set(found) == {"fs/ext4/inode.o", "fs/ext4/super.o", "mm/slub.o", "fs/dcache.o"}
    assert found["fs/ext4/inode.o"] == f"{4000 + 2000 + 1200 + text} {text} 1200 2000 4000 0 0".split()
    assert found["fs/ext4/super.o"] == "64 0 0 64 0 0 64".split()
    assert found["mm/slub.o"][2:] == "0 0 4096 0 0".split()


@needs_program("clang")
@named("static/lto")
def test_lto(work):
    """With link time optimisation objects are not ELF: the linked file is counted."""
    compiled(work / "fs/x.o", "DATA", "-flto=thin", compiler="clang")
    (work / "fs/.x.o.cmd").write_text("savedcmd := x\n\nsource_fs/x.o := x.c\n")
    result = codetag("static", work, status=2)
    assert re.search("1 object file in .* is LLVM bitcode", result.err)
    compiled(work / "vmlinux.o", "DATA", compiler="clang")
    compiled(work / "fs/m.ko", "DATA", compiler="clang")
    result = codetag("static -b -N -o data,name", work)
    assert [line.split() for line in result.lines] == [["2000", "fs/m.ko"], ["2000", "vmlinux.o"]]
    assert "link time optimisation" in result.err


@named("static/groups")
def test_groups(tree):
    found = rows("static -b -N -g dir:1 -s name", tree)
    assert [row[-1] for row in found] == ["fs", "mm"]
    assert all(int(row[0]) > 0 for row in found)


@named("static/apart")
def test_apart(apart):
    """Sections .init and .exit are a kind of their own; files .mod tell modules; one file is read, too."""
    module = apart / "drivers/foo-bar.ko"
    assert rows("static -b -N -g module -s name -o data,init,name", apart) == [
        ["64", "158", "foo_bar"], ["64", "158", "vmlinux"]]
    assert codetag("static -b -N -o data,init,name", module).lines == [f"64  158  {module}"]
    branch = codetag("static -b -N --start-branch drivers/foo-core -o data,init,name", apart)
    assert branch.lines == ["64  158  drivers/foo-core.o"]
    nothing = codetag("static -N --start-branch fs", apart, status=1)
    assert not nothing.out
    assert re.search("no object file of .* is below fs", nothing.err)


@named("static/symbols")
def test_symbols(tree, apart):
    """Each function and variable, as readelf tells; aliases once, and the rest makes up the sum."""
    want = []
    for line in run("readelf", "-sW", tree / "fs/ext4/inode.o").lines:
        words = line.split()
        if words[3:4] in (["FUNC"], ["OBJECT"]) and int(words[2]) > 0:
            want.append([words[2], f"fs/ext4/inode.o:{words[7]}"])
    assert want
    found = codetag("static -b -N -g symbol --start-branch fs/ext4/inode -o total,name", tree).lines
    assert sorted(line.split() for line in found if "no symbol" not in line) == sorted(want)
    assert total("static -b -N -g symbol -o total", tree) == total("static -b -N -o total", tree)
    aliases = codetag("static -N -b -g symbol -o data,name", apart / "drivers/built.o").lines
    assert len([line for line in aliases if re.search(":data|:other", line)]) == 1


@named("static/columns")
def test_columns(tree):
    assert codetag("static -N -b -g dir:1 -s name -o name,objects", tree).out == "fs  3\nmm  1\n"
    found = codetag("static --json -o name,objects", tree).json()["rows"]
    assert found and all(set(row) == {"name", "objects"} for row in found)


@named("static/damaged")
def test_damaged(tree, work):
    """An object is damaged in its header, from its table of sections on, and anywhere."""
    sound = tree / "fs/ext4/inode.o"
    sections = int.from_bytes(sound.read_bytes()[40:48], sys.byteorder)
    (work / "fs").mkdir()
    for words in ["static"], ["trace", MODERN_TRACE, "--kernel"]:
        for first in "0-64", sections, 0:
            survives(CODETAG, *words, work, file=sound, copy=work / "fs/x.o", times=10, most=10, first=first)


@named("static/refuses")
def test_refuses(work, make_image):
    refused("there are no object files", "static", work)
    refused("No such file", "static", work / "nowhere")
    junk = work / "x.o"
    junk.write_text("not an object\n")
    refused("1 file named .o is no object file", "static", work)
    one_line = refused("x.o is not an object file, module or vmlinux", "static", junk)
    assert len(one_line.err.splitlines()) == 1
    # A core is not an object, either.
    refused("is not an object file, module or vmlinux", "static", make_image(work / "image"))


@named("static/linked")
def test_linked(work):
    """The linker puts the tags of a vmlinux into .data, between two symbols."""
    tags, script, vmlinux, stripped = (work / name for name in ("x.o", "x.lds", "vmlinux", "stripped"))
    compiled(tags, "TAGS")
    script.write_text("SECTIONS { .data : { __start_alloc_tags = .; *(alloc_tags) __stop_alloc_tags = .; } }\n")
    run("ld", "-T", script, "-e", 0, "-o", vmlinux, tags)
    run("strip", "-o", stripped, vmlinux)
    assert codetag("static -b -N -o tags", vmlinux).lines == ["64"]
    assert codetag("static -b -N -o tags", stripped).lines == ["-"]
    assert '"tags": null' in codetag("static --json", stripped).out


@named("static/json")
def test_json(tree):
    codetag("static --json", tree).json()


@table(
    "line",
    ("docs/json/static", "static --json"),
    ("docs/json/trace-kernel", f"trace --json {OLD_TRACE} --kernel"),
)
def test_documented(tree, line):
    json_is_documented(codetag(line, tree))


@needs_feature("cairo")
@named("static/chart")
def test_chart(tree, work):
    codetag("chart --attr static", tree, "-o", work / "static.svg")


@needs_feature("cairo")
@named("static/bars")
def test_bars(tree, work):
    """The bars of a build tree, and a query on it"""
    svg = work / "bars.svg"
    objects = rows("static -b -N", tree)
    sizes = [row[0] for row in objects]
    codetag("chart --attr static --kind bars", tree, "-o", svg)
    helper("check-svg-bars", svg, 4, stdin="\n".join(sizes))
    sizes = [row[0] for row in objects if "ext4" in row[-1]]
    codetag("chart --attr static --kind bars", tree, "-o", svg, "file fs/ext4/*")
    helper("check-svg-bars", svg, 2, stdin="\n".join(sizes))


@needs_feature("cairo")
@table(
    "option, text",
    ("static/chart-func", "-g func", "--group and --top are for bars and areas"),
    ("static/chart-area", "--kind area", "a build tree has no history"),
)
def test_chart_refuses(tree, work, option, text):
    refused(text, f"chart --attr static {option}", tree, "-o", work / "refused.svg")
    assert not (work / "refused.svg").exists()


@named("trace/objects")
def test_trace_objects(tree):
    """Callers by name and by address; a name that two objects have gives no file."""
    result = codetag(f"trace -N {OLD_TRACE} --kernel", tree, merge=True)
    assert result.out.replace(str(tree), "TREE").splitlines() == [
        "codetag trace: 2 of 4 callers are in no file of TREE, or in several",
        "384  56  256  2/1  21.9%  f+0x33      fs/ext4/inode.o",
        "128   0   64  2/1   0.0%  twice+0x10  (several)"]


@named("trace/branch")
def test_trace_branch(tree):
    inode = codetag(f"trace -N {OLD_TRACE} --start-branch fs/ext4/ --kernel", tree)
    assert inode.lines == ["384  56  256  2/1  21.9%  f+0x33  fs/ext4/inode.o"]
    nothing = codetag(f"trace -N {OLD_TRACE} --start-branch fs/ext --kernel", tree, status=1)
    assert not nothing.out
    assert "no caller is in a file below fs/ext" in nothing.err
    # The totals are of the branch, too.
    totals = codetag(f"trace {OLD_TRACE} --start-branch fs/ext4 --kernel", tree).lines[:9]
    assert totals[0] == "current bytes allocated: 256"
    assert totals[5:7] == ["total wasted bytes: 84", "number of allocs: 2"]
    assert totals[8] == "number of callers: 1"


@named("trace/unreadable")
def test_trace_unreadable(tree, work):
    """An unreadable object is reported, because it may contain a caller."""
    shutil.copytree(tree / "fs", work / "fs")
    (work / "fs/x.o").write_text("junk\n")
    assert "1 files are named .o but are not object files" in codetag(f"trace {OLD_TRACE} --kernel", work).err


@needs_feature("d3")
@named("trace/current")
def test_trace_current(tree, work):
    """The sum of static and dynamic memory; --start-branch takes a part of both."""
    page = work / "current.html"
    static = codetag("static --json", tree).json()["total"]["total"]
    dynamic = codetag(f"trace --json {OLD_TRACE}").json()["total"]["current_dynamic"]
    assert dynamic > 0
    codetag(f"chart --trace {OLD_TRACE} --kernel", tree, "-o", page)
    assert page_sum(page) == static + dynamic
    groups = codetag("static --json -g dir:1", tree).json()["rows"]
    static = next(row["total"] for row in groups if row["name"] == "fs")
    callers = codetag(f"trace --json {OLD_TRACE} --start-branch fs --kernel", tree).json()["rows"]
    dynamic = sum(row["current_dynamic"] for row in callers)
    codetag(f"chart --trace {OLD_TRACE} --start-branch fs --kernel", tree, "-o", page)
    assert page_sum(page) == static + dynamic


def page_sum(page):
    return sum(site["values"][1] for site in page_data(page)["sites"])


class DebugTree:
    """data/source-tree becomes a program that stands for a kernel with DWARF. It writes the trace of
    its own calls to kmalloc(), and the places of these."""

    def __init__(self, path):
        self.objects = path / "obj"
        (self.objects / "fs/ext4").mkdir(parents=True)
        shutil.copytree("data/source-tree", path / "src")
        flags = ["-g", "-O2", "-fno-optimize-sibling-calls", "-I../src/include"]
        sources = [f"../src/{name}.c" for name in ("init/main", "fs/namei", "mm/slub", "kernel/sched/build")]
        self.make("gcc", *flags, "-no-pie", "-o", "vmlinux", *sources)
        symbols = self.make("nm", "-n", "vmlinux").out
        (self.objects / "System.map").write_text(symbols)
        self.make("gcc", *flags, "-c", "-o", "fs/ext4/inode.o", "../src/fs/ext4/inode.c")
        self.make("ld", "-r", "-o", "fs/ext4/ext4.ko", "fs/ext4/inode.o")
        ran = self.make("./vmlinux")
        self.places = size_and_file(ran.err)
        self.by_address, self.by_name = path / "address.trace", path / "name.trace"
        self.by_address.write_text(ran.out)
        self.by_name.write_text(with_names(ran.out, symbols))

    def make(self, *words):
        return run(*words, cwd=self.objects)

    def files(self, trace, *words):
        """The size and the file of each call"""
        return size_and_file(codetag("trace -N -b -o total_dynamic,file --kernel", self.objects, trace, *words).out)


def size_and_file(text):
    return sorted((int(line.split()[0]), line.split()[1]) for line in text.splitlines())


def with_names(trace, symbols):
    """The trace with names where it has addresses, as kernels since 2.6.37 write it"""
    functions = sorted((int(address, 16), name) for address, name in
                       re.findall(r"^(\w+) [tT] (\S+)$", symbols, re.MULTILINE))

    def name(match):
        at = int(match[1], 16)
        start, function = functions[bisect.bisect(functions, (at, "")) - 1]
        return f"call_site={function}+{at - start:#x}/0x1000"

    return re.sub("call_site=([0-9a-f]+)", name, trace)


@pytest.fixture(scope="session")
def debug_tree():
    """A kernel with DWARF, and its trace"""
    return DebugTree(SCRATCH / "debug")


@needs_feature("libdw")
@named("trace/debug")
def test_trace_debug(debug_tree):
    """An address has one file. By the name, two functions with the same code may be meant."""
    assert debug_tree.places
    assert debug_tree.files(debug_tree.by_address) == debug_tree.places
    sizes = Counter(size for size, _ in debug_tree.places)
    assert sizes[300] == sizes[600] == 1
    sure = [place for place in debug_tree.places if place[0] not in (300, 600)]
    assert debug_tree.files(debug_tree.by_name) == sorted([*sure, (900, "(several)")])
    assert debug_tree.files(debug_tree.by_address, "--start-branch", "fs") == [
        (size, "fs/namei.c") for size in (200, 300, 400)]
    assert debug_tree.files(debug_tree.by_name, "--start-branch", "mm/slub.c") == [
        (size, "mm/slub.c") for size in (500, 700)]


@needs_feature("libdw")
@named("trace/debug-module")
def test_trace_debug_module(debug_tree, work):
    """Functions of a module: the call site names it, or it is beside a known object."""
    trace = work / "module.trace"
    trace.write_text(
        "x-1 [000] 1.0: kmalloc: call_site=twice+0x2/0x10 [ext4] ptr=10 bytes_req=1 bytes_alloc=1\n"
        "x-1 [000] 1.0: kmalloc: call_site=ext4_only+0x2/0x10 ptr=20 bytes_req=2 bytes_alloc=2\n")
    assert debug_tree.files(trace) == [(1, "fs/ext4/inode.c"), (2, "fs/ext4/inode.c")]


@needs_feature("libdw")
@named("trace/debug-damaged")
def test_trace_debug_damaged(debug_tree, work):
    survives(CODETAG, "trace", debug_tree.by_name, "--kernel", work,
             file=debug_tree.objects / "vmlinux", copy=work / "vmlinux", times=25, most=400, first=64)
