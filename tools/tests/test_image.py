# SPDX-License-Identifier: GPL-2.0-only
"""Commands that read an image of memory, on the smallest ones."""

import struct

import pytest

from inputs import CODETAG_SLABINFO, V2
from outputs import json_is_documented
from support import SCRATCH, codetag, file_limit, limited, named, table

HEAD, GIB = 4096, 1 << 30


@pytest.fixture(scope="session")
def small(make_image):
    return make_image(SCRATCH / "small")


@pytest.fixture(scope="session")
def linked(make_image):
    return make_image(SCRATCH / "linked", "linked")


def stretch(image):
    """Make the file as long as it says: 256 GiB, nearly all of which is a hole."""
    with image.open("r+b") as file:
        file.truncate(HEAD + 256 * GIB)


def prints(status, text, line, **options):
    """The command exits with the status and prints the text, to stdout or to stderr."""
    result = codetag(line, status=status, merge=True, **options)
    assert text in result.out, str(result)
    return result


def rows(line, status=0):
    return codetag(line, status=status).json()["rows"]


@named("image/lost")
def test_lost(small, linked):
    """0: nothing is lost, 1: something is, 2: these call sites have no object."""
    prints(1, "in 2 of 4 objects", f"lost --image {small} func objects")
    prints(0, "in 0 of 4 objects", f"lost --image {linked} func pages")
    prints(2, "no call site that the query selects has an object", f"lost --image {small} func nosuch")
    prints(2, "no call site", f"lost --json --image {small} func nosuch")
    prints(1, "in 4 of 4 objects", f"lost -n 1 --image {small}")
    assert len(rows(f"lost --json -n 1 --image {small}", status=1)) == 1


@named("image/graph")
def test_graph(work, small, linked):
    pages = f"--image {linked} func pages"
    prints(0, "Dropping these 2 objects would free 17424 of 2 call sites.", f"graph -b {pages}")
    prints(0, "Dropping this object would free 1024 of 1 call site.", f"graph -b --image {small} ffff888000028000")
    prints(0, "would free 17424 of 2 call sites.", f"graph -b -n 1 {pages}")
    assert len(rows(f"graph --json --top 1 {pages}")) == 1

    chosen = codetag(f"graph --json {pages}").json()
    assert chosen["objects"] == 2
    assert chosen["freed"] == 17424 == sum(row["size"] for row in chosen["rows"])
    whole = codetag(f"graph --json --image {linked}").json()
    assert "freed" not in whole
    assert whole["rows"] and all(row["retained"] for row in whole["rows"])

    svg, png, other = work / "graph.svg", work / "graph.png", work / "x.svg"
    codetag(f"graph {pages} -o {svg}")
    assert "<svg" in svg.read_text(encoding="utf-8")
    codetag(f"graph --image {linked} -o {png}")
    assert png.stat().st_size
    prints(2, "--top goes with neither", f"graph --image {linked} -n 1 --folded")
    prints(2, "--top goes with neither", f"graph --image {linked} -n 1 -o {other}")


@named("image/holders")
def test_holders(linked):
    prints(0, " -  ", f"holders --image {linked} func pages")
    assert [row["example"] for row in rows(f"holders --json --image {linked} func pages")] == [None]
    assert len(rows(f"holders -n 1 --json --image {linked} file mm/small.c")) == 1


@named("image/slabs")
def test_slabs(small):
    prints(2, f"one file at a time, '{small}' is a second one", f"slabs -f {CODETAG_SLABINFO} --image {small}")
    prints(2, "one file at a time", f"slabs --image {small} -f {CODETAG_SLABINFO}")
    prints(2, "codetag census --image FILE --by cache,site", f"slabs --image {small} --sites")
    prints(2, "one file too many", f"report --allocinfo {V2} --image {small}")
    prints(2, "one file too many", f"report --image {small} --allocinfo {V2}")


@named("image/files")
def test_files(small):
    """Files that are images, by the option or without it; this one has nothing split."""
    prints(1, "no call site is split", f"contexts --image {small}")
    prints(1, "no call site is split", f"contexts {small}")
    prints(2, f"one file at a time, '{small}' is a second one", f"contexts {small} --image {small}")
    prints(2, "is not an image", f"contexts --image {V2}")
    prints(0, "ids_builtin", f"stats --image {small}")
    prints(0, "ids_builtin", f"stats {small}")
    prints(0, r"16384      1  /a\040b", f"census --image {small} --by cgroup")
    prints(0, "1024      1  /", f"census --image {small} --by cgroup,kind")
    prints(2, "--top must be 1 or more", f"census -n 0 {small}")
    assert len(rows(f"census --json --top 2 --image {small} --by site,kind")) == 2
    assert len(rows(f"census --json --image {small} --by site,kind")) == 3
    prints(0, "slab", f"census {small}")
    prints(2, "is not an image", f"where --image {V2}")
    prints(1, "524288 installed = 114688 at boot", f"where --bytes {small}")


