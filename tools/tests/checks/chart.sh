# SPDX-License-Identifier: GPL-2.0-only
# Charts are well-formed, have the requested size, and are as long as their values.

# bars_match SVG COUNT < VALUES: the widths of its bars are in proportion to the values.
bars_match() {
	python3 helpers/check-svg-bars.py "$@"
}

bars_match_values() {
	local svg=$scratch/bars.svg file=data/recorded-mainline-6.12.allocinfo
	"$codetag" chart --kind bars -n 6 -o "$svg" "$file" || return 1
	"$codetag" report -N -b -n 6 -o size "$file" | bars_match "$svg" 6
}

bars_match_branch() {
	local svg=$scratch/branch.svg file=data/recorded-mainline-6.12.allocinfo
	"$codetag" chart --kind bars -n 5 --start-branch fs/ -o "$svg" "$file" || return 1
	"$codetag" report -N -b -n 5 -o size "$file" 'file fs/*' | bars_match "$svg" 5
}

# texts SVG: its texts, a line each
texts() {
	python3 -c '
import sys, xml.etree.ElementTree as tree
for text in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text"):
    print(text.text)' "$1"
}

# Names are text, also if they contain characters that XML reserves.
svg_has_text() {
	local svg=$scratch/text.svg
	printf '8192 1 net/a<b>&"c.c:7 func:f\n4096 1 fs/b.c:8 func:g\n' >"$scratch/names"
	"$codetag" chart --kind bars --title 'A & B' -o "$svg" "$scratch/names" || return 1
	texts "$svg" >"$scratch/texts"
	! grep -q '<use \|<symbol\|<glyph' "$svg" && grep -qx 'A & B' "$scratch/texts" &&
		grep -qFx 'net/a<b>&"c.c:7 func:f' "$scratch/texts" && return 0
	cat "$scratch/texts"
	return 1
}

# The chart of the running kernel names its release. A made-up /proc has an allocinfo on any
# kernel.
kernel_in_title() {
	local svg=$scratch/kernel.svg
	clang_build || return 1
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none /proc && cp "$1" /proc/allocinfo &&
		exec "$2" chart --kind bars -o "$3"' _ data/handmade-v2.allocinfo \
		"$build/clang/codetag" "$svg" || return 1
	texts "$svg" | grep -q "^Linux $(uname -r) · " || { texts "$svg"; return 1; }
	"$codetag" chart --kind bars -o "$svg" data/handmade-v2.allocinfo || return 1
	! texts "$svg" | grep '^Linux'
}

# ticks SECONDS: the times on the axis of a recording with SECONDS between its snapshots
ticks() {
	local db=$scratch/ticks.db
	cp "$recording" "$db"
	python3 -c '
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE snapshot SET time = 1767225677000 + ? * (id - 1)", (int(sys.argv[2]) * 1000,))' \
		"$db" "$1" || return 1
	"$codetag" chart --kind area -o "$scratch/ticks.svg" "$db" &&
		texts "$scratch/ticks.svg" | grep -E '^[0-9-]+[:-][0-9:-]+( [0-9:]+)?$' | tr '\n' ' '
}

# The first snapshot is at 00:01:17.
ticks_are_round() {
	local TZ=UTC bad=0 want
	export TZ
	while read -r apart want; do
		[ "$(ticks "$apart")" = "$want " ] && continue
		echo "$apart s apart: $(ticks "$apart") and not $want"
		bad=1
	done <<-'END'
		1 00:01:18 00:01:20 00:01:22 00:01:24 00:01:26 00:01:28 00:01:30 00:01:32
		10 00:01:30 00:02:00 00:02:30 00:03:00 00:03:30
		60 00:02 00:04 00:06 00:08 00:10 00:12 00:14 00:16
		3600 02:00 04:00 06:00 08:00 10:00 12:00 14:00
		43200 2026-01-02 2026-01-03 2026-01-04 2026-01-05 2026-01-06 2026-01-07 2026-01-08
		0 00:01:17
	END
	TZ=Asia/Kolkata
	[ "$(ticks 3600)" = "06:00 08:00 10:00 12:00 14:00 16:00 18:00 20:00 " ] && return $bad
	echo "in India: $(ticks 3600)"
	return 1
}

