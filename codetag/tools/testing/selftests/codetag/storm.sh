#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The stress test: everything at once for a while, and then a recount of all pages and objects.
# Processes, files on tmpfs and on ext4, compaction, huge pages, CPU hotplug, modules that unload
# with live memory. Memory pressure up to the OOM killer, in a memory cgroup and everywhere.
# SPLIT=1 or the kernel parameter storm.split: the call sites of mm/, fs/ and net/ are split.
# TOGGLE=1 or storm.toggle: vm.mem_profiling is switched (see "tcg: single" in README.rst).
# SWAP=0 or storm.noswap: there is no swap.
# guest: own
# disk: 256M
# timeout: 300
# args: STORM_SECONDS=60 SPLIT=0 TOGGLE=0 SWAP=1
. "$(dirname "$0")/codetag.inc"

words=$(cat /proc/cmdline)
for w in $words; do
	case $w in
	storm.seconds=*) STORM_SECONDS=${w#*=} ;;
	storm.split) SPLIT=1 ;;
	storm.toggle) TOGGLE=1 ;;
	storm.noswap) SWAP=0 ;;
	esac
done
STORM_SECONDS=${STORM_SECONDS:-60}
SPLIT=${SPLIT:-0}
TOGGLE=${TOGGLE:-0}
SWAP=${SWAP:-1}
CONTROL=$DEBUGFS/codetag/control
KMEMLEAK=$DEBUGFS/kmemleak

# ---- what goes on: each of these runs until $WORK/go is gone -----------------

processes()
{
	while going; do
		for i in 1 2 3 4 5 6 7 8; do
			(/bin/busybox true; ls /proc/self/fd | wc -l) >/dev/null &
		done
		wait
		seq 1 200 | sort -r | grep 7 | wc -l >/dev/null
		did processes
	done
}

