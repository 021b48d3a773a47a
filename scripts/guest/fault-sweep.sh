#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The guest's part of scripts/fault-sweep: codetag sweep with a workload, its journal on the
# second disk. Usage: fault-sweep.sh QUERY SECONDS OPTION…, with the files workload.sh, workload,
# known and programs.tar in /guest/files. SECONDS: the sweep is interrupted after so long; 0: never.
query=$1 seconds=$2
shift 2
run="sh /guest/files/workload.sh /guest/files/workload"
[ ! -e /guest/files/programs.tar ] || tar -x -f /guest/files/programs.tar -C /
mkdir -p /journal
mount -t ext4 /dev/vdb /journal || exit 1
journal=/journal/sweep
[ ! -e $journal ] || echo "# sweep: lines $(wc -l <$journal)"
$run prepare >/dev/console 2>&1 || {
	echo "# the workload cannot be prepared"
	echo "# sweep: ended 2"
	exit 0
}
# shellcheck disable=SC2086
codetag sweep --ktap --journal $journal --known /guest/files/known "$@" "$query" -- \
	$run work 2>&1 &
pid=$!
[ "$seconds" -eq 0 ] || { sleep "$seconds"; kill -INT $pid; } >/dev/null 2>&1 &
wait $pid
status=$?
sed 's/^/# journal: /' $journal
echo "# sweep: ended $status"
