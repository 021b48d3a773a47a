#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# btrfs on a loop device: mount, fill, snapshot, unmount
# query: module btrfs
prepare() { modprobe -a loop btrfs && new_image btrfs 128M mkfs.btrfs -q -f -m single; }
clean() { fresh_image btrfs; }
work()
{
	step "mount" mount -o loop /tmp/btrfs $dir
	fill
	links
	step "snapshot" btrfs subvolume snapshot $dir $dir/snapshot
	step "delete" btrfs subvolume delete $dir/snapshot
	step "remove" rm -r $dir/w
	step "umount" umount $dir
}
