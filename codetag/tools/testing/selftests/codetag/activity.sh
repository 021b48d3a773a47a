#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The file activity: allocations, frees and parts of each line, compared with what the
# driver does, with the events of the allocator, and with /proc/allocinfo.
# store: any
. "$(dirname "$0")/codetag.inc"

ACTIVITY=$DEBUGFS/codetag/activity
TRACING=/sys/kernel/tracing
ROUNDS=3

# rows FILE NUMBERS: the rest of each line after that many numbers
rows()
{
	sed -E -e '/^ *[0-9]/!d' -e "s/^( *[0-9]+){$2} //" "$1"
}

# lines FUNCTION NUMBER...: of the driver's lines in this function, how many have these
# allocations, frees and parts, as N:NUMBERS
lines()
{
	awk -v func_="func:$1" '
		$0 ~ / \[codetag_test\] / && index($0 " ", func_ " ") { n[$1 " " $2 " " $3]++ }
		END { for (i in n) print n[i] ":" i }' "$ACTIVITY" | sort
}

# unequal: lines of the driver that do not hold allocations + parts - frees
unequal()
{
	awk '
		$0 !~ / \[codetag_test\] / { next }
		FILENAME ~ /allocinfo/ { held[$3 $5] += $2; next }
		{ counted[$4 $6] += $1 + $3 - $2 }
		END { for (i in held) if (held[i] != counted[i]) print i, held[i], counted[i] }' \
		$ALLOCINFO "$ACTIVITY"
}

# again CASE: hold and drop the case several times
again()
{
	i=0
	while [ $i -lt $ROUNDS ]; do
		run hold "$1" && run drop "$1" || return 1
		i=$((i + 1))
	done
}

# events NAME FUNCTION: events of one kind that name the function
events()
{
	grep -c " $1: call_site=$2+" $TRACING/trace
}

driver
[ -r "$ACTIVITY" ] || { unload codetag_test; skip_all "no $ACTIVITY"; }
plan 9

cat "$ACTIVITY" >"$WORK/activity"
cat $ALLOCINFO >"$WORK/allocinfo"
equal "header" "# activity - version: 1.0" "$(head -n 1 "$WORK/activity")"
rows "$WORK/activity" 3 >"$WORK/activity.rows"
rows "$WORK/allocinfo" 2 >"$WORK/allocinfo.rows"
cmp -s "$WORK/activity.rows" "$WORK/allocinfo.rows"
check "the same lines as in $ALLOCINFO" $?

[ -e $TRACING/events ] || mount -t tracefs none $TRACING 2>/dev/null
if [ -w $TRACING/events/kmem/kmalloc/enable ]; then
	echo 4096 >$TRACING/buffer_size_kb
	: >$TRACING/trace
	echo 1 >$TRACING/events/kmem/kmalloc/enable
	again kmalloc
	echo 0 >$TRACING/events/kmem/kmalloc/enable
	seen=$(events kmalloc hold_kmalloc)
	counted=$(awk '/ \[codetag_test\] func:hold_kmalloc / { n += $1 }
		END { print n + 0 }' "$ACTIVITY")
	[ "$seen" -gt 0 ] && [ "$seen" = "$counted" ]
	check "allocations: as many as events" $? "$seen events, $counted counted"
else
	again kmalloc
	skip "allocations: as many as events" "no events of the allocator"
fi
lines=$(awk '/ \[codetag_test\] func:hold_kmalloc /' "$ACTIVITY" | wc -l)
equal "each round is counted" "$lines:$((5 * ROUNDS)) $((5 * ROUNDS)) 0" "$(lines hold_kmalloc)"

run hold split_page
equal "a split makes parts" "1:1 0 15" "$(lines hold_split)"
run drop split_page
equal "each part is freed" "1:1 16 15" "$(lines hold_split)"
again split_page
equal "split again" "1:$((1 + ROUNDS)) $((16 * (1 + ROUNDS))) $((15 * (1 + ROUNDS)))" \
	"$(lines hold_split)"

run hold all
equal "held: allocations + parts - frees" "" "$(unequal)"
run drop all
equal "held after all is freed" "" "$(unequal)"
unload codetag_test
finish
