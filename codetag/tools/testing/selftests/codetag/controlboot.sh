#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Sites that are chosen on the kernel command line, the second time with a word
# that is wrong.
# boot: codetag="func __kernfs_new_node -p; module codetag_test func hold_kmalloc -p"
# boot: codetag="func __kernfs_new_node -p; module codetag_test bogus"
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control

driver
[ -e $CONTROL ] || { unload codetag_test; skip_all "no $CONTROL"; }
plan 4
off=$(grep ' =_ id ' $CONTROL | sed 's/.*func:\([^ ]*\) .*/\1/' | sort -u | xargs)
if grep -q bogus /proc/cmdline; then
	equal "nothing is off" "" "$off"
	dmesg | grep -q "codetag: codetag=: 'bogus' at 47: "
	check "the log has the word and where it is" $? "$(dmesg | grep codetag:)"
	dmesg | grep -q 'codetag: codetag=.*: ignored'
	check "all of it is ignored" $?
	equal "nothing is remembered" "" "$(cat $DEBUGFS/codetag/queries)"
else
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
