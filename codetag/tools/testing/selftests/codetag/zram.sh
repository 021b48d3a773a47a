#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compaction moves the pages of zram, which stay charged to the line of zsmalloc that allocated
# them. Like pages of a balloon, those of zsmalloc are migrated by functions of their own.
# guest: own
# timeout: 300
. "$(dirname "$0")/codetag.inc"

kept=24

# Pages that zram has of zsmalloc: the third number of mm_stat
zram_pages() { awk -v page="$PAGE" '{ print $3 / page }' /sys/block/zram0/mm_stat; }

prepare
if ! modprobe zram 2>/dev/null || ! [ -w /sys/block/zram0/disksize ]; then
	cleanup
	skip_all "no zram"
fi
if ! [ -w /proc/sys/vm/compact_memory ]; then
	cleanup
	skip_all "no compaction"
fi
plan 7

base zspages ' mm/zsmalloc.c:[0-9]* .*func:alloc_z(spage|pdesc) '
echo $((4 * kept))M >/sys/block/zram0/disksize
# Other pages lie between those of zram and are freed, so there are holes, and pages of zram to move
# into them. Random data does not compress: each page takes a page.
mkdir "$WORK/between"
mount -t tmpfs -o size=$((2 * kept))M tmpfs "$WORK/between"
place=0
moved=0
while [ $moved -lt 100 ] && [ $place -lt 3 ]; do
	n=0
	while [ $n -lt $kept ]; do
		dd if=/dev/urandom of=/dev/zram0 bs=1M count=1 seek=$((place * kept + n)) conv=fsync 2>/dev/null
		dd if=/dev/zero of="$WORK/between/$n" bs=1M count=1 2>/dev/null
		n=$((n + 1))
	done
	sync
	rm "$WORK/between"/*
	echo 3 >/proc/sys/vm/drop_caches
	drain
	[ $place -gt 0 ] || equal "zsmalloc has what zram holds" "$(($(zram_pages) * PAGE)) $(zram_pages)" "$(grown zspages)"
	held=$(zram_pages)
	before=$(vmstat pgmigrate_success)
	for _ in 1 2 3; do
		echo 1 >/proc/sys/vm/compact_memory
	done
	moved=$(($(vmstat pgmigrate_success) - before))
	place=$((place + 1))
done
diag "compaction moved $moved pages, try $place"
[ "$moved" -ge 100 ]
check "compaction moves pages" $? "only $moved"
equal "zram holds the same" "$held" "$(zram_pages)"
equal "all of it stays with zsmalloc" "$((held * PAGE)) $held" "$(grown zspages)"
targets_empty "and nothing with the lines that allocate targets of a migration"

umount "$WORK/between"
echo 1 >/sys/block/zram0/reset
drain
equal "nothing is left" "0 0" "$(grown zspages)"
rmmod zram 2>/dev/null
audited "audit"
finish
