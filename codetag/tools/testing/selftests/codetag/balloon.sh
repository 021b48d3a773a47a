#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A balloon: it inflates, its pages move in memory, and it deflates. They stay with the
# line that allocated them.
# boot: default
# vmem: 64M
# store: any
# timeout: 300
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))

pages_held() { echo $(($(vmstat balloon_inflate) - $(vmstat balloon_deflate))); }
holds() { [ "$(pages_held)" = "$1" ]; }

prepare
[ -d /sys/bus/virtio/drivers/virtio_balloon ] || { cleanup; skip_all "no balloon"; }
host info version || { cleanup; skip_all "no monitor of QEMU"; }
plan 8

# Other pages lie below the balloon or between its pages. They are freed, so there are holes to
# move to.
base balloon ' mm/balloon[a-z_]*\.c:[0-9]* func:balloon_page_alloc '
mkdir "$WORK/between"
mount -t tmpfs -o size=300M tmpfs "$WORK/between"
dd if=/dev/zero of="$WORK/between/a" bs=1M count=160 2>/dev/null
host balloon $((512 - 96))
until_true 60 holds $((96 * MB / PAGE))
check "it inflates" $? "$(pages_held) pages"
equal "its pages are charged" "$((96 * MB)) $((96 * MB / PAGE))" "$(grown balloon)"
audited "audit of a balloon"
umount "$WORK/between"
for _ in 1 2 3 4 5; do
	echo 1 >/proc/sys/vm/compact_memory
done
moved=$(vmstat balloon_migrate)
diag "$moved pages of the balloon have moved"
[ "$moved" -gt 0 ]
check "its pages move" $? "none did"
equal "and stay with their line" "$((96 * MB)) $((96 * MB / PAGE))" "$(grown balloon)"
targets_empty "nothing stays with the lines that allocate targets of a migration"
host balloon 512
until_true 60 holds 0
equal "it deflates" "0 0" "$(grown balloon)"
audited "audit"
finish
