#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a fleet of 1,000 hosts from one; h077 and h500 have more of one kind of memory.

Usage: make-varied-hosts.py DIRECTORY

DIRECTORY has one/proc/meminfo and gets fleet/hNNN/meminfo.
"""
import os
import random
import re
import sys

random.seed(1)
text = open(f"{sys.argv[1]}/one/proc/meminfo").read()
for host in range(1000):
    def vary(match):
        kb = int(int(match[2]) * random.uniform(.98, 1.02))
        if (host, match[1]) in ((77, "SUnreclaim"), (500, "PageTables")):
            kb += 100000
        return f"{match[1]}: {kb} kB"
    path = f"{sys.argv[1]}/fleet/h{host:03}"
    os.makedirs(path)
    open(f"{path}/meminfo", "w").write(
        re.sub(r"(?m)^(SUnreclaim|PageTables|KernelStack|Percpu): +(\d+) kB", vary, text))
