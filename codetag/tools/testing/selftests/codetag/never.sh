#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Booted with sysctl.vm.mem_profiling=never: there are no call sites, no memory is spent, and all
# allocations work.
# boot: sysctl.vm.mem_profiling=never
. "$(dirname "$0")/codetag.inc"

prepare
have_stats=$([ -r $STATS ] && echo 1)
if ! cmdline_has sysctl.vm.mem_profiling=never; then
	cleanup
	skip_all "not booted with sysctl.vm.mem_profiling=never"
fi
plan 16

[ ! -s $ALLOCINFO ] || [ -z "$(awk 'NR > 2 && $1 != 0' $ALLOCINFO)" ]
check "no line shows memory" $?
equal "is off" 0 "$(cat $SWITCH)"
! echo 1 2>/dev/null >$SWITCH
check "cannot be switched on" $?
equal "stays off" 0 "$(cat $SWITCH)"

if [ -n "$have_stats" ]; then
	dmesg | grep -q 'vm.mem_profiling: not set up at boot; boot with '
	check "the kernel log says why, and what to do" $? "$(dmesg | tail -n 3)"
	[ ! -e $ALLOCINFO ]
	check "no $ALLOCINFO" $?
	equal "no call sites to choose" "" \
		"$(ls $DEBUGFS/codetag | grep -E '^(control|sites|queries|applied|helpers|faults|guards|contexts|boot|activity|audit|charged|census|whose)$' | xargs)"
	equal "no store" none "$(stat_value store)"
	equal "no memory for pages" 0 "$(stat_value mem_page_refs)"
	equal "no memory for slab objects" 0 "$(stat_value mem_slab_refs)"
	equal "no memory for percpu objects" 0 "$(stat_value mem_percpu_refs)"
	# As many objects in a slab as without the profiler.
	if grep -q '^kmalloc-64 *[0-9]* *[0-9]* *64 ' /proc/slabinfo; then
		equal "objects in a slab" "$((PAGE / 64))" \
			"$(awk '$1 == "kmalloc-64" { print $5 / $6 }' /proc/slabinfo)"
	else
		skip "objects in a slab" "kmalloc-64 has other than 64 bytes"
	fi
else
	skip_rest 8 "not this profiler" "costs"
fi

# Everything can be allocated, freed and unloaded all the same.
load codetag_test
check "the driver loads" $?
run hold all
bad=$(awk '$2 != 0 && $2 != -95' $CT/cases)
equal "everything can be allocated" "" "$bad"
run churn start
load codetag_victim
unload codetag_victim
check "a module unloads with live allocations" $?
run thin all
sleep 2
run churn stop
run drop all
unload codetag_test
check "everything can be freed" $?
finish
