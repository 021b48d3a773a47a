#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The codetag command, if it is installed, reports no leak in healthy work and finds planted leaks.
# "leaks --live" and "leaks --stacks" run at the same time.
# guest: own
# store: any
# disk: 256M
# timeout: 300
# args: ALARMS="NAME…" (all: each there is) SECONDS_EACH=30 TIMES=1
. "$(dirname "$0")/codetag.inc"

HEALTHY="idle reads log stat forks timewait tmpfs modules mounts pipes cgroups files"
PLANTED="kmalloc64 kmalloc5000 cache pages0 pages2 pages4 vmalloc percpu slow mount scm pipe sockbuf"
BRIEF="stat forks kmalloc64 pipe"

# The load ends by itself when this file is gone: UML can crash if a signal arrives while a process
# forks.
going() { [ -e "$WORK/go" ]; }

rest()
{
	while going; do
		sleep 0.2
	done
}

# repeat COMMAND…: run it until the end, with pauses
repeat()
{
	while going; do
		"$@" || return
		sleep 0.1
	done
}

# program LOAD: run a load of helpers/alarms.c, which does not fork
program()
{
	"$BIN/alarms" "$1" &
	rest
	kill $!
	wait $!
}

# ---- healthy -----------------------------------------------------------------------

healthy_idle() { rest; }

healthy_reads()
{
	i=0
	while [ $i -lt 40 ]; do
		dd if=/dev/zero of="$DISK/read$i" bs=64k count=32 2>/dev/null
		i=$((i + 1))
	done
	echo 3 >/proc/sys/vm/drop_caches
	: >"$WORK/ready"
	i=0
	while going; do
		cat "$DISK/read$((i % 40))" >/dev/null
		i=$((i + 1))
		sleep 0.5
	done
}

log_more() { dd if=/dev/zero bs=4k count=8 2>/dev/null >>"$DISK/log"; }
healthy_log() { repeat log_more; }

stat_more()
{
	n=$((n + 1))
	for name in a b c d e f g h; do
		[ ! -e "$DISK/none-$n-$name" ] || return 1
	done
}
healthy_stat() { n=0; repeat stat_more; }

forks_more() { for i in 1 2 3 4 5; do (/bin/true); done; }
healthy_forks() { repeat forks_more; }

healthy_timewait() { program timewait; }
healthy_pipes() { program pipes; }

# Grows for a while, and is emptied again: within its bounds.
tmpfs_more()
{
	n=$((n + 1))
	dd if=/dev/zero of="$WORK/tmpfs/$((n % 40))" bs=16k count=4 2>/dev/null
}
healthy_tmpfs()
{
	mkdir -p "$WORK/tmpfs" && mount -t tmpfs none "$WORK/tmpfs"
	n=0
	repeat tmpfs_more
}

modules_more() { load codetag_leaky && unload codetag_leaky; }
healthy_modules() { repeat modules_more; }

mounts_more() { mount -t tmpfs none "$WORK/mnt" && umount "$WORK/mnt"; }
healthy_mounts() { mkdir -p "$WORK/mnt"; repeat mounts_more; }

cgroups_more()
{
	mkdir "$WORK/cg/a" && (echo 0 >"$WORK/cg/a/cgroup.procs"; /bin/true)
	rmdir "$WORK/cg/a"
}
healthy_cgroups()
{
	mkdir -p "$WORK/cg" && mount -t cgroup2 none "$WORK/cg" || return
	echo +memory >"$WORK/cg/cgroup.subtree_control" 2>/dev/null
	repeat cgroups_more
}

files_more()
{
	n=$((n + 1))
	echo text >"$DISK/file-$n"
	[ $n -lt 20 ] || rm "$DISK/file-$((n - 19))"
}
healthy_files() { n=0; repeat files_more; }

# ---- planted ------------------------------------------------------------------------

planted_mount()
{
	n=0
	while going; do
		n=$((n + 1))
		mkdir -p "$WORK/mounts/$n" && mount -t tmpfs none "$WORK/mounts/$n"
		sleep 0.3
	done
}

planted_slow() { load codetag_forgetful kind=kmalloc64 every=300; rest; }

