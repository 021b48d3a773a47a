# SPDX-License-Identifier: GPL-2.0-only
"""Files that attack their reader, text that attacks a terminal, and how the services are confined.

See test_security_links.py for attacks by links of other users.
"""

import gzip
import hashlib
import os
import re
import shutil
import sqlite3
import struct
import tarfile
from pathlib import Path
from xml.dom import minidom

import pytest

from inputs import CODETAG_ALLOCINFO, CODETAG_SLABINFO, LARGE_TRACE, OLD_TRACE, V1, V2_LATER
from support import SCRATCH, codetag, helper, limited, named, needs_feature, needs_program, needs_root, refused, run

ENDS = (0, 1, 2)
NOBODY = 65534


@pytest.fixture(scope="session")
def sound(recording):
    """The path of a sound database of each kind"""
    fleet, trace = SCRATCH / "sound-fleet.db", SCRATCH / "sound-trace.db"
    codetag("merge --sqlite", fleet, V1, V2_LATER)
    codetag(f"trace {LARGE_TRACE} --save-db", trace)
    return {"recording": recording, "fleet": fleet, "trace": trace}


def hostile(work, kind, path, *victim, name="row"):
    """Make a hostile database out of a sound one; name is that of a table in it."""
    db = work / "hostile/x.db"
    db.parent.mkdir(exist_ok=True)
    helper("make-hostile-db", kind, path, db, *victim, env={"TABLE": name})
    return db


def beside(db, suffix):
    """The file beside a database whose name ends so"""
    return Path(f"{db}{suffix}")


def readers(work, content):
    """The commands that open such a database"""
    db = work / "hostile/x.db"
    if content == "trace":
        return [f"trace --db-file {db}", f"slabs -f {CODETAG_SLABINFO} --trace-db {db}"]
    if content == "fleet":
        return [f"report {db}", f"merge {db} {V1}"]
    return [f"report {db}", f"leaks {db}", f"replay --list {db}", f"replay --text 1 {db}",
            f"diff {db}@1 {db}@2", f"merge {db} {V1}", f"export --format csv {db}", f"report {db.parent}",
            f"contexts {db}", f"slabs -f {db}", f"chart -o {work}/picture.svg {db}", appending(db)]


def appending(db):
    return f"record -q -c 1 --append -o {db} --allocinfo {V1}"


@named("security/journal")
@needs_feature("sqlite3")
def test_journal(work, sound):
    """A file beside the database can name any file, which SQLite then removes."""
    victim = work / "victim"
    for content, path in sound.items():
        for command in readers(work, content):
            victim.write_text("keep\n")
            db = hostile(work, "journal", path, victim)
            result = codetag(command, status=2, merge=True)
            assert "x.db-journal" in result.out, str(result)
            assert victim.exists(), f"the victim is gone: {command}"
            assert beside(db, "-journal").exists(), command


@named("security/reading")
@needs_feature("sqlite3")
def test_reading(work, recording):
    """Reading changes no file and leaves no new one, whatever is beside the database."""
    def digests():
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (work / "hostile").iterdir()}

    for kind in "last-id", "wal":
        for command in readers(work, "recording"):
            if command.startswith("record "):
                continue
            db = hostile(work, kind, recording)
            before = digests()
            codetag(command, status=ENDS)
            beside(db, "-shm").unlink(missing_ok=True)
            assert digests() == before, f"{kind}: {command}"


@named("security/foreign-wal")
@needs_feature("sqlite3")
@needs_root
def test_foreign_wal(work, recording):
    """If a file beside it belongs to another user, it is neither read nor appended to."""
    for suffix, shared_memory in ("-wal", b""), ("-shm", bytes(32768)):
        for command in readers(work, "recording"):
            db = hostile(work, "wal", recording)
            beside(db, "-shm").write_bytes(shared_memory)
            os.chown(beside(db, suffix), NOBODY, -1)
            result = codetag(command, status=2, merge=True)
            assert "belongs to another user" in result.out, str(result)


