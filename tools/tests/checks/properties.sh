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

json_is_valid() {
	"$@" | python3 -m json.tool >/dev/null
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
