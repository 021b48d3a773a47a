#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs a command on damaged copies of a file.

Usage: run-on-damaged-copies.py TIMES FILE COPY MOST FIRST-END COMMAND…

Each time FILE is copied to COPY, with up to MOST other bytes between FIRST and END, and
sometimes cut. COMMAND may fail, but only with a message, and no sanitizer may complain.
"""
import glob
import os
import random
import re
import subprocess
import sys

times, file, copy, most, place = sys.argv[1:6]
first, _, end = place.partition("-")
with open(file, "rb") as whole:
    sound = whole.read()
for seed in range(1, int(times) + 1):
    for left in glob.glob(glob.escape(copy) + "-*"):  # by SQLite, beside it
        os.remove(left)
    random.seed(seed)
    data = bytearray(sound)
    for _ in range(random.randrange(1, int(most) + 1)):
        data[random.randrange(int(first), int(end or len(data)))] = random.randrange(256)
    with open(copy, "wb") as damaged:
        damaged.write(data[:random.choice([len(data), len(data), random.randrange(len(data))])])
    ran = subprocess.run(sys.argv[6:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    bad = re.search(b".*(?:runtime error|Sanitizer).*", ran.stdout)
    if bad or ran.returncode not in (0, 1, 2) or (ran.returncode == 2 and not ran.stdout):
        sys.exit(f"seed {seed}: exit {ran.returncode} {bad and bad[0]}")
