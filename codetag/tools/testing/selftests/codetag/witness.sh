#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A comparison with page_owner. For each page that both know, the charged call site is in the stack
# that page_owner has: also after pages were moved, split, swapped, and freed by other code. The
# comparison notices wrong ids.
# boot: page_owner=on
# timeout: 300
. "$(dirname "$0")/codetag.inc"

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
page_owner_wanted || { unload codetag_test; skip_all "page_owner is not on"; }
plan 5

witnessed "after the boot"
run hold all
witnessed "with all that the driver can hold"
run churn start
mkdir -p "$WORK/tmpfs"
mount -t tmpfs -o size=48M tmpfs "$WORK/tmpfs"
for i in 1 2 3 4; do
	dd if=/dev/zero of="$WORK/tmpfs/$i" bs=1M count=8 2>/dev/null
	"$BIN/pages" huge 8 </dev/null >/dev/null 2>&1 &
	sleep 0.2
	rm -f "$WORK/tmpfs/$((i - 1))"
	[ ! -w $DEBUGFS/split_huge_pages ] || echo 1 >$DEBUGFS/split_huge_pages
	echo 1 >/proc/sys/vm/compact_memory
	wait $!
done
run churn stop
witnessed "after pages were moved and split"
umount "$WORK/tmpfs"
run drop all
audited "audit"

# With wrong ids the comparison must fail. A function can have two tags in a row, so not all fail.
witness wrong=1 >/dev/null
cat $DEBUGFS/codetag_owner >"$WORK/owner"
unload codetag_owner
# shellcheck disable=SC2046
set -- $(tail -n 1 "$WORK/owner")
[ "$2" -gt 1000 ] && [ $(($3 * 3)) -lt "$2" ]
check "ids that are off by one disagree" $? "$(tail -n 1 "$WORK/owner")"
unload codetag_test
finish
