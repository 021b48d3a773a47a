#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# a NAND flash that is simulated: load, read, write, unload
# query: module nandsim; module nand; module nandcore; module mtd; file drivers/base/*; file fs/sysfs/*
# flavour: checks
# mem: 768M
prepare() { modprobe nandsim && modprobe -r nandsim; }

clean() { modprobe -r nandsim; }

work()
{
	step "load" modprobe nandsim
	step "read" dd if=/dev/mtd0 of=/dev/null bs=16k count=4
	step "write" dd if=/dev/zero of=/dev/mtd0 bs=16k count=1
	step "unload" modprobe -r nandsim
}
