# SPDX-License-Identifier: GPL-2.0-only
"""Read the results of measurements, and compare variants."""
import json
import os
import re
import statistics

HERE = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(HERE, "../scripts/packages.txt"), encoding="utf-8") as packages:
    # The kernel whose sources are in the Debian of this machine
    HOME_KVER = re.search(r"^linux-source-(.*)$", packages.read(), re.M).group(1)
# The kernel that is patched, and compared with itself without the patches.
KVER = os.environ.get("KVER") or HOME_KVER


def version_key(version):
    """6.12 comes after 6.6"""
    return [int(part) for part in version.split(".")]


# The profiler of mainline's newest kernel is measured, too.
NEWEST_KVER = max((n for n in os.listdir(os.path.join(HERE, "../kernel-patches"))
                   if re.fullmatch(r"[0-9.]+", n)), key=version_key)

# The fast paths: the rows of the short table.
FAST = ["page-0", "page-3", "page-9", "page-0-batch", "kmalloc-8", "kmalloc-64",
        "kmalloc-1024", "kmalloc-8192", "kmalloc-64-acct", "kmalloc-64-batch",
        "cache-200", "cache-200-batch"]

# Of these the rows of the baseline: those that do not depend on how the lists
# of free pages happen to be.
CHECKED = [case for case in FAST if case not in ("page-3", "page-9")]

# The counters besides instructions, in the order of accesses.py.
ACCESSES = ["loads", "stores", "lines", "l1", "l2"]

# Where the call sites of a case are: in the kernel image, in a module, or whole programs.
PLACES = ["kernel", "module", "whole"]


def variants():
    """[(name, kernel)] in the order of the file of variants"""
    found = []
    with open(os.path.join(HERE, "variants"), encoding="utf-8") as file:
        for line in file:
            if "|" in line and not line.startswith("#"):
                line = line.replace("KVER-", KVER + "-").replace("NEWEST-", NEWEST_KVER + "-")
                fields = [f.strip() for f in line.split("|")]
                found.append((fields[0], fields[1]))
    return list(dict.fromkeys(found))


def own_base(variant):
    """The same sources without a profiler, with slabs as large"""
    return source_of(variant) + "-none" + ("-8cpus" if variant.endswith("-8cpus") else "")


def base_of(variant):
    """The variant to compare with: the same kernel without a profiler."""
    source = source_of(variant)
    if source[0].isdigit() or variant.endswith("-8cpus"):
        return own_base(variant)
    return f"{KVER}-none"


def source_of(variant):
    """The sources of its kernel"""
    return variant.partition("-")[0]


def read_cases(path):
    """{place: {case: {median, min, max, alloc}}} of a file of one variant"""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) == 7 and words[0] in PLACES and words[2] != "error":
                found.setdefault(words[0], {}).setdefault(words[1], []).append(words[3:])
    return {place: {case: merge_lines(lines) for case, lines in cases.items()}
            for place, cases in found.items()}


def read_accesses(path):
    """{place: {case: {counter: per operation}}} of a file of one variant"""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) == 2 + len(ACCESSES) and words[0] in PLACES:
                found.setdefault(words[0], {})[words[1]] = {
                    name: int(word) / 1000 for name, word in zip(ACCESSES, words[2:])}
    return found


def merge_lines(lines):
    """One result from all lines of a case: cases that are whole programs have many"""
    median, least, most = ([int(line[i]) / 1000 for line in lines] for i in range(3))
    alloc = [int(line[3]) / 1000 for line in lines if line[3] != "-"]
    return {"median": statistics.median(median), "min": min(least), "max": max(most),
            "alloc": statistics.median(alloc) if alloc else None}


def read_memory(path):
    """{meminfo: {field: kB}, objects: {name: bytes each}, stats: text}"""
    result = {"meminfo": {}, "objects": {}, "stats": []}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["meminfo"]:
                result["meminfo"][words[1]] = int(words[2])
            elif words[:1] == ["object"] and int(words[3]):
                name = words[1] if words[1] == "file" else f"{words[1]}-{words[2]}"
                result["objects"][name] = int(words[4]) / int(words[3])
            elif words[:1] == ["stats"]:
                result["stats"].append(line.rstrip("\n").partition(" ")[2])
    return result


def read_growth(path):
    """[[modules, tags, ticks of a read, ticks of a load]], None where refused"""
    rows = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["growth"]:
                rows.append([None if w in ("-", "refused") else int(w) for w in words[1:]])
    return rows


