#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In Debian with the packages of faults-amd64: let each allocation of the workloads in
# /usr/src/sweep fail once. Prints "ok NAME" or "not ok NAME" for each of them, with what was
# found behind it, and "sweep: over" at the end. Started again after a crash, it goes on where it
# was: journals and results are in /var/lib/sweep.
here=/usr/src/sweep
done=/var/lib/sweep
mount -t tmpfs -o size=1500M tmpfs /tmp
mkdir -p $done
cd /tmp || exit
# The sweep reports warnings. An oops ends the guest, because locks stay held after it.
sysctl -q kernel.panic_on_warn=0 kernel.panic_on_oops=1

# sweep NAME: its report in $done/NAME.report
sweep()
{
	file=$here/$1.sh
	run="sh $here/workload.sh $file"
	query=$(sed -n 's/^# query: //p' "$file")
	mkdir -p /tmp/workload.dir
	$run prepare >$done/"$1".report 2>&1 || { echo "it cannot be prepared" >>$done/"$1".report; return 1; }
	# It has to succeed as it is.
	$run work >>$done/"$1".report 2>&1 || { echo "it does not work" >>$done/"$1".report; return 1; }
	touch $done/known
	# shellcheck disable=SC2086
	codetag sweep --journal $done/"$1".journal --known $done/known "$query" -- $run work >$done/"$1".report 2>&1
}

for file in "$here"/*.sh; do
	name=$(basename "$file" .sh)
	[ "$name" != workload ] || continue
	if [ ! -e $done/"$name".status ]; then
		start=$(date +%s)
		sweep "$name"
		echo "$? $(($(date +%s) - start)) s" >$done/"$name".status
		sync
	fi
	read -r status seconds <$done/"$name".status
	[ "$status" -eq 0 ] && echo "ok $name" || echo "not ok $name"
	sed 's/^/# /' $done/"$name".report
	echo "# $seconds"
done
echo "sweep: over"