@named("image/contexts")
def test_contexts(make_image):
    """The value of each key, as helpers/make-image.c has it in contexts[]. The command knows neither the
    length of a value of an unknown key nor, therefore, the values behind it."""
    split = make_image(SCRATCH / "split", "split")
    found = codetag(f"contexts --json --image {split}").json()
    site, = found["sites"]
    assert (site["name"], site["keys"], site["size"], site["lost"], site["contexts"]) == (
        "mm/small.c:1 func:pages", "size,colour,stack", 16400, 7, 6)
    assert [(row["size"], row["calls"], row["allocs"], row["values"]) for row in found["rows"]] == [
        (600, 6, 8, {"size": "2", "colour": "?", "task": "?"}),
        (500, 5, 7, {"cgroup": "none"}),
        (400, 4, 6, {"cpu": "300", "size": "64", "age": "540-600", "cgroup": "77", "task": "a long name"}),
        (300, 3, 5, {"accounted": "no", "gfp": "GFP_ONE|0x100", "size": "1500"}),
        (200, 2, 4, {"node": "all", "cpu": "5", "accounted": "yes", "gfp": "GFP_TWO"}),
        (100, 1, 3, {"node": "2"})]
    assert [row["stack"] for row in found["rows"] if row["stack"]] == [["0xffffffff81000010", "0xffffffff81000020"]]


@named("image/census")
def test_census(work):
    """A copy of the kernel's census, and files that are not one."""
    census = work / "census"
    census.write_text("# census - version: 1.0\n"
                      "  8192 2 node=0 site=mm/a.c:1 func:a\n"
                      "  4096 1 node=1 site=mm/a.c:1 func:a\n"
                      "  100 1 node=1 site=fs/b.c:2 [b] func:b\n"
                      "  7 1 others\n", encoding="utf-8")
    by_node = f"census --by node {census}"
    prints(0, "8192      2  0", by_node)
    prints(0, "4196      2  1", by_node)
    prints(0, "100      1  1", f"{by_node} module b")
    prints(0, "more than 57344 rows: the last row, others, has 7 bytes", by_node)
    prints(0, "7      1  others", by_node)
    chosen = prints(0, "the query chooses nothing of 7 bytes of others", f"{by_node} module b")
    assert "1  others" not in chosen.out
    assert len(rows(f"census --json -n 1 --by node {census}")) == 1
    prints(2, "was not counted by cache", f"census --by cache {census}")
    prints(2, "is no line of a census", f"census {V2}")


@named("image/sparse")
def test_sparse(work, make_image):
    image = make_image(work / "sparse", "sparse")
    stretch(image)
    prints(0, "0 mismatches", f"audit --image {image}")
    prints(0, "2 call sites", f"report --image {image}")
    prints(1, "in 4 of 4 objects", f"lost --image {image}")
    prints(1, "524288 installed", f"where --bytes {image}")


@named("image/empty")
def test_empty(work, make_image, small):
    """Holes are not searched, and data after them are found: a layout table at 200 GiB."""
    image = make_image(work / "empty", "empty")
    stretch(image)
    prints(2, "has no layout table", f"report --image {image}", preexec=limited(3))
    table_page = bytearray(small.read_bytes()[8192:12288])
    table_page[24:32] = struct.pack("<Q", 200 * GIB)
    with image.open("r+b") as file:
        file.seek(HEAD + 200 * GIB)
        file.write(table_page)
    prints(0, "2 call sites", f"report --image {image}", preexec=limited(3))


@named("image/two-files")
def test_two_files(work):
    """One of the two options would be ignored."""
    prints(2, "is one file too many", f"diff --allocinfo {V2} {V2}")
    prints(2, "is one file too many", f"diff {V2} --allocinfo {V2}")
    chart = f"chart -o {work}/x.svg"
    prints(2, "is one file too many", f"{chart} --allocinfo {V2} {V2}")
    prints(2, "is one file too many", f"{chart} {V2} --allocinfo {V2}")


@named("image/cut")
def test_cut(work, make_image):
    image = make_image(work / "cut", "cut")
    prints(2, "lacks memory of its layout table", f"lost --image {image}")


@named("image/registers")
def test_registers(small):
    prints(1, "has no registers of processors", f"whose --image {small} --registers")
    prints(2, "--registers is for an image", "whose --registers")


@named("image/flat")
def test_flat(work):
    """A flattened file is put together first, where there may be no room for it."""
    flat, there, nowhere = work / "flat", work / "there", work / "nowhere"
    there.mkdir()
    head = b"makedumpfile".ljust(16, b"\0") + struct.pack(">QQ", 1, 1)
    block = struct.pack(">QQ", 0, 3 << 20) + bytes(3 << 20)
    end = struct.pack(">QQ", 2**64 - 1, 2**64 - 1)
    flat.write_bytes(head.ljust(4096, b"\0") + block + end)
    prints(2, f"cannot be put together in {nowhere} (see TMPDIR): No such file", f"audit --image {flat}",
           env={"TMPDIR": nowhere})
    prints(2, f"cannot be put together in {there} (see TMPDIR): File too large", f"audit --image {flat}",
           env={"TMPDIR": there}, preexec=file_limit(1500))
    assert not list(there.iterdir())


@table(
    "status, line",
    ("docs/json/lost", 1, "lost --json --contexts --image {small}"),
    ("docs/json/whose", 0, "whose --json --image {small} ffff888000028000"),
    ("docs/json/census", 0, "census --json --by kind,cache --image {small}"),
    ("docs/json/graph", 0, "graph --json --image {linked} func pages"),
    ("docs/json/holders", 0, "holders --json --image {linked} func pages"),
)
def test_documented(small, linked, status, line):
    json_is_documented(codetag(line.format(small=small, linked=linked), status=status))
