#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tables of what was measured: on the terminal, or as Markdown."""
import argparse
import fnmatch
import os
import statistics
import sys

import benchlib as lib


def text(rows):
    """Aligned columns"""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join([row[0].ljust(widths[0])] + [
        c.rjust(w) for c, w in zip(row[1:], widths[1:])]).rstrip() for row in rows) + "\n"


def markdown(rows):
    """A table of Markdown"""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" + "|--:" * (len(rows[0]) - 1) + "|")
    return "\n".join(lines) + "\n"


def instruction_cell(data, variant, place, case):
    """The instructions without a profiler; with one, the added instructions and the ratio"""
    mine = lib.instructions(data, variant, place, case)
    if mine is None:
        return "-"
    more = lib.added(data, variant, place, case)
    if more is None or variant == lib.base_of(variant):
        return f"{mine:.1f}" if mine < 10000 else f"{mine:.0f}"
    ratio = f"×{mine / (mine - more):.2f}" if mine != more else "×1.00"
    if mine > 10000:
        return f"{more / (mine - more) * 100:+.2f}%"
    return f"{more:+.1f} {ratio}"


def profiler_cell(data, variant, place, case):
    """As instruction_cell, but compared with the same sources without a profiler"""
    base = lib.own_base(variant)
    mine = lib.instructions(data, variant, place, case)
    more = lib.added(data, variant, place, case, base)
    if more is None:
        return "-"
    return f"{mine:.1f}" if variant == base else f"{more:+.1f}"


def access_cell(digits, *counters):
    """A cell of the sum of these counters, as instruction_cell"""
    def cell(data, variant, place, case):
        mine = lib.accesses(data, variant, place, case, counters)
        if mine is None:
            return "-"
        base = lib.accesses(data, lib.base_of(variant), place, case, counters)
        if base is None or variant == lib.base_of(variant):
            return f"{mine:.{digits}f}"
        ratio = f" ×{mine / base:.2f}" if base else ""
        # Adding 0 makes a plus of the minus of a value that is rounded to nothing.
        return f"{round(mine - base, digits) + 0:+.{digits}f}{ratio}"
    return cell


def cycle_cell(data, variant, place, case):
    """Without a profiler the cycles, with one the median of the ratios and their quartiles"""
    if variant == lib.base_of(variant):
        value = lib.median(data["cycles"][variant].get(place, {}).get(case))
        return "-" if value is None else f"{value:.0f}"
    found = lib.ratios(data, variant, place, case)
    if len(found) < 2:
        return f"{found[0]:.2f}" if found else "-"
    low, middle, high = statistics.quantiles(found, method="inclusive")
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def groups(chosen):
    """A narrow table for each source of kernels, codetag beside the kernels it is compared with"""
    for source in dict.fromkeys((lib.KVER, lib.NEWEST_KVER, "ours", "roomy", "alone", "owner")):
        names = [v for v in chosen if lib.source_of(v) == source]
        if source in ("ours", "roomy", "alone") and names and f"{lib.KVER}-none" in chosen:
            names.insert(0, f"{lib.KVER}-none")
        if names:
            yield names


def case_tables(data, what, cell, chosen, fast, title=None, tail=""):
    """[(title, rows)] of a measure of cases, those whose names end with tail"""
    found = []
    results = data.get(what, {})
    for place in lib.PLACES:
        cases = [c for c in lib.cases_of(results, place) if c.endswith(tail) and
                 (not fast or c in lib.FAST or place == "whole")]
        for names in groups([v for v in chosen if v in results]):
            rows = [[place] + names]
            rows += [[c] + [cell(data, v, place, c) for v in names] for c in cases]
            if any(set(row[1:]) != {"-"} for row in rows[1:]):
                found.append((f"{title or what}, call sites: {place}", rows))
    return found


def profiler_tables(data, chosen, fast):
    """[(title, rows)]: instructions of the profiler, with and without the fast-path series"""
    found = []
    for source in ("ours", "roomy", "alone"):
        names = [v for v in chosen if lib.source_of(v) == source]
        if source + "-none" in names and source + "-none" in data["instructions"]:
            found += case_tables(data, "instructions", profiler_cell, names, fast,
                                 f"instructions added to {source}-none")
    return found


def access_tables(data, chosen, fast):
    """[(title, rows)]: memory accesses. Alone an operation finds all in the cache."""
    found = []
    for title, tail, cell in (
            ("loads and stores", "", access_cell(1, "loads", "stores")),
            ("cache lines touched", "", access_cell(2, "lines")),
            ("misses of the L1 cache", "-batch", access_cell(2, "l1"))):
        found += case_tables(data, "accesses", cell, chosen, fast, title, tail)
    return found


