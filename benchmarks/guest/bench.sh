#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: run the cases and print their results. Each line begins with the place of the
# call sites: kernel (in the kernel image) or module.
#
# bench.sh BEFORE GLOB…: BEFORE is a shell command that prepares the variant
before=$1
shift
set -f

# Allocations with __GFP_ACCOUNT are charged only outside the root group.
mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/bench
echo $$ >/sys/fs/cgroup/bench/cgroup.procs

eval "$before" || exit 1

# Before each case, free all empty slabs.
calm()
{
	set +f
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
	set -f
}

# cases DIRECTORY WORD GLOB…
cases()
{
	dir=/sys/kernel/debug/$1
	word=$2
	shift 2
	[ -d "$dir" ] || return 1
	[ -z "$SAMPLES" ] || echo "$SAMPLES" >"$dir/samples"
	while read -r name; do
		for glob; do
			# shellcheck disable=SC2254
			case $name in
			$glob)
				calm
				echo "$name" >"$dir/run" || return 1 ;;
			esac
		done
	done <"$dir/cases"
	sed "s/^/$word /" "$dir/results"
}

cases alloc_bench kernel "$@" || exit 1
insmod /lib/bench/alloc_bench_mod.ko || exit 1
cases alloc_bench_mod module "$@" || exit 1
