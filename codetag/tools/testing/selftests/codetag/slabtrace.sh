#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stacks in the reports of slab_debug begin with the function that was called. Flag T prints such a
# report, which is no error, for each allocation and free.
# The caches of 8 KiB are those of CONFIG_RANDOM_KMALLOC_CACHES, too.
# boot: slab_debug=T,ct_plain,ct_account,kmalloc-8k,kmalloc-rnd-01-8k,kmalloc-rnd-02-8k,kmalloc-rnd-03-8k,kmalloc-rnd-04-8k,kmalloc-rnd-05-8k,kmalloc-rnd-06-8k,kmalloc-rnd-07-8k,kmalloc-rnd-08-8k,kmalloc-rnd-09-8k,kmalloc-rnd-10-8k,kmalloc-rnd-11-8k,kmalloc-rnd-12-8k,kmalloc-rnd-13-8k,kmalloc-rnd-14-8k,kmalloc-rnd-15-8k log_buf_len=4M
# store: any
. "$(dirname "$0")/codetag.inc"

# reported WORD CACHE FUNCTION: whether all reports of that cache have the call. The driver's
# function that made the call can be missing, because of a tail call.
reported()
{
	awk -v head="^ TRACE $2 $1 " -v fn=" $3[.+]" -v caller="[[]codetag_test[]]" '
	/ \? / { next }
	{ sub(/^\[[^]]*\] */, ""); $0 = " " $0 }
	/^ TRACE / { in_report = $0 ~ head; before = "" }
	in_report && $0 ~ caller { all++; good += before ~ fn; in_report = 0 }
	{ before = $0 }
	END { printf("%d of %d\n", good, all); exit !(all > 0 && good == all) }' "$WORK/log"
}

driver
if ! dmesg | grep -q 'slab_debug=T' || ! [ -r /sys/kernel/slab/ct_plain/trace ] ||
   [ "$(cat /sys/kernel/slab/ct_plain/trace)" != 1 ]; then
	unload codetag_test
	skip_all "boot with slab_debug=T,ct_plain,ct_account,kmalloc-8k"
fi
plan 6
# The log is enough: the console would take long.
dmesg -n 1
dmesg -c >/dev/null
run hold kmem_cache
dmesg -c >"$WORK/log"
for cache in ct_plain ct_account; do
	out=$(reported alloc $cache kmem_cache_alloc_noprof)
	check "allocations from $cache" $? "$out"
done
run drop kmem_cache
dmesg -c >"$WORK/log"
for cache in ct_plain ct_account; do
	out=$(reported free $cache kmem_cache_free)
	check "frees to $cache" $? "$out"
done
run hold kmalloc
run drop kmalloc
dmesg -c >"$WORK/log"
out=$(reported free 'kmalloc(-rnd-..)?-8k' kfree)
check "kfree()" $? "$out"
dmesg -n 7
audited "audit"
unload codetag_test
finish
