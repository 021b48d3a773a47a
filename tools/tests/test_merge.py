# SPDX-License-Identifier: GPL-2.0-only
"""Many hosts at once: the sums, medians and outliers of their sites; hosts as groups."""

import csv
import io
import random
import re
import shutil
import sqlite3
from collections import Counter, defaultdict

import pytest

from inputs import (CODETAG_ALLOCINFO, CODETAG_MEMINFO, CODETAG_SLABINFO, DATA, MAINLINE_ALLOCINFO,
                    NEWER_MAINLINE_ALLOCINFO, V1, V2, V2_LATER, allocinfo_of, sites_of)
from recordings import sql
from screen import on_terminal
from support import CODETAG, SCRATCH, codetag, helper, named, needs_feature, needs_program, refused, run, table


def make_fleet(directory, hosts):
    """The recorded file with other numbers for each host, which differ by up to 10 %; host017 has a leak."""
    directory.mkdir()
    numbers, sites = random.Random(7), sites_of(CODETAG_ALLOCINFO)
    for host in range(hosts):
        def size_here(site):
            size = int(site.size * numbers.uniform(0.9, 1.1))
            return size + (5 << 20) if host == 17 and "func:shmem_alloc_inode" in site.tag else size
        text = allocinfo_of(site._replace(size=size_here(site)) for site in sites)
        (directory / f"host{host:03}").write_text(text, encoding="utf-8")


@pytest.fixture(scope="session")
def fleet():
    """The directory of 60 hosts"""
    path = SCRATCH / "merge-fleet"
    make_fleet(path, 60)
    return path


def sizes_by_site(fleet):
    """The memory of each site on the hosts, the least first"""
    sites = defaultdict(list)
    for file in fleet.iterdir():
        of_host = Counter()
        for size, _, tag in sites_of(file):
            of_host[tag.removeprefix("./")] += size
        for site, size in of_host.items():
            sites[site].append(size)
    return {site: sorted(sizes) for site, sizes in sites.items()}


