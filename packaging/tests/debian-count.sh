#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In Debian on any kernel, behind debian-load.sh: count the instructions of boot and of programs
# in a guest of run-debian --count, and measure the used memory before and after. Prints
#   work NAME MILLIONS        instructions
#   memory NAME KIB
#   page HOW INSTRUCTIONS     to allocate and free a page at one call site
#   slab CACHE OBJECTS BYTES  of one object, with its share of unused space in the slab
#   failed NAME               and lines with "# "
echo 0 >/proc/sys/kernel/randomize_va_space

# Millions of instructions since the kernel keeps time: a millisecond in which the processor is not
# idle has a million. The resolution is ten million.
busy()
{
	awk 'FILENAME == "/proc/uptime" { up = $1 } $1 == "cpu" { idle = $5 + $6 }
		END { print int(up * 1000 - idle * 10) }' /proc/uptime /proc/stat
}

# Millions of instructions of all tasks, with a resolution of a nanosecond
ran() { awk '$1 == "cpu0" { print int($8 / 1000000) }' /proc/schedstat; }

counted()
{
	name=$1
	shift
	start=$(ran)
	# In a condition, set -e would have no effect inside the command.
	(set -e; "$@") >/tmp/out 2>&1
	# shellcheck disable=SC2181
	if [ $? -eq 0 ]; then
		echo "work $name $(($(ran) - start))"
	else
		echo "failed $name"
		tail -n 15 /tmp/out | sed 's/^/# /'
	fi
}

# used NAME: the memory that is not free after caches are dropped
used()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	shrink_slabs
	sleep 1
	awk -v name="$1" '$1 == "MemTotal:" { total = $2 } $1 == "MemFree:" { free = $2 }
		END { print "memory " name, total - free; print "memory total-" name, total }' /proc/meminfo
}

# Pages are of 4 KiB here.
slabs() { awk 'NR > 2 && $5 { print "slab", $1, $2, $6 * 4096 / $5 }' /proc/slabinfo; }

messages() { perf bench sched messaging -g 4 -l 100; }
pipe() { perf bench sched pipe -l 20000; }
forks() { for _ in $(seq 500); do /bin/true; done; }

# pairs HOW: the cost of a page in the module that DKMS has built, at the second run
pairs()
{
	for _ in 1 2; do
		modprobe hold pairs=2000
		rmmod hold
	done
	echo "page $1 $(dmesg | sed -n 's/.*hold: \([0-9]*\) ns a page/\1/p' | tail -n 1)"
}

control=/sys/kernel/debug/codetag/control
# The cost of stacks: as a key of that call site alone, and with bcc's memleak, which takes
# the stacks of all allocations of the kernel.
stacks()
{
	pairs plain
	[ -e "$control" ] && [ "$(cat /proc/sys/vm/mem_profiling)" = 1 ] || return 0
	echo 'module hold keys=stack' >"$control"
	pairs stack
	echo 'keys=none' >"$control"
	if ! start_memleak -T 1 3600 >/tmp/out; then
		echo 'failed memleak'
		sed 's/^/# /' /tmp/out
		return
	fi
	pairs memleak
	stop_memleak
}

systemctl is-system-running --wait >/dev/null
echo "work boot $(busy)"
used after-boot
counted messages messages
counted pipe pipe
counted hackbench hackbench -g 4 -l 50
counted forks forks
counted database database
counted pgbench transactions 250
counted compile compile
counted apt apt_work
counted filesystems filesystems
counted network network
counted container container
counted encrypted encrypted
used after-work
slabs
[ ! -e /proc/allocinfo ] || stacks
