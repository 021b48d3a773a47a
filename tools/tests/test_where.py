# SPDX-License-Identifier: GPL-2.0-only
"""codetag where: all memory, each byte once, wherever it is read from."""

import os
import random
import re
import shutil
import textwrap

from hosts import K, MEMINFO, VMSTAT, ZONEINFO, make_host, where_json
from inputs import MAINLINE_ALLOCINFO, MAINLINE_SLABINFO
from machines import in_world
from recordings import rebooted
from support import CODETAG, codetag, named, needs_feature, refused, run, shows


def charge(host, *sites):
    (host / "proc/allocinfo").write_text("\n".join(
        ["allocinfo - version: 1.0", "#     <size>  <calls> <tag info>", *sites, ""]))


def count(host, name, text):
    """Write a file of debugfs."""
    directory = host / "sys/kernel/debug/codetag"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(text)


def pack(archive, directory, *names):
    run("tar", "-caf", archive, "-C", directory, *names)
    return archive


def rows(path, **options):
    """The output below the line that names the machine"""
    return codetag("where -b", path, **options).lines[1:]


def says(status, text, path):
    result = codetag("where", path, status=status, timeout=20, merge=True)
    assert re.search(text, result.out, re.MULTILINE), str(result)


def sizes(host):
    return [kind["size"] for kind in host["kinds"]]


@named("where/pipe")
def test_pipe(work):
    """A pipe is read once."""
    text = MAINLINE_ALLOCINFO.read_text(encoding="utf-8")
    assert "there is no meminfo" in codetag("where -", stdin=text, status=2).err
    os.mkfifo(work / "pipe")
    run("sh", "-c", f"cat {MAINLINE_ALLOCINFO} >{work}/pipe & exec {CODETAG} where {work}/pipe", status=2, timeout=60)


