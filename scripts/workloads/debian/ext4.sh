#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# ext4 on a loop device: mount, fill, read, unmount
# query: module ext4; module jbd2; module mbcache
prepare() { modprobe -a loop ext4 && new_image ext4 64M mkfs.ext4 -q; }
clean() { fresh_image ext4; }
work()
{
	step "mount" mount -o loop /tmp/ext4 $dir
	fill
	links
	step "attribute" setfattr -n user.test -v 1 $dir/w/a/1
	step "remove" rm -r $dir/w
	step "umount" umount $dir
}
