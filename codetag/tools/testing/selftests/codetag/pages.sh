#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Pages of user space: transparent huge pages and their splits, compaction,
# hugetlb. The line that allocated a page keeps it.
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
thp=/sys/kernel/mm/transparent_hugepage
hugetlb=/sys/kernel/mm/hugepages/hugepages-2048kB

prepare
plan 20

# Only the helper may have huge pages. khugepaged must not collapse the pages that the test splits,
# so it sleeps for weeks.
[ ! -e $thp/enabled ] || echo madvise >$thp/enabled
[ ! -e $thp/khugepaged/defrag ] || echo 0 >$thp/khugepaged/defrag
[ ! -e $thp/khugepaged/scan_sleep_millisecs ] ||
	echo 4294967295 >$thp/khugepaged/scan_sleep_millisecs

# Transparent huge pages.
base thp ' mm/huge_memory.c:'
if [ "$(cat $thp/hpage_pmd_size 2>/dev/null)" != $((2 * MB)) ]; then
	skip_rest 8 "no transparent huge pages of 2 MiB" "huge pages"
else
	helper huge 16
	equal "huge pages held" "$((16 * MB)) 8" "$(grown thp)"
	# shellcheck disable=SC2086
	set -- $answer
	if [ -w $DEBUGFS/split_huge_pages ]; then
		drain
		echo "$helper_pid,$2,$3,4" >$DEBUGFS/split_huge_pages
		equal "huge pages split to order 4" "$((16 * MB)) 256" "$(grown thp)"
		echo "$helper_pid,$2,$3,2" >$DEBUGFS/split_huge_pages
		equal "split further to order 2" "$((16 * MB)) 1024" "$(grown thp)"
		echo "$helper_pid,$2,$3" >$DEBUGFS/split_huge_pages
		equal "split further to single pages" "$((16 * MB)) 4096" "$(grown thp)"
		tell free 0 1280
		drain
		equal "some of the parts freed" "$((11 * MB)) 2816" "$(grown thp)"
		helper_end
		drain
		equal "the other parts freed" "0 0" "$(grown thp)"
	else
		helper_end
		skip_rest 5 "no $DEBUGFS/split_huge_pages" "split"
	fi
	helper huge 8
	equal "huge pages again" "$((8 * MB)) 4" "$(grown thp)"
	helper_end
	drain
	equal "huge pages freed whole" "0 0" "$(grown thp)"
fi

# Compaction moves pages; the line of shmem keeps them.
base shmem ' mm/shmem.c:[0-9]* func:shmem_alloc_folio'
moved=
# How many pages it finds to move depends on where they happen to be.
for place in 1 2 3 4; do
	helper shared 48
	held=$(grown shmem)
	before=$(vmstat pgmigrate_success)
	tell thin
	drain
	thinned=$(grown shmem)
	[ -w /proc/sys/vm/compact_memory ] && [ -n "$before" ] || break
	for i in 1 2 3 4 5 6; do
		echo 1 >/proc/sys/vm/compact_memory
		moved=$(($(vmstat pgmigrate_success) - before))
		[ $moved -eq 0 ] || [ $i -lt 3 ] || break
		echo 1 >/proc/sys/vm/drop_caches
	done
	[ $moved -eq 0 ] && [ $place -lt 4 ] || break
	helper_end
	drain
done
equal "shared pages held" "$((48 * MB)) $((48 * MB / PAGE))" "$held"
equal "every second page freed" "$((24 * MB)) $((24 * MB / PAGE))" "$thinned"
if [ -n "$moved" ]; then
	diag "compaction moved $moved pages, try $place"
	[ "$moved" -gt 0 ]
	check "compaction moves pages" $? "none was moved"
	equal "pages moved by compaction" "$((24 * MB)) $((24 * MB / PAGE))" "$(grown shmem)"
else
	skip_rest 2 "no compaction" "compaction"
fi
tell touch
equal "the other half again" "$((48 * MB)) $((48 * MB / PAGE))" "$(grown shmem)"

helper_end
drain
equal "shared pages freed" "0 0" "$(grown shmem)"

# hugetlb
base hugetlb ' mm/hugetlb.c:[0-9]* func:alloc_(buddy|gigantic)_[a-z_]*folio '
if [ -w $hugetlb/nr_hugepages ]; then
	echo 12 >$hugetlb/nr_hugepages
	nr=$(cat $hugetlb/nr_hugepages)
	equal "hugetlb pages" 12 "$nr"
	equal "hugetlb pages held" "$((2 * MB * nr)) $nr" "$(grown hugetlb)"
	helper hugetlb 8
	equal "hugetlb pages in use" "$((2 * MB * nr)) $nr" "$(grown hugetlb)"
	helper_end
	echo 5 >$hugetlb/nr_hugepages
	equal "some hugetlb pages freed" "$((10 * MB)) 5" "$(grown hugetlb)"
	echo 0 >$hugetlb/nr_hugepages
	equal "hugetlb pages freed" "0 0" "$(grown hugetlb)"
else
	skip_rest 5 "no hugetlb" "hugetlb"
fi

[ ! -e $thp/khugepaged/defrag ] || echo 1 >$thp/khugepaged/defrag
audited "audit"
finish