# A colour that repeats gets a texture.
colours_differ() {
	local i
	for i in {10..39}; do
		echo "$((100000 - i * 1000)) 1 d$i/x.c:1 func:f"
	done >"$scratch/many"
	for kind in ring treemap; do
		"$codetag" chart --kind $kind -o "$scratch/many.png" "$scratch/many" &&
			"$codetag" chart --kind $kind -o "$scratch/many.svg" "$scratch/many" &&
			python3 -c '
import sys, xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
clipped = [g for g in root.iter(svg + "g") if "clip-path" in g.attrib]
lines = [p for g in clipped for p in g.iter(svg + "path") if p.get("fill") == "none" or "fill:none" in p.get("style", "")]
# 30 directories, 18 of them behind the twelfth, with two levels each below and a legend
assert len(clipped) >= 18 * 3 and len(lines) > 200, (len(clipped), len(lines))' "$scratch/many.svg" ||
			return 1
	done
	head -n 12 "$scratch/many" >"$scratch/few"
	"$codetag" chart -o "$scratch/few.svg" "$scratch/few" && ! grep -q clip-path "$scratch/few.svg"
}

# The number of levels that are not drawn.
deeper_is_said() {
	local file=$scratch/deep
	echo '4096 1 a/b/c/d/e/f/g/h.c:1 func:i' >"$file"
	"$codetag" chart -o "$scratch/deep.svg" "$file" &&
		texts "$scratch/deep.svg" | grep -qx '3 deeper levels are not drawn: see --start-branch' &&
		"$codetag" chart --kind treemap -o "$scratch/deep.svg" "$file" &&
		texts "$scratch/deep.svg" | grep -qx '2 deeper levels are not drawn: see --start-branch' &&
		"$codetag" chart --start-branch a/b/c -o "$scratch/deep.svg" "$file" &&
		! texts "$scratch/deep.svg" | grep deeper
}

# chart KIND FILE ARG...: a PNG of 640x480 with more than two colours
png_is_drawn() {
	local png=$scratch/chart.png
	"$codetag" chart --size 640x480 -o "$png" "$@" || return 1
	python3 helpers/check-png.py "$png"
}

svg_is_sound() {
	local svg=$scratch/chart.svg
	"$codetag" chart -o "$svg" "$@" || return 1
	python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag.endswith("svg")
paths = list(root.iter("{http://www.w3.org/2000/svg}path"))
texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
assert len(paths) > 8 and len(texts) > 8, (len(paths), len(texts))
assert not any("nan" in p.get("d", "") for p in paths)' "$svg"
}

# Nothing is outside the page, and letters contrast with their background.
svg_is_readable() { # SIZE ARG...
	local svg=$scratch/readable.svg
	"$codetag" chart --size "$1" -o "$svg" "${@:2}" || return 1
	python3 helpers/check-svg-legible.py "$svg" "$1"
}

# More bars than can be read: those that fit are drawn, and a line says how many more there are.
bars_fit() {
	local svg=$scratch/many.svg file=data/recorded-mainline-6.12.allocinfo
	"$codetag" chart --kind bars -n 60 --size 900x500 -o "$svg" "$file" || return 1
	"$codetag" report -N -b -n 16 -o size "$file" | bars_match "$svg" 16
}

# counted_once KIND FILE: the sum in the chart, and the names in it
chart_counts_once() {
	local svg=$scratch/sum.svg once raw
	"$codetag" chart --kind "$1" -o "$svg" "$2" || return 1
	once=$(texts "$svg")
	"$codetag" chart --raw --kind "$1" -o "$svg" "$2" || return 1
	raw=$(texts "$svg")
	grep -q 'without .* of slab pages and percpu chunks' <<<"$once" && ! grep alloc_slab <<<"$once" &&
		! grep 'percpu chunks' <<<"$raw" || return 1
	[ "$1" = area ] || grep -q " $("$codetag" report --json "$2" | python3 -c '
import json, sys
print("%.1fM in" % (json.load(sys.stdin)["total"]["size"] / 2 ** 20))')" <<<"$once" || return 1
	[ "$1" != bars ] || grep alloc_slab <<<"$raw"
}

