#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# device mapper: linear, zero, snapshot, crypt, integrity, thin
# query: module dm_*; module dm-*; file drivers/md/dm*
prepare()
{
	modprobe -a loop dm_mod dm_crypt dm_snapshot dm_thin_pool dm_zero
	losetup /dev/loop6 || { truncate -s 32M /tmp/dm && losetup /dev/loop6 /tmp/dm; }
}
clean()
{
	for name in w-thin w-pool w-snap w-origin w-crypt w-linear; do
		dmsetup remove $name
	done
}
work()
{
	step "linear" dmsetup create w-linear --table "0 2048 linear /dev/loop6 0"
	step "crypt" dmsetup create w-crypt --table "0 2048 crypt aes-xts-plain64 $(printf %064d 1) 0 /dev/loop6 2048"
	step "write" dd if=/dev/zero of=/dev/mapper/w-crypt bs=64k count=4 oflag=direct
	step "origin" dmsetup create w-origin --table "0 2048 snapshot-origin /dev/loop6"
	step "wipe" dd if=/dev/zero of=/dev/loop6 bs=4k count=1 seek=1024
	step "snapshot" dmsetup create w-snap --table "0 2048 snapshot /dev/mapper/w-linear /dev/loop6 P 8"
	step "status" dmsetup status
	step "remove snapshot" dmsetup remove w-snap
	step "wipe" dd if=/dev/zero of=/dev/mapper/w-linear bs=64k count=16
	step "pool" dmsetup create w-pool --table "0 32768 thin-pool /dev/mapper/w-linear /dev/loop6 128 0"
	step "thin" dmsetup message w-pool 0 "create_thin 0"
	step "thin" dmsetup create w-thin --table "0 4096 thin /dev/mapper/w-pool 0"
	step "write" dd if=/dev/zero of=/dev/mapper/w-thin bs=64k count=4 oflag=direct
	for name in w-thin w-pool w-origin w-crypt w-linear; do
		step "remove $name" dmsetup remove $name
	done
}
