#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Sites that are chosen on the kernel command line: valid queries; an invalid word; faults, a guard,
# a trace, and a query that matches nothing between others.
# store: any
# boot: codetag="func __kernfs_new_node -p; module codetag_test func hold_kmalloc -p"
# boot: codetag="func __kernfs_new_node -p; module codetag_test bogus"
# boot: codetag="module codetag_test func hold_split fault verbose=0; file there/is/no/such.c -p" codetag="func mempool_* fault probability=0 times=-1; func __kernfs_new_node guard rate=100; func __kernfs_new_node -p; func __d_alloc trace" trace_event=codetag:alloc,codetag:free
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
FAULTS=$DEBUGFS/codetag/faults
GUARDS=$DEBUGFS/codetag/guards
TRACEFS=/sys/kernel/tracing

# error: of the case with one site
error()
{
	run hold split_page
	sed -n 's/^split_page \(-\?[0-9]*\).*/\1/p' $CT/cases
}

driver
[ -e $CONTROL ] || { unload codetag_test; skip_all "no $CONTROL"; }
off=$(grep ' =_ id ' $CONTROL | sed 's/.*func:\([^ ]*\) .*/\1/' | sort -u | xargs)
if grep -q fault /proc/cmdline; then
	plan 10
	equal "off are" "__kernfs_new_node" "$off"
	dmesg | grep -q "codetag: codetag=: 'file there/is/no/such.c -p' has no effect"
	check "what matches nothing is told" $? "$(dmesg | grep codetag:)"
	if [ -e $FAULTS ]; then
		equal "armed are" "$(grep -c 'func:mempool_' $CONTROL)" \
			"$(grep -c ' armed .*func:mempool_' $FAULTS)"
		[ "$(awk '/func:mempool_/ { n += $1 } END { print n + 0 }' $FAULTS)" -gt 0 ]
		check "since the boot" $? "$(grep func:mempool_ $FAULTS)"
		equal "a fault for a module: the first one" -12 "$(error)"
		equal "a fault for a module: the second one" 0 "$(error)"
		run drop split_page
	else
		skip_rest 4 "no $FAULTS" "faults"
	fi
	if [ -e $GUARDS ]; then
		[ "$(awk '/func:__kernfs_new_node/ { n += $2 } END { print n + 0 }' $GUARDS)" -gt 0 ]
		check "KFENCE has taken objects since the boot" $? "$(cat $GUARDS)"
	else
		skip "a guard" "no $GUARDS"
	fi
	mounted $TRACEFS || mount -t tracefs tracefs $TRACEFS
	if [ -e $TRACEFS/events/codetag ]; then
		grep -q 'func:__d_alloc =p id [0-9]* trace$' $CONTROL
		check "a line is traced" $? "$(grep func:__d_alloc $CONTROL)"
		# The function has two such lines.
		ids=$(sed -n 's/.* func:__d_alloc =p id \([0-9]*\) .*/\1/p' $CONTROL | xargs | tr ' ' '|')
		# The kernel's own mounts: task 1, before it runs a program
		first=$(grep ': alloc: ' $TRACEFS/trace | head -n 1)
		echo "$first" | grep -q -E -e "-[01] .*: alloc: id=($ids) "
		check "since the boot" $? "$first"
		allocs=$(awk '$NF == "func:__d_alloc" { n += $1 } END { print n + 0 }' \
			$DEBUGFS/codetag/activity)
		events=$(grep -c ": alloc: id=" $TRACEFS/trace)
		[ "$events" -gt 100 ] && [ "$events" -le "$allocs" ]
		check "nearly all of its allocations" $? "$events events, $allocs allocations"
		echo 0 >$TRACEFS/events/codetag/enable
		echo 'trace=off' >$CONTROL
	else
		skip_rest 3 "no $TRACEFS/events/codetag" "a trace"
	fi
elif grep -q bogus /proc/cmdline; then
	plan 4
	equal "nothing is off" "" "$off"
	dmesg | grep -q "codetag: codetag=: 'bogus' at 47: "
	check "the log has the word and where it is" $? "$(dmesg | grep codetag:)"
	dmesg | grep -q 'codetag: codetag=.*: ignored'
	check "all of it is ignored" $?
	equal "nothing is remembered" "" "$(cat $DEBUGFS/codetag/queries)"
else
	plan 4
	equal "off are" "__kernfs_new_node hold_kmalloc" "$off"
	# Made before any init could write to a file: thousands of them.
	equal "off from the first allocation" "0 0" "$(memory 'func:__kernfs_new_node ')"
	equal "what is for modules is remembered" "1: module codetag_test func hold_kmalloc -p" \
		"$(cat $DEBUGFS/codetag/queries)"
	run hold kmalloc
	equal "off from the start of the module" "0 0" "$(memory 'func:hold_kmalloc ')"
	run drop kmalloc
fi
unload codetag_test
finish
