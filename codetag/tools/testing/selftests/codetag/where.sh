#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# "codetag where", if the command is installed: planted memory is in its row to within one percent,
# all rows add up to the installed memory, and hardly any memory is unaccounted.
# guest: own
# store: any
# timeout: 240
. "$(dirname "$0")/codetag.inc"

MIB=24
BYTES=$((MIB << 20))

look()
{
	codetag where --once --json -n 3 >"$WORK/where"
	[ $? -le 1 ] || bail "codetag where fails"
}

# number NAME: a field of the machine;  row NAME: the size of a kind
number()
{
	sed -n "s/^\t\"$1\": \([0-9]*\),*$/\1/p" "$WORK/where"
}

row()
{
	awk -v name="\"$1\"," '
		$1 == "\"name\":" { here = $2 == name }
		here && $1 == "\"size\":" { printf("%.0f\n", $2); exit }' "$WORK/where"
}

# owner NAME: the largest owner of a kind
owner()
{
	awk -v name="\"$1\"," '
		$1 == "\"name\":" && here { sub(/^[^:]*: "/, ""); sub(/",$/, ""); print; exit }
		$1 == "\"name\":" && $2 == name { here = 1 }' "$WORK/where"
}

sums()
{
	awk '
		/^\t"(installed|boot|total|used|free|cpu_lists)":/ { gsub(/[^a-z_0-9 ]/, ""); of[$1] = $2 }
		/^\t"/ { in_kinds = $1 == "\"kinds\":" }
		in_kinds && /^\t\t\t"size":/ { gsub(/,/, ""); kinds += $2 }
		END {
			if (of["boot"] + of["total"] != of["installed"] ||
			    of["used"] + of["free"] + of["cpu_lists"] != of["total"] || kinds != of["used"] || !kinds) {
				for (i in of)
					print i, of[i]
				print "kinds", kinds
				exit 1
			}
		}' "$WORK/where"
}

# near WANT: is $grown within one percent of it?
near()
{
	[ "$grown" -ge $(($1 - $1 / 100)) ] && [ "$grown" -le $(($1 + $1 / 100)) ]
}

little()
{
	[ "$(row unaccounted)" -le $(($(number installed) / 200)) ]
}

# planted NAME ROW BYTES: check that ROW grew by BYTES since $was
planted()
{
	look
	grown=$(($(row "$2") - was))
	near "$3"
	check "$1 is in its row" $? "$grown more, planted $3"
	sums >"$WORK/sums"
	check "$1: all rows add up" $? "$(cat "$WORK/sums")"
	little
	check "$1: little is unaccounted" $? "$(row unaccounted) of $(number installed)"
}

# before ROW
before()
{
	look
	was=$(row "$1")
}

prepare
command -v codetag >/dev/null || skip_all "no codetag command"
[ -r $DEBUGFS/codetag/charged ] || skip_all "no charged"
plan 30

look
equal "total is MemTotal" "$(awk '/^MemTotal:/ { printf("%.0f\n", $2 * 1024) }' /proc/meminfo)" "$(number total)"
sums >"$WORK/sums"
check "all rows add up" $? "$(cat "$WORK/sums")"
little
check "little is unaccounted" $? "$(row unaccounted) of $(number installed)"
grep -q '"exact": true' "$WORK/where"
check "the kernel has counted" $?

for kind in pages vmalloc percpu; do
	before $kind
	load codetag_planted $kind=$MIB || bail "cannot load codetag_planted"
	planted $kind $kind $BYTES
	if [ $kind = pages ]; then
		case $(owner pages) in
		*"codetag_planted.c:"*" [codetag_planted] func:plant_pages") true ;;
		*) false ;;
		esac
		check "the call site is the largest of its row" $? "$(owner pages)"
		codetag where --once >"$WORK/screen"
		equal "less than a tenth is not unusual" 0 $?
	fi
	unload codetag_planted
done

before slab
load codetag_planted slab=$MIB || bail "cannot load codetag_planted"
planted slab slab "$(awk -v page="$PAGE" '$1 == "ct_planted" {
	for (i = 1; i <= NF; i++) if ($i == "slabdata") print $(i + 2) * $6 * page }' /proc/slabinfo)"
unload codetag_planted

before tmpfs
mkdir "$WORK/tmpfs"
mount -t tmpfs tmpfs "$WORK/tmpfs"
dd if=/dev/zero of="$WORK/tmpfs/file" bs=1M count=$MIB 2>/dev/null
planted tmpfs tmpfs $BYTES
umount "$WORK/tmpfs"

if [ -w /proc/sys/vm/nr_hugepages ]; then
	size=$(awk '/^Hugepagesize:/ { printf("%.0f\n", $2 * 1024) }' /proc/meminfo)
	before huge_pages
	echo $((BYTES / size)) >/proc/sys/vm/nr_hugepages
	planted "huge pages" huge_pages $(($(cat /proc/sys/vm/nr_hugepages) * size))
	echo 0 >/proc/sys/vm/nr_hugepages
else
	for test in 1 2 3; do skip "huge pages $test" "no hugetlb"; done
fi

if modprobe zram 2>/dev/null && [ -w /sys/block/zram0/disksize ]; then
	before zram
	echo $((2 * MIB))M >/sys/block/zram0/disksize
	dd if=/dev/urandom of=/dev/zram0 bs=1M count=$MIB conv=fsync 2>/dev/null
	planted zram zram "$(awk '{ print $3 }' /sys/block/zram0/mm_stat)"
	echo 1 >/sys/block/zram0/reset
	rmmod zram
else
	for test in 1 2 3; do skip "zram $test" "no zram"; done
fi

# More than a tenth of the machine: that is unusual, and who has it is named.
load codetag_planted pages=$(($(number installed) / (8 << 20))) || bail "cannot load codetag_planted"
codetag where --once >"$WORK/screen"
equal "more than a tenth is unusual" 1 $?
grep -q "driver and kernel pages: in no process.*func:plant_pages" "$WORK/screen"
check "and named in words" $? "$(tail -n 3 "$WORK/screen")"
unload codetag_planted
audited "audit"
finish
