#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Pages move between nodes and stay with the line that allocated them. Contexts by node
# are of the node that the memory is on, as the kernel's own numbers say it.
# boot: numa=fake=2
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
pages=$((16 * MB / PAGE))
thp=/sys/kernel/mm/transparent_hugepage
CONTROL=$DEBUGFS/codetag/control
huge=hugepages/hugepages-2048kB/nr_hugepages

prepare
if [ ! -d /sys/devices/system/node/node1 ]; then
	cleanup
	skip_all "only one node"
fi
plan 28

[ ! -e $thp/enabled ] || echo madvise >$thp/enabled

base shmem ' mm/shmem.c:[0-9]* func:shmem_alloc_folio'
base moved ' mm/(migrate|mempolicy).c:[0-9]* func:(alloc_migration_target|alloc_misp)'
helper shared 16
equal "shared pages held" "$((16 * MB)) $pages" "$(grown shmem)"
for node in 1 0 1; do
	tell move $node
	equal "all pages move to node $node" "move $pages" "$answer"
	equal "they stay where they belong: $node" "$((16 * MB)) $pages" "$(grown shmem)"
done
equal "and not with those who moved them" "0 0" "$(grown moved)"
helper_end
drain
equal "shared pages freed" "0 0" "$(grown shmem)"

base thp ' mm/huge_memory.c:'
if [ "$(cat $thp/hpage_pmd_size 2>/dev/null)" = $((2 * MB)) ]; then
	helper huge 16
	equal "huge pages held" "$((16 * MB)) 8" "$(grown thp)"
	tell move 1
	equal "huge pages move" "move $pages" "$answer"
	equal "they move as a whole" "$((16 * MB)) 8" "$(grown thp)"
	tell move 0
	equal "and back" "$((16 * MB)) 8" "$(grown thp)"
	equal "nobody else has them" "0 0" "$(grown moved)"
	helper_end
	drain
	equal "huge pages freed" "0 0" "$(grown thp)"
else
	skip_rest 6 "no transparent huge pages of 2 MiB" "huge pages"
fi

if [ -w $CONTROL ] && echo 'file mm/shmem.c func shmem_alloc_folio keys=node' >$CONTROL; then
	shmem_before=$(shmem_on 0 1)
	helper shared 16
	for node in 1 0 1; do
		tell move $node
		equal "pages on node $node by contexts" $pages "$(contexts_on $node)"
		until_true 10 as_meminfo 0 1
		check "contexts by node and meminfo agree: $node" $? \
			"$(contexts_on 0 1), and in meminfo $(shmem_on 0 1) after $shmem_before"
	done
	helper_end
	echo 'file mm/shmem.c keys=none' >$CONTROL
else
	skip_rest 6 "no contexts" "contexts by node"
fi
# HugeTLB keeps the pages that have moved away, in the pool of their node.
pools()
{
	echo "$(cat /sys/devices/system/node/node0/$huge) $(cat /sys/devices/system/node/node1/$huge)" |
		awk -v pages=$((2 * MB / PAGE)) '{ print $1 * pages, $2 * pages }'
}

if [ -w /sys/devices/system/node/node1/$huge ] &&
   echo 'file mm/hugetlb.c func alloc_*_folio keys=node' >$CONTROL; then
	for node in 0 1; do
		echo 6 >/sys/devices/system/node/node$node/$huge
	done
	equal "pools by contexts" "$(pools)" "$(contexts_on 0 1)"
	helper hugetlb 8
	for node in 1 0; do
		tell move $node
		equal "pages of hugetlb move to node $node" "move 4" "$answer"
		equal "each pool keeps its pages: $node" "$(pools)" "$(contexts_on 0 1)"
	done
	helper_end
	for node in 0 1; do
		echo 0 >/sys/devices/system/node/node$node/$huge
	done
	echo 'file mm/hugetlb.c keys=none' >$CONTROL
else
	skip_rest 5 "no huge pages of 2 MiB, or no contexts" "pages of hugetlb by contexts"
fi
targets_empty "nothing stays with the lines that allocate targets of a migration"
audited "audit"
finish
