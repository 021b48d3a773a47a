#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The guest's part of scripts/fault-sweep: codetag sweep with a workload, its journal on the
# second disk. Usage: fault-sweep.sh QUERY SECONDS OPTION…, with the files workload, known and
# programs.tar in /guest/files. SECONDS: the sweep is interrupted after so long; 0: never.
query=$1 seconds=$2
shift 2
[ ! -e /guest/files/programs.tar ] || tar -x -f /guest/files/programs.tar -C /
{
	cat <<-'END'
	dir=/tmp/workload.dir

	# step NAME COMMAND…: says what failed, and why
	step()
	{
		name=$1
		shift
		words=$("$@" 2>&1 >/dev/null) && return
		words=$(echo "$words" | tail -n 1)
		echo "$name: ${words##*: }"
		exit 1
	}
	prepare() { :; }
	clean() { :; }
	END
	cat /guest/files/workload
	cat <<-'END'
	case $1 in
	prepare) mkdir -p $dir && prepare ;;
	*)
		clean >/dev/null 2>&1
		trap 'clean >/dev/null 2>&1' EXIT
		work ;;
	esac
	END
} >/tmp/workload
mkdir -p /journal
mount -t ext4 /dev/vdb /journal || exit 1
journal=/journal/sweep
[ ! -e $journal ] || echo "# sweep: lines $(wc -l <$journal)"
sh /tmp/workload prepare >/dev/console 2>&1 || {
	echo "# the workload cannot be prepared"
	echo "# sweep: ended 2"
	exit 0
}
codetag sweep --ktap --journal $journal --known /guest/files/known "$@" "$query" -- \
	sh /tmp/workload work 2>&1 &
pid=$!
[ "$seconds" -eq 0 ] || { sleep "$seconds"; kill -INT $pid; } >/dev/null 2>&1 &
wait $pid
status=$?
sed 's/^/# journal: /' $journal
echo "# sweep: ended $status"