def read_records(path):
    """Ticks of reading a record of an allocinfo by its ioctls, None if the kernel has none"""
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["records"]:
                return int(words[2]) / int(words[1])
    return None


def read_rates(path):
    """{processes: operations in a second}"""
    with open(path, encoding="utf-8") as file:
        return {w[1]: float(w[2]) for w in (line.split() for line in file) if w[:1] == ["rate"]}


def read_image(path):
    """{section: bytes}"""
    with open(path, encoding="utf-8") as file:
        return {w[0]: int(w[1]) for w in (line.split() for line in file) if len(w) == 2}


def of_variants(directory, read, tail):
    """{variant: read(its file)} of those files that there are"""
    found = {}
    for name, _ in variants():
        path = os.path.join(directory, name + tail)
        if os.path.exists(path):
            found[name] = read(path)
    return found


def of_rounds(directory, name, read):
    """[read(the file of a variant in this round)]"""
    rounds = []
    while os.path.exists(path := os.path.join(directory, f"{name}.{len(rounds) + 1}.txt")):
        rounds.append(read(path))
    return rounds


def collect(cache):
    """Everything that was measured"""
    data = {"instructions": of_variants(os.path.join(cache, "instructions"), read_cases, ".txt"),
            "accesses": of_variants(os.path.join(cache, "accesses"), read_accesses, ".txt"),
            "cycles": {}, "memory": {}, "growth": {}, "records": {}, "scaling": {}, "image": {}}
    whole = of_variants(os.path.join(cache, "whole"), read_cases, ".txt")
    for name, result in whole.items():
        data["instructions"].setdefault(name, {}).update(result)
    for name, _ in variants():
        if rounds := of_rounds(os.path.join(cache, "cycles"), name, read_cases):
            data["cycles"][name] = merge_rounds(rounds)
        if rounds := of_rounds(os.path.join(cache, "scaling"), name, read_rates):
            data["scaling"][name] = {n: [one[n] for one in rounds] for n in rounds[0]}
    for guest in ("512M", "8G", "512M-nomemcg"):
        found = of_variants(os.path.join(cache, "memory"), read_memory, f".{guest}.txt")
        if found:
            data["memory"][guest] = found
    for cpus in (1, 2, 8, 64, 224):
        for key, read in (("growth", read_growth), ("records", read_records)):
            found = of_variants(os.path.join(cache, "growth"), read, f".{cpus}.txt")
            if found:
                data[key][str(cpus)] = found
    for kernel in sorted({k for _, k in variants()}):
        path = os.path.join(cache, "memory", f"image-{kernel}.txt")
        if os.path.exists(path):
            data["image"][kernel] = read_image(path)
    return data


def merge_rounds(rounds):
    """{place: {case: [median of each round]}}"""
    result = {}
    for one in rounds:
        for place, cases in one.items():
            for case, value in cases.items():
                result.setdefault(place, {}).setdefault(case, []).append(value["median"])
    return result


def load(path):
    """A file of results"""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def instructions(data, variant, place, case):
    """Per operation, without the loop around it; None if not measured"""
    cases = data["instructions"].get(variant, {}).get(place, {})
    if case not in cases:
        return None
    return cases[case]["median"] - cases.get("empty", {"median": 0})["median"]


def added(data, variant, place, case, base=None):
    """Instructions more than without a profiler, or than base; None if not measured"""
    mine = instructions(data, variant, place, case)
    base = instructions(data, base or base_of(variant), place, case)
    return None if mine is None or base is None else mine - base


def accesses(data, variant, place, case, counters):
    """Sum of these counters per operation, without the loop; None if not measured"""
    cases = data["accesses"].get(variant, {}).get(place, {})
    if case not in cases:
        return None
    loop = cases.get("empty", {})
    return sum(cases[case][c] - loop.get(c, 0) for c in counters)


def ratios(data, variant, place, case):
    """Cycles compared with no profiler, round by round"""
    mine = data["cycles"].get(variant, {}).get(place, {}).get(case, [])
    base = data["cycles"].get(base_of(variant), {}).get(place, {}).get(case, [])
    return [m / b for m, b in zip(mine, base) if b]


def median(values):
    """Median, None of nothing"""
    return statistics.median(values) if values else None


def cases_of(results, place):
    """Names of all cases in the order they ran, without the empty loop"""
    names = {}
    for result in results.values():
        for case in result.get(place, {}):
            names.setdefault(case)
    names.pop("empty", None)
    return list(names)
