#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Device memory of test_hmm: pages of a process migrate to the device and back, and a child inherits
# them meanwhile. Device memory is charged to no line; pages that come back are charged to the
# driver that allocated them.
# guest: own
# timeout: 300
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
thp=/sys/kernel/mm/transparent_hugepage

prepare
if ! modprobe test_hmm 2>/dev/null; then
	cleanup
	skip_all "no test_hmm"
fi
[ -c /dev/hmm_dmirror0 ] || { cleanup; skip_all "no /dev/hmm_dmirror0"; }
plan 18

# huge always|madvise|never: who may have huge pages. With never there is no khugepaged.
huge()
{
	[ ! -e $thp/enabled ] || echo "$1" >$thp/enabled
}

# Other pages at the same lines: those of the programs themselves
SOME=64

# few BYTES CALLS
few() { [ "$1" -ge 0 ] && [ "$1" -le $((SOME * PAGE)) ]; }

# rounds KIND MEGABYTES REGEX: nine results
rounds()
{
	pages=$(($2 * MB / PAGE))
	base user "$3"
	base driver ' lib/test_hmm\.c:'
	huge madvise
	helper "$1" "$2"
	# Otherwise khugepaged would sooner or later make huge pages of the pages that came back.
	huge never
	held=$(grown user)
	few $((${held% *} - $2 * MB))
	check "$1: pages held" $? "$held"
	tell device
	# shellcheck disable=SC2154	# answered sets it
	equal "$1: they move to the device" "device $pages" "$answer"
	drain
	# shellcheck disable=SC2046
	few $(grown user)
	check "$1: nobody has them" $? "$(grown user)"
	audited "$1: audit with memory of a device"
	tell fork
	equal "$1: a child inherits them" "fork 0" "$answer"
	tell device
	tell system
	tell touch
	drain
	back=$(grown driver)
	[ "${back% *}" -ge $(($2 * MB)) ]
	check "$1: what came back is charged to the driver" $? "$back"
	audited "$1: audit when they are back"
	helper_end
	drain
	# shellcheck disable=SC2046
	few $(grown user)
	check "$1: nothing is left" $? "$(grown user)"
	targets_empty "$1: nothing stays with the lines that allocate targets of a migration"
}

rounds anon 8 ' (mm/memory\.c|include/linux/highmem\.h):'
rounds huge 8 ' mm/huge_memory\.c:'
rmmod test_hmm
finish