# files NAME DIRECTORY
files()
{
	n=0
	while going; do
		n=$((n + 1))
		d=$2/$((n % 5))
		mkdir -p "$d"
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
			dd if=/dev/zero of="$d/$i" bs=7000 count=$((i * 3)) 2>/dev/null
			: >"$d/small.$i"
			ln "$d/$i" "$d/link.$i" 2>/dev/null
		done
		cat "$d"/* >/dev/null 2>&1
		mv "$d/1" "$d/1.moved" 2>/dev/null
		[ "$1" = tmpfs ] || sync
		find "$2" -type f | wc -l >/dev/null
		rm -rf "${2:?}/$(((n + 2) % 5))"
		did "$1"
	done
	rm -rf "${2:?}"/[0-4]
}

compaction()
{
	while going; do
		echo 1 >/proc/sys/vm/compact_memory
		did compaction
		sleep 0.3
		echo 3 >/proc/sys/vm/drop_caches
		sleep 0.2
	done
}

huge()
{
	hugetlb=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
	n=0
	while going; do
		n=$((n + 1))
		"$BIN/pages" huge 12 </dev/null >/dev/null 2>&1 &
		sleep 0.1
		[ ! -w $DEBUGFS/split_huge_pages ] || echo 1 >$DEBUGFS/split_huge_pages
		"$BIN/pages" huge 6 </dev/null >/dev/null 2>&1
		if [ -w $hugetlb ]; then
			echo $((n % 7 + 1)) >$hugetlb
			"$BIN/pages" hugetlb 2 </dev/null >/dev/null 2>&1
			echo 0 >$hugetlb
		fi
		wait
		did huge
	done
	[ ! -w $hugetlb ] || echo 0 >$hugetlb
}

cpus()
{
	cpu=/sys/devices/system/cpu/cpu1/online
	while going && [ -w $cpu ]; do
		echo 0 >$cpu 2>/dev/null && did cpus
		sleep 0.4
		echo 1 >$cpu 2>/dev/null
		sleep 0.7
	done
	[ ! -w $cpu ] || echo 1 >$cpu 2>/dev/null
}

# Without memory a module may fail to load; that is no error here.
modules()
{
	pieces=0
	have_engine && pieces=3
	n=0
	while going; do
		n=$((n + 1))
		if load codetag_victim pieces=$pieces group=storm$n 2>/dev/null; then
			unload codetag_victim && did modules
		fi
		[ $((n % 3)) -ne 0 ] || {
			load codetag_many 2>/dev/null && unload codetag_many
		}
		run drop storm$((n - 2)) 2>/dev/null
		sleep 0.1
	done
}

# In a memory cgroup with less memory than it wants.
cgroup()
{
	while going; do
		(
			echo 0 >/tmp/cgroup/storm/cgroup.procs
			dd if=/dev/zero of="$WORK/tmpfs/cgroup" bs=1M count=10 2>/dev/null
			"$BIN/hog" 60 2
			cat "$WORK"/tmpfs/[0-9]/* >/dev/null 2>&1
			rm -f "$WORK/tmpfs/cgroup"
		) >/dev/null 2>&1
		did cgroup
		sleep 0.2
	done
}

# Use more memory than there is. At the end of the test the hogs are killed: the time that they take
# depends on the machine.
pressure()
{
	while going; do
		sleep 2
		free=$(awk '$1 ~ /^(MemFree|SwapFree|Cached):/ { n += $2 }
			END { print int(n / 1024) }' /proc/meminfo)
		"$BIN/hog" $((free + 40)) 4 >/dev/null 2>&1
		did pressure
	done
}

# Processes that the OOM killer may take while the last hog still exits. If kernel code is
# preempted, that can take long, and the hog's memory is not free until then. All other processes
# are exempt, and the kernel panics if there is none to kill. So there are many victims with some
# memory each, every one that is killed is replaced, and they stay until everything else has ended.
victims()
{
	for i in $(seq 24); do
		while [ -e "$WORK/victim" ]; do
			"$WORK/victim" 1 5 idle >/dev/null 2>&1
		done &
	done
	wait
}

driven()
{
	while going; do
		run hold all
		run cpu 1 2>/dev/null
		run thin all
		run cpu -1
		for c in $(cases); do
			run drop "$c" 2>/dev/null
		done
		did driven
	done
}

reading()
{
	while going; do
		cat $ALLOCINFO >"$WORK/read"
		[ "$(wc -l <"$WORK/read")" -gt 500 ] || echo short >>"$WORK/bad"
		awk 'NR > 2 && ($1 < 0 || $2 < 0)' "$WORK/read" >>"$WORK/bad"
		[ ! -r $STATS ] || cat $STATS >/dev/null
		did reading
		sleep 0.5
	done
}

# short: whether memory was short: pages were reclaimed and a process was killed. Pages that a
# memory cgroup reclaims from itself are not among these.
short()
{
	kills=$(($(vmstat oom_kill) - kills_before))
	steals=$(($(vmstat pgsteal_direct) + $(vmstat pgsteal_kswapd) - steals_before))
	[ "$kills" -gt 0 ] && [ "$steals" -gt 0 ]
}

# A query can fail for want of memory; that is no error here.
splitting()
{
	while going; do
		for query in "file mm/* keys=stack" "file fs/* keys=stack,age" "file net/* keys=size,cpu"; do
			echo "$query" 2>/dev/null >$CONTROL
			sleep 0.7
		done
		listed=$(grep -c "^ *[0-9]" $CONTEXTS)
		[ "$listed" -le "$(cat "$WORK/contexts")" ] || echo "$listed" >"$WORK/contexts"
		for directory in net fs mm; do
			echo "file $directory/* keys=none" 2>/dev/null >$CONTROL
			sleep 0.4
		done
		did splitting
	done
	# The hogs are dead by now.
	until echo "keys=none" >$CONTROL; do
		sleep 1
	done
}

toggling()
{
	while going; do
		echo 0 >$SWITCH
		sleep 0.1
		echo 1 >$SWITCH
		sleep 0.3
		did toggling
	done
	echo 1 >$SWITCH
}

# unreferenced: the objects of codetag that kmemleak reports, by allocating function, and how many
# of the planted leaks it reports
unreferenced()
{
	load codetag_leaky 2>/dev/null && echo 20 >/sys/module/codetag_leaky/parameters/forget
	# An object is reported when it was unreferenced and unchanged in several scans.
	for i in 1 2 3; do
		sleep 6
		echo scan >$KMEMLEAK
	done
	awk '
	function flush() {
		all++
		if (planted) {
			found++
		} else if (codetag) {
			bad++
			printf("%s", report)
		}
		report = ""
		codetag = planted = 0
	}
	/^unreferenced object/ && report != "" { flush() }
	{ report = report $0 "\n" }
	/ [a-z0-9_.]*(codetag|alloc_tag|page_tag)[a-z0-9_.]*\+0x/ { codetag = 1 }
	/ forget\+0x.*\[codetag_leaky\]/ { planted = 1 }
	END {
		if (report != "")
			flush()
		printf("unreferenced: %d, of codetag %d, forgotten by a module %d\n", all, bad, found)
	}' $KMEMLEAK
}

# ---- all together ----------------------------------------------------------

driver
echo "-1000" >/proc/self/oom_score_adj
# A counter page of its own for each, before there is pressure.
mkdir -p "$WORK/tmpfs" "$WORK/disk" /tmp/cgroup
mount -t tmpfs -o size=48M tmpfs "$WORK/tmpfs" || bail "no tmpfs"

disk=
for d in /dev/vda /dev/ubda; do
	[ ! -b $d ] || disk=$d
done
if [ -n "$disk" ] && ! mount -t ext4 "$disk" "$WORK/disk" 2>/dev/null; then
	mke2fs "$disk" >/dev/null 2>&1
	mount -t ext4 "$disk" "$WORK/disk" 2>/dev/null || disk=
fi
have_cgroup=
if { mounted /tmp/cgroup || mount -t cgroup2 none /tmp/cgroup; } &&
   echo +memory >/tmp/cgroup/cgroup.subtree_control && mkdir -p /tmp/cgroup/storm &&
   echo 24M >/tmp/cgroup/storm/memory.max; then
	have_cgroup=1
	echo 4M 2>/dev/null >/tmp/cgroup/storm/memory.swap.max
fi
# A little swap, where there is a zram to be had.
swap=
[ "$SWAP" = 0 ] || ! swap_to_zram 32M || swap=1
thp=/sys/kernel/mm/transparent_hugepage/enabled
if [ -e $thp ]; then
	echo always >$thp
	# khugepaged has the lowest priority. It could wait for a CPU while it holds the mmap
	# lock of a hog. The OOM killer gives up on a process whose lock it cannot get.
	pidof khugepaged | xargs -r renice -10 >/dev/null
fi
echo 0 >/proc/sys/vm/panic_on_oom
# The OOM killer says much. Warnings must reach the console: lock proving, KCSAN and others
# only print.
echo 0 >/proc/sys/vm/oom_dump_tasks
dmesg -n 5 2>/dev/null

workers="processes tmpfs ext4 compaction huge cpus modules cgroup pressure driven reading splitting toggling"
echo 0 >"$WORK/contexts"
# shellcheck disable=SC2086
plan $(($(echo $workers | wc -w) + 13))
kills_before=$(vmstat oom_kill)
steals_before=$(($(vmstat pgsteal_direct) + $(vmstat pgsteal_kswapd)))
audited "audit before the storm"

echo go >"$WORK/go"
run churn start
ln -s "$BIN/hog" "$WORK/victim"
victims 2>/dev/null &
victims=$!
pids=
for w in $workers; do
	echo 0 >"$WORK/n.$w"
	case $w in
	tmpfs) files tmpfs "$WORK/tmpfs" & ;;
	ext4) [ -n "$disk" ] || continue; files ext4 "$WORK/disk" & ;;
	cgroup) [ -n "$have_cgroup" ] || continue; cgroup & ;;
	splitting) [ "$SPLIT" = 1 ] || continue; splitting & ;;
	toggling) [ "$TOGGLE" = 1 ] || continue; toggling & ;;
	*) $w & ;;
	esac
	pids="$pids $!"
done
# Otherwise each step from here on would wait for a CPU.
renice -n -5 $$ >/dev/null

# In the middle of it, when nothing is switched, the audit has to hold as well.
sleep $((STORM_SECONDS / 2))
audited "audit in the storm"
now=$(date +%s)
sleep $((STORM_SECONDS - STORM_SECONDS / 2))
# Go on until memory was short, which takes longer on a slow machine.
while ! short && [ $(($(date +%s) - now)) -lt $((STORM_SECONDS * 4)) ]; do
	sleep 1
done
lasted=$(($(date +%s) - now + STORM_SECONDS / 2))
rm "$WORK/go"

# A worker that does not end within three minutes is stuck.
(
	for i in $(seq 180); do
		killall -q hog
		sleep 1
	done
	echo "stuck" >"$WORK/stuck"
	# shellcheck disable=SC2086
	kill -9 $pids
) 2>/dev/null &
watchdog=$!
# shellcheck disable=SC2086
wait $pids 2>/dev/null
kill $watchdog 2>/dev/null
wait $watchdog 2>/dev/null
rm "$WORK/victim"
killall -q victim
wait $victims 2>/dev/null
diag "$lasted s, and $(($(date +%s) - now + STORM_SECONDS / 2 - lasted)) s to come to an end"

for w in $workers; do
	n=$(cat "$WORK/n.$w")
	case $w in
	ext4) [ -n "$disk" ] || { skip "$w" "no disk"; continue; } ;;
	cpus)
		if ! [ -w /sys/devices/system/cpu/cpu1/online ]; then
			skip "$w" "only one CPU"
			continue
		fi ;;
	cgroup) [ -n "$have_cgroup" ] || { skip "$w" "no memory cgroups"; continue; } ;;
	splitting)
		[ "$SPLIT" = 1 ] || { skip "$w" "not asked for"; continue; }
		diag "up to $(cat "$WORK/contexts") contexts at once"
		# Without contexts the splitting would have tested nothing.
		[ "$(cat "$WORK/contexts")" -ge 100 ] || n=0 ;;
	toggling) [ "$TOGGLE" = 1 ] || { skip "$w" "not asked for"; continue; } ;;
	esac
	diag "$w: $n rounds"
	[ "$n" -gt 0 ]
	check "$w" $? "did nothing"
done
[ ! -e "$WORK/stuck" ]
check "all came to an end" $?

short
check "memory was short" $? "$kills kills, $steals pages reclaimed"
diag "the OOM killer killed $kills, $steals pages were reclaimed"

run churn stop
run drop all 2>/dev/null
! have_module codetag_victim || unload codetag_victim
! have_module codetag_many || unload codetag_many
if [ -n "$swap" ]; then
	swapoff /dev/zram0
	echo 1 >/sys/block/zram0/reset
	rmmod zram 2>/dev/null
fi
umount "$WORK/tmpfs"
[ -z "$disk" ] || umount "$WORK/disk"
[ -z "$have_cgroup" ] || rmdir /tmp/cgroup/storm
sync
echo 3 >/proc/sys/vm/drop_caches

# The kernel uses the lines of kstrdup as well.
compare >/dev/null
equal "nothing is left of the storm" "" "$(grep -v '^kstrdup: ' "$WORK/diff")"
negative=$(cat "$WORK/bad" 2>/dev/null; awk 'NR > 2 && ($1 < 0 || $2 < 0)' $ALLOCINFO)
equal "no negative numbers" "" "$(echo "$negative" | head -n 10)"
if have_engine; then
	diag "$(tr '\n' ' ' <$STATS)"
	equal "no page was without a store" 0 "$(stat_value pages_without_store)"
else
	skip "no page was without a store" "not this profiler"
fi
audited "audit after the storm"
targets_empty "nothing stays with the lines that allocate targets of a migration"
[ ! -s "$WORK/audit" ] || diag "$(tail -n 1 "$WORK/audit")"
witnessed "page_owner has the same call sites"
if [ -w $KMEMLEAK ]; then
	out=$(unreferenced)
	diag "${out##*
}"
	case $out in
	*", of codetag 0, "*) pass "kmemleak finds a pointer to all memory of codetag" ;;
	*) fail "kmemleak finds a pointer to all memory of codetag" "$out" ;;
	esac
	# A register or a stack can still have the address of one.
	[ "${out##* }" -ge 15 ]
	check "kmemleak finds what a module has forgotten" $? "${out##* } of 20"
else
	skip "kmemleak finds a pointer to all memory of codetag" "no kmemleak"
	skip "kmemleak finds what a module has forgotten" "no kmemleak"
fi
if [ -e $DEBUGFS/kcsan ]; then
	load codetag_racing && unload codetag_racing
	dmesg | grep -q 'BUG: KCSAN: data-race in .*count_unordered'
	check "KCSAN finds the race of a module" $? "$(dmesg | grep -c 'BUG: KCSAN: ') other reports"
else
	skip "KCSAN finds the race of a module" "no KCSAN"
fi
unload codetag_test
finish
