# SPDX-License-Identifier: GPL-2.0-only
# Statements that hold for every input.

# Whatever the sites are grouped by, the groups add up to the input.
groups_add_up() {
	local file=$1 by=$2 want got
	want=$(awk 'NR > 2 { s += $1; c += $2 } END { printf "%d %d", s, c }' "$file")
	got=$("$codetag" report --raw -a -N -b -g "$by" -o size,calls "$file" |
		awk '{ s += $1; c += $2 } END { printf "%d %d", s, c }')
	[ "$want" = "$got" ] || { echo "input: $want, groups: $got"; return 1; }
}

# The sum of the sites that contain others, and the sum of all others, by awk.
held() {
	awk '$1 ~ /^-?[0-9]+$/ { inner = !/mm\/(slub.c:[0-9]+ func:(alloc_slab_page|allocate_slab)|percpu-[vk]m.c:)/
		if (inner) held += $1; else pages += $1 }
		END { printf "%d %d\n", held, pages }' "$1"
}

# A report counts the memory in slab pages once: at its call sites.
counted_once() {
	local file=$1 by want
	want=$(held "$file")
	[ "${want#* }" -gt 0 ] || return 1
	for by in "-g site" "-g dir:1" "-g subsystem" "--tree"; do
		# shellcheck disable=SC2086
		[ "$("$codetag" report --json $by "$file" | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(report["total"]["size"], report["left_out"]["size"])')" = "$want" ] || return 1
	done
	[ "$("$codetag" report -N -b -g dir:1 -o size "$file" | awk '{ s += $1 } END { print s }')" = \
		"${want% *}" ] &&
		[ "$("$codetag" export --format folded "$file" 2>/dev/null |
			awk '{ s += $NF } END { print s }')" = "${want% *}" ] &&
		"$codetag" report "$file" | grep -q "^left out so that nothing counts twice: .* ${want#* } bytes (--raw)$" &&
		! "$codetag" report --raw "$file" | grep "^left out" &&
		! "$codetag" export --raw --format csv "$file" 2>/dev/null
}

# If a query selects only such sites, nothing is there twice and they are counted.
containers_alone() {
	[ "$("$codetag" report -N -b -o size "$1" func alloc_slab_page)" = \
		"$("$codetag" report --raw -N -b -o size "$1" func alloc_slab_page)" ] &&
		"$codetag" report -N "$1" func alloc_slab_page | grep -q .
}

for file in data/recorded-*.allocinfo; do
	check "sums/once/${file##*/}" counted_once "$file"
done
check sums/containers-alone containers_alone data/recorded-ours-6.12.allocinfo

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
	got=$("$codetag" diff --raw -a -N -b -g "$by" -o growth "$a" "$b" |
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
check json/diff json_is_valid "$codetag" diff --raw --json data/handmade-v2.allocinfo data/handmade-v1.allocinfo
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
# Growths are the differences between the lists of the two files, sorted by size.
slabs_diff_adds_up() {
	local a=data/recorded-mainline-6.12.slabinfo b=data/recorded-ours-6.12.slabinfo
	"$codetag" slabs --diff $a -f $b -N -b -o growth,size_before,size,objects_growth,slabs_growth,name |
		tr -d + | tr -s ' ' | sed 's/^ //' >"$scratch/diffed" || return 1
	join -a 1 -a 2 -e 0 -o 0,1.2,1.3,1.4,2.2,2.3,2.4 \
		<("$codetag" slabs -a -N -b -o name,size,objects,slabs -f $a | tr -s ' ' | sort) \
		<("$codetag" slabs -a -N -b -o name,size,objects,slabs -f $b | tr -s ' ' | sort) |
		awk '$2 != $5 || $3 != $6 || $4 != $7 {
			print $5 - $2, $2, $5, $6 - $3, $7 - $4, $1 }' | sort >"$scratch/want"
	[ "$(wc -l <"$scratch/want")" -gt 40 ] && sort "$scratch/diffed" | diff "$scratch/want" - &&
		sed 's/^-//' "$scratch/diffed" | sort -s -c -k 1,1nr &&
		[ -z "$("$codetag" slabs --diff $a -f $a -N)" ] &&
		[ "$("$codetag" slabs --diff $a -f $a -N -a -o state | sort | uniq -c | tr -s ' ')" = \
			" $(grep -c '^[^#].*slabdata' $a) same" ]
}
check slabs/diff slabs_diff_adds_up
check json/slabs json_is_valid "$codetag" slabs --json -f data/recorded-mainline-6.12.slabinfo
