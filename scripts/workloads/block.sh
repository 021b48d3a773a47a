#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# loop and zram devices, and the block layer: set up, write, read, take down
# query: module loop; module zram; file block/*; file block/partitions/*; file mm/zsmalloc.c; file fs/buffer.c; file mm/swapfile.c
# flavour: checks
prepare() { modprobe -a loop zram && truncate -s 16M /tmp/image; }

clean()
{
	losetup -d /dev/loop3
	echo 1 >/sys/block/zram0/reset
}

work()
{
	step "losetup" losetup /dev/loop3 /tmp/image
	step "write" dd if=/dev/zero of=/dev/loop3 bs=64k count=4 conv=fsync
	step "read" dd if=/dev/loop3 of=/dev/null bs=64k count=4
	step "detach" losetup -d /dev/loop3
	step "zram size" sh -c 'echo 16M >/sys/block/zram0/disksize'
	step "zram write" dd if=/bin/busybox of=/dev/zram0 bs=64k count=4 conv=fsync
	step "mkswap" mkswap /dev/zram0
	step "swapon" swapon /dev/zram0
	step "swapoff" swapoff /dev/zram0
	step "zram reset" sh -c 'echo 1 >/sys/block/zram0/reset'
}
