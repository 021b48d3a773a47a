#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All slabs have single pages, so the address of a vector cannot be in a second struct page.
# boot: slab_max_order=0
# store: any
. "$(dirname "$0")/codetag.inc"

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 5
# Two objects of half a page each are a whole page, if their ids lie elsewhere.
name="kmalloc-2k has as many objects a page as without ids"
if [ "$(cat /sys/kernel/slab/kmalloc-2k/slab_size 2>/dev/null)" = 2048 ]; then
	equal "$name" "$((PAGE / 2048)) 0" \
		"$(cat /sys/kernel/slab/kmalloc-2k/objs_per_slab /sys/kernel/slab/kmalloc-2k/order | xargs)"
else
	skip "$name" "no /sys/kernel/slab, or SLUB needs room for checks"
fi
snapshot
run hold all
compared "everything is exact"
audited "audit"
equal "no slab had to do without a vector" 0 "$(stat_value slab_vectors_failed)"
run drop all
audited "audit of nothing"
unload codetag_test
finish
