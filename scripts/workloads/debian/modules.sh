#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# modules that load without hardware: load and unload them, and what they register
# query: file kernel/module/*; file kernel/params.c; file kernel/workqueue.c; file kernel/kthread.c; file drivers/base/*; file fs/sysfs/*; file fs/kernfs/*; file block/*; module dummy; module null_blk; module zram; module nbd; module brd; module ifb; module scsi_debug; module l2tp_core; module vsock; module openvswitch
modules="dummy null_blk zram nbd brd ifb scsi_debug l2tp_core vsock_loopback openvswitch"
clean() { modprobe -r --wait 5000 $modules; }
work()
{
	for module in $modules; do
		step "load $module" modprobe $module
		step "unload $module" modprobe -r --wait 5000 $module
	done
}
