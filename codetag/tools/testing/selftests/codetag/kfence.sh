#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Objects that KFENCE has put between guard pages are objects like others.
# boot: kfence.sample_interval=1
# timeout: 240
. "$(dirname "$0")/codetag.inc"

kfence=$DEBUGFS/kfence/stats

allocated()
{
	sed -n 's/^total allocations: *//p' $kfence
}

driver
if [ ! -r $kfence ] || ! grep -q 'enabled: 1' $kfence; then
	unload codetag_test
	skip_all "no KFENCE, boot with kfence.sample_interval=1"
fi
rounds=6
nr=$(($(cases | wc -l) + 1))
plan $((2 * nr + 3 + 2 * rounds))

before=$(allocated)
snapshot
hold_all
compared_cases "held"
run drop all
compared_cases "freed"

# Slowly, so that many of the objects come from KFENCE.
i=0
while [ $i -lt $rounds ]; do
	i=$((i + 1))
	for c in kmalloc kmem_cache kmem_cache_sizes kmem_cache_bulk kfree_rcu kfree_bulk \
		 kmalloc_account krealloc kmem_cache_variants interrupt; do
		run hold $c
		usleep 3000
	done
	compare >/dev/null
	equal "held, round $i" "" "$(grep -v '^kstrdup' "$WORK/diff")"
	run thin all
	usleep 3000
	run drop all
	compare >/dev/null
	equal "freed, round $i" "" "$(grep -v '^kstrdup' "$WORK/diff")"
done
now=$(allocated)
[ $((now - before)) -ge 20 ]
check "objects came from KFENCE" $? "$((now - before))"
equal "KFENCE found no bugs" 0 "$(sed -n 's/^total bugs: *//p' $kfence)"
audited "audit"
unload codetag_test
finish
