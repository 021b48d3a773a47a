#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a recording of many sites and snapshots, written without 'codetag record'.

Usage: make-large-recording.py OUT.db SITES SNAPSHOTS [CHANGES]
One in CHANGES (default: 10) of the sites has another value in each snapshot.
"""
import sqlite3
import sys

out, sites, snapshots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
every = int(sys.argv[4]) if len(sys.argv) > 4 else 10
START = 1767225600000

db = sqlite3.connect(out)
db.executescript("""PRAGMA synchronous = OFF; BEGIN;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE snapshot (id INTEGER PRIMARY KEY, time INTEGER NOT NULL,
 major INTEGER NOT NULL, minor INTEGER NOT NULL);
CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
 file TEXT NOT NULL, line INTEGER NOT NULL, module TEXT, func TEXT NOT NULL);
CREATE TABLE row (site INTEGER NOT NULL REFERENCES site,
 snapshot INTEGER NOT NULL REFERENCES snapshot, bytes INTEGER,
 calls INTEGER, notes TEXT, PRIMARY KEY (site, snapshot)) WITHOUT ROWID;
CREATE TABLE activity (site INTEGER NOT NULL REFERENCES site,
 snapshot INTEGER NOT NULL REFERENCES snapshot, allocs INTEGER, frees INTEGER,
 PRIMARY KEY (site, snapshot)) WITHOUT ROWID;
CREATE TABLE gauge (id INTEGER PRIMARY KEY, source TEXT NOT NULL,
 name TEXT NOT NULL, UNIQUE (source, name));
CREATE TABLE sample (gauge INTEGER NOT NULL REFERENCES gauge,
 snapshot INTEGER NOT NULL REFERENCES snapshot, value INTEGER NOT NULL,
 PRIMARY KEY (gauge, snapshot)) WITHOUT ROWID;
CREATE TABLE stack (id INTEGER PRIMARY KEY, frames TEXT NOT NULL UNIQUE);
CREATE TABLE contexts (snapshot INTEGER PRIMARY KEY REFERENCES snapshot, text TEXT NOT NULL);
INSERT INTO meta VALUES ('format', '1'), ('kernel', '6.12.0');""")
db.executemany("INSERT INTO site VALUES (?, ?, ?, ?, NULL, ?)",
               ((i, f"drivers/d{i % 97}/f{i % 499}.c:{i} func:f{i}",
                 f"drivers/d{i % 97}/f{i % 499}.c", i, f"f{i}") for i in range(1, sites + 1)))
db.executemany("INSERT INTO snapshot VALUES (?, ?, 2, 0)",
               ((n, START + 10000 * n) for n in range(1, snapshots + 1)))
db.executemany("INSERT INTO row VALUES (?, ?, ?, ?, NULL)",
               ((i, n, 4096 * (1 + (i * 7919 + n * 104729) % 1000), 1 + n % 7)
                for i in range(1, sites + 1) for n in range(1, snapshots + 1)
                if n == 1 or (i + n) % every == 0))
db.commit()
