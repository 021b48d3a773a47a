#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The page id stores: the one that codetag.page_ref names is in use, or a warning says that it
# cannot be used. Pages that were allocated before the store was ready are right as well.
# boot: codetag.page_ref=auto
# boot: codetag.page_ref=flags
# boot: codetag.page_ref=slot
# boot: codetag.page_ref=page_ext
. "$(dirname "$0")/codetag.inc"

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 10
asked=$(sed -n 's/.*codetag\.page_ref=\([^ ]*\).*/\1/p' /proc/cmdline)
store=$(stat_value store)
audited "audit of the boot"
warnings=$(dmesg | grep -c 'codetag.page_ref=.* cannot be used by this kernel')
case $asked in
flags|slot|page_ext)
	if [ "$store" = "$asked" ]; then
		pass "$asked is in use"
		equal "no warning" 0 "$warnings"
	elif [ "$asked" = flags ]; then
		[ "$store" = slot ] || [ "$store" = page_ext ]
		check "$store is in use instead of flags" $?
		equal "a warning" 1 "$warnings"
	else
		fail "$asked is in use" "$store"
		fail "no warning" "$warnings"
	fi ;;
*)
	case $store in
	flags|slot|page_ext) pass "a store is in use" ;;
	*) fail "a store is in use" "$store" ;;
	esac
	equal "no warning" 0 "$warnings" ;;
esac
equal "no page was without a store" 0 "$(stat_value pages_without_store)"
# The slots are an area of vmalloc space that is larger than this memory needs. In the sum of all
# areas only the pages that they take count.
slots=$(awk '/ page_tag_slots_setup\+/ { print $2 }' /proc/vmallocinfo)
case $store in
slot) equal "the area of the slots has a name and its size" "$(stat_value mem_page_refs)" "$slots" ;;
*) equal "no area of slots" "" "$slots" ;;
esac
sum=$(awk '!/ (ioremap|phys=)/ { sum += $2 } END { printf("%d", sum / 1024) }' /proc/vmallocinfo)
total=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
[ "$sum" -lt "$total" ]
check "the areas of vmalloc space add up to no more than memory" $? "$sum kB of $total kB"
early=$(awk '$3 == "codetag:2" { print $1 }' $ALLOCINFO)
[ "$early" -lt 1000000 ]
check "little was allocated before the ids" $? "$early"
snapshot
run hold all
compared "everything is exact"
run drop all
compared "and nothing is left"
audited "audit"
unload codetag_test
finish
