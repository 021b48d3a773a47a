#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Choosing call sites: what the queries select, that a write is done as a whole
# or not at all, and that switching a site neither loses nor invents memory.
# timeout: 240
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
QUERIES=$DEBUGFS/codetag/queries

# ask QUERY...: in one write; what went wrong is in $out
ask()
{
	out=$({ echo "$*" >$CONTROL; } 2>&1)
}

# off_sites REGEX: how many sites match and are off
off_sites()
{
	grep ' =_ id ' $CONTROL | grep -c "$1"
}

# refused NAME ERRNO_TEXT QUERY: refused, with this error, and nothing changed
refused()
{
	cat $CONTROL >"$WORK/control.before"
	ask "$3"
	refused_status=$?
	cat $CONTROL >"$WORK/control.after"
	if [ $refused_status -eq 0 ]; then
		fail "$1" "it was accepted"
	elif ! printf '%s' "$out" | grep -q "$2"; then
		fail "$1" "want $2, got $out"
	else
		out=$(diff "$WORK/control.before" "$WORK/control.after")
		check "$1: changes nothing" $? "$out"
	fi
}

# selects NAME COUNT QUERY: so many sites are switched off by QUERY -p
selects()
{
	ask '=p'
	ask "$3 -p"
	equal "$1" "$2" "$(grep -c ' =_ id ' $CONTROL)"
}

# site REGEX: the line of the first site that matches
site()
{
	grep "$1" $CONTROL | head -n 1
}

driver
[ -e $CONTROL ] || { unload codetag_test; skip_all "no $CONTROL"; }
plan 49

equal "modes" "-rw------- -rw-------" \
	"$(ls -l $CONTROL $QUERIES | awk '{ print $1 }' | xargs)"
out=$(grep -v -E '^[^ ]+:[0-9]+ (\[[^] ]+\] )?func:[^ ]+ =[p_] id [0-9]+$' $CONTROL | head -n 3)
equal "every line is well formed" "" "$out"
awk 'NR > 2 && $3 !~ /^codetag:/ && $0 !~ / unloaded:yes/ {
	print $3, $4, $4 ~ /^\[/ ? $5 : "" }' $ALLOCINFO | sort >"$WORK/a"
awk '{ print $1, $2, $2 ~ /^\[/ ? $3 : "" }' $CONTROL | sort >"$WORK/b"
out=$(diff "$WORK/a" "$WORK/b" | head -n 5)
equal "the sites are those of allocinfo" "" "$out"

