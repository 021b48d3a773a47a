#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# xfs on a loop device: mount, fill, read, unmount
# query: module xfs
prepare() { modprobe -a loop xfs && new_image xfs 320M mkfs.xfs -q -f; }
clean() { fresh_image xfs; }
work()
{
	step "mount" mount -o loop /tmp/xfs $dir
	fill
	links
	step "attribute" setfattr -n user.test -v 1 $dir/w/a/1
	step "remove" rm -r $dir/w
	step "umount" umount $dir
}