# Other recorded values are lines: on the axis if they are bytes, else on a scale of their own.
gauges_are_lines() {
	local db=$scratch/lines.db append=() kb svg=$scratch/lines.svg
	rm -f "$db"
	for kb in 1000 2000 4000; do
		sed "s/^Slab: .*/Slab: $kb kB/" data/recorded-ours-6.12.meminfo >"$scratch/meminfo"
		sed "s/^dentry  *[0-9]*  *[0-9]*/dentry $((5000 - kb > 3000 ? 4000 : kb == 2000 ? 2000 : 3000)) 9999/" data/recorded-ours-6.12.slabinfo >"$scratch/slabinfo"
		"$codetag" record -q -c 1 -o "$db" --allocinfo data/handmade-v2.allocinfo \
			--meminfo "$scratch/meminfo" --slabinfo "$scratch/slabinfo" \
			"${append[@]}" || return 1
		append=(--append)
		sleep 0.05
	done
	"$codetag" chart --kind area --gauge meminfo.Slab --gauge slabinfo.dentry/active \
		-o "$svg" "$db" || return 1
	texts "$svg" >"$scratch/texts"
	grep -qx '3.9M  meminfo.Slab' "$scratch/texts" &&
		grep -qx '3000 of 4000  slabinfo.dentry/active' "$scratch/texts" &&
		python3 helpers/check-svg-gauge-lines.py "$svg" &&
		chart_refuses --kind area --gauge no.such "$db" &&
		! "$codetag" chart --gauge meminfo.Slab -o "$svg" "$db" 2>"$scratch/err" &&
		grep -q 'goes with --kind area' "$scratch/err"
}

# Areas leave them out, too, if there is any other site.
area_leaves_out() {
	local svg=$scratch/area.svg
	"$codetag" chart --kind area -o "$svg" "$scratch/once.db" file 'mm/slub.c' &&
		! texts "$svg" | grep alloc_slab_page &&
		"$codetag" chart --kind area -o "$svg" "$scratch/once.db" func alloc_slab_page &&
		texts "$svg" | grep -q alloc_slab_page
}

