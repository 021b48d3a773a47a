# SPDX-License-Identifier: GPL-2.0-only
"""Charts to explore: the numbers in the page are those of report --json, and clicks, searches and the
slider show them. browser.py does this in a real browser, by hand."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from inputs import CODETAG_ALLOCINFO, SPLIT_CONTEXTS, V2_LATER, context_sizes
from outputs import page_data
from support import codetag, features, named, needs_feature, needs_program, run, table

pytestmark = needs_feature("d3")


@pytest.fixture
def page(work):
    return work / "page.html"


@table(
    "words",
    *((f"page/report/{file}", [f"data/{file}.allocinfo"])
      for file in ("recorded-ours-6.12", "recorded-mainline-6.12", "recorded-mainline-7.3")),
    ("page/report/negative", [V2_LATER]),
    ("page/report/query", [CODETAG_ALLOCINFO, "not", "file", "mm/*"]),
)
def test_equals_report(page, words):
    """Every site, and nothing else, with the very numbers of the report"""
    codetag(f"chart -o {page}", *words)
    # 2: some call sites of a file are not profiled.
    report = codetag("report --json", *words, status=(0, 2)).json()
    data = page_data(page)
    assert [attribute["key"] for attribute in data["attributes"]] == ["size", "calls"]
    rows = {row["name"]: [0, row["size"], row["calls"]] for row in report["rows"]}
    assert rows
    assert {site["name"]: site["values"] for site in data["sites"]} == rows
    assert sum(site["values"][1] for site in data["sites"]) == report["total"]["size"]
    for site in data["sites"]:
        assert site["name"].startswith("/".join(site["stack"][:-1]) + ":"), site


@named("page/report/recording")
def test_equals_recording(page, recording):
    """Every snapshot of a recording, as report shows it"""
    codetag(f"chart -o {page} {recording}")
    data = page_data(page)
    assert len(data["times"]) == 16 and data["times"][1] - data["times"][0] == 60
    for time in range(16):
        snapshot = codetag(f"replay {recording} --text {time + 1}").raw
        report = codetag("report --json -", stdin=snapshot).json()
        rows = {row["name"]: [row["size"], row["calls"]] for row in report["rows"]}
        shown = {site["name"]: values_at(site, time) for site in data["sites"]}
        assert {name: values for name, values in shown.items() if values != [0, 0]} == rows, time


def values_at(site, time):
    """Size and calls of a site: its values are a time, size and calls whenever they change."""
    now = [0, 0]
    for at in range(0, len(site["values"]), 3):
        if site["values"][at] <= time:
            now = site["values"][at + 1:at + 3]
    return now


@table("option", ("page/stacks", ""), ("page/stacks-skip", "--skip"))
def test_equals_stacks(page, option):
    """The stacks of contexts, with and without helpers, with the numbers of the export"""
    codetag(f"chart --flame={SPLIT_CONTEXTS} {option} -o {page}")
    sites = [site for site in page_data(page)["sites"] if site["values"]]
    drawn = [f"{';'.join(site['stack'])} {site['values'][1]}" for site in sites]
    exported = codetag(f"export --contexts={SPLIT_CONTEXTS} {option} --format folded").lines
    assert len(drawn) > 30
    assert Counter(drawn) == Counter(exported)

    contexts, outside = context_sizes(SPLIT_CONTEXTS)
    assert sum(site["values"][1] for site in sites) == sum(size for size, *_ in contexts + outside)


class Links(HTMLParser):
    """Counts scripts, and finds what a page refers to."""

    def __init__(self):
        super().__init__()
        self.scripts, self.links = 0, []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.links += [value for key, value in attrs if key in ("src", "href")]
        if tag in ("link", "img"):
            self.links.append(tag)


@named("page/closed")
def test_closed(work, page):
    """No name can end the script or load anything, and the page contains no address."""
    odd = work / "odd"
    odd.write_text("4096 1 a/</script><script>alert(1)</script>.c:1 func:<!--f\n")
    codetag(f"chart -o {page} {odd}")
    text, links = page.read_text(encoding="utf-8"), Links()
    links.feed(text)
    assert links.scripts == 3 and not links.links
    assert "default-src 'none'" in text and "BSD-3-Clause" in text
    assert not re.search("@(DATA|D3|DRAW)@", text)


def steps(page, *words):
    """The text of the page at first and after each step: the sum, what was found, how many names, and notes"""
    result = run("node", "page.js", page, *words, env={"NODE_PATH": "/usr/share/nodejs"})
    return [line.split(" | ") for line in result.lines]


@needs_program("node")
@named("page/answers")
def test_answers(page):
    codetag(f"chart -o {page} {CODETAG_ALLOCINFO}")
    total = codetag(f"report --json {CODETAG_ALLOCINFO}").json()["total"]
    size, calls = total["size"], total["calls"]
    groups = codetag(f"report -N -b -g dir:1 -o size,name {CODETAG_ALLOCINFO}").lines
    mm = next(int(line.split()[0]) for line in groups if line.split()[1] == "mm")
    found = codetag(f"report --json {CODETAG_ALLOCINFO} 'func *inode*'").json()

    shown = steps(page, "at=mm", "at=mm", "find=/func:.*inode/", "find=", "view=ring", "view=treemap", "attribute=1")
    assert [int(line[0]) for line in shown] == [size, mm, size, size, size, size, size, calls]
    assert all(int(line[2]) >= 30 for line in shown), shown
    assert f"{len(found['rows'])} found: {found['total']['size']} bytes" in shown[3][1]


@needs_program("node")
@named("page/slides")
def test_slides(page, recording):
    """The slider, and growth: negative values are mentioned."""
    codetag(f"chart -o {page} {recording}")
    sizes = [int(line) for line in codetag(f"replay {recording} --list -N -o size").lines]
    first, last = sizes[0], sizes[-1]
    shown = steps(page, "time=0", "attribute=2", "time=15")
    assert [int(line[0]) for line in shown] == [last, first, 0, last - first]
    assert "Below zero, and not drawn: 1 call sites, -8192 bytes" in shown[-1][3]


@named("chart/page-opens")
def test_page_opens(page, request):
    """A snapshot has no stacks: its page opens as a treemap and shows time and sum. A page with a slider
    shows these beside it."""
    codetag(f"chart {CODETAG_ALLOCINFO} -o {page}")
    data = page_data(page)
    assert data["view"] == "treemap" and " in " in data["subtitle"], (data["view"], data["subtitle"])
    if "sqlite3" not in features():
        return
    codetag(f"chart {request.getfixturevalue('recording')} -o {page}")
    data = page_data(page)
    assert data["view"] == "flame"
    assert " snapshots" in data["subtitle"] and "M in" not in data["subtitle"], data["subtitle"]


@named("chart/flame-others")
def test_flame_of_others(page):
    """Stacks of another tool have no call sites, and end at their own last function."""
    codetag(f"chart --flame=data/inputs/page_owner -o {page}")
    text = page.read_text(encoding="utf-8")
    assert "in 3 allocations" in text
    assert "sites that are split" not in text and '"alloc"' not in text
