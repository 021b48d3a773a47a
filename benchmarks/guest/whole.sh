#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: run the cases that are whole programs many times. The cost of a fork varies by
# some per cent with the fill level of slabs, percpu chunks and free lists. So each time other
# files and mounts are left behind (a mount holds percpu memory), and the median counts.
#
# whole.sh BEFORE TIMES: BEFORE is a shell command that prepares the variant

# Where a program lies in memory decides how many page tables a fork copies.
echo 0 >/proc/sys/kernel/randomize_va_space
eval "$1" || exit 1
i=0
while [ $i -lt "$2" ]; do
	i=$((i + 1))
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
	mkdir /tmp/leftover.$i
	mounts=$((i % 3))
	while [ $mounts -ge 0 ]; do
		mount -t tmpfs none /tmp/leftover.$i
		mounts=$((mounts - 1))
	done
	(cd /tmp/leftover.$i && seq 1 $((i * 37)) | xargs touch)
	/lib/bench/whole 1 >/tmp/whole.$i || exit 1
	# These vary most, so they run more often.
	for name in fork+exit tcp-stream storm; do
		for _ in 1 2 3 4; do
			/lib/bench/whole 1 "$name" >>/tmp/whole.$i || exit 1
		done
	done
done
sed 's/^/whole /' /tmp/whole.*
