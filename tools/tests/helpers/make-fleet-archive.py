#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes a tar archive with the allocinfo of many hosts to standard output.

Usage: make-fleet-archive.py HOSTS SITES [own]

With a third argument, each host has functions of its own.
"""
import io
import sys
import tarfile

hosts, sites, own = int(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as tar:
    for host in range(hosts):
        text = "".join(f"1 1 a.c:{site} func:f{host if own else 0}_{site}\n"
                       for site in range(1, sites + 1)).encode()
        member = tarfile.TarInfo(f"{host}/proc/allocinfo")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
