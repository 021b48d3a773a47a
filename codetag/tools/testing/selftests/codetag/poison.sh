#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Broken memory: pages of a process and of a slab that break, pages that are replaced
# before they do, huge pages, and all of them repaired.
# guest: own
# timeout: 300
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
thp=/sys/kernel/mm/transparent_hugepage
inject=$DEBUGFS/hwpoison

prepare
modprobe hwpoison-inject 2>/dev/null
[ -w $inject/unpoison-pfn ] || { cleanup; skip_all "no $inject/unpoison-pfn"; }
[ ! -e $thp/enabled ] || echo madvise >$thp/enabled

# broken COMMAND PAGE: have the helper say that a page is broken; its answer is in pfn
broken()
{
	tell "$@"
	# shellcheck disable=SC2086,SC2154	# answered sets it
	set -- $answer
	pfn=$2
	[ "$3" = 0 ]
}

repaired() { echo "$1" >$inject/unpoison-pfn; }

plan 15
base shmem ' mm/shmem.c:[0-9]* func:shmem_alloc_folio'
helper shared 4
all=$((4 * MB / PAGE))
broken offline 7
check "a page is replaced" $? "$answer"
soft=$pfn
drain
equal "its content stays with its line" "$((4 * MB)) $all" "$(grown shmem)"
targets_empty "nothing stays with the lines that allocate targets of a migration"
broken poison 9
check "a page breaks" $? "$answer"
hard=$pfn
audited "audit with broken pages"
helper_end
drain
audited "audit when their owner is gone"
repaired "$soft"
check "the replaced page is repaired" $?
repaired "$hard"
check "the broken one, too" $?
drain
equal "nothing is left" "0 0" "$(grown shmem)"

helper huge 4
broken poison 300
check "a part of a huge page breaks" $? "$answer"
audited "audit with a broken part of a huge page"
helper_end
repaired "$pfn"
check "it is repaired" $?

# A page of a slab: flag 7 in /proc/kpageflags, on a line for each frame
slab=$(od -An -v -t x8 -w8 /proc/kpageflags | awk '$1 ~ /[89a-f].$/ { n++; if (n == 500) { print NR - 1; exit } }')
echo "$slab" 2>/dev/null >$inject/corrupt-pfn
dmesg | grep -q "Memory failure: $(printf 0x%x "$slab"): "
check "a page of a slab breaks" $? "page $slab: $(dmesg | grep 'Memory failure' | tail -n 3)"
audited "audit with a broken page of a slab"
echo "$slab" 2>/dev/null >$inject/unpoison-pfn
audited "audit"
finish
