#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fails if a command with a fleet of 201 hosts takes too much time or memory.

Usage: measure-merge.py CODETAG FLEET ARGUMENT…
"""
import resource
import subprocess
import sys

subprocess.run([sys.argv[1], *sys.argv[3:], sys.argv[2]], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = used.ru_utime + used.ru_stime
print(f"201 hosts: {seconds:.2f} s, {used.ru_maxrss} kB")
# 1,000 hosts may take 3 s and 200 MB.
assert seconds < 0.6 and used.ru_maxrss < 40000
