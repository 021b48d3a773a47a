# SPDX-License-Identifier: GPL-2.0
# Statements that hold for every input.

# Whatever the sites are grouped by, the groups add up to the input.
groups_add_up() {
	local file=$1 by=$2 want got
	want=$(awk 'NR > 2 { s += $1; c += $2 } END { printf "%d %d", s, c }' "$file")
	got=$("$codetag" report -a -N -b -g "$by" -o size,calls "$file" |
		awk '{ s += $1; c += $2 } END { printf "%d %d", s, c }')
	[ "$want" = "$got" ] || { echo "input: $want, groups: $got"; return 1; }
}

for file in data/*-v?.allocinfo data/recorded-*.allocinfo; do
	[ -e "$file" ] || continue
	for by in site row func file dir dir:1 dir:2 module subsystem; do
		check "sums/${file##*/}/$by" groups_add_up "$file" "$by"
	done
	check "json/${file##*/}" json_is_valid "$codetag" report --json -a "$file"
done
check json/stats json_is_valid "$codetag" stats --json data/handmade.stats
check json/audit json_is_valid "$codetag" audit --json data/handmade-good.audit

# A file does not differ from itself, in whatever order its rows are.
diff_of_equal() {
	local file=$1 by=$2
	[ -z "$("$codetag" diff -N -g "$by" "$file" "$file")" ] &&
		sort -r "$file" | "$codetag" diff -N -g "$by" "$file" - | cmp - /dev/null
}

# Where the sums of A and B differ, the growths add up to the difference.
diff_adds_up() {
	local a=$1 b=$2 by=$3 want got
	want=$(awk '$1 ~ /^-?[0-9]+$/ { s += FILENAME == a ? -$1 : $1 }
		END { printf "%d", s }' a="$a" "$a" "$b")
	got=$("$codetag" diff -a -N -b -g "$by" -o growth "$a" "$b" |
		awk '{ s += $1 } END { printf "%d", s }')
	[ "$want" = "$got" ] || { echo "files: $want, groups: $got"; return 1; }
}

for file in data/*-v?.allocinfo data/recorded-*.allocinfo; do
	check "diff-equal/${file##*/}/site" diff_of_equal "$file" site
	check "diff-equal/${file##*/}/dir" diff_of_equal "$file" dir:1
done
for by in site row func file dir module subsystem; do
	check "diff-sums/$by" diff_adds_up data/handmade-v2.allocinfo \
		data/recorded-mainline-6.12.allocinfo "$by"
	check "diff-sums/later/$by" diff_adds_up data/handmade-v2.allocinfo \
		data/handmade-v2-later.allocinfo "$by"
done
check json/diff json_is_valid "$codetag" diff --json data/handmade-v2.allocinfo data/handmade-v1.allocinfo
check json/tree json_is_valid "$codetag" report --json --tree data/recorded-mainline-6.12.allocinfo

# Each sort key of slabs: the order that sort(1) makes of its column.
slabs_sorted() {
	"$codetag" slabs -a -N -b -s "$1" -o "$2" -f data/recorded-mainline-6.12.slabinfo |
		tr -d %\  >"$scratch/column"
	[ "$(sort -u "$scratch/column" | wc -l)" -gt 1 ] && sort -c -g -r "$scratch/column"
}
for pair in o:objects a:active u:use s:object_size l:slabs b:objects_per_slab c:size \
	p:pages_per_slab v:active_slabs; do
	check "slabs/sort-${pair%:*}" slabs_sorted "${pair%:*}" "${pair#*:}"
done
check json/slabs json_is_valid "$codetag" slabs --json -f data/recorded-mainline-6.12.slabinfo
