#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# page_owner keeps a stack for every page: who asks it what a function of ours holds
# gets the same number of bytes.
# guest: own
# boot: page_owner=on
# store: any
. "$(dirname "$0")/codetag.inc"

stacks=$DEBUGFS/page_owner_stacks/show_stacks
held="alloc_pages alloc_pages_compound get_free_pages alloc_pages_node alloc_pages_account
	page_helpers folio_alloc alloc_pages_bulk alloc_pages_exact"

# ours, theirs: "FUNCTION BYTES" of the module's functions that hold pages
ours()
{
	awk '$4 == "[codetag_test]" && $5 ~ /^func:hold_/ && $1 { n[substr($5, 6)] += $1 }
		END { for (f in n) print f, n[f] }' $ALLOCINFO | sort
}

# Their stacks end with the number of pages. Slabs that the driver's own notes need
# are allocated by hold_…() as well, and charged to SLUB by us.
theirs()
{
	awk -v size="$(getconf PAGESIZE 2>/dev/null || echo 4096)" '
		/allocate_slab/ { slab = 1 }
		/ hold_[a-z_]*\+.*\[codetag_test\]/ { split($1, part, "+"); f = part[1] }
		/^nr_base_pages:/ {
			if (f != "" && !slab)
				n[f] += $2 * size
			f = slab = ""
		}
		END { for (f in n) print f, n[f] }' $stacks | sort
}

driver
# To its end, as everywhere: who closes it before frees the stack that it is at, in 6.12
# (seq_release_private()), and the list has a hole or no end from then on.
if ! [ -r $stacks ] || [ "$(grep -c nr_base_pages $stacks)" -eq 0 ]; then
	unload codetag_test
	skip_all "no page_owner, boot with page_owner=on"
fi
nr=$(echo $held | wc -w)
plan $((nr + 4))

for c in $held; do
	run hold "$c"
	equal "$c" "$(theirs)" "$(ours)"
done
equal "each holds something" "$nr" "$(ours | wc -l)"
run drop all
equal "freed, ours" "" "$(ours)"
equal "freed, theirs" "" "$(theirs)"
audited "audit"
unload codetag_test
finish
