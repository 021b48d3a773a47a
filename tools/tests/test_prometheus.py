# SPDX-License-Identifier: GPL-2.0-only
"""Series that Prometheus accepts and that continue; the rules of contrib/prometheus; a leak that
raises an alert in Debian's Prometheus."""

import itertools
import re
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from inputs import CODETAG_ALLOCINFO, CODETAG_MEMINFO, MAINLINE_ALLOCINFO, NEWER_MAINLINE_ALLOCINFO, V2, V2_ACTIVITY
from recordings import sql
from support import SCRATCH, codetag, helper, named, needs_feature, needs_program, run

RULES, RULES_TEST = (Path("../contrib/prometheus") / name for name in ("codetag.rules.yml", "codetag.rules.test.yml"))
DASHBOARD = "../contrib/grafana/codetag.json"


def export(line):
    return codetag(f"export --format prometheus {line}")


def labels_of(line):
    return sorted(series.rsplit(" ", 1)[0] for series in export(line).lines if not series.startswith("#"))


def record(db, line=""):
    """A recording of one snapshot, of a kernel of a known version"""
    codetag(f"record -q -c 1 -o {db} --allocinfo {V2} {line}")
    sql(db, "UPDATE meta SET value = '6.12.117' WHERE key = 'kernel'")


@named("prometheus/labels")
def test_labels(work):
    """A kernel with other lines has the same series."""
    def later(line):
        return line if line[0] in "a#" else re.sub(r":(\d+) ", lambda at: f":{int(at[1]) + 7} ", line, count=1)

    moved = work / "moved"
    lines = CODETAG_ALLOCINFO.read_text(encoding="utf-8").splitlines(keepends=True)
    moved.write_text("".join(map(later, lines)), encoding="utf-8")
    assert labels_of(CODETAG_ALLOCINFO) == labels_of(moved)
    assert labels_of(f"-g site {CODETAG_ALLOCINFO}") != labels_of(f"-g site {moved}")


@pytest.fixture(scope="session")
def odd_names():
    """Any characters in a name"""
    path = SCRATCH / "odd-names"
    path.write_bytes(b"allocinfo - version: 2.0\n"
                     b"1 1 a\xff.c:1 func:f\n"
                     b"2 1 a\xfe.c:1 func:f\n"
                     b'3 1 a"\\b.c:1 func:f\n'
                     b"4 1 \xc3\xa4.c:1 func:\xe2\x82\xac\n")
    return path


@named("prometheus/hostile")
def test_hostile(odd_names):
    for by in "site", "place", "func", "file", "dir", "module", "subsystem":
        series = export(f"-g {by} {odd_names}").raw
        assert series.decode("utf-8", errors="strict")
    assert "one subsystem" in export(f"-g subsystem {odd_names}").out
    labels = labels_of(odd_names)
    assert len([series for series in labels if series.startswith("codetag_allocated_bytes")]) == 4


@needs_program("promtool")
@named("prometheus/promtool")
def test_promtool(odd_names):
    """Groups of any kind, hosts with kernels that differ, the kernel, labels"""
    files = f"{MAINLINE_ALLOCINFO} {NEWER_MAINLINE_ALLOCINFO} {odd_names}"
    for by in "site", "place", "func", "file", "dir:2", "module", "subsystem":
        series = export(f"-n 10000 -a -g {by} --label host=a {files}")
        run("promtool", "check", "metrics", stdin=series.raw)


@needs_feature("sqlite3")
@named("prometheus/kernel")
def test_kernel(work):
    """The kernel of a recording is an info metric; that of a file is not known."""
    db = work / "kernel.db"
    record(db)
    assert 'codetag_kernel_info{rack="7",release="6.12.117"} 1' in export(f"--label rack=7 {db}").lines
    assert "kernel_info" not in export(V2).out


def questions(work):
    """Rules with the queries of the dashboard, which are checked before"""
    db, series, rules = work / "dashboard.db", work / "dashboard.prom", work / "dashboard.rules.yml"
    record(db, f"--activity {V2_ACTIVITY} --meminfo {CODETAG_MEMINFO}")
    series.write_bytes(export(db).raw)
    helper("check-dashboard", DASHBOARD, series, RULES, rules)
    return rules