# What the terms select, against what the lines say.
all=$(wc -l <$CONTROL)
mine=$(grep -c '\[codetag_test\]' $CONTROL)
slub=$(grep -c '^mm/slub\.c:' $CONTROL)
first=$(site '^mm/slub\.c:')
line=${first%% *}
line=${line##*:}
id=${first##* }
at=$(grep -c "^mm/slub\.c:$line " $CONTROL)
until=$(awk -F '[: ]' -v n="$line" '$1 == "mm/slub.c" && $2 <= n' $CONTROL | wc -l)
from=$(awk -F '[: ]' -v n="$line" '$1 == "mm/slub.c" && $2 >= n' $CONTROL | wc -l)
pools=$(grep -c 'func:mempool_' $CONTROL)
selects "no term: every site" "$all" ""
selects "file: the whole path" "$slub" "file mm/slub.c"
selects "file: its end" "$slub" "file slub.c"
selects "file: a glob" "$(grep -c '^mm/slub\.c:\|^mm/slab_common\.c:' $CONTROL)" "file mm/sl?b*.c"
selects "func: a glob" "$pools" "func mempool_*"
selects "module" "$mine" "module codetag_test"
selects "module vmlinux" "$(grep -c -v '^[^ ]* \[' $CONTROL)" "module vmlinux"
selects "module: built-in code by its name" "$slub" "module slub"
selects "line N" "$at" "file mm/slub.c line $line"
selects "line N-" "$from" "file mm/slub.c line $line-"
selects "line -N" "$until" "file mm/slub.c line -$line"
selects "line N-M" "$at" "file mm/slub.c line $line-$line"
selects "id" 1 "id $id"
selects "quotes and a comment" "$slub" '# a comment
 "file" "mm/slub.c"'
ask '=p'
ask "file mm/slub.c -p; module codetag_test =_
file mm/slub.c +p # not this one: -p"
equal "the last query wins" "$mine" "$(grep -c ' =_ id ' $CONTROL)"
ask '=p'
equal "all are on again" 0 "$(off_sites .)"

# Refused as a whole.
refused "a bad word at the end" "Invalid argument" "file mm/slub.c -p; nonsense"
dmesg | tail -n 5 | grep -q "'nonsense' at 19"
check "the log has the word and where it is" $?
refused "an unknown flag" "Invalid argument" "file mm/slub.c =q"
refused "no action" "Invalid argument" "file mm/slub.c"
refused "a term without a value" "Invalid argument" "file"
refused "a term twice" "Invalid argument" "file a file b -p"
refused "a range that ends before it begins" "Invalid argument" "line 5-3 -p"
refused "a number that is none" "Invalid argument" "id x7 -p"
refused "no such file" "No such file" "file mm/slub.c -p; file there/is/no/such.c -p"

# The shell ends its writes with a newline, this one must not.
awk 'BEGIN { for (i = 0; i < 400; i++) printf("file mm/slub.c -p;"); printf("id 1") }' >"$WORK/cut"
out=$({ dd if="$WORK/cut" of=$CONTROL bs=64k; } 2>&1)
[ $? -ne 0 ] && printf '%s' "$out" | grep -q "too long"
check "a page without an end is refused" $? "$out"
awk 'BEGIN { for (i = 0; i < 4000; i++) printf("file mm/slub.c -p;\n") }' >"$WORK/long"
out=$({ dd if="$WORK/long" of=$CONTROL bs=128k; } 2>&1)
[ $? -ne 0 ] && printf '%s' "$out" | grep -q "too long"
check "more than 64 KiB are refused" $? "$out"
equal "and nothing is off" 0 "$(off_sites .)"
head -c 4085 "$WORK/long" >"$WORK/4k"
dd if="$WORK/4k" of=$CONTROL bs=64k 2>/dev/null
equal "4 KiB of queries in one write" "$slub" "$(grep -c ' =_ id ' $CONTROL)"
ask '=p'

# Hundreds of malformed writes: nothing may change, nothing may warn.
cat $CONTROL >"$WORK/control.before"
good=0
for i in $(seq 1 300); do
	head -c $((i % 97 + 1)) /dev/urandom >"$WORK/garbage"
	dd if="$WORK/garbage" of=$CONTROL bs=4k 2>/dev/null && good=$((good + 1))
done
cat $CONTROL >"$WORK/control.after"
out=$(diff "$WORK/control.before" "$WORK/control.after" | head -n 5)
check "random bytes change nothing" $? "$out"
[ $good -lt 30 ]
check "random bytes are refused" $? "$good of 300 were accepted"

# A site that is off: what it held is subtracted, what it allocates is not counted.
snapshot
run hold kmalloc
run hold alloc_pages
compared "held while on"
ask 'module codetag_test -p'
run thin all
compared "half freed while off"
before=$(memory 'codetag_test. func')
run hold kmem_cache
run hold percpu
run hold vmalloc
equal "allocated while off is not counted" "$before" "$(memory 'codetag_test. func')"
ask 'module codetag_test +p'
equal "switching on does not count the past" "$before" "$(memory 'codetag_test. func')"
run drop all
equal "nothing is left" "0 0" "$(memory 'codetag_test. func:hold')"
[ "$(grep -c '\[codetag_test\]' $ALLOCINFO)" -eq "$mine" ]
check "allocinfo lists all sites" $?

# Queries for modules to come, across load, unload, load.
unload codetag_test
echo "remove all" >$QUERIES
ask 'module codetag_test func hold_* -p'
check "a module that is not loaded" $? "$out"
equal "is remembered" "module codetag_test func hold_* -p" "$(sed 's/^[0-9]*: //' $QUERIES)"
load codetag_test
[ "$(off_sites 'codetag_test.*func:hold_')" -gt 20 ] &&
	[ "$(off_sites .)" -eq "$(off_sites 'codetag_test.*func:hold_')" ]
check "applied when it is loaded" $? "$(off_sites .) are off"
unload codetag_test
load codetag_test
[ "$(off_sites 'codetag_test.*func:hold_')" -gt 20 ]
check "and again" $?
! echo "remove 4711" 2>/dev/null >$QUERIES && ! echo "forget all" 2>/dev/null >$QUERIES
check "bad commands are refused" $?
echo "remove $(sed 's/:.*//' $QUERIES)" >$QUERIES
equal "forgotten" "" "$(cat $QUERIES)"
unload codetag_test
load codetag_test
equal "not applied any more" 0 "$(off_sites .)"

# Two writers and allocations on all CPUs for a while.
run churn start
writer()
{
	end=$(($(date +%s) + 15))
	while [ "$(date +%s)" -lt $end ]; do
		echo "$1 -p" >$CONTROL
		echo "$1 +p" >$CONTROL
	done
}
writer 'module codetag_test' &
writer 'file mm/*; file fs/* func *; file kernel/fork.c'
wait $!
run churn stop
run drop all 2>/dev/null
echo "=p" >$CONTROL
equal "on after two writers" 0 "$(off_sites .)"
audited "audit"
unload codetag_test
finish
