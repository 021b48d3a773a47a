#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What `make run` shows: a workload of every kind, then the report of the profiler.
set -e

fail()
{
	echo "demo: $*"
	exit 1
}

# Processes that come and go, three at a time
storm()
{
	i=0
	while [ $i -lt 100 ]; do
		sh -c 'echo $$ | cat' >/dev/null || fail "a process failed"
		i=$((i + 1))
	done
}
for job in 1 2 3; do
	storm &
	jobs="$jobs $!"
done

# fill DIR: files that stay, and some that do not
fill()
{
	mkdir -p "$1/keep" "$1/drop"
	i=0
	while [ $i -lt 100 ]; do
		dd if=/dev/urandom of="$1/keep/$i" bs=16k count=4 2>/dev/null
		dd if=/dev/zero of="$1/drop/$i" bs=64k count=2 2>/dev/null
		i=$((i + 1))
	done
	rm -r "$1/drop"
	[ "$(cat "$1"/keep/* | wc -c)" -eq $((100 * 65536)) ] || fail "files in $1 have lost bytes"
}
fill /tmp/files

[ -n "$GUEST_DISK" ] || fail "no disk"
mount -t ext4 "$GUEST_DISK" /mnt
fill /mnt
sync

modprobe zram
grep -q '^zram ' /proc/modules || fail "module zram did not load"
grep -q ' \[zram\] ' /proc/allocinfo || fail "module zram shows no call sites"
rmmod zram
! grep -q '^zram ' /proc/modules || fail "module zram did not unload"

for job in $jobs; do
	wait "$job" || fail "one of the processes failed"
done

stats=/sys/kernel/debug/codetag/stats
[ -r $stats ] || fail "no $stats: this kernel does not have the profiler"
value()
{
	v=$(sed -n "s/^$1: *//p" $stats)
	[ -n "$v" ] || fail "no $1 in $stats"
	echo "$v"
}
number()
{
	v=$(value "$1") || { echo "$v"; exit 1; }
	case $v in
	*[!0-9]*) fail "$1 is no number: $v" ;;
	esac
	echo "$v"
}
# The substitutions stand alone so that their failure counts.
store=$(value store) || fail "$store"
bits=$(number store_bits) || fail "$bits"
builtin=$(number ids_builtin) || fail "$builtin"
modules=$(number ids_module_used) || fail "$modules"
tags=$(number mem_tags) || fail "$tags"
counters=$(number mem_counters) || fail "$counters"
pages=$(number mem_page_refs) || fail "$pages"
slabs=$(number mem_slab_refs) || fail "$slabs"
percpu=$(number mem_percpu_refs) || fail "$percpu"
[ "$builtin" -gt 0 ] || fail "no built-in tags"

kb() { echo $((($1 + 1023) / 1024)) kB; }
echo
echo "kernel                $(uname -r) ($(nproc) CPUs, $(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo) MB)"
echo "page id store         $store, $bits bits"
echo "tags                  $builtin built-in, $modules of modules"
echo "cost of the profiler  $(kb $((tags + counters + pages + slabs + percpu))): tags $(kb "$tags")," \
	"counters $(kb "$counters"), page ids $(kb "$pages")," \
	"slab ids $(kb "$slabs"), percpu ids $(kb "$percpu")"
echo
codetag top --once -n 15 >/tmp/top || fail "codetag top failed"
cat /tmp/top
[ "$(wc -l </tmp/top)" -ge 15 ] || fail "codetag top shows less than 15 call sites"
