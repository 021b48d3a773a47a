#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# vfat on a loop device: mount, fill, read, unmount
# query: module vfat; module fat; module nls_*
prepare() { modprobe -a loop vfat && truncate -s 32M /tmp/vfat.new && mkfs.vfat /tmp/vfat.new; }
clean()
{
	umount $dir
	cp --sparse=always /tmp/vfat.new /tmp/vfat
}
work()
{
	step "mount" mount -o loop /tmp/vfat $dir
	fill
	step "remove" rm -r $dir/w
	step "umount" umount $dir
}
