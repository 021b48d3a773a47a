#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Contiguous ranges of the CMA allocator: pages in the way are moved, and stay charged to the line
# that allocated them.
# boot: cma=64M
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
CONTROL=$DEBUGFS/codetag/control
GUARDS=$DEBUGFS/codetag/guards

prepare
cma=
for d in $DEBUGFS/cma/*; do
	[ -w "$d/alloc" ] && cma=$d && break
done
if [ -z "$cma" ]; then
	cleanup
	skip_all "no $DEBUGFS/cma/*/alloc, boot with cma=64M"
fi
plan 10

base shmem ' mm/shmem.c:[0-9]* func:shmem_alloc_folio'
base cma ' mm/cma.c:[0-9]* func:.*cma_.*alloc'
# Allocate so much that some of it is in the area.
half=$(awk '$1 == "MemFree:" { print int($2 / 1024 * 0.85) }' /proc/meminfo)
helper shared "$half"
equal "shared pages held" "$((half * MB)) $((half * MB / PAGE))" "$(grown shmem)"
# More than is free in the area, so some pages have to move.
range=$(($(vmstat nr_free_cma) + 8 * MB / PAGE))
part=$((12 * MB / PAGE))
moved=$(vmstat pgmigrate_success)
failed=$(vmstat pgmigrate_fail)
# Pages that are moved out of the range are freed as pages of this line: no guard may keep them.
[ ! -e $GUARDS ] || echo 'func alloc_migration_target guard' >$CONTROL
echo "$range" >"$cma/alloc"
equal "contiguous range held" "$((range * PAGE)) $range" "$(grown cma)"
moved=$(($(vmstat pgmigrate_success) - moved))
[ "$moved" -gt $((4 * MB / PAGE)) ]
check "pages were in the way" $? "$moved of $range"
if [ -e $GUARDS ]; then
	# A move that fails frees its target, which is not in the range.
	kept=$(awk '/func:alloc_migration_target( |$)/ { print $2 }' $GUARDS)
	[ "$kept" -le $(($(vmstat pgmigrate_fail) - failed)) ]
	check "no guard kept them" $? "$kept"
	echo 'guard=off' >$CONTROL
else
	skip "no guard kept them" "no CONFIG_CODETAG_GUARD"
fi
equal "pages that were in the way" "$((half * MB)) $((half * MB / PAGE))" "$(grown shmem)"
audited "audit while it is held"
echo $part >"$cma/free"
equal "part of the range freed" "$(((range - part) * PAGE)) $((range - part))" "$(grown cma)"
echo "$((range - part))" >"$cma/free"
equal "contiguous range freed" "0 0" "$(grown cma)"
helper_end
drain
equal "shared pages freed" "0 0" "$(grown shmem)"
audited "audit"
finish