@needs_feature("sqlite3")
@named("prometheus/dashboard")
def test_dashboard(work):
    """Each panel of the dashboard asks for series that are exported, or that a rule records, and for
    labels that these have."""
    questions(work)


@needs_feature("sqlite3")
@needs_program("promtool")
@named("prometheus/dashboard-parsed")
def test_dashboard_parsed(work):
    """Prometheus' own parser reads the queries of the panels."""
    run("promtool", "check", "rules", questions(work))


@needs_program("promtool")
@named("prometheus/rules")
def test_rules():
    run("promtool", "test", "rules", RULES_TEST)


@needs_program("promtool")
@needs_program("prometheus")
@needs_program("prometheus-node-exporter")
@named("prometheus/leak")
def test_leak(work):
    """The whole path: exporter, scrape, rules with seconds for hours, alert, API. On a busy machine
    it takes more seconds for an hour."""
    troubles = []
    for seconds in 1, 4, 10:
        trouble = leak_with_hours_of(seconds, work / f"hour-{seconds}")
        if not trouble:
            return
        troubles.append(f"not with {seconds} s for an hour: {trouble}")
    assert not troubles, "\n".join(troubles)


def leak_with_hours_of(hour, place):
    """The reason why there is no alert

    Each hour in the rules becomes so many seconds (hour). A time of 1 hour lasts two of them, like one of 2
    hours: Prometheus scrapes twice a second, and an increase needs two samples, which a single second may lack.
    """
    (place / "textfile").mkdir(parents=True)
    shortened = {"1": 2, "2": 2, "4": 4, "6": 6}
    rules = re.sub(r"\b([1246])h\b", lambda hours: f"{shortened[hours[1]] * hour}s", RULES.read_text(encoding="utf-8"))
    (place / "codetag.rules.yml").write_text(rules, encoding="utf-8")
    web, exporter = free_ports()
    config = place / "prometheus.yml"
    config.write_text(f"""\
global: {{scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}}
rule_files: [codetag.rules.yml]
scrape_configs:
  - job_name: node
    static_configs: [targets: ['127.0.0.1:{exporter}']]
""", encoding="utf-8")
    run("promtool", "check", "config", config)

    commands = (["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{exporter}",
                 "--collector.disable-defaults", "--collector.textfile",
                 f"--collector.textfile.directory={place}/textfile"],
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={place}/data",
                 f"--web.listen-address=127.0.0.1:{web}"])
    processes, end = [], threading.Event()
    guest = threading.Thread(target=pretend_guest, args=(place, end))
    guest.start()
    try:
        for words in commands:
            with (place / f"{words[0]}.log").open("wb") as log:
                processes.append(subprocess.Popen(words, stdout=log, stderr=log))
        waited = helper("wait-for-leak-alert", web, 30 * hour, status=None, timeout=30 * hour + 60)
    finally:
        end.set()
        guest.join()
        for process in processes:
            process.kill()
            process.wait()
    if waited.status == 0:
        return ""
    logs = [line for log in place.glob("*.log") for line in log.read_text(encoding="utf-8").splitlines()[-5:]]
    return "\n".join([str(waited), *logs])


def free_ports():
    with socket.socket() as first, socket.socket() as second:
        for taken in first, second:
            taken.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def pretend_guest(place, end):
    """Stands for a guest: its allocinfo has a site that holds 32 MiB more each time, and one that is
    emptied each fourth time."""
    text = CODETAG_ALLOCINFO.read_text(encoding="utf-8")
    for turn in itertools.count():
        leak = re.sub(r"^ *\d+( .* fs/kernfs/dir\.c:.* func:__kernfs_new_node\b)", rf"{turn << 25}\1", text,
                      flags=re.MULTILINE)
        both = re.sub(r"^ *\d+( .* kernel/fork\.c:.* func:alloc_thread_stack_node\b)", rf"{turn % 4 << 28}\1", leak,
                      flags=re.MULTILINE)
        (place / "allocinfo").write_text(both, encoding="utf-8")
        export(f"-o {place}/textfile/codetag.prom {place}/allocinfo")
        if end.wait(0.3):
            return
