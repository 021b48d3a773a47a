#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: how often several processes together allocate and free, each number of processes
# for some seconds. Lines: rate, processes, operations in a second.
#
# scaling.sh MILLISECONDS PROCESSES…
time=$1
shift
/lib/bench/whole rate 1 1000 >/dev/null
for processes; do
	/lib/bench/whole rate "$processes" "$time" || exit 1
done
