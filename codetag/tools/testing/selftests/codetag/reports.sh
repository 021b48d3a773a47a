#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's reports about an object or a page name the line that allocated it: SLUB, KASAN,
# KFENCE, UBSAN, hardened usercopy, bad pages, destroyed caches that still have objects.
# guest: own
# store: any
# tcg: single
# allow: BUG: |BUG codetag_(reported|left) |WARNING: |Oops|kernel BUG|UBSAN:|KASAN|KFENCE: .*error|Segmentation fault
. "$(dirname "$0")/codetag.inc"

REPORTED=$DEBUGFS/codetag_reported
CONTROL=$DEBUGFS/codetag/control

# mistake NAME LINE TEXT: the module makes it; the kernel prints TEXT, and LINE with the number of the
# module's line and the function of the allocation
mistake()
{
	dmesg -c >/dev/null
	# The shell may not survive this.
	(echo "$1" >$REPORTED) 2>"$WORK/error"
	dmesg >"$WORK/log"
	number=$(sed -n "s/.*reported: $1 //p" "$WORK/log")
	if grep -q 'not supported' "$WORK/error"; then
		skip "$1" "not in this kernel"
		return
	fi
	grep -q "$3" "$WORK/log" &&
		grep -q "$2 allocated at codetag_reported.c:$number func:do_$1\$" "$WORK/log"
	check "$1" $? "$(cat "$WORK/error")
$(sed 's/^\[[^]]*\] //' "$WORK/log" | grep -n 'allocated at\|reported:\|BUG\|UBSAN\|usercopy' | head)"
}

prepare
have_engine || { cleanup; skip_all "not this profiler"; }
echo 0 >/proc/sys/kernel/panic_on_warn
echo 0 >/proc/sys/kernel/panic_on_oops
load codetag_reported || { cleanup; skip_all "no module codetag_reported"; }
plan 13

if grep -q ' kasan_quarantine_put$' /proc/kallsyms; then
	skip redzone "KASAN's quarantine delays SLUB's check until the id is cleared"
else
	mistake redzone 'codetag: object' 'Redzone overwritten'
fi
mistake cache 'codetag: object' 'Wrong slab cache\|belongs to different cache'
mistake kasan 'codetag: object' 'KASAN: slab-out-of-bounds'
if [ -e $DEBUGFS/codetag/guards ]; then
	echo 'module codetag_reported guard rate=1' >$CONTROL
	mistake kfence 'codetag: object' 'KFENCE: out-of-bounds'
	base invalid 'codetag_reported.c:[0-9]* .*func:do_invalid'
	mistake invalid 'codetag: object' 'KFENCE: invalid free'
	# With debugging, objects are larger.
	equal "invalid: the object stays charged" 1 "$(grown invalid | cut -d ' ' -f 2)"
	audited "invalid: audit"
	echo 'module codetag_reported guard=off' >$CONTROL
else
	skip kfence "no guards"
	skip_rest 3 "no guards" invalid
fi
mistake ubsan 'codetag: object' 'UBSAN: misaligned-access'
mistake page 'codetag: page' 'Bad page state\|page dumped because'
mistake destroy 'codetag_left: 1 objects' 'codetag_left'
grep -q 'codetag: object allocated at codetag_reported.c:[0-9]* func:do_destroy' "$WORK/log"
check "destroy: the object itself, too" $? "$(tail -n 30 "$WORK/log")"
dmesg -c >/dev/null
! (echo nosuch >$REPORTED) 2>/dev/null
check "no such mistake" $?
# Last, for it ends the task and keeps the module.
mistake usercopy 'codetag: object' 'usercopy: Kernel memory overwrite attempt'
finish
