# SPDX-License-Identifier: GPL-2.0
# Charts: well-formed, of the size asked for, and as long as the values are.

# bars_match SVG COUNT < VALUES: the widths of its bars are to each other as the values.
bars_match() {
	python3 -c '
import re, sys
import xml.etree.ElementTree as tree
values = [int(line) for line in sys.stdin]
widths = []
for path in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}path"):
    points = [tuple(map(float, p)) for p in re.findall(r"([-\d.]+) ([-\d.]+)", path.get("d"))]
    xs = [x for x, _ in points]
    if len(points) == 5 and min(xs) == 20:
        widths.append(max(xs) - 20)
assert len(widths) == len(values) == int(sys.argv[2]), (widths, values)
for value, width in zip(values, widths):
    assert abs(width / widths[0] - value / values[0]) < 0.002, (value, width)' "$@"
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

# glyphs SVG: how many letters are drawn in it
glyphs() {
	grep -o '<use ' "$1" | wc -l
}

# The chart of the running kernel names it; the letters are those that make a
# title longer. A /proc of our own has an allocinfo on any kernel.
kernel_in_title() {
	local svg=$scratch/kernel.svg title plain named longer
	nice -n 5 make -s -C .. O="$build/clang" CC=clang || return 1
	title="Linux $(uname -r) · "
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none /proc && cp "$1" /proc/allocinfo &&
		exec "$2" chart --kind bars --title T -o "$3"' _ data/handmade-v2.allocinfo \
		"$build/clang/codetag" "$svg" || return 1
	named=$(glyphs "$svg")
	"$codetag" chart --kind bars --title T -o "$svg" data/handmade-v2.allocinfo || return 1
	plain=$(glyphs "$svg")
	"$codetag" chart --kind bars --title "T$title" -o "$svg" data/handmade-v2.allocinfo || return 1
	longer=$(glyphs "$svg")
	[ "$plain" -lt "$longer" ] && [ "$named" -eq "$longer" ] && return 0
	echo "letters: $named, with a longer title $longer, without $plain"
	return 1
}

# chart KIND FILE ARG...: a PNG of 640x480 with more than two colours
png_is_drawn() {
	local png=$scratch/chart.png
	"$codetag" chart --size 640x480 -o "$png" "$@" || return 1
	python3 -c '
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (640, 480)
at, pixels = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IDAT":
        pixels += data[at + 8:at + 8 + size]
    at += size + 12
pixels = zlib.decompress(pixels)
assert len(pixels) == 480 * (640 * 3 + 1)
assert len(set(pixels)) > 20' "$png"
}

svg_is_sound() {
	local svg=$scratch/chart.svg
	"$codetag" chart -o "$svg" "$@" || return 1
	python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag.endswith("svg")
paths = list(root.iter("{http://www.w3.org/2000/svg}path"))
assert len(paths) > 30, len(paths)
assert not any("nan" in p.get("d", "") for p in paths)' "$svg"
}

# Nothing is beyond the page, and letters are to be told from what they are drawn on.
svg_is_readable() { # SIZE ARG...
	local svg=$scratch/readable.svg
	"$codetag" chart --size "$1" -o "$svg" "${@:2}" || return 1
	python3 -c '
import re, sys, xml.etree.ElementTree as tree
width, height = map(float, sys.argv[2].split("x"))
def bright(fill):
    part = [float(p) / 100 for p in re.findall(r"([\d.]+)%", fill)]
    return sum(weight * p ** 2.2 for weight, p in zip((0.2126, 0.7152, 0.0722), part))
below, letters = 1, 0
def walk(node, fill):
    global below, letters
    tag = node.tag.split("}")[1]
    # An attribute or in the style, as cairo is older or newer.
    own = re.search(r"fill:([^;]+)", node.get("style", ""))
    fill = node.get("fill", own[1] if own else fill)
    if tag == "defs":
        return
    if tag in ("path", "rect") and fill.startswith("rgb"):
        below = bright(fill)
        for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", node.get("d", "")):
            assert -1 <= float(x) <= width + 1 and -1 <= float(y) <= height + 1, node.get("d")
    if tag == "use":
        x, y = float(node.get("x")), float(node.get("y"))
        letters += 1
        assert 0 <= x < width and 0 <= y < height, (x, y)
        # On what covers it, if it is beside something dark it is on white.
        dark, light = sorted((bright(fill), below))
        assert (light + 0.05) / (dark + 0.05) > 4 or bright(fill) < 0.2, (fill, below)
        assert bright(fill) < 0.5 or below < 0.2, (fill, below)
    for child in node:
        walk(child, fill)
walk(tree.parse(sys.argv[1]).getroot(), "")
assert letters > 50, letters' "$svg" "$1"
}

# More than can be read: what fits, and a line that tells how many more there are.
bars_fit() {
	local svg=$scratch/many.svg file=data/recorded-mainline-6.12.allocinfo
	"$codetag" chart --kind bars -n 60 --size 900x500 -o "$svg" "$file" || return 1
	"$codetag" report -N -b -n 16 -o size "$file" | bars_match "$svg" 16
}

# A chart that cannot be drawn leaves no file, and says why.
chart_refuses() {
	local out=$scratch/refused.svg
	"$codetag" chart -o "$out" "$@"
	[ $? -eq 2 ] && [ ! -e "$out" ]
}

if "$codetag" --version | grep -q cairo; then
	file=data/recorded-mainline-6.12.allocinfo
	check chart/bars-values bars_match_values
	check chart/bars-branch bars_match_branch
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
	check chart/refuses/area chart_refuses --kind area "$file"
	check chart/refuses/missing chart_refuses no-such-file
	check chart/refuses/growth chart_refuses --attr growth "$file"
	if [ -e "$recording" ]; then
		check chart/png/area png_is_drawn --kind area "$recording"
		check chart/svg/area svg_is_sound --kind area -g dir:1 "$recording"
		check chart/png/recording-growth png_is_drawn --attr growth "$recording"
	fi
fi
