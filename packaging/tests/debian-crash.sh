#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In Debian with the codetag packages and kdump-tools, behind debian-load.sh: run programs, have a
# module leak memory, then crash. Prints "ok NAME" and "not ok NAME" before the crash.
# shellcheck disable=SC2154,SC2181 # dir is of debian-load.sh
check()
{
	name=$1
	shift
	# In a condition, set -e would have no effect inside the command.
	(set -e; "$@") >/tmp/out 2>&1
	if [ $? -eq 0 ]; then
		echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/# /' /tmp/out
	fi
}

ready()
{
	systemctl start kdump-tools # waits until it is ready
	kdump-config show
	[ "$(cat /sys/kernel/kexec_crash_loaded)" = 1 ]
}

# Each unload of the module leaves an object to which no pointer leads. Then it loses the addresses
# of 200 slab objects, pages, percpu allocations and vmalloc areas each.
forget()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		modprobe hold keep=1
		rmmod hold
	done
	modprobe hold forget=200
	rmmod hold
	# Other work overwrites stale copies of the addresses.
	find /usr -type f -print0 | head -z -n 2000 | xargs -0 cat >/dev/null
	grep -E 'func:(hold_init|forget_)' /proc/allocinfo
}

postgresql()
{
	database
	transactions 500
	systemctl stop postgresql
}

check 'a crash kernel is loaded' ready
check 'files are made, changed and removed' files "$dir"
# The kernel deb-tiny cannot do more.
if modinfo nf_tables >/dev/null 2>&1; then
	check 'PostgreSQL with pgbench' postgresql
	check 'ext4, xfs, btrfs, overlayfs' filesystems
	check 'nftables and network namespaces' network
	check 'containers' container
	check 'dm-crypt and LVM on a loop device' encrypted
fi
check 'a module forgets memory' forget
check 'the audit finds no mismatch' codetag audit
sync
cp /proc/allocinfo /var/crash/allocinfo
codetag where --once >/var/crash/where
sync
echo c >/proc/sysrq-trigger
