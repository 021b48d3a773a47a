#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Sites that are split on the kernel command line: from the first initcalls on, and in a module that
# is loaded later; with bounds; and with an invalid word.
# store: any
# boot: codetag="func __kernfs_new_node keys=caller" codetag.helpers=internal_create_*
# boot: codetag="func __kernfs_new_node keys=size; module codetag_test func hold_kmalloc keys=size"
# boot: codetag="file fs/* keys=size,age" codetag.max_contexts=20 codetag.age_interval=3
# boot: codetag="func __kernfs_new_node keys=colour"
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control

# contexts FUNCTION: bytes, calls and allocations of its contexts
contexts()
{
	awk -v func_="func:$1 " '
		/^ *[0-9]/ && index($0 " ", func_) { bytes += $1; calls += $2; allocs += $3 }
		END { print bytes + 0, calls + 0, allocs + 0 }' $CONTEXTS
}

# own FUNCTION: bytes and calls of the site's own id
own()
{
	awk -v func_="func:$1 " '/^# site:/ && index($0, func_) { print $3, $4 }' $CONTEXTS
}

driver
[ -r $CONTEXTS ] || { unload codetag_test; skip_all "no $CONTEXTS"; }
if grep -q colour /proc/cmdline; then
	plan 2
	dmesg | grep -q "codetag: codetag=: 'keys=colour' at 23: an unknown key"
	check "the log has the word" $? "$(dmesg | grep codetag:)"
	! grep -q ' keys=' $CONTROL
	check "no site is split" $? "$(grep ' keys=' $CONTROL)"
elif grep -q max_contexts /proc/cmdline; then
	plan 6
	equal "the bound is known" 20 "$(stat_value contexts_max)"
	equal "all sites are split" "$(grep -c '^fs/' $CONTROL)" \
		"$(grep -c '^fs/.* keys=size,age ' $CONTROL)"
	# Those that nobody uses give their ids to others.
	until_true 60 [ "$(stat_value contexts_used)" = 20 ]
	check "as many contexts as there may be" $? "$(grep contexts $STATS)"
	[ "$(stat_value contexts_lost)" -gt 0 ]
	check "what is lost is counted" $? "$(grep contexts $STATS)"
	out=$(sed -n 's/^ *[0-9].* age=\([0-9]*\)-\([0-9]*\).*/\1 \2/p' $CONTEXTS |
		awk '$2 - $1 > 3 || $2 < $1')
	equal "intervals are as long as was said" "" "$out"
	audited "audit"
elif grep -q codetag.helpers /proc/cmdline; then
	plan 3
	grep -qxF 'internal_create_*' $DEBUGFS/codetag/helpers
	check "the list has what the command line adds" $?
	[ "$(contexts __kernfs_new_node | cut -d" " -f2)" -gt 1000 ]
	check "split before drivers are initialised" $? "$(contexts __kernfs_new_node)"
	equal "also before the file system of the list exists" "" \
		"$(awk '/^ *[0-9]/ { ours = / func:__kernfs_new_node/; frames = 0; next }
			ours && /^ / && ++frames == 2 && /internal_create_/' $CONTEXTS)"
else
	plan 6
	set -- $(own __kernfs_new_node) $(contexts __kernfs_new_node)
	diag "__kernfs_new_node: $2 before, $4 in contexts"
	# Thousands are made by initcalls, few before.
	[ "$4" -gt 1000 ] && [ "$2" -lt $(($4 / 10)) ]
	check "split before drivers are initialised" $? "$*"
	equal "the row is the sum" "$(($1 + $3)) $(($2 + $4))" \
		"$(memory 'func:__kernfs_new_node ')"
	equal "nothing was lost" 0 "$(stat_value contexts_lost)"
	equal "what is for modules is remembered" \
		"1: module codetag_test func hold_kmalloc keys=size" \
		"$(cat $DEBUGFS/codetag/queries)"
	run hold kmalloc
	set -- $(contexts hold_kmalloc)
	equal "split from the start of the module" "$(memory 'func:hold_kmalloc ')" "$1 $2"
	run drop kmalloc
	audited "audit"
fi
unload codetag_test
finish
