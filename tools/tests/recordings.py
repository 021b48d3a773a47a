# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of codetag record: made, changed and measured."""

import functools
import resource
import shutil
import sqlite3
from contextlib import closing

from support import SCRATCH, codetag, helper


def sql(db, statement, *values):
    """The rows that a statement of SQL returns"""
    with closing(sqlite3.connect(db)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def make_recording(command, path=SCRATCH / "recording.db", snapshots=16):
    """A recording with a leak"""
    helper("make-recording", command, path, snapshots, env={"TZ": "UTC"})
    return path


def rebooted(recording, path):
    """A copy of a recording whose machine was booted before snapshot 9"""
    shutil.copy(recording, path)
    (gauge,), = sql(
        path, "INSERT INTO gauge SELECT coalesce(max(id), 0) + 1, 'machine', 'boot' FROM gauge RETURNING id")
    for snapshot, boot in (1, 4711), (9, 4712):
        sql(path, "INSERT INTO sample VALUES (?, ?, ?)", gauge, snapshot, boot)
    return path


@functools.cache
def large_recording(sites, snapshots):
    path = SCRATCH / f"large-{sites}-{snapshots}.db"
    helper("make-large-recording", path, sites, snapshots)
    return path


def seconds_of(line, *words):
    """The least processor time of three runs: a busy machine only ever adds to it."""
    def once():
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        codetag(line, *words)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return min(once() for _ in range(3))


def reads_linearly(line):
    """Processor time grows with the number of rows, not with its square: four times as many snapshots
    may take eight times as long."""
    short, long = (seconds_of(line, large_recording(400, n)) for n in (400, 1600))
    assert long < 8 * short + 0.2, (short, long)


def reads_once(line):
    """It takes not much more time than the list of snapshots of the same recording."""
    db = large_recording(2000, 800)
    listed, read = seconds_of("replay --list", db), seconds_of(line, db)
    assert read < 3 * listed + 0.3, (listed, read)