@named("security/foreign-waits")
@needs_feature("sqlite3")
@needs_root
def test_foreign_waits(work):
    """Nor is a new database made if such a file waits beside its name, even an empty one."""
    for suffix in "-wal", "-shm":
        db = work / f"waits{suffix}/x.db"
        db.parent.mkdir()
        beside(db, suffix).touch()
        os.chown(beside(db, suffix), NOBODY, -1)
        refused("belongs to another user", f"record -q -c 1 -o {db} --allocinfo {V1}")
        assert os.listdir(db.parent) == [f"x.db{suffix}"]


@named("security/readers")
@needs_feature("sqlite3")
def test_readers(work, sound):
    """Each command ends soon, with a reason.

    view: tables are computed and never end. again: pages lead to the same page again and again. ids:
    numbers of rows are negative, huge, or of no row.
    """
    attacks = [
        ("view", "recording", "row site snapshot meta contexts stack gauge sample"),
        ("view", "fleet", "host site value meta"),
        ("view", "trace", "caller use meta finding"),
        ("again", "recording", "site snapshot"),
        ("again", "fleet", "host site"),
        ("again", "trace", "caller use"),
        ("ids", "recording", "all"),
        ("ids", "fleet", "all"),
        ("ids", "trace", "all")]
    for kind, content, names in attacks:
        for name in names.split():
            for command in readers(work, content):
                hostile(work, kind, sound[content], name=name)
                codetag(command, status=ENDS, merge=True, preexec=limited(60), timeout=60)


@named("security/schema-refused")
@needs_feature("sqlite3")
def test_schema_refused(work, recording):
    """Computed columns are refused, and so is an id that has no next one."""
    for kind in "generated", "last-id":
        db = hostile(work, kind, recording, name="site")
        refused("damaged", f"report {db}")
    # A trigger does nothing: the rows are still there.
    db = hostile(work, "trigger", recording)
    codetag(appending(db))
    assert "leaky_alloc" in codetag(f"replay --text 1 {db}").out


@named("security/shared-pages")
@needs_feature("sqlite3")
def test_shared_pages(work, recording):
    """Rows share the pages of a long text: no more text is read than the file can hold."""
    db = hostile(work, "shared", recording)
    for command in f"leaks {db}", f"replay --list {db}", f"chart -o {work}/picture.svg {db}":
        refused("more work than a file of its size", command)


@named("security/long-stacks")
@needs_feature("sqlite3")
def test_long_stacks(work, recording):
    """A short text that names a long stack again and again does not become longer than what a kernel shows."""
    db = hostile(work, "stacks", recording)
    for command in f"contexts {db}", f"leaks --stacks {db}", f"replay --contexts 1 {db}":
        refused("longer than any kernel", command, preexec=limited(60), timeout=60)


@named("security/gauges")
@needs_feature("sqlite3")
def test_gauges(work, recording):
    """The number of gauges that never change is limited, too, and a long name is read once."""
    db = hostile(work, "gauges", recording)
    refused("more gauges than change", f"replay --gauges {db}", preexec=limited(30))
    db = hostile(work, "names", recording)
    assert "4321" in codetag(f"replay --list --gauge 'meminfo.Mem*' {db}", preexec=limited(30)).out


@named("security/index")
@needs_feature("sqlite3")
def test_index(work, recording):
    """Appending computes nothing."""
    refused("an index of its own", appending(hostile(work, "index", recording)))


@named("security/columns")
def test_columns():
    """Text of a database is bounded where it is read: in one place."""
    sources = [path for top in ("../lib", "../cmd") for path in Path(top).rglob("*") if path.is_file()]
    assert [str(path) for path in sources if re.search(rb"sqlite3_column_(text|blob)", path.read_bytes())] == [
        "../lib/base/database.c"]


