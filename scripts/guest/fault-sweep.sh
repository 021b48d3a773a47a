#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The guest's part of scripts/fault-sweep: run a workload with one call site
# failing at a time, and print what came of it, tab-separated:
#
#	pass TAG PASSED				scan: a site that the workload passes
#	begin TAG				the next site; no result: it crashed
#	result TAG PASSED FAILED STATUS LEAK ERROR
#
# LEAK is "-" or "BYTES at TAG" for the site that holds more after each of
# several runs with the fault than before it.
#
# usage: fault-sweep.sh scan QUERY
#        fault-sweep.sh sweep NTH TAG...
# The workload is /tmp/workload.
CT=/sys/kernel/debug/codetag
REPEAT=5

mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
[ -e $CT/faults ] || { echo "fault-sweep: this kernel has no $CT/faults" >&2; exit 1; }

# control QUERY
control()
{
	echo "$1" >$CT/control
}

# off: no fault is armed, now or when a module comes
off()
{
	control 'fault=off'
	echo remove all >$CT/queries
}

# work: run the workload; its status in $status and its last words in $words
work()
{
	sh /tmp/workload >/tmp/said 2>&1
	status=$?
	words=$(tail -n 1 /tmp/said | tr '\t' ' ')
}

# held FILE: bytes by tag, when all that can go is gone. Slabs stay while any of
# their objects do, pages are kept in lists, areas of vmalloc() are given back many at
# a time: their sites hold for others. An area that is lost without its pages, by
# vmap() or ioremap(), is not seen for that.
held()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 0.1
	awk 'NR > 2 && $3 !~ /^mm\/(slub|page_alloc|vmalloc)\.c:/ && $3 !~ /^codetag:/ {
		tag = $3
		for (i = 4; i <= NF && $i ~ /^(\[|func:)/; i++)
			tag = tag " " $i
		bytes[tag] += $1
	}
	END { for (tag in bytes) print bytes[tag] "\t" tag }' /proc/allocinfo >"$1"
}

# grown BEFORE AFTER: "BYTES TAG" of what holds more
grown()
{
	awk -F '\t' 'NR == FNR { before[$2] = $1; next }
		$1 > before[$2] + 0 { print $1 - before[$2] "\t" $2 }' "$1" "$2"
}

# arm TAG FAULT: at the site that is called so
arm()
{
	place=${1%% *}
	func=${1##*func:}
	module=vmlinux
	case $1 in
	*" ["*"] "*) module=${1#*[}; module=${module%%]*} ;;
	esac
	control "file ${place%:*} line ${place##*:} func $func module $module $2"
}

# runs TAG: what the sites grow by in each of some runs with a fault at TAG, or
# with none at "-"
runs()
{
	rm -f /tmp/grown.*
	held /tmp/held.0
	for i in $(seq 1 $REPEAT); do
		[ "$1" = - ] || arm "$1" "fault nth=$nth verbose=0"
		work
		off
		held "/tmp/held.$i"
		grown "/tmp/held.$((i - 1))" "/tmp/held.$i" >"/tmp/grown.$i"
	done
}

# The sites that grow in each of the runs, by more than they ever do without.
leak()
{
	runs "$1"
	awk -F '\t' -v n=$REPEAT '
		FILENAME == "/tmp/noise" { if ($1 > noise[$2]) noise[$2] = $1; next }
		{
			bytes[$2] += $1
			if (!times[$2]++ || $1 < least[$2])
				least[$2] = $1
		}
		END {
			for (tag in times)
				if (times[tag] == n && least[tag] > noise[tag] + 0)
					print int(bytes[tag] / n) "\t" tag
		}' /tmp/noise /tmp/grown.* | sort -rn
}

case $1 in
scan)
	work
	[ $status -eq 0 ] || { echo "fault-sweep: the workload fails without a fault: $words" >&2; exit 1; }
	control "$2 fault probability=0 times=-1 verbose=0" || exit 1
	work
	awk -F '\t' '!/^#/' $CT/faults | while read -r passed _ _ _ tag; do
		[ "$passed" -eq 0 ] || printf 'pass\t%s\t%s\n' "$tag" "$passed"
	done
	exit 0 ;;
esac

nth=$2
shift 2
# What grows without any fault is no leak of an error path.
work
runs -
cat /tmp/grown.* >/tmp/noise
runs -
cat /tmp/grown.* >>/tmp/noise
for tag in "$@"; do
	printf 'begin\t%s\n' "$tag"
	arm "$tag" "fault nth=$nth verbose=0" || continue
	held /tmp/before
	work
	first=$status said=$words
	counts=$(awk '!/^#/ { print $1 "\t" $2 }' $CT/faults | head -n 1)
	off
	held /tmp/after
	found=-
	if [ "${counts#*	}" -ne 0 ] && [ -n "$(grown /tmp/before /tmp/after)" ]; then
		found=$(leak "$tag" | head -n 1 | sed 's/\t/ bytes at /')
	fi
	[ "$first" -ne 0 ] || said=-
	printf 'result\t%s\t%s\t%s\t%s\t%s\n' "$tag" "$counts" "$first" "${found:--}" "${said:--}"
done
