# SPDX-License-Identifier: GPL-2.0-only
# The formats of other tools, read by other programs.

# The stacks of pprof are those of the folded format, with the same weights.
pprof_like_folded() {
	"$codetag" export --format pprof -o "$scratch/x.pb.gz" "$@" || return 1
	gzip -t "$scratch/x.pb.gz" || return 1
	python3 helpers/decode-pprof.py "$scratch/x.pb.gz" >"$scratch/decoded" || return 1
	# Names can have blanks, the last two words are numbers.
	sed -nE 's/ [0-9-]+ ([1-9][0-9]*)$/ \1/p' "$scratch/decoded" | sort >"$scratch/bytes"
	sed -nE 's/ ([1-9][0-9]*) [0-9-]+$/ \1/p' "$scratch/decoded" | sort >"$scratch/calls"
	"$codetag" export --format folded "$@" 2>/dev/null | sort |
		diff - "$scratch/bytes" &&
		"$codetag" export --format folded --attr calls "$@" 2>/dev/null | sort |
		diff - "$scratch/calls"
}

# The file is smaller than its content; without zlib the content itself is written.
pprof_packed() {
	local file=data/recorded-mainline-6.12.allocinfo
	nice -n 5 make -s -C .. O="$build/static" STATIC=1 || return 1
	"$codetag" export --format pprof -o "$scratch/packed.pb.gz" $file &&
		"$build/static/codetag" export --format pprof -o "$scratch/plain.pb" $file &&
		gzip -dc "$scratch/packed.pb.gz" | cmp - "$scratch/plain.pb" &&
		[ "$(wc -c <"$scratch/packed.pb.gz")" -lt $(($(wc -c <"$scratch/plain.pb") * 2 / 3)) ]
}

folded_adds_up() {
	local file=$1 attr=$2 column=$3 want got
	want=$(awk -v c="$column" 'NR > 2 && $c > 0 { s += $c } END { print s }' "$file")
	got=$("$codetag" export --raw --format folded --attr "$attr" "$file" 2>/dev/null |
		awk '{ s += $NF } END { print s }')
	[ "$want" = "$got" ] || { echo "file: $want, stacks: $got"; return 1; }
}

# Memory in contexts, and memory in none.
contexts_add_up_folded() {
	local want got
	want=$(awk '/^# site: +[0-9]/ { s += $3 } /^ *[0-9]+ +[0-9]+ +[0-9]+ / { s += $1 } END { print s }' "$1")
	got=$("$codetag" export --contexts="$1" --format folded | awk '{ s += $NF } END { print s }')
	[ "$want" = "$got" ] || { echo "file: $want, stacks: $got"; return 1; }
}

speedscope_is_sound() {
	"$codetag" export --format speedscope "$@" 2>/dev/null | python3 -c '
import json, sys
s = json.load(sys.stdin)
frames, profile = s["shared"]["frames"], s["profiles"][0]
assert len(profile["samples"]) == len(profile["weights"])
assert all(0 <= f < len(frames) for stack in profile["samples"] for f in stack)
assert sum(profile["weights"]) == profile["endValue"]'
}

csv_adds_up() {
	local want
	want=$(awk 'NR > 2 { s += $1 } END { print s }' "$1")
	"$codetag" export --format csv "$1" | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin, strict=True))
assert sum(int(r["size"]) for r in rows) == int(sys.argv[1])' "$want"
}

# A pipe, a device and a symbolic link stay what they are.
output_in_place() {
	local dir=$scratch/export-places want file=data/handmade-v2.allocinfo
	want=$("$codetag" export --format csv $file) || return 1
	mkdir -p "$dir" && mkfifo "$dir/pipe" && ln -s real "$dir/link" && echo old >"$dir/real" &&
		ln -s absent "$dir/dangling" || return 1
	cat "$dir/pipe" >"$dir/got" &
	"$codetag" export --format csv -o "$dir/pipe" $file && wait $! &&
		[ -p "$dir/pipe" ] && [ "$(cat "$dir/got")" = "$want" ] || return 1
	"$codetag" export --format csv -o "$dir/link" $file &&
		[ -L "$dir/link" ] && [ "$(cat "$dir/real")" = "$want" ] || return 1
	"$codetag" export --format csv -o "$dir/dangling" $file &&
		[ -L "$dir/dangling" ] && [ "$(cat "$dir/absent")" = "$want" ] || return 1
	"$codetag" trace data/handmade-old.trace --callers "$dir/link" >/dev/null &&
		[ -L "$dir/link" ] && grep -q '^ffffffff810a0033$' "$dir/real" || return 1
	if mknod "$dir/null" c 1 3 2>/dev/null && : >"$dir/null"; then
		"$codetag" export --format csv -o "$dir/null" $file && [ -c "$dir/null" ] || return 1
	fi
	[ -z "$(find "$dir" -name '.*.??????')" ]
}