@named("security/debug-link")
@needs_feature("libdw")
def test_debug_link(work):
    """The debug information of a kernel says that its strings are in another file: that is not opened."""
    (work / "init").mkdir()
    fifo = work / "fifo"
    os.mkfifo(fifo)
    (work / "System.map").write_text("ffffffff81000000 T f\n")
    run("gcc", "-nostdlib", "-static", "-Wl,-e,f", "-o", work / "vmlinux", "-x", "assembler", "-", stdin=f"""
        .text
        .globl f
        .type f, %function
        f: .zero 16
        .size f, 16
        .section .debug_abbrev, "", %progbits
        # a unit, without children: its name in another file, its addresses
        .byte 1, 0x11, 0, 3, 0xa1, 0x3e, 0x11, 1, 0x12, 7, 0, 0, 0
        .section .debug_info, "", %progbits
        .long 2f - 1f
        1: .2byte 4
        .long 0
        .byte 8, 1
        .long 0
        .quad f, 16
        2:
        .section .gnu_debugaltlink, "", %progbits
        .asciz "{fifo}"
        .zero 20
        """)
    (work / "trace").write_text(
        "x-1 [000] 1.0: kmalloc: call_site=f+0x5/0x10 ptr=0x1000 bytes_req=8 bytes_alloc=8\n")
    refused("cannot read the kernel in", f"trace -N --kernel {work} {work}/trace", timeout=20)


@named("security/build")
@needs_feature("libelf")
def test_build(work):
    """Nothing in a build directory is opened but ordinary files."""
    for name in "vmlinux", "System.map", "x.o", ".x.o.cmd", "drivers/x.ko", "drivers/x.mod":
        build = work / name.replace("/", "-")
        (build / "drivers").mkdir(parents=True)
        (build / "y.c").write_text("int x[8] = { 1 }; int f(void) { return x[1]; }\n")
        run("gcc", "-c", "-o", build / "y.o", build / "y.c")
        (build / ".y.o.cmd").write_text("savedcmd_y.o := gcc -c\n\nsource_y.o := y.c\n")
        os.mkfifo(build / name)
        if name == ".x.o.cmd":
            shutil.copy(build / "y.o", build / "x.o")
        result = codetag(f"static {build}", merge=True, timeout=20)
        assert "y.o" in result.out, str(result)
        codetag(f"trace --kernel {build} {OLD_TRACE}", status=ENDS, timeout=20)


@named("security/programs")
@needs_feature("libarchive")
def test_programs(work):
    """A rare compression does not make the library run a program of that name."""
    programs, ran, nested = work / "bin", work / "ran", work / "nested.gz"
    programs.mkdir()
    for name in "lrzip grzip lzop gzip bzip2 xz zstd lz4 uudecode rpm2cpio".split():
        (programs / name).write_text(f'#!/bin/sh\n: >"{ran}"\n')
        (programs / name).chmod(0o755)
    for start in b"LRZI\0\6", b"GRZipII\0\2\4:)", b"\x89LZO\0\r\n\x1a\n":
        nested.write_bytes(gzip.compress(start + bytes(600)))
        result = codetag("report", nested, status=2, env={"PATH": f"{programs}:{os.environ['PATH']}"})
        assert not ran.exists(), str(result)


@named("security/endless")
@needs_feature("libarchive")
def test_endless(work):
    """256 KB become 8 GB, in a file of the archive that is not wanted."""
    def block(kind, size, data):
        return struct.pack("<I", kind << 1 | size << 3)[:3] + data

    member = tarfile.TarInfo("var/log/lastlog")
    member.size = 8 << 30
    head = member.tobuf(tarfile.GNU_FORMAT)
    archive = work / "endless.tar.zst"
    archive.write_bytes(b"\x28\xb5\x2f\xfd\0\x38" + block(0, len(head), head) +
                        block(1, 1 << 17, b"\0") * (1 << 16) + block(0, 1024, bytes(1024)) + b"\1\0\0")
    refused("too large", "report", archive, preexec=limited(20))


