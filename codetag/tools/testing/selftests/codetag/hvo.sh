#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Huge pages of hugetlb whose struct pages are freed (HVO).
#
# In a guest of its own. When such a page is freed, Linux 6.12.117 leaves struct pages behind
# that look like huge pages: the restored part of the memory map is a copy of its first page.
# The next compaction that comes by dies in isolate_or_dissolve_huge_page(), with any profiler
# or none. A kernel with DEBUG_VM notices, and gives up the pages.
# guest: own
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
nr=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
switch=/proc/sys/vm/hugetlb_optimize_vmemmap

prepare
if ! [ -w $nr ] || ! [ -w $switch ]; then
	cleanup
	skip_all "no $switch"
fi
! grep -q ' dump_mm$' /proc/kallsyms || { cleanup; skip_all "DEBUG_VM, which gives up such pages"; }
plan 8

base site ' mm/hugetlb.c:[0-9]* func:alloc_buddy_[a-z_]*folio '
echo 1 >$switch
echo 9 >$nr
equal "huge pages" 9 "$(cat $nr)"
equal "held without their memory map" "$((18 * MB)) 9" "$(grown site)"
base map ' mm/hugetlb_vmemmap.c:'
audited "audit while they are held"
echo 4 >$nr
equal "some freed" "$((8 * MB)) 4" "$(grown site)"
# Each that is freed gets back the seven pages that it gave.
equal "the map of those that were freed" "$((5 * 7 * 4096)) 35" "$(grown map)"
echo 0 >$nr
equal "all freed" "0 0" "$(grown site)"
equal "the map of all of them" "$((9 * 7 * 4096)) 63" "$(grown map)"
echo 0 >$switch
audited "audit"
finish
