#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A short stress test, then checks that hold with any boot parameters. scripts/test-options runs it
# with one set of parameters after the other. With page_owner=on call sites are compared with
# page_owner, too. If this kernel does not know one of the parameters, everything is skipped:
# it would only repeat another boot.
# guest: own
# disk: 256M
# args: SHORT_SECONDS=4
. "$(dirname "$0")/codetag.inc"

SHORT_SECONDS=${SHORT_SECONDS:-4}
cmdline=$(cat /proc/cmdline)

# unknown: parameters that the kernel does not know. It lists these in its log, but not those with
# a dot, which can be for a module that is loaded later.
unknown()
{
	dmesg | sed -n 's/.*Unknown kernel command line parameters "\(.*\)", will be.*/\1/p'
	for word in $cmdline; do
		name=${word%%=*}
		case $name in
		guest.* | storm.* | selftest.* | options.*) continue ;;
		# Parameters with a dot that belong to no module
		codetag.page_ref | cgroup.memory | sysctl.* | workqueue.unbound_cpus) continue ;;
		*.*)	[ -e "/sys/module/${name%%.*}/parameters/${name#*.}" ] ||
				echo "$word" ;;
		esac
	done
}

processes()
{
	while going; do
		for i in 1 2 3 4; do
			(/bin/busybox true; ls /proc/self/fd | wc -l) >/dev/null &
		done
		wait
		did processes
	done
}

# files NAME DIRECTORY
files()
{
	while going; do
		for i in 1 2 3 4 5 6 7 8; do
			dd if=/dev/zero of="$2/$i" bs=7000 count=$((i * 5)) 2>/dev/null
			ln "$2/$i" "$2/link.$i" 2>/dev/null
		done
		cat "$2"/* >/dev/null 2>&1
		rm -f "$2"/[0-9] "$2"/link.*
		did "$1"
	done
}

# Moves and splits, and all that can be reclaimed
moves()
{
	while going; do
		"$BIN/pages" huge 8 </dev/null >/dev/null 2>&1 &
		sleep 0.1
		[ ! -w $DEBUGFS/split_huge_pages ] || echo 1 >$DEBUGFS/split_huge_pages
		echo 1 >/proc/sys/vm/compact_memory
		echo 3 >/proc/sys/vm/drop_caches
		wait
		did moves
	done
}

# A third of the free memory, of which some goes to the swap.
hogs()
{
	while going; do
		free=$(awk '$1 == "MemFree:" { print int($2 / 1024) }' /proc/meminfo)
		"$BIN/hog" $((free / 3 + 1)) 1 >/dev/null 2>&1
		did hogs
	done
}

driven()
{
	while going; do
		run hold all
		run thin all
		run drop all
		did driven
	done
}

prepare
none=$(unknown | sort -u | tr '\n' ' ')
if [ -n "$none" ]; then
	cleanup
	skip_all "this kernel does not know: $none"
fi
workers="processes tmpfs ext4 moves hogs"
if ! cmdline_has sysctl.vm.mem_profiling=never; then
	cleanup
	driver
	have_engine || bail "no engine"
	workers="$workers driven"
fi
# shellcheck disable=SC2086
plan $(($(echo $workers | wc -w) + 6))

mkdir -p "$WORK/tmpfs" "$WORK/disk"
mount -t tmpfs -o size=16M tmpfs "$WORK/tmpfs" || bail "no tmpfs"
disk=yes
if ! grep -q ext4 /proc/filesystems; then
	disk=
elif ! mount -t ext4 /dev/vda "$WORK/disk" 2>/dev/null; then
	bail "no ext4 on /dev/vda"
fi
swap=
! swap_to_zram 16M || swap=1
thp=/sys/kernel/mm/transparent_hugepage/enabled
# The boot parameter transparent_hugepage=never stays in effect.
! grep -q -s madvise.*always $thp || grep -q '\[never\]' $thp || echo always >$thp

echo go >"$WORK/go"
! have_module codetag_test || run churn start
for w in $workers; do
	echo 0 >"$WORK/n.$w"
	case $w in
	tmpfs | ext4) ;;
	*) $w & pids="$pids $!" ;;
	esac
done
files tmpfs "$WORK/tmpfs" & pids="$pids $!"
if [ -n "$disk" ]; then
	files ext4 "$WORK/disk" & pids="$pids $!"
else
	echo 1 >"$WORK/n.ext4"
fi
sleep "$SHORT_SECONDS"
# Each load does at least one round, however slow the machine is.
for i in $(seq 60); do
	# shellcheck disable=SC2046
	[ "$(cat $(printf "$WORK/n.%s " $workers) | grep -c '^0$')" -ne 0 ] || break
	sleep 1
done
rm "$WORK/go"
# shellcheck disable=SC2086
wait $pids
for w in $workers; do
	if [ "$w$disk" = ext4 ]; then
		skip "$w" "no ext4"
		continue
	fi
	n=$(cat "$WORK/n.$w")
	[ "$n" -gt 0 ]
	check "$w" $? "did nothing"
done
umount "$WORK/tmpfs"
[ -z "$disk" ] || umount "$WORK/disk"
if [ -n "$swap" ]; then
	swapoff /dev/zram0
	echo 1 >/sys/block/zram0/reset
	rmmod zram
fi
sync
echo 3 >/proc/sys/vm/drop_caches

if ! have_module codetag_test; then
	skip_rest 6 "profiling is off for good" "what the profiler says"
	finish
fi
run churn stop
run drop all
if [ "$(cat $SWITCH)" = 0 ]; then
	skip "nothing is left of the storm" "profiling is off"
else
	# The kernel uses the lines of kstrdup as well.
	compare >/dev/null
	equal "nothing is left of the storm" "" "$(grep -v '^kstrdup: ' "$WORK/diff")"
fi
equal "no negative numbers" "" "$(awk 'NR > 2 && ($1 < 0 || $2 < 0)' $ALLOCINFO | head -n 10)"
equal "no page was without a store" 0 "$(stat_value pages_without_store)"
targets_empty "nothing stays with the lines that allocate targets of a migration"
audited "audit"
witnessed "page_owner says the same"
unload codetag_test
finish