# Characters that neither a terminal nor a line format may get
UNSAFE = "x\x1b]0;t\a\x1b[2J\u009b31m\u202e\ufffe\U0001ffff"


def safe(line, *words):
    """The output is only UTF-8 text and blanks, and no name makes a line."""
    result = codetag(line, *words, status=ENDS, merge=True)
    text = result.raw.decode()  # fails if it is no UTF-8
    assert text
    for code in map(ord, text):
        assert code in (9, 10, 13) or code >= 0x20, hex(code)
        assert not 0x7f <= code < 0xa0 and not 0x2028 <= code <= 0x202e, hex(code)
        assert code & 0xfffe != 0xfffe, hex(code)  # in no XML
    assert "\ny;z" not in text, f"a line out of a name: {result}"


@named("security/strings")
@needs_feature("sqlite3")
def test_strings(work, sound):
    """Names in databases have such characters."""
    fleet = shutil.copy(hostile(work, "text", sound["fleet"]), work / "fleet.db")
    db = hostile(work, "text", sound["recording"])
    for form in "csv", "folded", "prometheus":
        safe(f"export --format {form} {db}")
        safe(f"export --format {form} -g func {fleet}")
    for file in db, fleet:
        safe(f"report -a {file}")
        safe(f"report -a --json {file}")
        safe(f"report -a --csv -o file,func,module,size {file}")
        safe(f"merge --csv {file} {V1}")
        safe(f"merge {file} {V1}")
    safe(f"leaks {db}")
    safe(f"replay --text 1 {db}")
    safe(f"diff {db}@1 {db}@-1")


@named("security/contexts")
@needs_feature("sqlite3")
def test_contexts(work):
    """A name that a user chose makes no line or number vanish."""
    file, db = work / "unsafe.contexts", work / "unsafe.db"
    file.write_text("# contexts - version: 1.0\n"
                    "# site: 0 0 0 fs/pipe.c:1 func:alloc keys=task max=9 contexts=2\n"
                    f"1000 10 20 fs/pipe.c:1 func:alloc task={UNSAFE}\n"
                    "2648 1 1 fs/pipe.c:1 func:alloc task=ok\n", encoding="utf-8")
    assert codetag(f"contexts -N -b -g site -o size {file}", merge=True).out == "3648\n"
    for way in "", "--json", "--tree", "-g task":
        safe(f"contexts {way} {file}")
    codetag(f"record -q -c 1 -o {db} --allocinfo {V1} --contexts {file}")
    safe(f"contexts {db}")


@named("security/pictures")
@needs_feature("cairo")
def test_pictures(work):
    """A picture does not fail because of a character that cairo and readers of XML refuse."""
    file, picture = work / "allocinfo", work / "picture.svg"
    file.write_bytes("allocinfo - version: 1.0\n99 1 a\u202e.c:1 func:f\ufffe".encode() + b"\xff\n")
    codetag(f"chart -o {picture} {file}")
    minidom.parse(str(picture))


@named("security/frames")
def test_frames(work):
    """A stack has a limited number of frames, whatever a file says."""
    file = work / "frames.contexts"
    file.write_text("# contexts - version: 1.0\n"
                    "# site: 0 0 0 a.c:1 func:f keys=stack max=9 contexts=1\n"
                    "10 1 1 a.c:1 func:f\n" + " f+0x1/0x2\n" * 100000)
    result = codetag(f"contexts --tree {file}", status=2, preexec=limited(20))
    assert "more frames than a stack has" in result.err, result.err


@named("security/messages")
def test_messages(work):
    """Messages contain names of files."""
    file = work / f"{UNSAFE}\ny;z"
    file.write_text("nothing\n")
    safe("report", file)
    safe("report", work / f"{UNSAFE}none\ny;z")
    safe("replay", file)
    safe("report", V1, UNSAFE)
    safe("", UNSAFE)


