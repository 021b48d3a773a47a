# SPDX-License-Identifier: GPL-2.0-only
# Charts to explore: the numbers in the page are those of report --json, and clicks, searches
# and the slider show them. browser.py does this in a real browser, by hand.

# Every site, and nothing else, with the very numbers of the report.
page_equals_report() { # FILE QUERY...
	local html=$scratch/page.html
	"$codetag" chart -o "$html" "$@" || return 1
	# 2: some call sites of that file are not profiled.
	"$codetag" report --json "$@" >"$scratch/report.json" || [ $? -eq 2 ] || return 1
	page_data "$html" | python3 helpers/check-page-sites.py "$scratch/report.json"
}

# Every snapshot of a recording, as report shows it.
page_equals_recording() {
	local html=$scratch/page.html
	"$codetag" chart -o "$html" "$recording" || return 1
	page_data "$html" >"$scratch/page.json"
	python3 helpers/check-page-times.py "$codetag" "$recording" "$scratch/page.json"
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

# No name can end the script or load anything, and the page contains no address.
page_is_closed() {
	local html=$scratch/page.html
	printf '4096 1 a/</script><script>alert(1)</script>.c:1 func:<!--f\n' >"$scratch/odd-page"
	"$codetag" chart -o "$html" "$scratch/odd-page" || return 1
	python3 helpers/check-page-alone.py "$html"
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

# The slider, and growth: negative values are mentioned.
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
