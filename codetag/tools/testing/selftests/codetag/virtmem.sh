#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Memory that is plugged in and out while the machine runs: charges of pages that go with it are
# removed, too, and the audit reads only memory that exists.
# boot: default
# vmem: 512M
# timeout: 300
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
MEMORY=/sys/devices/system/memory

total() { awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo; }
free_kb() { awk '$1 == "MemFree:" { print $2 }' /proc/meminfo; }
offline_blocks() { grep -l offline $MEMORY/memory*/state 2>/dev/null | sed 's,/state,,'; }
some_offline() { [ "$(offline_blocks | wc -l)" -ge "$1" ]; }
total_is() { [ "$(total)" -"$1" "$2" ]; }
# The driver returns unplugged memory some time after it has left the totals.
# shellcheck disable=SC2046
device_below() { set -- "$1" $(grown device) && [ "$2" -lt "$1" ]; }

prepare
[ -w $MEMORY/auto_online_blocks ] || { cleanup; skip_all "no memory hotplug"; }
host info version || { cleanup; skip_all "no monitor of QEMU"; }
rounds=$(lasting 4)
plan $((8 + rounds * 4))
before=$(total)
base device ' drivers/virtio/virtio_mem.c:'

# Two blocks, of which only the first one is there to be used: all of its pages.
echo offline >$MEMORY/auto_online_blocks
host qom-set vmem0 requested-size 256M
until_true 60 some_offline 2
check "two blocks come" $? "$(offline_blocks)"
audited "audit before they are online"
first=$(offline_blocks | sort -V | head -n 1)
echo online_movable >"$first/state"
equal "the first one is online" online "$(cat "$first/state")"
run_in=$(mktemp -d "$WORK/fs.XXXXXX")
mount -t tmpfs -o size=2G tmpfs "$run_in"
fill=$(($(free_kb) / 1024 - 24))
dd if=/dev/zero of="$run_in/a" bs=1M count=$fill 2>/dev/null
used=$(awk '/^Node/ { movable = $4 == "Movable" } movable && $1 == "pages" { print $3; exit }' /proc/zoneinfo)
[ -n "$used" ] && [ "$used" -lt 2048 ]
check "it is full" $? "$used pages are free in zone Movable"
audited "audit beside the second block"
umount "$run_in"
audited "audit when it is empty"
host qom-set vmem0 requested-size 0
until_true 60 total_is le "$before"
check "both go" $? "$before kB before, $(total) now"
until_true 60 device_below $MB
check "nothing is left but what the driver keeps" $? "$(grown device)"
base device ' drivers/virtio/virtio_mem.c:'

# Plug, use, unplug.
echo online_movable >$MEMORY/auto_online_blocks
slots=
round=0
while [ $round -lt $rounds ]; do
	round=$((round + 1))
	host qom-set vmem0 requested-size 384M
	until_true 60 total_is ge $((before + 300 * 1024))
	mount -t tmpfs -o size=2G tmpfs "$run_in"
	dd if=/dev/zero of="$run_in/a" bs=1M count=300 2>/dev/null
	audited "round $round: audit while it is used"
	rm "$run_in/a"
	umount "$run_in"
	host qom-set vmem0 requested-size 0
	until_true 60 total_is le "$before"
	check "round $round: all of it goes" $? "$before kB before, $(total) now"
	until_true 60 device_below 1
	equal "round $round: nothing is charged for what is gone" "0 0" "$(grown device)"
	# The slots of memory that has been there stay, and are not counted twice.
	now=$(stat_value mem_page_refs)
	equal "round $round: memory for page references" "${slots:-$now}" "$now"
	slots=$now
done
rmdir "$run_in"
finish
