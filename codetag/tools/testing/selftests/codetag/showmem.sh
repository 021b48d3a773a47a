#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The list of call sites when an allocation fails: wherever that is, its content, and
# the sites it leaves out.
# guest: own
# store: any
# timeout: 180
. "$(dirname "$0")/codetag.inc"

# fails WHERE: have an allocation fail there; its messages are in $WORK/log
fails()
{
	for try in 1 2 3; do
		# The kernel reports at most one failed allocation in ten seconds, of all tasks.
		sleep 11
		dmesg -c >/dev/null
		load codetag_atomic in="$1" 2>/dev/null
		dmesg >"$WORK/log"
		! grep -q 'atomic_fail+.*\[codetag_atomic\]$' "$WORK/log" || return 0
	done
	bail "no allocation failed in $1: $try times"
}

# listed STATE: is there one list, which begins with whether profiling is on?
listed()
{
	head="Memory allocations (profiling is currently turned $1):"
	[ "$(grep -c "$head\$" "$WORK/log")" = 1 ] &&
		[ "$(grep -c ' func:' "$WORK/log")" = 10 ]
}

driver
plan 7

for where in softirq hardirq bh; do
	fails $where
	listed on
	check "a list in $where" $? "$(grep -A 14 "Memory alloc" "$WORK/log")"
done

# The objects in slab pages are listed, so slab pages are not, although they are large.
! grep -q 'func:alloc_slab_page' "$WORK/log"
check "slab pages are not in it" $? "$(grep func: "$WORK/log")"
left='Left out so that nothing counts twice: [0-9.]* [KMG]iB of slab and percpu pages'
grep -q "$left\$" "$WORK/log"
check "but it says how much they are" $? "$(grep -A 14 "Memory alloc" "$WORK/log")"

if [ -w $SWITCH ]; then
	echo 0 >$SWITCH
	fails bh
	listed off
	check "it says that profiling is off" $? "$(grep -A 14 "Memory alloc" "$WORK/log")"
	echo 1 >$SWITCH
else
	skip "it says that profiling is off" "no $SWITCH"
fi

audited "audit"
unload codetag_test
finish
