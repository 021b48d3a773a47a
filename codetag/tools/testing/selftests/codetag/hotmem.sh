#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Memory goes offline and comes back.
# boot: movablecore=320M
# mem: 768M
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))

prepare
blocks=
others=
for b in /sys/devices/system/memory/memory[0-9]*; do
	[ -w "$b/state" ] || continue
	if grep -q Movable "$b/valid_zones" 2>/dev/null; then
		blocks="$blocks $b"
	else
		others="$others $b"
	fi
done
blocks="$blocks$others"
if [ -z "$blocks" ]; then
	cleanup
	skip_all "no memory blocks"
fi
plan 11

base shmem ' mm/shmem.c:[0-9]* func:shmem_alloc_folio'
helper shared 64
equal "shared pages held" "$((64 * MB)) $((64 * MB / PAGE))" "$(grown shmem)"
refs=$(stat_value mem_page_refs 2>/dev/null)

gone=
for b in $blocks; do
	echo offline >"$b/state" 2>/dev/null && gone=$b && break
done
if [ -n "$gone" ]; then
	diag "$gone is offline"
	pass "a memory block is offline"
	equal "pages that were moved" "$((64 * MB)) $((64 * MB / PAGE))" "$(grown shmem)"
	audited "audit while it is offline"
	if have_engine; then
		now=$(stat_value mem_page_refs)
		case $(stat_value store) in
		flags) equal "memory for page references" 0 "$now" ;;
		slot)
			[ "$now" -le "$refs" ]
			check "memory for page references" $? "$refs, now $now" ;;
		*) skip "memory for page references" "not known for this store" ;;
		esac
	else
		skip "memory for page references" "not this profiler"
	fi
	echo online >"$gone/state"
	equal "it is online again" online "$(cat "$gone/state")"
	# Use it.
	run_in=$(mktemp -d "$WORK/fs.XXXXXX")
	mount -t tmpfs -o size=400M tmpfs "$run_in"
	dd if=/dev/zero of="$run_in/a" bs=1M count=250 2>/dev/null
	equal "more pages" "$((314 * MB)) $((314 * MB / PAGE))" "$(grown shmem)"
	audited "audit when it is online again"
	umount "$run_in"
	equal "back to what there was" "$((64 * MB)) $((64 * MB / PAGE))" "$(grown shmem)"
else
	skip_rest 8 "no memory block could be taken offline" "memory goes"
fi
helper_end
drain
equal "shared pages freed" "0 0" "$(grown shmem)"
audited "audit"
finish
