#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# vfat on a loop device: mount, fill, read, unmount
# query: module vfat; module fat; module nls_*
prepare() { modprobe -a loop vfat && new_image vfat 32M mkfs.vfat; }
clean() { fresh_image vfat; }
work()
{
	step "mount" mount -o loop /tmp/vfat $dir
	fill
	step "remove" rm -r $dir/w
	step "umount" umount $dir
}