# The base of the flames is the sum of all contexts and of the memory in none.
flame_adds_up() {
	local svg=$scratch/flame.svg want
	want=$(awk '/^# site: +[0-9]/ { s += $3 } /^ *[0-9]+ +[0-9]+ +[0-9]+ / { s += $1 }
		END { printf "all  %.1fM", s / 2 ^ 20 }' "$1")
	"$codetag" chart --flame="$1" -o "$svg" && texts "$svg" | grep -qx "$want" &&
		texts "$svg" | grep -q '^iget_locked  2.7M'
}

# A chart that cannot be drawn leaves no file, and says why.
chart_refuses() {
	local out=$scratch/refused.svg
	"$codetag" chart -o "$out" "$@"
	[ $? -eq 2 ] && [ ! -e "$out" ]
}

# Cairo would stop drawing at a character that is cut, and at invalid UTF-8.
odd_names_are_drawn() { # KIND
	local svg=$scratch/odd.svg odd
	printf '8192 2 fs/\377.c:1 func:f\n' >"$scratch/odd"
	odd=$(printf '\303\244%.0s' {1..130})
	"$codetag" chart --kind "$1" --title "$odd" -o "$svg" "$scratch/odd" "not func ${odd:0:45}" &&
		texts "$svg" | grep -q "$(printf '\357\277\275')"
}

# A disk that is full.
full_is_said() { # SUFFIX
	ln -sf /dev/full "$scratch/full.$1"
	! "$codetag" chart --kind bars -o "$scratch/full.$1" data/handmade-v2.allocinfo 2>"$scratch/err" &&
		grep -q "cannot write .*full.$1: No space left on device" "$scratch/err"
}

# Sites that have shrunk are mentioned; bars draw them.
shrunk_is_said() {
	local svg=$scratch/shrunk.svg kind want
	printf '8192 2 fs/a.c:1 func:f\n9000 1 fs/b.c:1 func:g\n' >"$scratch/shrunk.old"
	printf '4096 1 fs/a.c:1 func:f\n9500 1 fs/b.c:1 func:g\n' >"$scratch/shrunk.new"
	for kind in ring treemap bars; do
		"$codetag" chart --kind $kind --attr growth -o "$svg" "$scratch/shrunk.old" \
			"$scratch/shrunk.new" || return 1
		want='grown by 500 at 1 sites, shrunk by 4.0K at 1'
		[ $kind = bars ] || want="$want (not drawn)"
		texts "$svg" | grep "$want\$" >/dev/null || { texts "$svg"; return 1; }
	done
	[ "$(texts "$svg" | grep -c 'fs/[ab].c')" -eq 2 ]
}

# In another kernel lines differ, which is no growth: there is nothing to draw.
moved_is_no_growth() {
	local file=data/recorded-mainline-6.12.allocinfo
	sed 's/\(mm.slub.c:\)\([0-9]*\)/\11\2/' $file >"$scratch/moved"
	! cmp -s $file "$scratch/moved" &&
		chart_refuses --attr growth --kind "$1" $file "$scratch/moved"
}

if "$codetag" --version | grep -q cairo; then
	file=data/recorded-mainline-6.12.allocinfo
	check chart/bars-values bars_match_values
	check chart/bars-branch bars_match_branch
	check chart/text svg_has_text
	check chart/colours colours_differ
	check chart/deeper deeper_is_said
	for kind in ring treemap bars; do
		check "chart/odd-names/$kind" odd_names_are_drawn "$kind"
	done
	check chart/full/svg full_is_said svg
	check chart/full/png full_is_said png
	[ ! -e "$recording" ] || check chart/ticks ticks_are_round
	if unshare -m mount -t tmpfs none /proc 2>/dev/null; then
		check chart/kernel kernel_in_title
	else
		skip chart/kernel "no mount namespace of its own"
	fi
	for kind in ring treemap bars; do
		check "chart/png/$kind" png_is_drawn --kind "$kind" "$file"
		check "chart/svg/$kind" svg_is_sound --kind "$kind" "$file"
		check "chart/svg/$kind/negative" svg_is_sound --kind "$kind" data/handmade-v2.allocinfo
	done
	for size in 400x300 1200x900; do
		for kind in ring treemap bars; do
			check "chart/readable/$kind/$size" svg_is_readable $size --kind "$kind" "$file"
		done
		[ ! -e "$recording" ] ||
			check "chart/readable/area/$size" svg_is_readable $size --kind area -n 30 "$recording"
	done
	split=data/recorded-ours-6.12-split.debugfs/contexts
	check chart/flame flame_adds_up $split
	check chart/svg/flame svg_is_sound --flame=$split --skip
	check chart/svg/flame-calls svg_is_sound --flame=$split --attr calls func kstrdup
	check chart/readable/flame svg_is_readable 1200x900 --flame=$split
	check chart/readable/flame-small svg_is_readable 640x480 --flame=$split func kstrdup
	check chart/refuses/flame-nothing chart_refuses --flame=$split --min-age 100
	check chart/refuses/flame-bad chart_refuses --flame=data/handmade-v2.allocinfo
	check chart/refuses/flame-kind chart_refuses --flame=$split --kind treemap
	check chart/refuses/flame-group chart_refuses --flame=$split -g dir
	check chart/refuses/flame-skip chart_refuses --skip data/handmade-v2.allocinfo
	check chart/readable/legend svg_is_readable 400x300 --kind ring --start-branch mm "$file"
	check chart/bars-fit bars_fit
	check chart/png/calls png_is_drawn --attr calls "$file"
	check chart/png/start png_is_drawn --start-branch mm "$file"
	check chart/png/query png_is_drawn "$file" 'file drivers/*'
	check chart/png/growth png_is_drawn --attr growth --kind bars \
		data/handmade-v2.allocinfo data/handmade-v2-later.allocinfo
	check chart/refuses/start chart_refuses --start-branch nowhere "$file"
	check chart/refuses/start-bars chart_refuses --kind bars --start-branch nowhere "$file"
	check chart/refuses/nothing-bars chart_refuses --kind bars "$file" 'file nowhere'
	[ ! -e "$recording" ] ||
		check chart/refuses/nothing-area chart_refuses --kind area "$recording" 'file nowhere'
	for kind in ring treemap bars; do
		check chart/once/$kind chart_counts_once $kind data/recorded-ours-6.12.allocinfo
	done
	if feature sqlite3 chart/once/area; then
		check chart/gauges gauges_are_lines
		"$codetag" record -q -c 2 -i 0.01 -o "$scratch/once.db" \
			--allocinfo data/recorded-ours-6.12.allocinfo
		check chart/once/area chart_counts_once area "$scratch/once.db"
		check chart/once/area-names area_leaves_out
	fi
	check chart/shrunk shrunk_is_said
	check chart/moved/ring moved_is_no_growth ring
	check chart/moved/bars moved_is_no_growth bars
	check chart/refuses/area chart_refuses --kind area "$file"
	check chart/refuses/missing chart_refuses no-such-file
	check chart/refuses/growth chart_refuses --attr growth "$file"
	if [ -e "$recording" ]; then
		check chart/area-once reads_once chart --kind area -o "$scratch/once.svg"
		check chart/area-linear reads_linearly chart --kind area -o "$scratch/linear.svg"
		check chart/png/area png_is_drawn --kind area "$recording"
		check chart/svg/area svg_is_sound --kind area -g dir:1 "$recording"
		check chart/png/recording-growth png_is_drawn --attr growth "$recording"
	fi
fi

# Boxes of an SVG: "X0 X1 Y0" of each closed shape that is filled
svg_boxes() {
	python3 -c '
import re, sys
for d in re.findall(r"<path[^>]* fill=.[^n][^>]* d=\"(M[^\"]*)\"|<path[^>]* d=\"(M[^\"]*)\"", open(sys.argv[1]).read()):
    numbers = [float(n) for n in re.findall(r"-?\d+\.?\d*", "".join(d))]
    x, y = numbers[0::2], numbers[1::2]
    if len(x) >= 4:
        print(min(x), max(x), min(y))' "$1"
}

# Sites that shrank go to the other side of zero; the size is in px, not in points.
bars_have_directions() {
	local header='allocinfo - version: 1.0
#     <size>  <calls> <tag info>'
	printf '%s\n' "$header" '4096 1 mm/a.c:1 func:up' '9192 1 mm/b.c:1 func:down' >"$scratch/bars.old"
	printf '%s\n' "$header" '9192 1 mm/a.c:1 func:up' '4096 1 mm/b.c:1 func:down' >"$scratch/bars.new"
	"$codetag" chart --attr growth --kind bars -o "$scratch/bars.svg" "$scratch/bars.old" "$scratch/bars.new" &&
		head -c 400 "$scratch/bars.svg" | grep -q 'width="1200px" height="900px"' || return 1
	svg_boxes "$scratch/bars.svg" | awk '$2 - $1 > 100 && $2 - $1 < 1000' | sort -n >"$scratch/boxes"
	awk 'NR == 1 { end = $2 } NR == 2 { start = $1 } END { exit !(NR == 2 && start >= end - 0.1) }' \
		"$scratch/boxes" || { cat "$scratch/boxes"; return 1; }
}

# Flames hang from their root in pictures as on pages.
flames_hang() {
	"$codetag" chart --flame=data/recorded-ours-6.12-split.debugfs/contexts -o "$scratch/hang.svg" || return 1
	svg_boxes "$scratch/hang.svg" | awk '$2 - $1 < 1190' >"$scratch/boxes"
	awk '{ w = $2 - $1; if (w > 1100) root = $3; else if (!n++ || $3 < top) top = $3 }
	     END { exit !(n && root < top) }' "$scratch/boxes"
}

# A snapshot has no stacks: its page opens as a treemap and shows time and sum. A page with a
# slider shows these beside it.
page_opens() {
	"$codetag" chart data/recorded-ours-6.12.allocinfo -o "$scratch/opens.html" &&
		page_data "$scratch/opens.html" | python3 -c '
import json, sys
page = json.load(sys.stdin)
assert page["view"] == "treemap" and " in " in page["subtitle"], (page["view"], page["subtitle"])' &&
		{ [ ! -e "$recording" ] || { "$codetag" chart "$recording" -o "$scratch/opens.html" &&
		page_data "$scratch/opens.html" | python3 -c '
import json, sys
page = json.load(sys.stdin)
assert page["view"] == "flame" and " snapshots" in page["subtitle"] and "M in" not in page["subtitle"], page["subtitle"]'; }; }
}

if feature cairo chart/directions; then
	check chart/directions bars_have_directions
	check chart/flames-hang flames_hang
fi
if feature d3 chart/page-opens; then
	check chart/page-opens page_opens
fi

# Stacks of another tool have no call sites, and end at their own last function.
flame_of_others() {
	"$codetag" chart --flame=data/inputs/page_owner -o "$scratch/others.html" &&
		grep -q 'in 3 allocations' "$scratch/others.html" &&
		! grep -q 'sites that are split\|"alloc"' "$scratch/others.html"
}
if feature d3 chart/flame-others; then
	check chart/flame-others flame_of_others
fi