@named("security/formulas")
def test_formulas(work):
    """A cell that a spreadsheet would compute is text."""
    file = work / "allocinfo"
    file.write_text("allocinfo - version: 1.0\n1 1 =cmd|'/C':1 func:f\n1 1 a.c:1 func:@SUM(A1)\n")
    out = codetag(f"export --format csv {file}").out
    assert "=cmd" in out and "@SUM" in out
    assert not re.search('(^|,)"?[=@+]', out, re.MULTILINE)


def series_differ(file):
    """Different names make different series: an exporter rejects equal ones."""
    for group in "site", "place", "func", "file", "module", "dir", "subsystem":
        out = codetag(f"export --format prometheus -g {group} {file}").out
        series = re.findall(r"^(codetag_[^ ]*) ", out, re.MULTILINE)
        assert series and sorted(set(series)) == sorted(series), out


@named("security/series")
def test_series(work):
    """Names stay different, although characters in them are replaced."""
    file = work / "allocinfo"
    file.write_bytes(b"allocinfo - version: 1.0\n"
                     b"1 1 a.c:1 func:f\xff\n"
                     b"2 1 a.c:1 func:f\\xff\n" +
                     "3 1 a.c:1 func:f\u202e\n".encode() +
                     b"4 1 a.c:1 func:f\\\\xff\n"
                     b"5 1 a.c:2 func:g\n"
                     b"6 1 a.c:2 [vmlinux] func:g\n"
                     b"7 1 ./a.c:2 func:g\n")
    series_differ(file)


@named("security/recorded-series")
@needs_feature("sqlite3")
def test_recorded_series(work, recording):
    """Names from a recording may look equal: then they are one series."""
    path = shutil.copy(recording, work / "series.db")
    db = sqlite3.connect(path)
    for (site,) in db.execute("SELECT id FROM site ORDER BY id LIMIT 4").fetchall():
        db.execute("UPDATE site SET file = 'a.c', line = 1, module = NULL, func = ? WHERE id = ?",
                   ("f" + chr(1 + site % 8), site))
    db.commit()
    db.close()
    series_differ(path)
    assert 'func="f?"' in codetag(f"export --format prometheus {path}").out


@named("security/units")
@needs_program("systemd-analyze")
def test_units(work):
    """systemd rates the privileges of the services of the packages and of the examples."""
    for directory in "../../packaging/debian", "../contrib/prometheus":
        units = list(Path(directory).glob("*.service"))
        assert units
        for unit in units:
            run("systemd-analyze", "security", "--offline=true", "--threshold=20", shutil.copy(unit, work))


def can_run_units(work):
    """A systemd can be started beside that of the machine."""
    if not os.access("/lib/systemd/systemd", os.X_OK):
        return False
    return run("unshare", "--mount", "--pid", "--fork", "sh", "-c",
               'mount -t tmpfs tmpfs "$0" && cd "$0" && mkdir a b c && '
               "mount -t overlay overlay -o lowerdir=/,upperdir=a,workdir=b c && "
               "mount -t cgroup -o none,name=systemd cgroup a", work, status=None).status == 0


@needs_root
@named("security/units-run")
def test_units_run(work, clang):
    """Confined like this, they still write their files."""
    if not can_run_units(work):
        pytest.skip("needs systemd, overlayfs, and control groups of version 1")
    run("./run-units", clang, CODETAG_ALLOCINFO, work, timeout=320)
    text = (work / "result").read_text(encoding="utf-8")
    assert len(re.findall(": success$", text, re.MULTILINE)) == 4, text
    assert re.search(r"^600 root:root [1-9]\d* /var/lib/codetag/\S*\.db$", text, re.MULTILINE), text
    assert re.search(r"^640 root:prometheus [1-9]\d* .*/codetag\.prom$", text, re.MULTILINE), text
    assert not re.search("-journal$", text, re.MULTILINE), text
