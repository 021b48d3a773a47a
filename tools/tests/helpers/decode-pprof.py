#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Decodes profile.proto without libraries and prints it as folded stacks.

Usage: decode-pprof.py FILE.pb.gz  ->  "root;…;leaf OBJECTS BYTES" per sample
Every id and string index is followed, so a dangling one is an error.
"""
import gzip
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "cut"
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def one(data):
    return dict(fields(data))


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value - (1 << 64) if value >> 63 else value)
    return values


# Numbers of one field, which may be packed or each a field of its own.
def repeated(data, number):
    values = []
    for field, value in fields(data):
        if field == number:
            values += packed(value) if isinstance(value, bytes) else [value]
    return values


profile = list(fields(gzip.open(sys.argv[1]).read()))
strings = [value.decode() for field, value in profile if field == 6]
assert strings[0] == ""
functions = {f[1]: f for f in (one(v) for n, v in profile if n == 5)}
locations = {loc[1]: loc for loc in (one(v) for n, v in profile if n == 4)}
types = [one(v) for n, v in profile if n == 1]
assert [(strings[t[1]], strings[t[2]]) for t in types] == [
    ("inuse_objects", "count"), ("inuse_space", "bytes")]

for number, value in profile:
    if number != 2:
        continue
    names = []
    for ident in reversed(repeated(value, 1)):
        line = one(locations[ident][4])
        function = functions[line[1]]
        name = strings[function[2]]
        if strings[function.get(4, 0)]:
            name += f":{line.get(2, 0)}"
        names.append(name)
    print(";".join(names), *repeated(value, 2))