@named("where/sums")
def test_sums(work):
    """Every number follows from the files, and all of them add up."""
    host = where_json(make_host(work))
    size = {kind["name"]: kind["size"] // K for kind in host["kinds"]}
    droppable = {kind["name"]: kind["droppable"] // K for kind in host["kinds"]}
    want = {"processes": 100000, "file_cache": 171000, "tmpfs": 30000, "slab_reclaimable": 20000, "slab": 30000,
            "huge_pages": 20480, "page_tables": 5000, "kernel_stacks": 4000, "vmalloc": 10000, "percpu": 1000,
            "zram": 2000, "reclaimable": 500}
    assert {name: size[name] for name in want} == want
    assert (droppable["file_cache"], droppable["slab_reclaimable"], droppable["tmpfs"]) == (170000, 20000, 0)
    assert 1e9 < host["time"] < 1e10
    assert host["installed"] == 262144 * 4 * K and host["total"] == 1000000 * K
    assert host["boot"] == host["installed"] - host["total"] == sum(part["size"] for part in host["boot_parts"])
    assert host["boot_parts"][0] == {"what": "struct page of all memory", "size": 4096 * 4 * K}
    assert host["cpu_lists"] == 2560 * 4 * K
    assert host["used"] + host["free"] + host["cpu_lists"] == host["total"]
    assert sum(sizes(host)) == host["used"]
    assert size["unaccounted"] == host["used"] // K - sum(want.values())
    assert not host["exact"] and host["profiling"] == "unknown"


@named("where/host-takes-memory")
def test_host_takes_memory(work):
    """In some guests meminfo counts pages as free that the host took from a zone."""
    make_host(work)
    zoneinfo = work / "proc/zoneinfo"
    zoneinfo.write_text(ZONEINFO.replace("131072", "31072").replace("250000", "150000"))
    vmstat = work / "proc/vmstat"
    vmstat.write_text(VMSTAT + "nr_anon_pages 25000\nnr_slab_unreclaimable 7500\n")
    host = where_json(work, status=(0, 1))
    assert (host["free"], host["total"], host["in_no_zone"]) == (31072 * 4 * K, 150000 * 4 * K, 100000 * 4 * K)
    assert (host["installed"], host["boot"]) == (162144 * 4 * K, 12144 * 4 * K)
    assert sum(sizes(host)) == host["used"] == host["total"] - host["free"] - 2560 * 4 * K
    shows(codetag("where", work, status=(0, 1)), "MemTotal is 390.6M more than the pages of all zones. The total is that of the zones.")
    assert " more than the pages" not in codetag("where", make_host(work)).out


@named("where/container")
def test_container(work):
    """A container can have a meminfo of its own and the zoneinfo of the whole machine."""
    make_host(work)
    zoneinfo = work / "proc/zoneinfo"
    zoneinfo.write_text(re.sub(r"\d{6}", lambda number: str(4 * int(number[0])), ZONEINFO))
    host = where_json(work, status=(0, 1))
    assert (host["total"], host["free"], host["cpu_lists"]) == (1000000 * K, 524288 * K, 0)
    assert (host["installed_known"], host["percpu_free_known"]) == (False, False)


@named("where/page-size")
def test_page_size(work):
    """Most of the counters that are in bytes and in pages choose the size of a page."""
    make_host(work)
    zoneinfo = work / "proc/zoneinfo"
    numbers = {"131072": 32768, "262144": 65536, "250000": 62500}
    zoneinfo.write_text(re.sub(r"\d{6}", lambda number: str(numbers[number[0]]), ZONEINFO))
    (work / "proc/vmstat").write_text("nr_free_pages 32768\nnr_anon_pages 6250\nnr_page_table_pages 312\n")
    assert where_json(work, status=(0, 1))["free"] == 32768 * 16 * K
    # A host has taken half of the free pages: MemFree alone chooses 32 KiB.
    zoneinfo.write_text(zoneinfo.read_text().replace("32768", "16384"))
    assert where_json(work, status=(0, 1))["free"] == 16384 * 16 * K
    # MemTotal and MemFree alone do not agree: the smaller size
    (work / "proc/vmstat").unlink()
    zoneinfo.write_text(ZONEINFO.replace("131072", "65536"))
    assert where_json(work, status=(0, 1))["free"] == 65536 * 4 * K


@named("where/charged")
def test_charged(work):
    """Objects in slabs are charged, too: only the kernel knows the sum of the pages."""
    make_host(work)
    (work / "proc/allocinfo").write_text("""\
allocinfo - version: 2.0
#     <size>  <calls> <tag info>
    40960000    10000 mm/slub.c:2451 func:alloc_slab_page
    30000000   200000 fs/kernfs/dir.c:624 func:__kernfs_new_node
    10240000     2500 drivers/foo/rx.c:412 [foo] func:foo_rx_alloc
   413696000   101000 mm/filemap.c:1944 func:__filemap_get_folio
      409600      100 mm/percpu-vm.c:95 func:pcpu_alloc_pages
""")
    assert where_json(work, status=1)["exact"] is False
    # 455 of the 495 MB are pages; the kinds have 403 of them.
    count(work, "charged", """\
# charged - version: 1.0
# x
  495305600 1 sites
  455305600 1 pages
 1 1 vmalloc
  1000 1 percpu
  29999000 1 slab
""")
    host = where_json(work, status=1)
    kinds = {kind["name"]: kind for kind in host["kinds"]}
    counters = sum(kind["size"] for name, kind in kinds.items() if name not in ("pages", "unaccounted"))
    assert host["exact"] and not kinds["unaccounted"]["at_most"]
    assert kinds["percpu"]["size"] == 409600 and not kinds["percpu"]["at_most"]
    assert host["charged_pages"] == 455305600
    assert kinds["pages"]["size"] == 455305600 - counters
    assert kinds["unaccounted"]["size"] == host["used"] - 455305600
    assert kinds["pages"]["owners"][0]["name"] == "drivers/foo/rx.c:412 [foo] func:foo_rx_alloc"
    assert kinds["slab"]["owners"][0]["name"] == "fs/kernfs/dir.c:624 func:__kernfs_new_node"


BOOT = """\
boot - version: 1.0
#     <size>  <areas> <tag info>
    20000000        1 mm/sparse-vmemmap.c:69 func:vmemmap_alloc_block
    12000000        1 codetag:0 func:kernel_text
     8000000        2 codetag:3 func:kernel_bss
     4194304        1 fs/dcache.c:3219 func:dcache_init_early hash:yes
     3000000        1 arch/x86/kernel/setup.c:412 func:reserve_crashkernel
     1000000        1 drivers/foo/early.c:7 func:foo_early
      300000        1 arch/arm64/mm/init.c:275 func:arm64_memblock_init
      100000        1 drivers/of/fdt.c:1128 func:early_init_dt_alloc_memory_arch
"""


@named("where/boot")
def test_boot(work):
    """Memory kept at boot, by the lines that took it; a list that is cut is ignored."""
    host = make_host(work / "web7")
    count(host, "boot", BOOT)
    for source in host, pack(work / "web7.tar.xz", work, "web7"):
        boot_is_shown(where_json(source))
    shown = codetag("where -b", host)
    assert shown.has(" *49741824 .* kept at boot, beside used *"
                     "mm/sparse-vmemmap.c:69 func:vmemmap_alloc_block 20000000"), str(shown)
    count(host, "boot", BOOT[:-10])
    assert where_json(host)["boot_lines"] == []


def boot_is_shown(host):
    parts = {part["what"]: part["size"] for part in host["boot_parts"]}
    assert sum(parts.values()) == host["boot"]
    assert parts == {
        "struct page of all memory": 20000000, "kernel text and data": 20000000, "hash tables": 4194304,
        "reserved for a crash kernel": 3000000, "initramfs": 300000, "firmware tables, first megabyte": 100000,
        "others": host["boot"] - 47594304}
    assert host["boot_lines"][0] == {"name": "mm/sparse-vmemmap.c:69 func:vmemmap_alloc_block",
                                     "what": "struct page of all memory", "size": 20000000}
    assert len(host["boot_lines"]) == 8 and host["boot_lines"][5]["what"] == "others"


@named("where/overlap")
def test_overlap(work):
    """Counters of different times may add up to too much: still nothing is below zero, and the sum is right."""
    host = where_json(make_host(work, 900000))
    assert sum(sizes(host)) == host["used"]
    assert min(sizes(host)) >= 0 and host["overlap"] > 0
    assert any("different times" in line for line in host["missing"])


@needs_feature("libarchive")
@named("where/sources")
def test_sources(work):
    """The same machine as a directory, its proc/, one of its files and an archive"""
    inside = work / "in"
    host = make_host(inside / "web7")
    shutil.copy("data/inputs/vmallocinfo", host / "proc")
    archive = pack(work / "web7.tar.xz", inside, "web7")
    want = rows(host)
    assert any(re.search("30720000 .* slab, not reclaimable", line) for line in want), want
    files = [host / "proc" / name for name in ("meminfo", "zoneinfo", "vmallocinfo")]
    for source in inside, host / "proc", *files, archive:
        assert rows(source) == want


@named("where/areas")
def test_areas(work):
    """Areas that are stacks have a row of their own, so they own nothing of the row of vmalloc."""
    make_host(work)
    stacks = [f"0xffffc900000{i}-0xffffc900000{i} 20480 dup_task_struct+0xa9/0x360 pages=4 vmalloc\n"
              for i in range(1, 301)]
    ring = "0xffffc90000402000-0xffffc90000404000 8192 foo_ring_alloc+0x11/0x40 [bar] pages=1 vmalloc\n"
    (work / "vmallocinfo").write_text("".join(stacks) + ring)
    vmalloc = [line for line in codetag("where", work).lines if "vmalloc and modules " in line]
    assert any("foo_ring_alloc" in line for line in vmalloc), vmalloc
    assert not any("dup_task" in line for line in vmalloc), vmalloc


@named("where/damage")
def test_damage(work):
    """A file that is cut, incomplete or there twice is reported, and not used."""
    good, web7 = make_host(work / "good"), work / "web7"
    shutil.copy(MAINLINE_SLABINFO, good / "proc/slabinfo")
    shutil.copy(MAINLINE_ALLOCINFO, good / "proc/allocinfo")
    codetag("where", good, status=1, timeout=20)

    def damage(name, data):
        shutil.rmtree(web7, ignore_errors=True)
        shutil.copytree(good, web7)
        (web7 / "proc" / name).write_bytes(data)

    for name in "meminfo", "zoneinfo", "slabinfo", "allocinfo":
        data = (good / "proc" / name).read_bytes()
        damage(name, data[:-9])
        says(2, f"{name} ends within line .*: was it cut", web7)
        damage(name, data + data)
        says(2, f"has 2 copies of .*{name}", web7)
    says(2, "Keep the copy that was saved together with meminfo", web7)

    meminfo = (good / "proc/meminfo").read_bytes()
    damage("meminfo", re.sub(rb"(?m)^(MemTotal: *).*", rb"\g<1>0 kB", meminfo))
    says(2, "the meminfo contradicts itself: MemTotal is 0", web7)
    damage("meminfo", re.sub(rb"(?m)^(MemFree: *)", rb"\g<1>9", meminfo))
    says(2, "contradicts itself: MemFree is more than MemTotal", web7)
    sites = re.findall(rb"(?m)^ *\d+ .*\n", (good / "proc/allocinfo").read_bytes())
    damage("allocinfo", b"".join(sorted(sites, key=lambda site: -int(site.split()[0]))[:5]))
    says(2, "web7/allocinfo is a part of a list", web7)


@named("where/plain")
def test_plain(work):
    """Quoted and UTF-16: as every copy of allocinfo may be"""
    meminfo = (make_host(work) / "proc/meminfo").read_text()
    (work / "quoted").write_text(textwrap.indent(meminfo, "> "))
    (work / "utf16").write_text(meminfo, encoding="utf-16")
    says(0, "Nothing is unusual", work / "quoted")
    says(0, "Nothing is unusual", work / "utf16")


def join(proc, *names):
    return "".join((proc / name).read_text() for name in names)


def write(path, text, encoding=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding)
    return path


@named("where/joined")
def test_joined(work):
    """All files of a machine are in one, called as one of them, in a directory or without."""
    web7 = make_host(work / "web7")
    proc = web7 / "proc"
    shutil.copy(MAINLINE_SLABINFO, proc / "slabinfo")
    shutil.copy(MAINLINE_ALLOCINFO, proc / "allocinfo")
    want = rows(web7, status=1)
    text = join(proc, "meminfo", "allocinfo", "vmstat", "zoneinfo", "slabinfo")
    for name in "meminfo", "allocinfo":
        joined = write(work / name / name, text)
        assert rows(work / name, status=1) == want
        assert rows(joined, status=1) == want
    joined_in_other_forms(work, text, want)
    joined_in_archives(work, text, want)
    parts_are_taken(work, proc)
    # A part that cannot be used does not hide the file beside it.
    slabinfo = (proc / "slabinfo").read_text()
    write(work / "meminfo/meminfo", join(proc, "meminfo", "allocinfo", "vmstat", "zoneinfo") + slabinfo[:-9])
    write(work / "meminfo/slabinfo", slabinfo)
    result = codetag("where -b", work / "meminfo", status=2)
    assert result.lines[1:] == want and "slabinfo" in result.err


def joined_in_other_forms(work, text, want):
    write(work / "quoted/meminfo", textwrap.indent(text, "> "))
    write(work / "utf16/meminfo", text, "utf-16")
    assert rows(work / "quoted", status=1) == want
    assert rows(work / "utf16", status=1) == want


def joined_in_archives(work, text, want):
    """Under both names, and two machines of an archive with their names"""
    for name in "meminfo", "allocinfo":
        packed = work / f"packed-{name}"
        write(packed / "proc" / name, text)
        assert rows(pack(work / f"{name}.tar.gz", packed, "proc"), status=1) == want
    write(work / "web8/proc/allocinfo", text)
    two = codetag("where -b", pack(work / "two.tar.gz", work, "web7", "web8")).out
    assert "web7" in two and "web8" in two


def parts_are_taken(work, proc):
    """Where a single file is wanted, it is taken from the joined one."""
    joined = work / "meminfo/meminfo"
    assert codetag("slabs -b -f", joined).out == codetag("slabs -b -f", proc / "slabinfo").out
    report = codetag("report -b --meminfo meminfo --slabinfo slabinfo --zoneinfo zoneinfo allocinfo", cwd=proc)
    assert codetag("report -b --meminfo meminfo --slabinfo meminfo --zoneinfo meminfo ../web7/proc/allocinfo",
                   cwd=joined.parent).out == report.out
    without = write(work / "without", join(proc, "meminfo", "zoneinfo"))
    refused("without has no slabinfo\n", "slabs -f", without)
    result = codetag("report --meminfo meminfo --slabinfo", without, "allocinfo", cwd=proc, status=2)
    assert re.search("without has no slabinfo\n", result.err)


@named("where/pipes")
def test_pipes(work):
    """The command does not wait for a pipe without a writer."""
    host = make_host(work / "web7")
    os.mkfifo(work / "pipe")
    says(0, "pipe is left out: it is not an ordinary file", work)
    (host / "proc/meminfo").unlink()
    os.mkfifo(host / "proc/meminfo")
    says(2, "meminfo is left out: it is not an ordinary file", work)


@named("where/many")
def test_many(work):
    """Two machines are compared; of many, those unlike the others are named."""
    fleet = work / "fleet"
    for i in range(1, 9):
        make_host(fleet / f"web{i}")
    alike = codetag("where", fleet)
    shows(alike, "8 machines with 8.0G installed")
    assert "No machine is unlike" in alike.out
    charge(make_host(fleet / "web3", 130000), "99000000 9000 fs/a.c:1 func:a", "0 0 fs/b.c:1 func:b")
    result = codetag("where", fleet, status=1)
    assert result.has(".*web3 *slab, not reclaimable *web3"), str(result)
    assert result.has(r"web3: [0-9.]*M of slab, not reclaimable \(median [0-9.]*M\), "
                      r"mostly fs/a\.c:1 func:a with 94\.4M"), str(result)
    assert where_json(fleet, status=1)
    two = codetag("where", fleet / "web1", fleet / "web3", status=1)
    assert "97.7M more of slab, not reclaimable in web3, which cannot be dropped" in two.out


def make_varied_hosts(fleet):
    """A thousand machines: h077 has more of slabs, h500 of page tables, and the others vary by 2 percent."""
    rng = random.Random(1)
    more = {(77, "SUnreclaim"): 100000, (500, "PageTables"): 100000}
    for number in range(1000):
        def vary(match):
            kib = int(int(match[2]) * rng.uniform(.98, 1.02)) + more.get((number, match[1]), 0)
            return f"{match[1]}: {kib} kB"
        write(fleet / f"h{number:03}/meminfo", re.sub(
            r"(?m)^(SUnreclaim|PageTables|KernelStack|Percpu): +(\d+) kB", vary, MEMINFO.format(unreclaimable=30000)))


@named("where/thousand")
def test_thousand(work):
    """A thousand, two of which are unlike the others, each in its own row"""
    make_varied_hosts(work / "fleet")
    result = codetag("where", work / "fleet", status=1)
    assert result.has("1000 machines.*"), str(result)
    assert result.has(".*h077 *slab, not reclaimable *h077"), str(result)
    assert result.has(".*h500 *page tables *h500"), str(result)


@named("where/owner")
def test_owner(work):
    """A cache that is larger than all unreclaimable slabs owns none of these."""
    make_host(work)
    (work / "proc/slabinfo").write_text("""\
slabinfo - version: 2.1
# name
foo_inode_cache 120000 120000 1024 32 8 : tunables 0 0 0 : slabdata 3750 3750 0
bar 20000 20000 1024 32 8 : tunables 0 0 0 : slabdata 600 600 0
""")
    assert re.search("slab, not reclaimable *bar", codetag("where", work).out)
    # The books of the percpu allocator are in slabs and vmalloc areas, not in percpu memory.
    charge(work, "4400000 40 mm/percpu.c:517 func:pcpu_mem_zalloc", "61440 15 mm/percpu-vm.c:95 func:pcpu_alloc_pages")
    result = codetag("where", work, status=1)
    percpu = [line for line in result.lines if "per-CPU memory" in line]
    assert percpu and "pcpu_mem_zalloc" not in "".join(percpu), str(result)
    # Modules are in vmalloc areas, and the descriptors of these are charged with them (7.3).
    charge(work, "2134088 524 mm/execmem.c:42 func:execmem_vmalloc", "900000 9000 fs/a.c:1 func:a")
    result = codetag("where", work, status=1)
    assert result.has(".*vmalloc and modules  *mm/execmem.c:42 func:execmem_vmalloc 2.0M"), str(result)


def grow(host, second):
    """Slabs grow by 3000 KiB an hour, and a call site with them."""
    make_host(host, 30000 + second // 3600 * 3000)
    (host / "proc/allocinfo").write_text(f"""\
allocinfo - version: 2.0
{20000000 + second * 853} {1000 + second} drivers/foo/rx.c:412 [foo] func:foo_rx_alloc
460000000 100000 mm/filemap.c:1944 func:__filemap_get_folio
""")
    (host / "activity").write_text(f"""\
# activity - version: 1.0
{100 + 2 * second} {second} 0 drivers/foo/rx.c:412 [foo] func:foo_rx_alloc
100000 0 0 mm/filemap.c:1944 func:__filemap_get_folio
""")
    (host / "proc/slabinfo").touch()


def record(host, db, snapshots, *words):
    """Record a host that grows, once an hour."""
    proc = host / "proc"
    in_world(lambda second: grow(host, second), CODETAG, "record", "-q", "-o", db, "-c", snapshots, "-i", 3600,
             "--allocinfo", proc / "allocinfo", "--meminfo", proc / "meminfo", "--vmstat", proc / "vmstat",
             "--zoneinfo", proc / "zoneinfo", *words)
    return db


@needs_feature("sqlite3")
@named("where/recording")
def test_recording(work):
    """A recording has all that it needs, zoneinfo and processes, too. A sentence reports steady growth."""
    db = record(work, work / "db", 8)
    result = codetag("where", db, status=1)
    assert result.has(r"Slab, not reclaimable grew steadily, by 20\.5M in 7 h \(2\.9M an hour\)\. "
                      r"Most of it: drivers/foo/rx\.c:412 \[foo\] func:foo_rx_alloc, by .*"), str(result)
    assert "Busiest" not in result.out
    assert where_json(db, status=1)["cpu_lists"] == 2560 * 4 * K
    a_day_is_summed_up(work)
    # One moment of it has no past.
    shows(codetag("where", f"{db}@8"), "Nothing is unusual.")
    result = codetag("where", f"{db}@1", f"{db}@8", status=1)
    assert result.has(".*BEFORE *NOW *CHANGE.*"), str(result)
    assert result.has(r".*\+20\.5M *slab, not reclaimable.*"), str(result)
    # codetag report has the same numbers.
    memory, host = codetag("report --json", db).json()["memory"], where_json(db, status=1)
    assert memory["cpu_lists"] == host["cpu_lists"]
    assert sizes(memory) == sizes(host)


def a_day_is_summed_up(work):
    """A whole day, and what was busy in it; only snapshots since the last boot count."""
    day = record(work, work / "day.db", 25, "--activity", work / "activity")
    result = codetag("where", day, status=1)
    shows(result, "Busiest over 24 h: drivers/foo/rx.c:412 [foo] func:foo_rx_alloc, 2.0 allocs/s, 1.0 frees/s")
    assert "   USED   SHARE   in 24 h  WHAT" in result.out
    assert result.has(r".*\+70\.3M  slab, not reclaimable  .* <-24h drivers/foo/rx\.c:412.*"), str(result)
    assert result.has(r"Slab, not reclaimable grew steadily, by 70\.3M in 24 h \(2\.9M an hour\)\. .*"), str(result)
    assert sum("<-" in line for line in result.lines) == 1

    result = codetag("where", rebooted(day, work / "boot.db"), status=1)
    assert ": the machine was booted between snapshots 8 and 9; only the 17 since then" in result.err
    assert result.has("Busiest over 16 h: .*"), str(result)
    assert "   USED   SHARE   in 16 h  WHAT" in result.out
    assert result.has(r"Slab, not reclaimable grew steadily, by 46\.9M in 16 h .*"), str(result)


@needs_feature("sqlite3")
@named("where/old-recording")
def test_old_recording(recording):
    """A recording of an earlier version has no zoneinfo, and a message says so."""
    refused("there is no meminfo of this machine", "where", recording)
