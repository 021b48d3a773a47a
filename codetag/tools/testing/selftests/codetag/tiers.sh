#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel moves pages between nodes by itself: to the node that uses them, and unused pages to
# slow memory. They stay charged to the line that allocated them, and their contexts follow to the
# new node.
# boot: numa_balancing=enable
# timeout: 300
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
pages=$((16 * MB / PAGE))
CONTROL=$DEBUGFS/codetag/control
nodes="0 1 2"
slow=/sys/kernel/mm/numa/demotion_enabled
group=/tmp/cgroup/tiers

# most_on NODE: have most of the pages got there?
most_on() { [ "$(contexts_on "$1")" -ge $((pages * 9 / 10)) ]; }

prepare
if [ "$(cat /sys/devices/system/node/has_memory)" != 0-2 ] ||
   [ "$(cat /sys/devices/system/node/has_cpu)" != 0-1 ]; then
	cleanup
	skip_all "not two nodes with processors and one without"
fi
if ! [ -w $CONTROL ] || ! echo 'file mm/shmem.c func shmem_alloc_folio keys=node' >$CONTROL; then
	cleanup
	skip_all "no contexts"
fi
plan 15

base shmem ' mm/shmem.c:[0-9]* func:shmem_alloc_folio'
mkdir -p /tmp/cgroup
mounted /tmp/cgroup || mount -t cgroup2 none /tmp/cgroup
echo +memory >/tmp/cgroup/cgroup.subtree_control
mkdir $group
# shellcheck disable=SC2086
shmem_before=$(shmem_on $nodes)
echo $$ >$group/cgroup.procs
helper shared 16
echo $$ >/tmp/cgroup/cgroup.procs

# agree WHEN: the nodes of the contexts are those that meminfo knows
agree()
{
	# shellcheck disable=SC2086
	until_true 10 as_meminfo $nodes
	# shellcheck disable=SC2086
	check "$1: contexts by node and meminfo agree" $? \
		"$(contexts_on $nodes), and in meminfo $(shmem_on $nodes) after $shmem_before"
	equal "$1: all pages stay with their line" "$((16 * MB)) $pages" "$(grown shmem)"
	targets_empty "$1: and nothing with the lines that allocate targets of a migration"
}

tell move 1
equal "all pages move to node 1" "move $pages" "$answer"
agree "moved"

# Memory of node 1 is used by a processor of node 0.
cpu=$(sed 's/[-,].*//' /sys/devices/system/node/node0/cpulist)
taskset -p "$(printf %x $((1 << cpu)))" $helper_pid >/dev/null
for scan in scan_delay_ms scan_period_min_ms scan_period_max_ms; do
	echo 100 >$DEBUGFS/sched/numa_balancing/$scan
done
before=$(vmstat numa_pages_migrated)
for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
	tell spin 5
	! most_on 0 || break
done
moved=$(($(vmstat numa_pages_migrated) - before))
diag "NUMA balancing has moved $moved pages, try $try: $(contexts_on 0 1)"
[ $moved -ge $((pages / 2)) ] && most_on 0
check "NUMA balancing moves pages to node 0" $? "only $moved"
echo 0 >/proc/sys/kernel/numa_balancing
agree "balanced"

if [ -w $slow ] && [ "$(echo 1 >$slow; cat $slow)" = true ]; then
	before=$(awk '/^pgdemote_/ { n += $2 } END { print n }' /proc/vmstat)
	for try in 1 2 3 4 5; do
		echo 16M 2>/dev/null >$group/memory.reclaim
		! most_on 2 || break
	done
	moved=$(($(awk '/^pgdemote_/ { n += $2 } END { print n }' /proc/vmstat) - before))
	diag "$moved pages were demoted, try $try: $(contexts_on 0 1 2)"
	[ $moved -ge $((pages / 2)) ] && most_on 2
	check "pages are demoted to the slow node" $? "only $moved"
	agree "demoted"
	echo 0 >$slow
else
	fail "pages are demoted to the slow node" "no demotion"
	skip_rest 3 "no demotion" "demotion"
fi

helper_end
echo 'file mm/shmem.c keys=none' >$CONTROL
rmdir $group
drain
equal "nothing is left" "0 0" "$(grown shmem)"
targets_empty "nothing stays with the lines that allocate targets of a migration"
audited "audit"
finish
