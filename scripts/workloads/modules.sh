#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# modules that load without hardware: load and unload loop, zram and those of the self-tests
# query: file kernel/module/*; file kernel/params.c; file kernel/workqueue.c; file kernel/kthread.c; file kernel/tracepoint.c; file mm/slab_common.c; file mm/mempool.c; file lib/*; file drivers/base/*; file fs/sysfs/*; file fs/kernfs/*; file fs/proc/*; file fs/debugfs/*; file block/*; module loop; module zram; module zsmalloc; module codetag_test
# flavour: checks
modules="loop zram"

prepare() { work; }

clean()
{
	rmmod codetag_test
	modprobe -r loop zram
}

work()
{
	for module in $modules; do
		step "load $module" modprobe $module
	done
	step "load codetag_test" insmod /selftests/codetag_test.ko
	step "unload codetag_test" rmmod codetag_test
	for module in $modules; do
		step "unload $module" modprobe -r $module
	done
}
