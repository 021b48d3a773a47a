#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a database that attacks who opens it, out of a sound one.

Usage: make-hostile-db.py KIND SOUND OUT [VICTIM]
  journal   OUT-journal is hot, and names VICTIM as what SQLite is to remove
  wal       OUT is in WAL mode, and part of it is in OUT-wal
  view      TABLE=name: that table is a view that never ends
  generated a table has a column that is computed
  trigger   each insertion into snapshot would insert without an end
  last-id   the last snapshot has the largest id that there is
  again     TABLE=name: the pages of that table are read over and over
  shared    each row of site has a text of most of the file, in the same pages
  index     what is appended to snapshot is indexed by a text of 100 MB
  stacks    contexts name one long stack many times: a text of 4 GB out of 1.5 MB
  gauges    30000 gauges, with one value each, and as many snapshots
  names     one gauge with a long name, and as many values as there is room for
  ids       numbers of rows, and of the rows that they name, are negative, huge, and of none
  text      strings have escapes, line breaks and formulas in them
"""
import os
import shutil
import sqlite3
import struct
import sys

kind, sound, out = sys.argv[1:4]
table = os.environ.get("TABLE", "row")
for name in (out, out + "-journal", out + "-wal", out + "-shm"):
    if os.path.lexists(name):
        os.remove(name)
shutil.copy(sound, out)


def script(sql):
    db = sqlite3.connect(out)
    db.executescript(sql)
    db.close()


def columns(name):
    db = sqlite3.connect(out)
    found = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
    db.close()
    return found


script("PRAGMA journal_mode = DELETE")
if kind == "journal":
    with open(out, "rb") as file:
        page = struct.unpack(">H", file.read(18)[16:])[0]
    size = os.path.getsize(out) // page
    victim = sys.argv[4].encode()
    magic = bytes.fromhex("d9d505f920a163d7")
    with open(out + "-journal", "wb") as file:
        file.write((magic + struct.pack(">IIIII", 0, 1, size, 512, page)).ljust(512, b"\0"))
        file.write(struct.pack(">I", 0x40000000 // page + 1) + victim +
                   struct.pack(">II", len(victim), sum(victim) & 0xffffffff) + magic)
elif kind == "wal":
    db = sqlite3.connect(out)
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                     "INSERT INTO meta VALUES ('more', 'text')")
    for end in "", "-wal":
        shutil.copy(out + end, out + end + ".copy")
    db.close()
    for end in "", "-wal":
        os.rename(out + end + ".copy", out + end)
elif kind == "view":
    names = columns(table)
    script(f"DROP TABLE {table}; CREATE VIEW {table} AS WITH RECURSIVE r(n) AS"
           f" (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT "
           + ", ".join(f"n AS {name}" for name in names) + " FROM r")
elif kind == "generated":
    script(f"ALTER TABLE {table} ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(400000000)))")
elif kind == "trigger":
    script("PRAGMA recursive_triggers = ON; CREATE TRIGGER more AFTER INSERT ON snapshot BEGIN"
           " DELETE FROM row; END")
elif kind == "last-id":
    script("UPDATE snapshot SET id = 9223372036854775807 WHERE id = (SELECT max(id) FROM snapshot)")
elif kind == "again":
    # A page of 100 pointers to itself one level down, eight levels deep: 10^16 rows.
    db = sqlite3.connect(out)
    page = db.execute("PRAGMA page_size").fetchone()[0]
    root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ? AND type = 'table'",
                      (table,)).fetchone()[0]
    db.close()
    with open(out, "r+b") as file:
        file.seek((root - 1) * page)
        leaf = file.read(page)
        index = leaf[0] in (2, 10)
        last = os.path.getsize(out) // page

        def interior(child):
            fan = 100 if not index else 1
            body, at, cells = b"", page, []
            for _ in range(fan):
                cell = struct.pack(">I", child) + (b"\x81\x01" if not index else b"\x03\x01\x00\x00")
                at -= len(cell)
                cells.append(at)
                body = cell + body
            head = struct.pack(">BHHHBI", 2 if index else 5, 0, fan, at, 0, child)
            head += b"".join(struct.pack(">H", cell) for cell in cells)
            return head + b"\0" * (page - len(head) - len(body)) + body

        def write(number, data):
            file.seek((number - 1) * page)
            file.write(data)

        last += 1
        write(last, leaf)
        child = last
        for _ in range(7):
            last += 1
            write(last, interior(child))
            child = last
        write(root, interior(child))
        file.seek(28)
        file.write(struct.pack(">I", last))
elif kind == "shared":
    def varint(n):
        data = bytes([n & 0x7f])
        while n >> 7:
            n >>= 7
            data = bytes([n & 0x7f | 0x80]) + data
        return data

    db = sqlite3.connect(out)
    page = db.execute("PRAGMA page_size").fetchone()[0]
    root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'site'").fetchone()[0]
    db.close()
    rows, leaves = 7, 200
    last = os.path.getsize(out) // page
    chain = last + 1  # the page of a text that goes on in that page
    local = (page - 12) * 32 // 255 - 23  # so much of a row is not in that chain
    payload = local + (leaves // 2) * (page - 4)
    pages = [struct.pack(">I", chain).ljust(page, b"f")]
    for leaf in range(leaves):
        body, cells = b"", []
        for number in range(leaf * rows + 1, leaf * rows + rows + 1):
            # id, name, file, line, module, and the function: the rest of the row
            fields = b"%06d" % number * 2 + b"\7"
            types = b"\0\x19\x19\1\0"
            length = payload - len(fields) - len(types) - 4
            head = types + varint(2 * length + 13)
            assert len(head) == len(types) + 3
            row = (bytes([len(head) + 1]) + head + fields).ljust(local, b"f")
            body = varint(payload) + varint(number) + row + struct.pack(">I", chain) + body
            cells.append(page - len(body))
        head = struct.pack(">BHHHB", 13, 0, rows, page - len(body), 0)
        head += b"".join(struct.pack(">H", cell) for cell in cells)
        pages.append(head + b"\0" * (page - len(head) - len(body)) + body)
    body, cells = b"", []
    for leaf in range(leaves - 1):
        body = struct.pack(">I", chain + 1 + leaf) + varint((leaf + 1) * rows) + body
        cells.append(page - len(body))
    head = struct.pack(">BHHHBI", 5, 0, leaves - 1, page - len(body), 0, chain + leaves)
    head += b"".join(struct.pack(">H", cell) for cell in cells)
    with open(out, "r+b") as file:
        file.seek((root - 1) * page)
        file.write(head + b"\0" * (page - len(head) - len(body)) + body)
        file.seek(last * page)
        file.write(b"".join(pages))
        file.seek(28)
        file.write(struct.pack(">I", last + len(pages)))
elif kind == "index":
    script("CREATE INDEX more ON snapshot (length(hex(zeroblob(id)))); PRAGMA writable_schema = ON;"
           "UPDATE sqlite_master SET sql = replace(sql, '(id)', '(50000000 + id)')"
           " WHERE name = 'more'")
elif kind == "stacks":
    db = sqlite3.connect(out)
    db.execute("INSERT INTO stack VALUES (1000000, ?)", (" f+0x1/0x2\n" * 90000,))
    text = ("# contexts - version: 1.0\n# site: 0 0 0 a.c:1 func:f keys=stack max=9 contexts=1\n"
            "10 1 1 a.c:1 func:f\n")
    db.execute("INSERT OR REPLACE INTO contexts SELECT id, ? FROM snapshot",
               (text + "=1000000\n" * 4500,))
    db.commit()
    db.close()
elif kind == "gauges":
    script("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
           " INSERT OR IGNORE INTO snapshot SELECT 100000 + i, i, 1, 0 FROM n;"
           "INSERT OR IGNORE INTO gauge SELECT id, 'x', id FROM snapshot;"
           "INSERT OR IGNORE INTO sample SELECT id, id, id FROM snapshot")
elif kind == "names":
    script("INSERT INTO gauge VALUES (1000000, 'meminfo', hex(zeroblob(2000000))),"
           " (1000001, 'meminfo', 'MemFree'); INSERT INTO sample VALUES (1000001, 1, 4321);"
           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)"
           " INSERT INTO sample SELECT 1000000, i, i FROM n")
elif kind == "ids":
    db = sqlite3.connect(out)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for name in tables:
        for column in {"id", "site", "host", "snapshot", "caller", "gauge", "largest_host",
                       "allocator", "freer", "line"}.intersection(columns(name)):
            for number in -2**63, -1, 0, 2**32, 2**32 + 1, 2**63 - 2:
                db.execute(f"UPDATE OR IGNORE {name} SET {column} = ? WHERE {column} ="
                           f" (SELECT {column} FROM {name} ORDER BY random() LIMIT 1)", (number,))
    db.commit()
    db.close()
elif kind == "text":
    bad = "x\x1b]0;t\x07\x1b[2J\u009b31m\u202e\n=cmd|' /C calc'!A0,\"y;z"
    db = sqlite3.connect(out)
    for name, column in (("site", "file"), ("site", "func"), ("site", "module")):
        db.execute(f"UPDATE {name} SET {column} = ? || id WHERE id % 2", (bad,))
    if "kernel" in [row[0] for row in db.execute("SELECT key FROM meta")]:
        db.execute("UPDATE meta SET value = ? WHERE key = 'kernel'", (bad,))
    if "name" in columns("host"):
        db.execute("UPDATE host SET name = ? || id", (bad,))
    db.commit()
    db.close()
else:
    sys.exit(f"no kind is called {kind}")
