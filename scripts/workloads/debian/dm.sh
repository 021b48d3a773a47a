#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# device mapper: linear, crypt, snapshot, thin
# query: module dm_*; module dm-*; file drivers/md/dm*
prepare() { modprobe -a loop dm_mod dm_crypt dm_snapshot dm_thin_pool && truncate -s 32M /tmp/dm; }
clean()
{
	for name in thin pool data meta snap store origin crypt; do
		dmsetup remove --noudevsync --retry w-$name
	done
	losetup -d /dev/loop6
	rm -f /tmp/dm
	truncate -s 32M /tmp/dm
}
# node NAME: the kernel's own node; udev can be late with those in /dev/mapper
node() { echo "/dev/$(dmsetup info -c --noheadings -o blkdevname w-$1)"; }
# create NAME TABLE
create() { step "$1" dmsetup create --noudevsync w-$1 --table "$2"; }
# part NAME START LENGTH: sectors of the loop device as a device of their own
part() { create $1 "0 $3 linear /dev/loop6 $2"; }
work()
{
	step "losetup" losetup /dev/loop6 /tmp/dm
	create crypt "0 2048 crypt aes-xts-plain64 $(printf %064d 1) 0 /dev/loop6 0"
	step "write" dd if=/dev/zero of="$(node crypt)" bs=64k count=4 oflag=direct
	part origin 2048 2048
	part store 4096 4096
	create snap "0 2048 snapshot $(node origin) $(node store) P 8"
	step "write" dd if=/dev/zero of="$(node snap)" bs=64k count=4 oflag=direct
	step "status" dmsetup status
	part meta 8192 8192
	part data 16384 32768
	create pool "0 32768 thin-pool $(node meta) $(node data) 128 0"
	step "message" dmsetup message w-pool 0 "create_thin 0"
	create thin "0 4096 thin $(node pool) 0"
	step "write" dd if=/dev/zero of="$(node thin)" bs=64k count=4 oflag=direct
	for name in thin pool data meta snap store origin crypt; do
		step "remove $name" dmsetup remove --noudevsync --retry w-$name
	done
	step "detach" losetup -d /dev/loop6
}
