# SPDX-License-Identifier: GPL-2.0
# Charts to explore: the numbers in the page are those of report --json, and what
# is clicked, searched and slid shows them. In a real browser: browser.py, by hand.

# Every site, and nothing else, with the very numbers of the report.
page_equals_report() { # FILE QUERY...
	local html=$scratch/page.html
	"$codetag" chart -o "$html" "$@" || return 1
	# 2: some call sites of that file are not profiled.
	"$codetag" report --json "$@" >"$scratch/report.json" || [ $? -eq 2 ] || return 1
	page_data "$html" | python3 -c '
import json, sys
report, data = json.load(open(sys.argv[1])), json.load(sys.stdin)
assert [a["key"] for a in data["attributes"]] == ["size", "calls"]
rows = {row["name"]: (row["size"], row["calls"]) for row in report["rows"]}
sites = {site["name"]: tuple(site["values"]) for site in data["sites"]}
assert sites == {name: (0,) + row for name, row in rows.items()}, set(sites) ^ set(rows)
assert rows and sum(v[1] for v in sites.values()) == report["total"]["size"]
for site in data["sites"]:
    assert site["name"].startswith("/".join(site["stack"][:-1]) + ":"), site' "$scratch/report.json"
}

# Every snapshot of a recording, as report shows it.
page_equals_recording() {
	local html=$scratch/page.html
	"$codetag" chart -o "$html" "$recording" || return 1
	page_data "$html" >"$scratch/page.json"
	python3 -c '
import json, subprocess, sys
data = json.load(open(sys.argv[3]))
assert len(data["times"]) == 16 and data["times"][1] - data["times"][0] == 60
for time in range(16):
    text = subprocess.run([sys.argv[1], "replay", sys.argv[2], "--text", str(time + 1)],
                          check=True, capture_output=True).stdout
    report = json.loads(subprocess.run([sys.argv[1], "report", "--json", "-"], input=text,
                                       check=True, capture_output=True).stdout)
    rows = {row["name"]: [row["size"], row["calls"]] for row in report["rows"]}
    shown = {}
    for site in data["sites"]:
        now = [0, 0]
        for at in range(0, len(site["values"]), 3):
            if site["values"][at] <= time:
                now = site["values"][at + 1:at + 3]
        if now != [0, 0]:
            shown[site["name"]] = now
    assert shown == rows, (time, shown, rows)' "$codetag" "$recording" "$scratch/page.json"
}

# The stacks of contexts, with and without helpers, with the numbers of the export.
page_equals_stacks() { # OPTION...
	local html=$scratch/page.html split=data/recorded-ours-6.12-split.debugfs/contexts
	"$codetag" chart --flame=$split "$@" -o "$html" || return 1
	page_data "$html" | python3 -c '
import json, sys
for site in json.load(sys.stdin)["sites"]:
    if site["values"]:
        print(";".join(site["stack"]), site["values"][1])' | LC_ALL=C sort >"$scratch/drawn"
	"$codetag" export --contexts=$split "$@" --format folded | LC_ALL=C sort |
		diff - "$scratch/drawn" && [ "$(wc -l <"$scratch/drawn")" -gt 30 ] &&
		[ "$(awk '{ s += $NF } END { print s }' "$scratch/drawn")" = \
			"$(awk '/^# site:/ { if ($3 ~ /^[0-9]+$/) s += $3 } /^ *[0-9]+ +[0-9]+ +[0-9]+ / { s += $1 }
				END { print s }' $split)" ]
}

# No name can end the script or ask anybody for anything, and there is no address to go to.
page_is_closed() {
	local html=$scratch/page.html
	printf '4096 1 a/</script><script>alert(1)</script>.c:1 func:<!--f\n' >"$scratch/odd-page"
	"$codetag" chart -o "$html" "$scratch/odd-page" || return 1
	python3 -c '
import html.parser, re, sys
class Page(html.parser.HTMLParser):
    scripts, links = 0, []
    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.links += [v for k, v in attrs if k in ("src", "href")] + [tag] * (tag in ("link", "img"))
page = Page()
text = open(sys.argv[1], encoding="utf-8").read()
page.feed(text)
assert page.scripts == 3 and not page.links, (page.scripts, page.links)
assert "default-src \x27none\x27" in text and "BSD-3-Clause" in text
assert not re.search(r"@(DATA|D3|DRAW)@", text)' "$html"
}

# steps HTML STEP...: what the page shows
steps() {
	NODE_PATH=/usr/share/nodejs node page.js "$@"
}

page_answers() {
	local html=$scratch/page.html file=data/recorded-ours-6.12.allocinfo sum mm calls found
	"$codetag" chart -o "$html" "$file" || return 1
	read -r sum calls <<<"$("$codetag" report --json "$file" | python3 -c '
import json, sys; t = json.load(sys.stdin)["total"]; print(t["size"], t["calls"])')"
	mm=$("$codetag" report -N -b -g dir:1 -o size,name "$file" | awk '$2 == "mm" { print $1 }')
	found=$("$codetag" report --json "$file" 'func *inode*' | python3 -c '
import json, sys; r = json.load(sys.stdin)
print(len(r["rows"]), "found:", r["total"]["size"], "bytes")')
	steps "$html" at=mm at=mm find='/func:.*inode/' find= view=ring view=treemap attribute=1 >"$scratch/steps" ||
		{ cat "$scratch/steps"; return 1; }
	awk -F ' \\| ' '{ print $1; } $3 < 30 { exit 1 }' "$scratch/steps" >"$scratch/sums" &&
		[ "$(tr '\n' ' ' <"$scratch/sums")" = "$sum $mm $sum $sum $sum $sum $sum $calls " ] &&
		[[ $(sed -n 4p "$scratch/steps") = *"$found"* ]] && return 0
	echo "expected $sum $mm $calls and $found"
	cat "$scratch/steps"
	return 1
}

# The slider, and growth: what is below zero is told.
page_slides() {
	local html=$scratch/page.html first last
	"$codetag" chart -o "$html" "$recording" || return 1
	first=$("$codetag" replay "$recording" --list -N -o size | head -n 1 | tr -d ' ')
	last=$("$codetag" replay "$recording" --list -N -o size | tail -n 1 | tr -d ' ')
	steps "$html" time=0 attribute=2 time=15 >"$scratch/steps"
	[ "$(awk -F ' \\| ' '{ printf "%s ", $1 }' "$scratch/steps")" = \
		"$last $first 0 $((last - first)) " ] &&
		tail -n 1 "$scratch/steps" | grep -q 'Below zero, and not drawn: 1 call sites, -8192 bytes' &&
		return 0
	echo "expected $last $first 0 $((last - first))"
	cat "$scratch/steps"
	return 1
}

if feature d3 page; then
	for file in recorded-ours-6.12 recorded-mainline-6.12 recorded-mainline-7.3; do
		check "page/report/$file" page_equals_report "data/$file.allocinfo"
	done
	check page/report/negative page_equals_report data/handmade-v2.allocinfo
	check page/report/query page_equals_report data/recorded-ours-6.12.allocinfo not file 'mm/*'
	check page/stacks page_equals_stacks
	check page/stacks-skip page_equals_stacks --skip
	check page/closed page_is_closed
	[ ! -e "$recording" ] || check page/report/recording page_equals_recording
	if program node page/answers; then
		check page/answers page_answers
		[ ! -e "$recording" ] || check page/slides page_slides
	fi
fi
