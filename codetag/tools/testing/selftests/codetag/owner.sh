#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own reports about an object or a page name the line that allocated it.
# boot: default
. "$(dirname "$0")/codetag.inc"

prepare
plan 15
dmesg -c >/dev/null
load codetag_known dump=1
check "the module has one of everything" $?
dmesg >"$WORK/owner"
unload codetag_known

# lines KIND, named KIND: the line numbers that the module prints, and those that reports print
lines() { sed -n "s/.*known: $1 [0-9a-f]* //p" "$WORK/owner"; }
named() { sed -n "s/.*codetag: $1 allocated at codetag_known.c:\([0-9]*\) func:know$/\1/p" "$WORK/owner"; }

[ "$(lines object | wc -l)" -eq 2 ] && [ "$( (lines pages; lines vmalloc) | wc -l)" -eq 3 ]
check "there are two objects and three pages" $? "$(cat "$WORK/owner")"
equal "mem_dump_obj() names both lines, and none of what is free" "$(lines object)" "$(named object)"
equal "dump_page() and mem_dump_obj() name the lines of pages, compound or not" \
	"$(lines pages; lines vmalloc)" "$(named page)"
grep -q 'known: freed' "$WORK/owner"
check "there was a free object" $?
grep -q 'unknown call site' "$WORK/owner"
check "no call site is unknown" $((1 - $?))

# ---- addresses on the running machine -----------------------------------------

WHOSE=$DEBUGFS/codetag/whose

# whose ADDRESS: the answer, without the version
whose()
{
	exec 3<>$WHOSE
	echo "$1" >&3
	sed 1d <&3
	exec 3>&-
}

dmesg -c >/dev/null
load codetag_known || bail "cannot load codetag_known"
dmesg | sed -n 's/.*known: //p' >"$WORK/known"
while read -r kind address line; do
	case $kind in
	object|pages|vmalloc|guarded)
		printf '%s codetag_known.c:%s [codetag_known] func:know' "$kind" "$line" ;;
	freed)
		printf '%s free' "$kind" ;;
	chunk)
		printf '%s func:pcpu_alloc_pages' "$kind" ;;
	module)
		printf '%s nothing' "$kind" ;;
	*)
		continue ;;
	esac
	printf ' = %s\n' "$(whose "$address")"
done <"$WORK/known" >"$WORK/whose"
out=$(awk -F ' = ' '{
	want = $1
	sub(/^[a-z]* /, "", want)
	if (substr($2, length($2) - length(want) + 1) != want)
		print
}' "$WORK/whose")
[ "$(wc -l <"$WORK/whose")" -ge 7 ] && [ -z "$out" ]
check "whose: each address has its line" $? "$out"
grep -q ' = [0-9a-f]* 40 kmalloc-.*128: ' "$WORK/whose" && grep -q ' = [0-9a-f]* 20488 8 pages: ' "$WORK/whose"
check "whose: what is there, and how far from its begin" $? "$(cat "$WORK/whose")"
read -r _ address _ <"$WORK/known"
equal "whose: with 0x" "$(whose "$address")" "$(whose "0x$address")"
if command -v codetag >/dev/null; then
	out=$(codetag whose "$address")
	[ "$out" = "$address: allocated object of $(whose "$address" | sed 's/.* \(kmalloc[^:]*\):.*/\1/'), offset 40
  allocated at $(whose "$address" | sed 's/.*: //')" ]
	check "codetag whose" $? "$out"
else
	skip "codetag whose" "no codetag command"
fi
unload codetag_known
case $(whose "$address") in
*codetag_known*) false ;;
esac
check "whose: not after it is freed" $?
equal "whose: no memory" "10 nothing" "$(whose 10)"
dmesg -c >/dev/null
! { echo 'ffff888q' 1<>$WHOSE; } 2>/dev/null
check "whose: what is no address is refused" $?
! { printf '10\0001' 1<>$WHOSE; } 2>/dev/null
check "whose: so is an address with a NUL byte behind it" $?
dmesg | grep -q "whose: 'ffff888q.*' is not a hexadecimal address or pfn:NUMBER"
check "whose: and named" $? "$(dmesg)"
cleanup