def memory_tables(data, chosen):
    """[(title, rows)]: per page from guests of two sizes, per object, by section"""
    found = []
    small, large = (data["memory"].get(g, {}) for g in ("512M", "8G"))
    rows = [["guest"] + ["512M: MiB less", "8G: MiB less", "bytes a page between them"]]
    for name in chosen:
        base = lib.base_of(name)
        if name == base or any("Available" not in m.get(n, {}).get("meminfo", {})
                               for n in (name, base) for m in (small, large)):
            continue
        less = [(m[base]["meminfo"]["Available"] - m[name]["meminfo"]["Available"])
                for m in (small, large)]
        pages = (large[base]["meminfo"]["MemTotal"] - small[base]["meminfo"]["MemTotal"]) / 4
        rows.append([name] + [f"{kb / 1024:.1f}" for kb in less] +
                    [f"{(less[1] - less[0]) * 1024 / pages:.2f}"])
    if len(rows) > 1:
        found.append(("memory that is free after boot, compared with no profiler", rows))
    for guest, title in (("512M", "with memcg"), ("512M-nomemcg", "cgroup_disable=memory")):
        results = data["memory"].get(guest, {})
        for names in groups([v for v in chosen if v in results]):
            objects = list(results[names[0]]["objects"])
            rows = [[f"bytes, {title}"] + names]
            for item in objects:
                base = results.get(lib.base_of(names[-1]), {}).get("objects", {}).get(item)
                row = [item]
                for name in names:
                    value = results[name]["objects"].get(item)
                    if value is None or base is None:
                        row.append("-")
                    elif name == lib.base_of(name):
                        row.append(f"{value:.1f}")
                    else:
                        row.append(f"{value - base:+.2f}")
                rows.append(row)
            found.append((f"memory of an object, {title}", rows))
    if data["image"]:
        kernels = list(data["image"])
        sections = {}
        for sizes in data["image"].values():
            for section in sizes:
                sections.setdefault(section)
        rows = [["bytes"] + kernels]
        rows += [[s] + [str(data["image"][k].get(s, "-")) for k in kernels] for s in sections]
        found.append(("kernel image by section", rows))
    return found


def growth_tables(data):
    """[(title, rows)]: by number of call sites, and by number of processors"""
    found = []
    by_tags = data["growth"].get("1", {})
    for name, lines in by_tags.items():
        rows = [["modules", "call sites", "instructions of a read", "per call site",
                 "of loading a module"]]
        for modules, tags, read, load in (line for line in lines if len(line) == 4):
            if not read or not tags or tags < 0:
                rows.append([str(modules), "-", "-", "-", str(load or "-")])
            else:
                rows.append([str(modules), str(tags), str(read), f"{read / tags:.0f}",
                             str(load or "-")])
        rows += [[str(line[0]), "refused", "-", "-", "-"] for line in lines if len(line) == 2]
        found.append((f"growth with call sites: {name}", rows))
    if by_tags:
        counts = list(data["growth"])
        rows = [["instructions a call site"] + [f"{c} possible CPUs" if c == "224" else f"{c} CPUs" for c in counts]]
        for name in by_tags:
            row = [name]
            for count in counts:
                lines = data["growth"][count].get(name)
                usable = lines and len(lines[0]) == 4 and lines[0][1] and lines[0][2]
                row.append(f"{lines[0][2] / lines[0][1]:.0f}" if usable else "-")
            rows.append(row)
        found.append(("reading /proc/allocinfo, growth with processors", rows))
    return found


def tables(data, chosen, fast):
    """All tables: [(title, rows)]"""
    return (case_tables(data, "instructions", instruction_cell, chosen, fast) +
            profiler_tables(data, chosen, fast) +
            access_tables(data, chosen, fast) +
            case_tables(data, "cycles", cycle_cell, chosen, fast) +
            memory_tables(data, chosen) + growth_tables(data))


def head(data):
    """The machine and the programs of the measurement"""
    facts = dict(data.get("machine", {}))
    facts.update({f"Linux {k}": v for k, v in data.get("sources", {}).items()})
    lines = ["<!-- SPDX-License-Identifier: GPL-2.0-only -->", f"# Results of {data.get('date')}", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", "How to read them: Documentation/benchmarking.md.", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", help="a JSON file, or the directory of the measurements")
    parser.add_argument("--fast", action="store_true", help="of the cases only the fast paths")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("variant", nargs="*", help="globs of variants; default all")
    args = parser.parse_intermixed_args()
    data = lib.collect(args.results) if os.path.isdir(args.results) else lib.load(args.results)
    chosen = [v for v, _ in lib.variants()
              if any(fnmatch.fnmatch(v, g) for g in args.variant or ["*"])]
    found = tables(data, chosen, args.fast)
    if not found:
        sys.exit("report.py: no results")
    if args.markdown:
        print(head(data))
    form = markdown if args.markdown else text
    for title, rows in found:
        print(f"{'### ' if args.markdown else ''}{title}\n\n{form(rows)}")


if __name__ == "__main__":
    main()
