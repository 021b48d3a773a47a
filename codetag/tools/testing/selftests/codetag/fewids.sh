#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Too few ids even for the kernel itself: the totals stay right.
# boot: codetag.max_ids=0
# boot: codetag.max_ids=300
# boot: codetag.max_ids=300 codetag.page_ref=slot
. "$(dirname "$0")/codetag.inc"

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 9
max=$(sed -n 's/.*codetag\.max_ids=\([0-9]*\).*/\1/p' /proc/cmdline)

equal "ids of the kernel" "$max" "$(stat_value ids_builtin)"
[ "$(stat_value tags_without_id)" -gt 500 ]
check "lines without an id" $? "$(stat_value tags_without_id)"
equal "one warning" 1 "$(dmesg | grep -c 'codetag: ids for only .* call sites of the kernel; .* raise codetag.max_ids')"
equal "lines that are not accurate" "$(stat_value tags_without_id)" \
	"$(grep -c ' accurate:no' $ALLOCINFO)"

# Nothing is lost: memory of lines without an id is in codetag:1.
before=$(awk '$3 == "codetag:1" { print $1 }' $ALLOCINFO)
[ "$before" -gt 1000000 ]
check "memory without a line of its own" $? "$before"
run hold alloc_pages_compound
held=$(awk '$3 == "codetag:1" { print $1 }' $ALLOCINFO)
want=$((2047 * PAGE))
[ $((held - before)) -ge $((want - 48 * PAGE)) ] && [ $((held - before)) -le $((want + 48 * PAGE)) ]
check "memory of a module" $? "grown by $((held - before)), not about $want"
run drop all
run hold all
run churn start
sleep 1
run churn stop
audited "audit while all is held"
run drop all
negative=$(awk 'NR > 2 && ($1 < 0 || $2 < 0)' $ALLOCINFO)
equal "no negative numbers" "" "$negative"
audited "audit"
unload codetag_test
finish
