#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every byte of a slab object belongs to its owner: written bytes stay, whatever is allocated,
# freed and read beside the object. The test passes with any kernel parameters, so other runners
# can add their own.
# boot: default
# boot: slab_debug=FZPUO
# boot: slab_debug=FZ,kmalloc-* slab_min_order=3 slab_nomerge init_on_free=1
# boot: slab_max_order=0 kfence.sample_interval=1
# store: any
# timeout: 240
. "$(dirname "$0")/codetag.inc"

# unchanged NAME: one result
unchanged()
{
	cat $CT/contents >"$WORK/contents"
	tail -n 1 "$WORK/contents" | grep -q ' 0 changed$'
	check "$1" $? "$(tail -n 15 "$WORK/contents")"
}

# held_as_counted NAME: as many objects as the call sites have
held_as_counted()
{
	# shellcheck disable=SC2046
	set -- "$1" $(memory 'func:contents_alloc')
	equal "$1" "$(sed -n 's/^held: \([0-9]*\) objects.*/\1/p' $CT/contents)" "$3"
}

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 16
damaged=$(stat_value ids_damaged)

run contents fill || bail "no memory"
unchanged "new objects keep what is written to them"
n=$(sed -n 's/^held: \([0-9]*\) objects.*/\1/p' $CT/contents)
[ "$n" -gt 10000 ]
check "there are many objects" $? "$n"
held_as_counted "each is counted"
audited "audit of new objects"

for round in one two; do
	run contents churn
	unchanged "others stay when every second one is exchanged, $round"
	held_as_counted "each is counted, $round"
	audited "audit, $round"
done

# Reading and checking slabs changes nothing either.
cat $ALLOCINFO /proc/slabinfo >/dev/null 2>&1
for d in /sys/kernel/slab/*-[0-9]*; do
	[ ! -w "$d/validate" ] || echo 1 >"$d/validate" 2>/dev/null
	[ ! -w "$d/shrink" ] || echo 1 >"$d/shrink"
done
run contents look
unchanged "nor do reports and checks of the slabs"

# Everything else that the test module allocates comes and goes beside them.
run hold all
run contents look
unchanged "nor other objects"
run drop all
audited "audit after these"

run contents drop
unchanged "to the end"
equal "nothing is charged for them any more" "0 0" "$(memory 'func:contents_alloc')"
equal "no id was damaged" "$damaged" "$(stat_value ids_damaged)"
unload codetag_test
finish
