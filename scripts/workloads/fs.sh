#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir, and has step(), fill() and links()
# ext4 and tmpfs: mount, fill, unmount
# query: file fs/ext4/*; file fs/jbd2/*; file fs/mbcache.c; file mm/shmem.c
clean() { umount $dir; }

work()
{
	step "mount ext4" mount -t ext4 "$GUEST_DISK" $dir
	fill
	links
	step "remove" rm -r $dir/w
	step "umount ext4" umount $dir
	step "mount tmpfs" mount -t tmpfs none $dir
	fill
	links
	step "remove" rm -r $dir/w
	step "umount tmpfs" umount $dir
}