# A tag that is not UTF-8, and one that looks alike.
prometheus_not_utf8() {
	printf 'allocinfo - version: 2.0\n#\n 5 1 a\xff.c:1 func:f\n 6 1 a\xfe.c:1 func:f\n 7 1 b.c:2 func:"\xc3\xa9\\\n' \
		>"$scratch/latin1"
	"$codetag" export --format prometheus "$scratch/latin1" >"$scratch/latin1.prom" || return 1
	python3 -c '
import sys
lines = open(sys.argv[1], encoding="utf-8", errors="strict").read().split("\n")
names = [line.rsplit(" ", 1)[0] for line in lines if line and line[0] != "#"]
assert len(names) == len(set(names)) == 10, names' "$scratch/latin1.prom" &&
		{ ! command -v promtool >/dev/null || promtool check metrics <"$scratch/latin1.prom"; }
}

# A site whose line moves stays the same series.
prometheus_is_stable() {
	local file=data/handmade-v2.allocinfo
	diff <("$codetag" export --format prometheus $file) \
		<(sed 's/mm.filemap.c:1950/mm\/filemap.c:1951/' $file |
			"$codetag" export --format prometheus -)
}

# Listed groups and the others add up to the total, however many are listed.
prometheus_adds_up() {
	"$codetag" export --format prometheus --top "$2" "$1" | awk '
		/^codetag_allocated_bytes[{]/ { s += $NF; n++ }
		/^codetag_other_allocated_bytes / { s += $NF }
		/^codetag_total_allocated_bytes / { t = $NF }
		END { exit !(s == t && n <= '"$2"') }'
}

prometheus_is_valid() {
	"$codetag" export --format prometheus "$1" | promtool check metrics
}

# A failed export leaves neither a file nor a temporary one.
atomic() {
	local dir=$scratch/atomic
	mkdir -p "$dir" && : >"$dir/old.prom"
	"$codetag" export --format prometheus -o "$dir/new.prom" data/handmade-v2.allocinfo || return 1
	[ "$(ls -A "$dir")" = "$(printf 'new.prom\nold.prom')" ] || return 1
	"$codetag" export --format csv -o "$dir/missing/x" data/handmade-v2.allocinfo && return 1
	(ulimit -f 0; trap '' XFSZ
	 "$codetag" export --format csv -o "$dir/new.prom" data/handmade-v2.allocinfo) && return 1
	[ "$(ls -A "$dir")" = "$(printf 'new.prom\nold.prom')" ] &&
		grep -q '^# HELP' "$dir/new.prom"
}

# If the input is refused, no output file is made, and none is left.
refused_leaves_nothing() {
	local dir=$scratch/refused
	rm -rf "$dir" && mkdir -p "$dir" && echo nonsense >"$dir/bad" || return 1
	for command in "export --format sqlite -o" "export --format json -o" "report --sqlite" \
		"merge --sqlite" "trace --save-db" "trace --callers" "graph -o"; do
		# shellcheck disable=SC2086
		"$codetag" $command "$dir/out.svg" "$dir/bad" 2>"$dir/err"
		[ $? -eq 2 ] || { echo "$command"; return 1; }
		rm "$dir/err"
		[ "$(ls -A "$dir")" = bad ] || { echo "$command"; ls -A "$dir"; return 1; }
	done
}

for file in data/handmade-v2.allocinfo data/recorded-*.allocinfo; do
	base=${file##*/}
	check "export/pprof/$base" pprof_like_folded "$file"
	check "export/folded/$base" folded_adds_up "$file" size 1
	check "export/folded-calls/$base" folded_adds_up "$file" calls 2
	check "export/speedscope/$base" speedscope_is_sound "$file"
	check "export/csv/$base" csv_adds_up "$file"
	check "export/prometheus/$base" prometheus_adds_up "$file" 3
	check "export/json/$base" json_is_valid "$codetag" export --format json "$file"
	program promtool "export/promtool/$base" &&
		check "export/promtool/$base" prometheus_is_valid "$file"
done
if feature zlib export/pprof/packed; then
	check export/pprof/packed pprof_packed
fi
check export/atomic atomic
check export/refused-leaves-nothing refused_leaves_nothing
check export/in-place output_in_place
check export/prometheus-not-utf8 prometheus_not_utf8
check export/prometheus-stable prometheus_is_stable
contexts=data/recorded-ours-6.12-split.debugfs/contexts
check export/contexts-folded contexts_add_up_folded $contexts
check export/contexts-pprof pprof_like_folded --contexts=$contexts --skip
check export/contexts-speedscope speedscope_is_sound --contexts=$contexts
check docs/refuses/contexts-csv refuses --contexts export --contexts=$contexts --format csv
check docs/refuses/contexts-group refuses --group export --contexts=$contexts --format folded -g dir
check docs/refuses/contexts-file refuses 'no other file' export --contexts=$contexts --format folded x
check docs/refuses/skip-alone refuses --contexts export --skip --format folded data/handmade-v2.allocinfo
