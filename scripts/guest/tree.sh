#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The guest's part of scripts/test-tree: run tests of the kernel tree, and print
# "@ NAME", the output of the test, and "@ status NUMBER" for each. Usage:
# tree.sh [LINE…], the numbers of lines in tree-tests.txt; without, all of them.
# shellcheck disable=SC2317	# the kinds of tests are called by their names
list=/guest/tree-tests.txt
dir=/selftests

# Tests provoke warnings. They are in the kernel log for whoever looks there.
echo 0 >/proc/sys/kernel/panic_on_warn
sysctl -q -w kernel.hung_task_timeout_secs=0 kernel.printk_ratelimit=0 2>/dev/null
mkdir -p /sys/fs/cgroup
mount -t cgroup2 -o memory_hugetlb_accounting cgroup2 /sys/fs/cgroup 2>/dev/null
# Some tests want files that are not in memory.
mount "$GUEST_DISK" /mnt || exit 1
mkdir -p /mnt/proc /mnt/sys/fs/cgroup
mount -t proc proc /mnt/proc
mount -t cgroup2 -o memory_hugetlb_accounting cgroup2 /mnt/sys/fs/cgroup
# With 512 MiB huge pages are off until somebody wants them.
for setting in enabled=madvise defrag=madvise use_zero_page=1; do
	echo "${setting#*=}" >"/sys/kernel/mm/transparent_hugepage/${setting%=*}"
done
echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd

# kunit MODULE: the results of the suites that were not there before
kunit()
{
	results=/sys/kernel/debug/kunit
	modprobe kunit enable=1 || return 1
	before=" $(echo "$results"/*) "
	modprobe "$@" || return 1
	for suite in "$results"/*; do
		case $before in
		*" $suite "*) ;;
		*) cat "$suite/results" ;;
		esac
	done
	rmmod "$1"
}

# module NAME PARAMETER…: two of them always say EAGAIN, so as not to stay
module()
{
	dmesg -c >/dev/null
	modprobe "$@" 2>/dev/null
	status=$?
	rmmod "$1" 2>/dev/null
	dmesg >/tmp/messages
	case $1 in
	percpu_test) grep -q 'percpu test done' /tmp/messages && ! grep -q 'WARNING: ' /tmp/messages ;;
	test_vmalloc)
		# The threads' results, each case once
		sed -n 's/.*Summary: \([a-z0-9_]*\) passed: \([0-9]*\) failed: \([0-9]*\) .*/\1 \2 \3/p' /tmp/messages |
			awk '{ passed[$1] += $2; failed[$1] += $3 }
			END {
				for (name in passed)
					print (passed[name] && !failed[name] ? "ok" : "not ok"), ++n, name
				exit !n
			}' ;;
	*) return "$status" ;;
	esac
}

# program DIRECTORY NAME ARGUMENT…
program()
{
	cd /mnt || return 1
	name=$dir/$1/$2
	shift 2
	timeout -s KILL "$seconds" "$name" "$@"
}

mm()
{
	case $1 in
	hugetlb_fault_after_madv|hugetlb_madv_vs_map) pages=1 ;;
	hugepage-*|map_hugetlb|hugetlb*|thuge-gen|gup_longterm|cow|uffd*|mremap_test) pages=32 ;;
	*) pages=0 ;;
	esac
	# It maps 2 GB twice, and uses a few MB of them.
	case $1 in
	mremap_test) overcommit=1 ;;
	*) overcommit=0 ;;
	esac
	echo "$overcommit" >/proc/sys/vm/overcommit_memory
	echo 3 >/proc/sys/vm/drop_caches
	echo 1 >/proc/sys/vm/compact_memory
	echo "$pages" >/proc/sys/vm/nr_hugepages
	program mm "$@" >/tmp/output
	status=$?
	# khugepaged says "What it tries... OK", in green, or something else in red.
	sed 's/^\(.*[^.]\)\.\.\.* .\[32m.*/ok 1 \1/; s/^\(.*[^.]\)\.\.\.* .\[31m.*/not ok 1 \1/' /tmp/output
	echo 0 >/proc/sys/vm/nr_hugepages
	return "$status"
}

# On a disk: a file system in memory keeps no names of files that are not there.
cgroup()
{
	cp "$dir/cgroup/$1" /mnt/
	(cd /mnt && timeout -s KILL "$seconds" chroot /mnt "/$1")
}

number=0
while read -r seconds kind what; do
	case $seconds in
	''|\#*) continue ;;
	esac
	number=$((number + 1))
	case " $* " in
	'  '|*" $number "*) ;;
	*) continue ;;
	esac
	echo "@ $number $kind $what"
	from=$(date +%s)
	# shellcheck disable=SC2086
	$kind $what </dev/null 2>&1
	status=$?
	echo
	echo "@ status $status after $(($(date +%s) - from)) s"
done <$list
exit 0
