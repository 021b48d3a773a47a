#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every allocator, exactly. Bytes and calls of each line are compared while all is held, after
# every second piece was freed, and after all was freed. Three ways: anywhere, from one CPU to
# another, and inside of a memory cgroup.
# timeout: 240
. "$(dirname "$0")/codetag.inc"

# three PREFIX THIN_CPU DROP_CPU
three()
{
	snapshot
	hold_all
	compared_cases "$1 held"
	run cpu "$2"
	run thin all
	compared_cases "$1 thinned"
	run cpu "$3"
	run drop all
	compared_cases "$1 freed"
	run cpu -1
}

driver
nr=$(($(cases | wc -l) + 1))
plan $((4 * 3 * nr + 2))

# Before the first allocation no line may show anything.
cat $CT/cases >"$WORK/cases"
compared "before"

three "first" -1 -1

if [ "$(online_cpus)" -gt 1 ]; then
	run cpu 0
	three "cpu 0, 1, 1" 1 1
	run cpu 1
	three "cpu 1, 1, 0" 1 0
else
	skip_rest $((6 * nr)) "only one CPU" "from one CPU to another"
fi

# Inside of a memory cgroup: accounted memory has both its owner and its tag.
cg=/tmp/cgroup
mkdir -p $cg
if { mounted $cg || mount -t cgroup2 none $cg 2>/dev/null; } &&
   grep -q memory $cg/cgroup.controllers && echo +memory >$cg/cgroup.subtree_control &&
   mkdir -p $cg/codetag; then
	echo $$ >$cg/codetag/cgroup.procs
	# Use new slabs: their space for owners may be reserved when a slab is made.
	for shrink in /sys/kernel/slab/ct_*/shrink; do
		[ ! -e "$shrink" ] || echo 1 >"$shrink"
	done
	three "in a memory cgroup" -1 -1
	echo $$ >$cg/cgroup.procs
	rmdir $cg/codetag
else
	skip_rest $((3 * nr)) "no memory cgroups" "in a memory cgroup"
fi

audited "audit"
unload codetag_test
finish
