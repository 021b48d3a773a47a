#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The text of /proc/allocinfo, version 2.0.
# store: any
. "$(dirname "$0")/codetag.inc"

prepare
plan 14
[ -r $ALLOCINFO ] || bail "no $ALLOCINFO"
cat $ALLOCINFO >"$WORK/text"

equal "mode" "-r--------" "$(ls -l $ALLOCINFO | cut -c 1-10)"
equal "first line" "allocinfo - version: 2.0" "$(sed -n 1p "$WORK/text")"
equal "second line" "#     <size>  <calls> <tag info>" "$(sed -n 2p "$WORK/text")"

[ "$(wc -l <"$WORK/text")" -gt 500 ]
check "has many lines" $? "only $(wc -l <"$WORK/text")"

# Everything after the header: right-aligned size and calls, file:line, perhaps
# a module, the function, perhaps attributes, one trailing space.
form='^ *-?[0-9]+ +[0-9]+ [^ ]+:[0-9]+( \[[^] ]+\])? func:[^ ]+( accurate:no)?( unloaded:yes)? $'
bad=$(tail -n +3 "$WORK/text" | grep -v -E "$form")
equal "every line parses" "" "$bad"
bad=$(tail -n +3 "$WORK/text" | grep -v -E '^(............|[0-9-]{13,}) (........|[0-9]{9,}) [^ ]')
equal "columns are as wide as they should" "" "$bad"
bad=$(awk 'NR > 2 && ($1 < 0 || $2 < 0)' "$WORK/text")
equal "no negative numbers" "" "$bad"
# A line in use can be read between the updates of its two numbers, but not three times in a row.
halves()
{
	awk 'NR > 2 && ($1 != 0) != ($2 != 0) { print $3, $4, $5 }' $ALLOCINFO | sort
}
halves >"$WORK/h1"
sleep 1
halves | grep -F -x -f "$WORK/h1" >"$WORK/h2"
sleep 1
bad=$(halves | grep -F -x -f "$WORK/h2")
equal "bytes and calls go together" "" "$bad"
bad=$(awk 'NR > 2 && $1 > 1e12' "$WORK/text")
equal "no absurd numbers" "" "$bad"
bad=$(tail -n +3 "$WORK/text" | grep ' accurate:no' | head -n 5)
equal "every line is accurate" "" "$bad"

if have_engine; then
	want="codetag:1 func:not_representable codetag:2 func:early"
	want="$want codetag:3 func:unloaded codetag:4 func:untagged"
	got=$(awk '$3 ~ /^codetag:/ { printf("%s%s %s", sep, $3, $4); sep = " " }' "$WORK/text")
	equal "reserved lines" "$want" "$got"
else
	skip "reserved lines" "not this profiler"
fi

# If the file is read in small pieces, no line is lost or repeated.
sites()
{
	awk 'NR > 2 { $1 = ""; $2 = ""; print }' "$1"
}
dd if=$ALLOCINFO of="$WORK/small" bs=61 2>/dev/null
sites "$WORK/text" >"$WORK/a"
sites "$WORK/small" >"$WORK/b"
check "the same in small pieces" "$(cmp -s "$WORK/a" "$WORK/b"; echo $?)" \
	"$(wc -l "$WORK/a" "$WORK/b")"

# A reader that pauses between two pieces sees the present numbers in the second one. A piece is a
# page at most; the pause comes after the last piece that has only lines of the kernel.
if have_engine; then
	load codetag_test || bail "cannot load codetag_test"
	pieces=$(($(grep -v '\] func:' $ALLOCINFO | wc -c) / PAGE))
	exec 3<$ALLOCINFO
	dd bs="$PAGE" count=$pieces <&3 >"$WORK/piece" 2>/dev/null
	run hold all
	grep '\[codetag_test\]' <&3 >"$WORK/piece"
	exec 3<&-
	cat $ALLOCINFO >"$WORK/text"
	bad=$(grep -v -F -x -f "$WORK/text" "$WORK/piece")
	[ -z "$bad" ] && [ $pieces -gt 0 ] &&
		awk '$1 > 0 { held++ } END { exit !held }' "$WORK/piece"
	check "a reader that pauses" $? "${bad:-nothing changed}"
	run drop all
	unload codetag_test
else
	skip "a reader that pauses" "not this profiler"
fi

# The sum is less than the memory of the machine, and more than 1 MiB.
sum=$(awk 'NR > 2 { n += $1 } END { printf("%d", n / 1024) }' "$WORK/text")
total=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
[ "$sum" -gt 1024 ] && [ "$sum" -lt "$total" ]
check "the sum is plausible" $? "$sum kB of $total kB"

finish
