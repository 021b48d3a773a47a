#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Put everything that was measured, and on what, into one JSON file."""
import argparse
import datetime
import json
import os
import re
import subprocess

import benchlib as lib


def first_line(*command):
    """The first line of the output of a program, for its version"""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def processor():
    """The model of the processor"""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    return found.group(1) if found else "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="where the measurements are")
    parser.add_argument("source", nargs="*", help="NAME=VERSION of the kernel sources")
    args = parser.parse_args()
    data = {
        "date": datetime.date.today().isoformat(),
        "machine": {"processor": processor(), "processors": os.cpu_count(),
                    "compiler": first_line("gcc", "--version"),
                    "qemu": first_line("qemu-system-x86_64", "--version")},
        "sources": dict(s.split("=", 1) for s in args.source),
    }
    data.update(lib.collect(args.directory))
    print(json.dumps(data, indent=1, sort_keys=False))


if __name__ == "__main__":
    main()
