#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The file boot: the lines that took memory before the page allocator had it add up to the
# memory that the page allocator does not have.
# boot: default
# boot: retain_initrd crashkernel=64M hugepages=8 cma=16M
# store: any
. "$(dirname "$0")/codetag.inc"

BOOT=$DEBUGFS/codetag/boot

# kept REGEX: bytes of the lines that match
kept()
{
	awk -v regex="$1" '$0 ~ regex { bytes += $1 } END { printf("%d\n", bytes) }' "$WORK/boot"
}

# The pages that no zone gives to the page allocator, and MemTotal for the whole machine
missing()
{
	awk -v page="$PAGE" '
		FILENAME == "/proc/meminfo" && $1 == "MemTotal:" { total = $2 * 1024 }
		$1 == "present" { present += $2 }
		END { printf("%d\n", present * page - total) }' /proc/zoneinfo /proc/meminfo
}

# near A B PERMILLE
near()
{
	awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { d = a - b; exit (d < 0 ? -d : d) * 1000 > b * most }'
}

take()
{
	cat $BOOT >"$WORK/boot" || bail "cannot read $BOOT"
}

prepare
[ -r $BOOT ] || skip_all "no $BOOT"
plan 15

equal "mode" "-r--------" "$(ls -l $BOOT | cut -c 1-10)"
take
equal "head" "boot - version: 1.0" "$(head -n 1 "$WORK/boot")"
bad=$(sed 1,2d "$WORK/boot" | grep -v -E '^ *[0-9]+ +[0-9]+ [^ ]+:[0-9]+ func:[^ ]+( hash:yes)?$')
equal "lines" "" "$bad"
equal "each line once" "" "$(sed 1,2d "$WORK/boot" | awk '{ print $3, $4 }' | sort | uniq -d)"
near "$(kept '^ *[0-9]+ +[0-9]+ ')" "$(missing)" 1
check "all lines add up to what the page allocator does not have" $? \
	"$(kept '^ *[0-9]+ +[0-9]+ ') of $(missing)
$(cat "$WORK/boot")"
[ "$(kept 'func:no_line')" -le $(($(missing) / 1000)) ]
check "all of it has a line" $? "$(grep func:no_line "$WORK/boot")"

# Compare with other files of the kernel that know some of it.
code=$(awk -F' : ' '$2 == "Kernel code" { gsub(" ", "", $1); split($1, a, "-"); print "0x" a[1], "0x" a[2] }' \
	/proc/iomem)
bytes=$((${code#* } - ${code% *} + 1))
if [ "$(uname -m)" = aarch64 ]; then
	# The resource ends where the init sections begin: it has constants and page tables, too.
	[ "$(kept 'func:kernel_text$')" -le $bytes ] &&
		[ $bytes -le "$(kept 'func:kernel_(text|rodata|other)$')" ]
else
	near "$(kept 'func:kernel_text$')" $bytes 20
fi
check "text of the kernel" $? "$(kept 'func:kernel_text$') of $bytes"
pages=$(awk '$1 == "nr_memmap_boot_pages" { print $2 }' /proc/vmstat)
if [ -n "$pages" ]; then
	# With 52 bits of physical addresses the table of the sections is large: 2 MiB.
	held=$(($(kept ' mm/(sparse|sparse-vmemmap|mm_init)[.]c:') - $(kept 'func:memblocks_present$')))
	near "$held" $((pages * PAGE)) 20
	check "struct pages" $? "$held of $((pages * PAGE))"
else
	skip "struct pages" "the kernel does not count them"
fi
slots=$(awk '$1 == "mem_page_refs:" { print $2 }' $STATS)
if [ "$(awk '$1 == "store:" { print $2 }' $STATS)" = slot ]; then
	near "$(kept ' mm/codetag/page_tag[.]c:')" "$slots" 20
	check "references of pages" $? "$(kept ' mm/codetag/page_tag[.]c:') of $slots"
else
	skip "references of pages" "they are no slots"
fi

# The initramfs is freed, unless it is retained.
initrd=$(stat -c %s /sys/firmware/initrd 2>/dev/null)
held=$(kept 'initrd|arm64_memblock_init')
if [ -z "$initrd" ] && [ "$(uname -m)" = aarch64 ]; then
	# It keeps the last page, which the initramfs fills in part.
	[ "$held" -le "$PAGE" ]
else
	near "$held" $(((${initrd:-0} + PAGE - 1) / PAGE * PAGE)) 20
fi
check "initramfs" $? "$held of ${initrd:-0}"

# Memory for a crash kernel, and the part of it that is given back
crash=$(cat /sys/kernel/kexec_crash_size 2>/dev/null)
if [ "${crash:-0}" -gt 0 ]; then
	equal "crash kernel" "$crash" "$(kept 'crash')"
	echo $((crash / 2)) >/sys/kernel/kexec_crash_size
	take
	equal "half of a crash kernel" "$((crash / 2)) $(missing)" \
		"$(kept 'crash') $(kept '^ *[0-9]+ +[0-9]+ ')"
else
	skip "crash kernel" "none is reserved"
	skip "half of a crash kernel" "none is reserved"
fi

# An allocation may reserve pages that boot has freed.
have_module codetag_test || load codetag_test || bail "cannot load codetag_test"
take
want=$(kept '^ *[0-9]+ +[0-9]+ ')
run reserve on
take
equal "pages that an allocation has reserved" "$want" "$(kept '^ *[0-9]+ +[0-9]+ ')"
run reserve off

# The command shows the same, live and from a recording.
lines()
{
	awk '/"boot_lines":/ { on = 1 } on && $1 == "\"size\":" { bytes += $2 } on && /^\t\]/ { exit }
		END { printf("%d\n", bytes) }'
}

if command -v codetag >/dev/null; then
	take
	want=$(kept '^ *[0-9]+ +[0-9]+ ')
	equal "codetag where" "$want" "$(codetag where --once --no-recount --json | lines)"
else
	skip "codetag where" "no codetag command"
fi
if codetag --version 2>/dev/null | grep -q sqlite; then
	codetag record -c 1 -q -o "$WORK/one.db" 2>"$WORK/errors"
	equal "codetag where of a recording" "$want" "$(codetag where --json "$WORK/one.db" | lines)"
else
	skip "codetag where of a recording" "no codetag command with SQLite"
fi
finish
