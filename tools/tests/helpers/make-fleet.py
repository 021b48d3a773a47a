#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes the allocinfo of many hosts that differ by up to 10 %; host017 has a leak.

Usage: make-fleet.py DIRECTORY HOSTS
"""
import random
import sys

random.seed(7)
out, hosts = sys.argv[1], int(sys.argv[2])
lines = open("data/recorded-ours-6.12.allocinfo").readlines()
for host in range(hosts):
    with open(f"{out}/host{host:03}", "w") as file:
        for line in lines:
            if line[0] in "a#":
                file.write(line)
                continue
            size, calls, tag = line.split(None, 2)
            size = int(int(size) * random.uniform(0.9, 1.1))
            if host == 17 and "func:shmem_alloc_inode " in tag:
                size += 5 << 20
            file.write(f"{size:12} {calls:>8} {tag}")