@named("merge/awk")
def test_sites(fleet):
    """Site by site: the sum, the mean of the two in the middle, the 99th of 100, the largest."""
    want = []
    for site, sizes in sizes_by_site(fleet).items():
        hosts = len(sizes)
        median = (sizes[(hosts + 1) // 2 - 1] + sizes[hosts // 2]) // 2
        want.append([str(sum(sizes)), str(median), str(sizes[(hosts * 99 + 99) // 100 - 1]), str(sizes[-1]), site])
    merged = codetag("merge --raw -N -a -b -o size,median,p99,largest,name", fleet)
    assert sorted(line.split(None, 4) for line in merged.lines) == sorted(want)
    assert len(want) > 1000


@named("merge/outliers")
def test_outliers(fleet):
    """The host with too much memory is found, and no other."""
    rows = codetag("merge --json -s outliers -n 2", fleet).json()["rows"]
    assert "func:shmem_alloc_inode" in rows[0]["name"]
    assert [outlier["host"] for outlier in rows[0]["outliers"]] == ["host017"]
    assert not rows[1]["outliers"]


def sizes_by_host(fleet, raw, place=""):
    """Bytes, calls and name of each host, of sites whose file begins so.

    Unless it is raw, without the sites that contain others.
    """
    hosts = []
    for file in sorted(fleet.iterdir()):
        sites = [(size, calls) for size, calls, tag in sites_of(file)
                 if tag.startswith(place) and (raw or not re.search("func:alloc_slab_page|percpu-vm.c", tag))]
        hosts.append([str(sum(size for size, _ in sites)), str(sum(calls for _, calls in sites)), file.name])
    return hosts


def by_name(rows):
    return sorted(rows, key=lambda row: row[-1])


@named("merge/hosts")
def test_hosts_are_groups(work, fleet):
    """Hosts are groups, too: of a report, of exports, and of a difference."""
    report = codetag("report -N -b -g host -o size,calls,name", fleet)
    assert by_name(line.split() for line in report.lines) == sizes_by_host(fleet, raw=False)
    chosen = codetag("report --raw -N -b -g host -o size,calls,name", fleet, "file fs/*")
    assert by_name(line.split() for line in chosen.lines) == sizes_by_host(fleet, raw=True, place="fs/")
    hosts = sizes_by_host(fleet, raw=True)
    exported = list(csv.reader(io.StringIO(codetag("export --format csv -g host", fleet).out)))[1:]
    assert by_name([row[0], row[1], row[3]] for row in exported) == hosts
    metrics = codetag("export --format prometheus --raw -g host", fleet).out
    exported = re.findall(r'^codetag_allocated_bytes\{host="(.*)"\} (.*)$', metrics, re.MULTILINE)
    assert sorted(exported) == [(name, size) for size, _, name in hosts]
    assert re.search("^60 hosts hold ", codetag("report -g host", fleet).out, re.MULTILINE)
    hosts_differ(fleet, work / "new")
    hosts_are_no_groups(fleet, work / "x.svg")


def hosts_differ(fleet, new):
    """One host is gone, one is new, and one holds more."""
    shutil.copytree(fleet, new)
    (new / "host003").unlink()
    with open(new / "host005", "a", encoding="utf-8") as file:
        file.write("7777777 1 fs/new.c:1 func:f\n")
    shutil.copy(new / "host005", new / "host099")
    diff = codetag("diff -N -b -g host -o growth,state,name", fleet, new)
    rows = by_name(line.split() for line in diff.lines)
    assert [row[1:] for row in rows] == [["gone", "host003"], ["changed", "host005"], ["new", "host099"]]
    assert re.fullmatch(r"-\d+", rows[0][0])
    assert rows[1][0] == "+7777777"
    assert re.fullmatch(r"\+\d+", rows[2][0])
    assert '"name"' not in codetag("diff -g host --json", fleet, new, "func no_such").out


def hosts_are_no_groups(fleet, chart):
    """Some commands and formats do not tell hosts apart."""
    no_group = "nothing to group by|this build has no"
    refused(no_group, "chart -g host --kind bars -o", chart, fleet / "host001")
    refused(no_group, "merge -g host", fleet)
    refused(no_group, "top --once -g host", fleet)
    refused("folded", "export -g host --format folded", fleet)
    refused("followed by no file", "export -g host --format prometheus", fleet, "--label", "host=a")


@named("merge/csv")
def test_csv(fleet):
    """The CSV says the same as the JSON."""
    text = codetag("merge -a --csv", fleet).out
    assert codetag("merge -a --csv -N", fleet).out == text.partition("\n")[2]
    rows = codetag("merge -a --json", fleet).json()["rows"]
    written = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == len(written) > 1000
    for row, line in zip(rows, written):
        for key in "size", "calls", "hosts", "median", "p99", "largest", "line":
            assert row[key] == int(line[key]), (row, line)
        assert (row["largest_host"], row["func"]) == (line["largest_host"], line["func"])
        assert " ".join(outlier["host"] for outlier in row["outliers"]) == line["outliers"]


@named("merge/labels")
def test_labels(fleet):
    """--label names hosts, in each command that tells them apart."""
    a, b = fleet / "host000", fleet / "host001"
    x, y = ("--label", "host=x", a), ("--label", "host=y", b)
    assert codetag("report -g host -N -s name -o name", *x, *y).out == "x\ny\n"
    assert codetag("report -g host -N -s name -o name", a, *y).out == "host000\ny\n"
    assert codetag("diff -g host -N -o name,state", *x, "--label", "host=x", b).out.split() == ["x", "changed"]
    assert ",y" in codetag("export -g host --format csv", *x, *y).out
    metrics = codetag("export -g host --format prometheus --label rack=7", *x).lines
    assert any(line.startswith('codetag_allocated_bytes{rack="7",host="x"}') for line in metrics)
    refused("goes with --group host", "report", *x)
    twice = ("--label", "host=x", a, "--label", "host=x", b)
    for command in "report -g host", "merge", "export -g host --format csv":
        assert "x was read more than once" in codetag(command, *twice, status=2).err
    once = codetag("report --json", a, b).json()
    assert once["sources"] == [str(a), str(b)] and once["source"] is None
    assert "host000 was read more than once" in codetag("report", a, b, a, status=2).err
    negative = DATA / "inputs/negative.allocinfo"
    for command in "merge", "report -g host", f"report {V1}":
        assert codetag(command, negative).has("call sites with a negative size.*: 2"), command
        assert not codetag(command, negative, "file no/such/file").has("call sites with a negative size.*"), command
    refused("is for one", "report -g host --label host=x", fleet)
    refused("followed by no file", "report -g host", a, "--label", "host=x")
    refused("not like host=NAME", "diff -g host --label host=", a, b)
    refused("with --group host", "export --format csv", *x)
    refused("given twice", "export --format prometheus --label a=1 --label a=2", a)


@named("merge/links")
def test_links(work):
    """A file that links lead to counts once and keeps its own name."""
    hosts, elsewhere = work / "links", work / "elsewhere"
    for host in hosts / "web1", elsewhere / "web2":
        host.mkdir(parents=True)
        shutil.copy(V2_LATER, host / "allocinfo")
    (hosts / "loop").symlink_to(".")
    (hosts / "latest").symlink_to("web1")
    (hosts / "web1/allocinfo.old").symlink_to("allocinfo")
    (hosts / "web2").symlink_to("../elsewhere/web2")
    assert codetag("report -g host -N -s name -o name", hosts).lines == ["web1", "web2"]


@named("merge/json")
def test_json(fleet):
    codetag("merge --json -g module", fleet).json()


@named("merge/kernels")
def test_kernels():
    """Hosts with kernels in which lines moved: by their sites, not by their lines."""
    merge = (f"merge --json -a --label host=old {MAINLINE_ALLOCINFO}"
             f" --label host=new {NEWER_MAINLINE_ALLOCINFO}")
    assert codetag(merge).json()["moved"] > 700
    merged = codetag(f"{merge} func shmem_alloc_folio").json()
    assert [host["host"] for host in merged["hosts"]] == ["old", "new"]
    assert [row["hosts"] for row in merged["rows"]] == [2]
    assert merged["rows"][0]["size"] == 10092544 + 13070336
    assert merged["moved"] == 1


@named("merge/part")
def test_part(work):
    """Call sites that a part of a list lacks count as 0, which is said."""
    part = work / "part"
    part.write_text("4096 1 mm/a.c:1 func:a\n", encoding="utf-8")
    for command in "merge", "report -g host":
        assert "only a part of a list" in codetag(f"{command} {part} {MAINLINE_ALLOCINFO}", status=2).err


@needs_feature("sqlite3")
@named("merge/hosts-of-recordings")
def test_hosts_of_recordings(work):
    """Two snapshots of a recording by host, as two files"""
    db = work / "x.db"
    for file, *append in (MAINLINE_ALLOCINFO,), (CODETAG_ALLOCINFO, "--append"):
        codetag(f"record -q -c 1 -o {db} --allocinfo {file}", *append)
    hosts = "diff -N -b -g host -o growth,size"
    for query in "", "func shmem_alloc_folio":
        want = codetag(f"{hosts} --label host=x {MAINLINE_ALLOCINFO} --label host=x {CODETAG_ALLOCINFO} {query}").out
        assert want and codetag(f"{hosts} {db} {query}").out == want


@named("merge/no-match")
def test_no_match():
    for command in "merge", "report -g host", f"diff -g host {V1}":
        assert "no call site matches 'func nosuch'" in codetag(f"{command} {V2_LATER} func nosuch").err
    # Only one of the two has it.
    assert not codetag(f"diff -g host {V2_LATER} {MAINLINE_ALLOCINFO} module xfs").err


@needs_feature("sqlite3")
@named("replay/no-match")
def test_replay_no_match(recording):
    for command in "replay --list", "leaks":
        assert "no call site matches 'func nosuch'" in codetag(command, recording, "func nosuch").err
        assert "no call site matches" not in codetag(command, recording, "file mm/*", status=(0, 1, 2)).err


@named("merge/goes-on")
def test_goes_on():
    """If a part cannot be read: a message, the rest is shown, exit status 2."""
    merged = codetag(f"merge --json {V1} data/handmade.stats no-such-file", V2, status=2)
    assert "handmade.stats" in merged.err and "no-such-file" in merged.err
    assert [host["host"] for host in merged.json()["hosts"]] == ["handmade-v1", "handmade-v2"]


@table(
    "line",
    ("merge/progress", "merge -n 1"),
    ("report/progress", "report -n 1"),
    ("report/progress-hosts", "report -g host"),
    ("export/progress", "export --format csv"),
    ("diff/progress", "diff {fleet}"),
)
def test_progress(fleet, line):
    """The progress never exceeds the number of files, also with two directories."""
    line = line.format(fleet=fleet)
    shown = on_terminal(f"stty rows 24 cols 80; {CODETAG} {line} {fleet} >/dev/null")
    read = [int(number) for number in re.findall(r"\r *(\d+) of 60 files", shown.out)]
    assert read and max(read) <= 60, str(shown)
    assert not shown.status
    assert not codetag(line, fleet).err


@pytest.fixture
def large_fleet(work):
    """The directory of 201 hosts"""
    path = work / "large"
    make_fleet(path, 4)
    for host in range(4, 201):
        (path / f"host{host:03}").hardlink_to(path / f"host{host % 4:03}")
    return path


@table(
    "words",
    ("merge/frugal", ["merge"]),
    ("merge/frugal-hosts", ["report", "--group", "host"]),
)
def test_frugal(large_fleet, clang, words):
    """Time and memory as users have them: of a build without sanitizers"""
    helper("measure-merge", clang, large_fleet, *words)


@needs_program("pprof")
@named("merge/pprof")
def test_pprof(work, fleet):
    """The sum is the same as pprof's sum of the single profiles."""
    hosts = [fleet / f"host{host:03}" for host in range(3)]
    profiles = [work / f"{host.name}.pb.gz" for host in hosts]
    for host, profile in zip(hosts, profiles):
        codetag("export --format pprof -o", profile, host)
    codetag("export --format pprof -o", work / "sum.pb.gz", *hosts)
    want, got = by_pprof(work, *profiles), by_pprof(work, work / "sum.pb.gz")
    assert got == want
    assert len(got) == len(set(got)) > 300


def by_pprof(work, *profiles):
    """The samples of what pprof makes of the profiles"""
    run("pprof", "-proto", "-output", work / "pprof.out", *profiles, env={"HOME": work})
    return sorted(helper("decode-pprof", work / "pprof.out").lines)


# The sums and medians that follow from the values of a database, beside those that it has
SPREAD = """
    WITH held AS (SELECT site.id AS site, host.id AS host, coalesce(value.size, 0) AS size
        FROM site CROSS JOIN host
        LEFT JOIN value ON value.site = site.id AND value.host = host.id),
    ranked AS (SELECT *, row_number() OVER (PARTITION BY site ORDER BY size) AS r,
        count(*) OVER (PARTITION BY site) AS n FROM held),
    found AS (SELECT site, sum(size) AS sum,
        sum(CASE WHEN r IN ((n + 1) / 2, n / 2 + 1) THEN size ELSE 0 END) /
            (CASE max(n) % 2 WHEN 0 THEN 2 ELSE 1 END) AS median,
        max(CASE WHEN r = (n * 99 + 99) / 100 THEN size END) AS p99,
        max(size) AS largest FROM ranked GROUP BY site)
    SELECT count(*), sum(found.sum = spread.size AND found.median = spread.median
        AND found.p99 = spread.p99 AND found.largest = spread.largest)
    FROM found JOIN spread USING (site)"""


@needs_feature("sqlite3")
@named("merge/sqlite")
def test_database(work, fleet):
    """A database has the values, and the sums and medians that follow from them; commands read it like the files."""
    db = work / "fleet.db"
    codetag("merge -N --sqlite", db, fleet)
    assert sql(db, SPREAD) == sql(db, "SELECT count(*), count(*) FROM site")
    assert sql(db, "SELECT host.name FROM outlier JOIN host ON host.id = host") == [("host017",)]
    assert sql(db, "SELECT sum(size) FROM value")[0][0] == sum(
        size for file in fleet.iterdir() for size, *_ in sites_of(file))
    for line in "merge -n 30", "report -n 30":
        assert codetag(line, db).out == codetag(line, fleet).out
    refused("exists", "merge --sqlite", db, fleet)
    assert "leave these pages out" in codetag("merge --sqlite", work / "another.db", fleet).out
    assert "these pages" not in codetag("merge --sqlite", work / "files.db", fleet, "file fs/*").out


def rows_are_json(work, line, *files):
    """The CSV and the database of a command have the rows of its JSON."""
    db = work / "rows.db"
    db.unlink(missing_ok=True)
    text = codetag(line, *files, "--csv").out
    assert codetag(line, *files, "--csv", "-N").out == text.partition("\n")[2]
    rows = codetag(line, *files, "--json").json()["rows"]
    codetag(line, *files, "--sqlite", db)
    refused("exists", line, *files, "--sqlite", db)
    connection = sqlite3.connect(db)
    connection.row_factory = sqlite3.Row
    stored = [dict(row) for row in connection.execute("SELECT * FROM rows ORDER BY rowid")]
    connection.close()
    shares_are_near(rows, stored)
    assert [{key: " ".join(value) if isinstance(value, list) else value for key, value in row.items()}
            for row in rows] == stored
    assert len(stored) > 1
    written = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    for row in written:
        row.pop("share", None)
    assert [{key: "" if value is None else str(value) for key, value in row.items()} for row in stored] == written


def shares_are_near(rows, stored_rows):
    """A share may be rounded in another way; it leaves the rows."""
    for row, stored in zip(rows, stored_rows):
        if "share" in row:
            assert abs(row.pop("share") - stored.pop("share")) < 0.001, (row, stored)


@needs_feature("sqlite3")
@named("report/rows")
def test_rows(work, fleet):
    profiled = work / "profiled.allocinfo"
    profiled.write_text(V2.read_text(encoding="utf-8").replace(" disabled:yes", ""), encoding="utf-8")
    rows_are_json(work, "report -a", profiled)
    rows_are_json(work, "report -g host", fleet)
    rows_are_json(work, "report -g dir:1 -o name,size,flags", fleet)
    rows_are_json(work, "diff", profiled, V2_LATER)
    refused("choose one of", "report --csv --json", profiled)
    refused("a tree is no table", "report --csv --tree", profiled)
    refused("each column once", "report -o size,size --sqlite", work / "two.db", profiled)
    refused("cannot create", "report --sqlite", work / "no/x.db", profiled)
    refused("cannot create", "diff --sqlite", work / "no/x.db", profiled, profiled)
    assert not (work / "two.db").exists()


@needs_feature("sqlite3")
@named("export/rows")
def test_export_rows(work, fleet):
    """Written as a whole or not at all, and replaces an existing file, like other formats."""
    db = work / "export.db"
    db.write_text("old\n", encoding="utf-8")
    for _ in range(2):
        codetag("export --format sqlite -o", db, fleet)
    total = codetag("export --format json", fleet).json()["total"]
    assert sql(db, "SELECT sum(size) FROM rows") == [(total["size"],)]
    refused("ordinary file", "export --format sqlite -o /dev/full", fleet)
    refused("--output FILE", "export --format sqlite", fleet)


@needs_feature("sqlite3")
@named("merge/recordings")
def test_recordings(work):
    """report, diff, export and slabs take recordings."""
    day, slabinfo = work / "day.db", CODETAG_SLABINFO
    machine = f"--meminfo {CODETAG_MEMINFO} --slabinfo {slabinfo}"
    codetag(f"record -q -c 1 {machine} --allocinfo {V2} -o", day)
    codetag(f"record -q -c 1 {machine} --allocinfo {V2_LATER} --append -o", day)
    assert codetag("diff -N", day, status=2).out == codetag("diff -N", V2, V2_LATER, status=2).out
    assert codetag("diff -N", f"{day}@2", f"{day}@1", status=2).out == codetag("diff -N", V2_LATER, V2, status=2).out
    assert codetag("report", day).out == codetag(f"report {V2_LATER} {machine}").out
    assert codetag("export --format csv", f"{day}@2").out == codetag("export --format csv", V2_LATER).out
    assert codetag("slabs -f", day).out == codetag("slabs -f", slabinfo).out
    for number in 3, 0, -3:
        refused(f"no snapshot {number}: .* from 1 to 2", "report", f"{day}@{number}")


@needs_feature("sqlite3")
@named("merge/gauges")
def test_gauges(work):
    """The other recorded values over time: a value stays until it changes."""
    db, meminfo, slabinfo = work / "gauges.db", work / "meminfo", CODETAG_SLABINFO
    sound = CODETAG_MEMINFO.read_text(encoding="utf-8")
    for slab, append in (1000, []), (1000, ["--append"]), (3000, ["--append"]):
        meminfo.write_text(re.sub("^Slab: .*", f"Slab: {slab} kB", sound, flags=re.MULTILINE), encoding="utf-8")
        codetag(f"record -q -c 1 --allocinfo {V2} --slabinfo {slabinfo} --meminfo", meminfo, *append, "-o", db)
    dentries = re.search(r"^dentry +(\d+)", slabinfo.read_text(encoding="utf-8"), re.MULTILINE)[1]
    listed = codetag("replay --list -N -b -o number --gauge meminfo.Slab --gauge slabinfo.dentry/active", db)
    assert [line.split() for line in listed.lines] == [
        ["1", "1024000", dentries], ["2", "1024000", dentries], ["3", "3072000", dentries]]
    codetag("replay --list --json --gauge meminfo.S*", db).json()
    gauges = codetag("replay --gauges -b", db)
    assert ["meminfo.Slab", "1024000", "3072000"] in [line.split() for line in gauges.lines]
    refused("gauges", "replay --list --gauge no.such", db)
