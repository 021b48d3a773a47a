#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Plots of a file of results, SVG and PNG, drawn by gnuplot."""
import argparse
import os
import subprocess
import sys

import benchlib as lib

CASES = ["page-0", "page-0-batch", "kmalloc-64", "kmalloc-64-batch", "cache-200"]
SHOWN = list(dict.fromkeys([
    f"{lib.KVER}-on", f"{lib.KVER}-off",
    f"{lib.NEWEST_KVER}-on", f"{lib.NEWEST_KVER}-compressed", f"{lib.NEWEST_KVER}-off",
    "ours-slot", "ours-page_ext", "ours-off", "ours-site-off"]))


def bars(data, value):
    """A block of gnuplot data: a row for each case, a column for each variant"""
    names = [n for n in SHOWN if any(value(data, n, c) is not None for c in CASES)]
    lines = [" ".join(["case"] + names)]
    for case in CASES:
        cells = [value(data, n, case) for n in names]
        lines.append(" ".join([case] + ["NaN" if c is None else f"{c:.3f}" for c in cells]))
    return names, "$data << EOD\n" + "\n".join(lines).replace("_", "\\\\_") + "\nEOD\n"


def histogram(data, value, title, label, extra=""):
    """Commands for one cluster of bars for each case"""
    names, block = bars(data, value)
    if not names:
        return None
    return (block + 'set linetype 9 lc rgb "#999999"\nset linetype 10 lc rgb "#8b4513"\n'
            f'set title "{title}"\nset ylabel "{label}"\n'
            "set style data histograms\nset style histogram clustered gap 1\n"
            "set style fill solid 0.9 border -1\nset key outside right autotitle columnhead\n"
            "set grid ytics\n" + extra +
            f"plot for [i=2:{len(names) + 1}] $data using i:xtic(1)\n")


def growth(data):
    """Commands for the cost of reading by number of call sites"""
    found = data["growth"].get("1", {})
    blocks, plots = [], []
    for number, (name, lines) in enumerate(found.items()):
        points = [f"{line[1]} {line[2] / 1e6}" for line in lines
                  if len(line) == 4 and line[1] and line[1] > 0 and line[2]]
        if points:
            blocks.append(f"$d{number} << EOD\n" + "\n".join(points) + "\nEOD\n")
            plots.append(f'$d{number} using 1:2 with linespoints title "{name}" noenhanced')
    if not plots:
        return None
    return ("".join(blocks) + 'set title "Reading /proc/allocinfo"\nset key left top\n'
            'set xlabel "call sites"\nset ylabel "million instructions"\nset grid\n'
            'set xrange [0:*]\nset yrange [0:*]\nplot ' + ", ".join(plots) + "\n")


def draw(commands, path):
    """Both formats of one plot"""
    for form, terminal in (("svg", "svg size 1000,500 background 'white' font 'sans,12'"),
                           ("png", "pngcairo size 1000,500 font 'sans,11'")):
        subprocess.run(["gnuplot"], input=f'set terminal {terminal}\n'
                       f'set output "{path}.{form}"\n{commands}', text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", help="a JSON file; the plots go beside it")
    args = parser.parse_args()
    data = lib.load(args.results)
    stem = os.path.splitext(args.results)[0]
    plots = {
        "instructions": histogram(
            data, lambda d, v, c: lib.added(d, v, "kernel", c),
            "Instructions that the profiler adds to an allocation and its free",
            "instructions"),
        "cycles": histogram(
            data, lambda d, v, c: lib.median(lib.ratios(d, v, "kernel", c)),
            "Time of an allocation and its free, user-mode Linux, without profiler = 1",
            "ratio", "set yrange [0.8:*]\n"),
        "growth": growth(data),
    }
    for name, commands in plots.items():
        if commands:
            draw(commands, f"{stem}-{name}")


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as error:
        sys.exit(f"plot.py: {error.filename}: not there (gnuplot is in the package gnuplot-nox)")
