#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The guest's part of scripts/test-situations: one situation, and the audit after it, as
# one document of KTAP. Usage: situations.sh NAME [TAG], where TAG is the symbol that is
# looked up when the live patch is loaded.
# shellcheck disable=SC1091,SC2016,SC2034,SC2317	# codetag.inc has the rest; the situations are called by name
export SELFTESTS=/selftests
. /selftests/codetag.inc

# again: whether this runs in the second kernel, which the first one has started
again() { cmdline_has situations.again; }

# resume N PLANNED: the first kernel has printed N results of PLANNED
resume()
{
	tests=$1
	planned=$2
}

# another [-p]: load the kernel in /guest/files, with a copy of this root file system
another()
{
	find / -xdev ! -path '/guest/files/*' | cpio -o -H newc 2>/dev/null >/tmp/next.cpio
	"$BIN/kexec" "$@" /guest/files/bzImage /tmp/next.cpio "$(cat /proc/cmdline) situations.again"
}

# tests_of_device NAME LEAST OPTION…: run hmm-tests of the kernel tree, of which at least LEAST
# must pass. Its tests of coherent devices are skipped.
tests_of_device()
{
	what=$1
	least=$2
	shift 2
	/guest/files/hmm-tests "$@" >"$WORK/hmm" 2>&1
	status=$?
	# shellcheck disable=SC2046
	set -- $(awk '
		/^1\.\.[0-9]+/ { planned = substr($1, 4) }
		/^ok / { if (/# SKIP/) skipped++; else passed++ }
		/^not ok / { failed++ }
		END { print planned + 0, passed + 0, failed + 0, skipped + 0 }' "$WORK/hmm")
	diag "$what: $2 of $1 passed, $3 failed, $4 skipped"
	[ $status = 0 ] && [ "$1" -gt 0 ] && [ $(($2 + $4)) = "$1" ] && [ "$2" -ge "$least" ]
	check "$what" $? "status $status
$(grep '^not ok' "$WORK/hmm")
$(tail -n 5 "$WORK/hmm")"
}

hmm()
{
	plan 5
	thp=/sys/kernel/mm/transparent_hugepage/enabled
	modprobe test_hmm
	check "test_hmm is loaded" $?
	tests_of_device "tests of device memory" 20 -T exclusive -T exclusive_mprotect -T exclusive_cow
	# On Linux 6.12 these tests fail for parts of a huge page.
	was=$(sed 's/.*\[\(.*\)\].*/\1/' $thp)
	echo never >$thp
	tests_of_device "tests of exclusive access" 3 -t exclusive -t exclusive_mprotect -t exclusive_cow
	echo "$was" >$thp
	rmmod test_hmm
	drain
	audited "audit"
	targets_empty "nothing stays with the lines that allocate targets of a migration"
}

# The same ledger of the driver in each situation, with all that it can hold
held()
{
	snapshot
	hold_all
	run churn start
	sleep 1
	run churn stop
	compared "$1"
}

bpf()
{
	plan 6
	lines='kernel/bpf/|kernel/trace/bpf_trace'
	"$BIN/bpf" vfs_read </dev/null >/dev/null
	sleep 1
	base bpf "$lines"
	# Functions that allocators run through as well
	mkfifo "$WORK/bpf"
	"$BIN/bpf" vfs_read __kmalloc_noprof kmem_cache_free __alloc_pages_noprof \
		<"$WORK/bpf" >"$WORK/ready" 2>"$WORK/error" &
	pid=$!
	exec 5>"$WORK/bpf"
	until_true 20 grep -q ready "$WORK/ready"
	check "programs run in allocators" $? "$(cat "$WORK/error")"
	held "with programs"
	# shellcheck disable=SC2046
	set -- $(grown bpf)
	[ "$1" -gt 100000 ]
	check "their maps are charged" $? "$*"
	audited "audit with programs"
	run drop all
	exec 5>&-
	wait $pid
	# Maps go after grace periods, in a worker.
	until_true 20 eval '[ "$(grown bpf)" = "0 0" ]'
	equal "nothing is left of them" "0 0" "$(grown bpf)"
	audited "audit"
}

# live_patch MODULE LINE: load the patch; its allocations are charged to LINE; unload it while some
# of them still exist
live_patch()
{
	base live "$2"
	load "$1" 2>/dev/null
	check "$1 is loaded" $? "$(dmesg | tail -n 3)"
	until_true 20 grep -q -x 0 /sys/kernel/livepatch/"$1"/transition
	check "$1 works" $?
	exec 6</proc/version 7</proc/uptime
	# shellcheck disable=SC2046
	set -- "$1" "$2" $(grown live)
	[ "$3" -ge 64 ] && [ "$4" -ge 2 ]
	check "$1: charged to $2" $? "$3 $4"
	echo 0 2>/dev/null >/sys/kernel/livepatch/"$1"/enabled
	until_true 20 eval '[ ! -e /sys/kernel/livepatch/'"$1"' ] && rmmod '"$1"' 2>/dev/null'
	check "$1 is unloaded" $?
	exec 6<&- 7<&-
	equal "$1: nothing is left" "0 0" "$(grown live)"
}

live()
{
	plan 11
	live_patch codetag_live 'func:live_single_open'
	diag "the tag: $1"
	KO=/guest/files
	live_patch codetag_live_tag 'fs/seq_file.c:[0-9]* func:single_open'
	KO=/selftests
	audited "audit"
}

# keep NAME: have a guard keep ten allocations of pages
keep()
{
	echo "pages 10" >/sys/module/codetag_guarded/parameters/run
	equal "$1" $((10 * PAGE)) "$(kept)"
}

hibernate()
{
	plan 10
	held "before"
	audited "audit before"
	mkswap /dev/vda >/dev/null && swapon /dev/vda
	check "there is a swap device" $?
	load codetag_guarded && echo 'module codetag_guarded guard' >"$DEBUGFS"/codetag/control
	check "pages have a guard" $?
	keep "it keeps pages"
	# With test_resume the same kernel writes the image and reads it back.
	echo test_resume >/sys/power/disk
	if echo disk >/sys/power/state; then
		pass "to disk and back"
	else
		fail "to disk and back" "$(dmesg | tail -n 5)"
	fi
	swapoff /dev/vda
	equal "the guard has given them back" 0 "$(kept)"
	keep "it keeps pages again"
	echo guard=off >"$DEBUGFS"/codetag/control
	# Processors that come back allocate names of their own by kstrdup().
	equal "the same after it" "" "$(compare | grep -v '^kstrdup: ')"
	run drop all
	audited "audit after it"
}

kexec()
{
	if again; then
		resume 2 6
		[ ! -e /proc/vmcore ]
		check "another kernel" $?
		held "in the other kernel"
		run drop all
		audited "audit in the other kernel"
		witnessed "page_owner in the other kernel"
		return
	fi
	plan 6
	held "before"
	audited "audit before"
	unload codetag_test 2>/dev/null
	sync
	another
	bail "kexec does not work"
}

MB=$((1024 * 1024))

# The memory of the first kernel is left on the disk.
crash()
{
	if again; then
		resume 3 7
		[ -e /proc/vmcore ]
		check "a crash kernel" $?
		size=$(stat -c %s /proc/vmcore)
		diag "vmcore: $size"
		# Copy in pieces and print each: a guest that is silent for long is killed.
		saved=0
		status=0
		while [ $saved -lt "$size" ] && [ $status = 0 ]; do
			dd if=/proc/vmcore of=/dev/vda bs=1M skip=$((saved / MB)) seek=$((saved / MB)) count=16 2>/dev/null
			status=$?
			saved=$((saved + 16 * MB))
			diag "saved: $saved"
		done
		check "the memory is on the disk" $status
		sync
		# Tools recognise slab pages by this number.
		value=$(head -c 65536 /proc/vmcore | grep -a -o 'PAGE_SLAB_MAPCOUNT_VALUE)=-*[0-9]*')
		equal "the type of slabs is that of other kernels" $((0xf5000000)) $((${value#*=} & 0xffffffff))
		audited "audit in the crash kernel"
		return
	fi
	plan 7
	# Without the series, Linux 6.12 warns of a page that is freed while others use it.
	if have_engine; then
		held "before"
	else
		skip "before" "not this profiler"
	fi
	audited "audit before"
	# The objects of each cache, to compare with the dump
	awk 'NR > 2 { print "# slab: " $1, $2, $3, $4 }' /proc/slabinfo
	another -p
	check "a kernel for the crash is loaded" $?
	dmesg -n 8
	# The allocations are still held, so the dump has them.
	echo c >/proc/sysrq-trigger
}

# list N: the N-th list of call sites in the log that pstore has kept
list() { awk -v n="$1" '/Memory allocations \(/ { list++ } list == n && / func:/ && count++ < 10' "$WORK/kept"; }

pstore()
{
	if again; then
		resume 3 7
		mount -t pstore none /sys/fs/pstore
		cat /sys/fs/pstore/dmesg-ramoops-* >"$WORK/kept" 2>/dev/null
		grep -q 'Kernel panic - not syncing: sysrq triggered crash' "$WORK/kept"
		check "pstore has the end of the log" $? "$(ls /sys/fs/pstore)"
		for number in 1 2; do
			equal "list $number of call sites is whole" 10 "$(list $number | wc -l)"
		done
		# The module frees its memory after the failure.
		list 1 | head -n 1 | grep -q 'MiB .* \[codetag_atomic\] func:atomic_fail' &&
			list 2 | head -n 1 | grep -q 'MiB .*mm/shmem.c:.* func:shmem_alloc'
		check "the first list begins with the module, the second with tmpfs" $? "$(list 1; list 2)"
		return
	fi
	plan 7
	mkdir -p /tmp/big
	mount -t tmpfs none /tmp/big && dd if=/dev/zero of=/tmp/big/file bs=1M count=100 2>/dev/null
	check "tmpfs is full" $?
	# The kernel reports at most one failed allocation in ten seconds.
	sleep 11
	load codetag_atomic in=bh 2>/dev/null
	dmesg >"$WORK/kept"
	equal "an allocation fails: a list of call sites" 10 "$(list 1 | wc -l)"
	audited "audit before"
	echo c >/proc/sysrq-trigger
}

situation=$1
shift
case $situation in
live|hmm) prepare ;;
*) driver ;;
esac
"$situation" "$@"
! have_module codetag_test || { run drop all; unload codetag_test; }
finish
