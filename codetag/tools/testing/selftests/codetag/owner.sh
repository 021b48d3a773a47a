#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own reports about an object or a page name the line that allocated it.
# boot: default
. "$(dirname "$0")/codetag.inc"

prepare
plan 6
dmesg -c >/dev/null
load codetag_known dump=1
check "the module has one of everything" $?
dmesg >"$WORK/owner"
unload codetag_known

# lines KIND, named KIND: the lines of it, as the module and as the report after it say
lines() { sed -n "s/.*known: $1 [0-9a-f]* //p" "$WORK/owner"; }
named() { sed -n "s/.*codetag: $1 allocated at codetag_known.c:\([0-9]*\) func:know$/\1/p" "$WORK/owner"; }

[ "$(lines object | wc -l)" -eq 2 ] && [ "$( (lines pages; lines vmalloc) | wc -l)" -eq 3 ]
check "there are two objects and three pages" $? "$(cat "$WORK/owner")"
equal "mem_dump_obj() names both lines, and none of what is free" "$(lines object)" "$(named object)"
equal "dump_page() and mem_dump_obj() name the lines of pages, compound or not" \
	"$(lines pages; lines vmalloc)" "$(named page)"
grep -q 'known: freed' "$WORK/owner"
check "there was a free object" $?
grep -q 'that is not known' "$WORK/owner"
check "no call site is unknown" $((1 - $?))
cleanup