# start NAME
start()
{
	case " $HEALTHY " in
	*" $1 "*) "healthy_$1" ;;
	*) case $1 in
	   mount|slow) "planted_$1" ;;
	   pipe|scm|sockbuf) program "$1" ;;
	   *) load codetag_forgetful kind="$1"; rest ;;
	   esac ;;
	esac >/dev/null 2>&1 </dev/null
}

# stop PID: it, and the processes it left
stop()
{
	rm "$WORK/go"
	wait "$1" 2>/dev/null
	! have_module codetag_forgetful || unload codetag_forgetful
	! have_module codetag_leaky || unload codetag_leaky
	awk -v work="$WORK/" -v disk="$DISK" 'index($2, work) == 1 && $2 != disk { print $2 }' /proc/mounts | while read -r where; do
		umount "$where"
	done
	rm -rf "$DISK"/log "$DISK"/read* "$DISK"/file-* "$WORK/mounts" "$WORK/ready"
}

# named_by NAME: a pattern for the planted leak in a report: functions of its stack
named_by()
{
	case $1 in
	mount) echo 'alloc_super|alloc_vfsmnt|mount|init_fs_context|shmem_fill_super' ;;
	scm) echo 'scm|unix_|sock_alloc|sk_prot_alloc|alloc_empty_file|pipe' ;;
	pipe) echo 'pipe' ;;
	sockbuf) echo 'unix_|skb|sock_alloc|sk_prot_alloc|kmalloc_reserve' ;;
	slow) echo 'take_kmalloc64' ;;
	*) echo "take_$1" ;;
	esac
}

# number WORD FILE: the number in the last line "WORD: N"
number()
{
	sed -n "s/^$1: \([0-9]*\).*/\1/p" "$2" | tail -n 1
}

# look NAME: make both reports; their exit statuses are in $live and $stacks
look()
{
	: >"$WORK/go"
	start "$1" &
	pid=$!
	[ "$1" != reads ] || until_true 60 [ -e "$WORK/ready" ]
	sleep 2
	codetag leaks --live -i 1 -c "$SECONDS_EACH" >"$WORK/live" 2>&1 &
	live_pid=$!
	codetag leaks --stacks --for "$SECONDS_EACH" >"$WORK/stacks" 2>&1
	stacks=$?
	wait $live_pid
	live=$?
	stop $pid
	diag "$1: live exit $live suspects $(number suspects "$WORK/live"), stacks exit $stacks leaks $(number leaks "$WORK/stacks")"
}

# judge NAME: a result for each report
judge()
{
	case " $HEALTHY " in
	*" $1 "*)
		equal "$1: live: no alarm" 0 $live
		[ $live -eq 0 ] || sed 's/^/#   /' "$WORK/live"
		equal "$1: stacks: no alarm" 0 $stacks
		[ $stacks -eq 0 ] || sed 's/^/#   /' "$WORK/stacks"
		return ;;
	esac
	[ $live -eq 1 ] && grep -q -E "$(named_by "$1")" "$WORK/live"
	check "$1: live: found" $? "$(cat "$WORK/live")"
	[ $stacks -eq 1 ] && grep -q -E "$(named_by "$1")" "$WORK/stacks"
	check "$1: stacks: found" $? "$(cat "$WORK/stacks")"
}

prepare
[ -r $CONTEXTS ] || skip_all "no contexts"
command -v codetag >/dev/null || skip_all "no codetag command"
ALARMS=${ALARMS:-$BRIEF}
[ "$ALARMS" != all ] || ALARMS="$HEALTHY $PLANTED"
SECONDS_EACH=${SECONDS_EACH:-30}
TIMES=${TIMES:-1}
DISK=$WORK/disk
mkdir -p "$DISK"
for device in /dev/vda /dev/ubda; do
	[ ! -b $device ] || mount -t ext4 $device "$DISK"
done
ifconfig lo up 2>/dev/null || ip link set lo up

list= i=0
while [ $i -lt "$TIMES" ]; do
	list="$list $ALARMS"
	i=$((i + 1))
done
# shellcheck disable=SC2086
set -- $list
plan $((2 * $#))
for name in "$@"; do
	look "$name"
	judge "$name"
done
umount "$DISK" 2>/dev/null
finish
