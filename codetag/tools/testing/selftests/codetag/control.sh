#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Choosing call sites: which ones the queries select; a write takes effect as a whole or not at
# all; switching a site neither loses nor invents memory.
# guest: own
# store: any
# timeout: 240
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
QUERIES=$DEBUGFS/codetag/queries
APPLIED=$DEBUGFS/codetag/applied

# ask QUERY...: write them at once; an error message is in $out
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
plan 105

equal "modes" "-rw------- -rw-------" \
	"$(ls -l $CONTROL $QUERIES | awk '{ print $1 }' | xargs)"
out=$(grep -v -E '^[^ ]+:[0-9]+ (\[[^] ]+\] )?func:[^ ]+ =[p_] id [0-9]+$' $CONTROL | head -n 3)
equal "every line is well formed" "" "$out"
awk 'NR > 2 && $3 !~ /^codetag:/ && $0 !~ / unloaded:yes/ {
	print $3, $4, $4 ~ /^\[/ ? $5 : "" }' $ALLOCINFO | sort >"$WORK/a"
awk '{ print $1, $2, $2 ~ /^\[/ ? $3 : "" }' $CONTROL | sort >"$WORK/b"
out=$(diff "$WORK/a" "$WORK/b" | head -n 5)
equal "the sites are those of allocinfo" "" "$out"
cat $CONTROL >"$WORK/a"
dd if=$CONTROL of="$WORK/b" bs=700 2>/dev/null
cmp -s "$WORK/a" "$WORK/b"
check "read in small pieces it is the same" $?

# The lines that each term selects, compared with their texts.
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
selects "not file" $((all - slub)) "not file mm/slub.c"
selects "not func: a glob" $((all - pools)) "not func mempool_*"
selects "not module" $((all - mine)) "not module codetag_test"
selects "not module vmlinux" "$(grep -c '^[^ ]* \[' $CONTROL)" "not module vmlinux"
selects "not line" $((slub - at)) "file mm/slub.c not line $line"
selects "not id" $((all - 1)) "not id $id"
selects "several terms" "$(grep -c '\[codetag_test\] func:hold_vmalloc ' $CONTROL)" \
	"module codetag_t??t func hold_vmalloc file cases_other.c"
selects "quotes and a comment" "$slub" '# a comment
 "file" "mm/slub.c"'
ask '=p'
ask "file mm/slub.c -p; module codetag_test =_
file mm/slub.c +p # not this one: -p"
equal "the last query wins" "$mine" "$(grep -c ' =_ id ' $CONTROL)"
ask '=p'
equal "all are on again" 0 "$(off_sites .)"

# Refused as a whole.
dmesg -c >/dev/null
refused "a bad word at the end" "Invalid argument" "file mm/slub.c -p; nonsense"
[ "$(dmesg | grep -c 'codetag:')" -eq 1 ] && dmesg | grep -q "codetag: control: 'nonsense' at 19: "
check "the log has the word and where it is, once" $? "$(dmesg | tail -n 5)"
refused "an unknown flag" "Invalid argument" "file mm/slub.c =q"
refused "not, and nothing behind it" "Invalid argument" "file mm/slub.c not -p"
refused "no action" "Invalid argument" "file mm/slub.c"
refused "no such file" "No such file" "file mm/slub.c -p; file there/is/no/such.c -p"

# The shell ends its writes with a newline, this one must not.
awk -v n=$((PAGE / 18 + 200)) \
	'BEGIN { while (n-- > 0) printf("file mm/slub.c -p;"); printf("id 1") }' >"$WORK/cut"
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

# As many queries as one write can have, and one more.
written()
{
	awk -v n="$1" -v q="$2" 'BEGIN { while (n-- > 0) printf("%s\n", q) }' >"$WORK/many"
	out=$({ dd if="$WORK/many" of=$CONTROL bs=64k; } 2>&1)
}
dmesg -c >/dev/null
written 1024 '=_'
check "1024 queries in one write" $? "$out"
equal "are done" "$all" "$(off_sites .)"
written 1025 '=p'
[ $? -ne 0 ] && printf '%s' "$out" | grep -q "too long"
check "1025 are refused" $? "$out"
dmesg | grep -q 'codetag: control: more than 1024 queries in one write'
check "and the log names the limit" $? "$(dmesg | tail -n 3)"
equal "nothing is done" "$all" "$(off_sites .)"
ask '=p'

# 7,000 queries are refused before they take memory. The 1,024 that one write may have need
# little memory for each site: a memory cgroup enforces that. Modules load meanwhile.
cg=/tmp/cgroup
mkdir -p $cg
if [ -e $CONTEXTS ] && { mounted $cg || mount -t cgroup2 none $cg 2>/dev/null; } &&
   grep -q memory $cg/cgroup.controllers && echo +memory >$cg/cgroup.subtree_control &&
   mkdir -p $cg/wide; then
	# in_group COMMAND...: with 8 MiB
	echo 8M >$cg/wide/memory.max
	in_group()
	{
		echo $$ >$cg/wide/cgroup.procs
		"$@"
		in_group_status=$?
		echo $$ >$cg/cgroup.procs
		return $in_group_status
	}
	centiseconds() { awk '{ print int($1 * 100) }' /proc/uptime; }
	in_group written 7000 'keys=cpu'
	[ $? -ne 0 ] && printf '%s' "$out" | grep -q "too long"
	check "7000 queries that match all sites are refused" $? "$out"
	start=$(centiseconds)
	in_group written 1024 'keys=cpu'
	check "1024 are done with 8 MiB" $? "$out"
	one=$(($(centiseconds) - start))
	equal "and all sites are split" "$all" "$(grep -c '^# site: .* keys=cpu ' $CONTEXTS)"
	equal "nobody was killed for it" 0 "$(sed -n 's/^oom_kill //p' $cg/wide/memory.events)"
	diag "${one}0 ms, at most $(cat $cg/wide/memory.peak) bytes"
	echo keys=none >$CONTROL

	echo go >"$WORK/go"
	writes=0
	while going; do
		if written 1024 'keys=cpu'; then
			writes=$((writes + 1))
			echo $writes >"$WORK/writes.new"
			mv "$WORK/writes.new" "$WORK/writes"
		fi
		echo keys=none >$CONTROL
	done &
	until_true 60 test -s "$WORK/writes"
	before=$(cat "$WORK/writes")
	longest=0
	loads=0
	tries=0
	while [ $tries -lt 8 ] || { [ $tries -lt 200 ] && [ "$(cat "$WORK/writes")" -lt $((before + 2)) ]; }; do
		tries=$((tries + 1))
		start=$(centiseconds)
		load codetag_many && loads=$((loads + 1))
		took=$(($(centiseconds) - start))
		[ $took -le $longest ] || longest=$took
		unload codetag_many
	done
	writes=$(($(cat "$WORK/writes") - before))
	rm "$WORK/go"
	wait $!
	equal "modules load meanwhile" $tries $loads
	[ "$writes" -ge 2 ]
	check "while sites are split" $? "$writes writes"
	[ $longest -le $((4 * one + 2000)) ]
	check "and no load waits for many writes" $? "$longest hundredths of a second, a write takes $one"
	diag "the longest took ${longest}0 ms, beside $writes writes"
	echo keys=none >$CONTROL
	rmdir $cg/wide
else
	skip_rest 7 "no contexts or no memory cgroups" "many queries that match all sites"
fi

# Hundreds of malformed writes: nothing may change, nothing may warn. Each has a
# query that would change something if it were done.
cat $CONTROL $QUERIES >"$WORK/control.before"
dmesg -c >/dev/null
tries=0
accepted=
# bad_write FILE: write it at once, which has to fail; remember it if it does not
bad_write()
{
	tries=$((tries + 1))
	dd if="$1" of=$CONTROL bs=64k 2>/dev/null || return
	accepted="$accepted
$(head -n 1 "$1")"
}
some='module codetag_test -p'
while read -r word; do
	for text in "$word" "$some; $word" "$some
$word" "$word
$some" "module codetag_test $word -p"; do
		printf '%s' "$text" >"$WORK/bad"
		bad_write "$WORK/bad"
	done
done <<EOF
nonsense
=
+
-
=q
=pq
=pp
+_
p
-p -p
-p file a
"open
"a"b
""
file
file ""
func
module
line
line x
line -
line 5-3
line 1-2-3
line 4294967296
id
id -1
id 65536
id 1x
id 1 id 1
fault=on
fault nth=0
fault nth=-1
fault nth=2147483648
fault nth=18446744073709551615
fault interval=2147483648
fault nth=1 times=2
fault probability=101
fault probability=x
fault interval=0
fault times=-2
fault verbose=3
fault task-filter=2
fault bogus=1
fault times
fault times=1 times=1
$(printf 'file %0256d' 0)
EOF
printf '%s\0; id 1 -p' "$some" >"$WORK/bad"
bad_write "$WORK/bad"
for i in $(seq 1 300); do
	{ printf '%s; x' "$some"; head -c $((i % 97 + 1)) /dev/urandom; } >"$WORK/bad"
	bad_write "$WORK/bad"
done
equal "malformed writes are refused" "" "$accepted"
# A few of these have no word in them, so they succeed and do nothing.
empty=0
for i in $(seq 1 100); do
	head -c $((i % 97 + 1)) /dev/urandom >"$WORK/bad"
	dd if="$WORK/bad" of=$CONTROL bs=4k 2>/dev/null && empty=$((empty + 1))
done
[ $empty -lt 10 ]
check "random bytes are refused" $? "$empty of 100 were accepted"
cat $CONTROL $QUERIES >"$WORK/control.after"
out=$(diff "$WORK/control.before" "$WORK/control.after")
check "nothing has changed" $? "$out"
dmesg >"$WORK/log"
said=$(grep -c 'codetag: control:' "$WORK/log")
diag "$tries malformed writes, $said messages"
[ "$said" -gt 0 ] && [ "$said" -lt $((tries / 2)) ]
check "messages are limited" $? "$said messages about $tries writes"
equal "no warning" "" "$(grep -E 'WARNING|BUG|Oops|UBSAN' "$WORK/log")"

# A site that is off: frees are subtracted, new allocations are not counted.
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

# Queries for modules that are loaded later, across load, unload, load.
unload codetag_test
echo "remove all" >$QUERIES
ask 'module codetag_test func hold_* -p'
check "a module that is not loaded" $? "$out"
equal "is remembered" "module codetag_test func hold_* -p" "$(sed 's/^[0-9]*: //' $QUERIES)"
ask 'module codetag_many -p; nonsense'
equal "what is refused is not" 1 "$(wc -l <$QUERIES)"
load codetag_test
[ "$(off_sites 'codetag_test.*func:hold_')" -gt 20 ] &&
	[ "$(off_sites .)" -eq "$(off_sites 'codetag_test.*func:hold_')" ]
check "applied when it is loaded" $? "$(off_sites .) are off"
unload codetag_test
load codetag_test
[ "$(off_sites 'codetag_test.*func:hold_')" -gt 20 ]
check "and again" $?

# In the order in which they were written; the same one again is the last one.
ask 'module codetag_test func hold_vmalloc +p; module codetag_many -p; module codetag_test func hold_percpu +p'
ask 'module codetag_many -p'
equal "all are listed" "func hold_* -p,func hold_vmalloc +p,func hold_percpu +p,-p," \
	"$(sed 's/^[0-9]*: module codetag_[a-z]* //' $QUERIES | tr '\n' ',')"
unload codetag_test
load codetag_test
[ "$(off_sites 'func:hold_vmalloc\|func:hold_percpu')" -eq 0 ] && [ "$(off_sites 'func:hold_')" -gt 20 ]
check "applied in their order" $? "$(grep 'hold_vmalloc\|hold_percpu' $CONTROL)"
echo "remove $(sed -n 's/:.*hold_vmalloc.*//p' $QUERIES)" >$QUERIES
equal "one is removed" "func hold_* -p,func hold_percpu +p,-p," \
	"$(sed 's/^[0-9]*: module codetag_[a-z]* //' $QUERIES | tr '\n' ',')"
unload codetag_test
load codetag_test
[ "$(off_sites 'func:hold_percpu')" -eq 0 ] && [ "$(off_sites 'func:hold_vmalloc')" -gt 5 ]
check "and is not applied any more" $? "$(grep 'hold_vmalloc\|hold_percpu' $CONTROL)"
before=$(cat $QUERIES)
out=$({ echo "remove 4711" >$QUERIES; } 2>&1)
[ $? -ne 0 ] && printf '%s' "$out" | grep -q "No such file"
check "no such number" $? "$out"
accepted=
for text in "forget all" "remove" "remove x" "remove 1 2" "remove allx" "" \
	"remove all remove all remove all remove all"; do
	! echo "$text" 2>/dev/null >$QUERIES || accepted="$accepted '$text'"
done
equal "bad commands are refused" "" "$accepted"
equal "and change nothing" "$before" "$(cat $QUERIES)"
echo "remove all" >$QUERIES
equal "all are forgotten" "" "$(cat $QUERIES)"
unload codetag_test
load codetag_test
equal "and not applied any more" 0 "$(off_sites .)"

# Before any code of the module has run.
ask 'module codetag_victim -p'
load codetag_victim pieces=3
equal "off in the module's init" "0 0" "$(memory ' .codetag_victim. ')"
echo "remove all" >$QUERIES
unload codetag_victim
run drop victim
load codetag_victim pieces=3
[ "$(memory ' .codetag_victim. ')" != "0 0" ]
check "and counted without it" $?
unload codetag_victim
held=$(memory ' .codetag_victim. ')
equal "no site once it is gone" 0 "$(grep -c '\[codetag_victim\]' $CONTROL)"
ask '=_; =p'
equal "what it still holds is left alone" "$held" "$(memory ' .codetag_victim. ')"
run drop victim

# As many queries as one write can hold, each of which is compared with each site. This must not
# block other tasks. So many can also be remembered.
awk 'BEGIN { for (i = 0; i < 1024; i++) printf("module no_such_%d func *a*e*o* -p\n", i) }' \
	>"$WORK/many"
thresh=/proc/sys/kernel/watchdog_thresh
was=$(cat $thresh)
echo 1 >$thresh
dd if="$WORK/many" of=$CONTROL bs=64k 2>/dev/null
check "very many queries at once" $?
equal "are remembered" 1024 "$(wc -l <$QUERIES)"
load codetag_many
check "a module loads with them" $?
unload codetag_many
echo "$was" >$thresh
equal "and no soft lockup" 0 "$(dmesg | grep -c 'soft lockup')"
dmesg -c >/dev/null
! ask 'module one_more -p' && printf '%s' "$out" | grep -q 'No space left'
check "one more is refused" $? "$out"
dmesg | grep -q 'codetag: control: more than 1024 queries or 65536 bytes to be remembered'
check "and the log names the limit" $? "$(dmesg | tail -n 3)"
ask 'module no_such_7 func *a*e*o* -p'
check "one of them again is not" $? "$out"
echo "remove $(sed -n "1s/:.*//p" $QUERIES)" >$QUERIES
ask 'module one_more -p'
check "nor another one when one is forgotten" $? "$out"
echo "remove all" >$QUERIES
# The same one many times in one write is one.
ask 'module one_more -p'
written 1024 'module the_same -p'
check "1024 times the same query" $? "$out"
equal "is one" 2 "$(wc -l <$QUERIES)"
echo "remove all" >$QUERIES
# Each byte of a query costs time for each site of each module, so 64 KiB is the limit.
awk 'BEGIN { while (n++ < 8) printf("module long_%d%8000s-p\n", n, "") }' >"$WORK/many"
dd if="$WORK/many" of=$CONTROL bs=64k 2>/dev/null
check "long queries are remembered" $?
! ask "$(awk 'BEGIN { printf("module one_more%2000s-p", "") }')" && printf '%s' "$out" | grep -q 'No space left'
check "more than 64 KiB are refused" $? "$out"
ask 'module one_more -p'
check "a short one is not" $? "$out"
echo "remove all" >$QUERIES

# The last queries, each once, with the time and the task; and no more of them than the file can hold.
ask 'func hold_kmalloc -p'
ask 'func hold_kmalloc +p'
echo 'func hold_kmalloc -p' >$CONTROL
! ask 'func there_is_no_such_function -p'
equal "queries are listed as they were applied" "func hold_kmalloc +p func hold_kmalloc -p" \
	"$(tail -n 2 $APPLIED | cut -d' ' -f4- | paste -s -d' ')"
now=$(cut -d. -f1 /proc/uptime)
tail -n 1 $APPLIED | {
	read -r seconds pid task rest
	[ "$seconds" -le "$now" ] && [ "$seconds" -ge $((now - 60)) ] && [ "$pid" = $$ ] &&
		[ "$task" = "$(cat /proc/$$/comm)" ]
}
check "with the time and the task" $? "$(tail -n 1 $APPLIED), now $now, $$"
awk '/^# forgotten: [1-9]/ { forgotten = 1 } !/^#/ { n++; sub(/^[^ ]* [^ ]* [^ ]* /, ""); bytes += length($0) }
	END { exit !(forgotten && n > 2 && n <= 256 && bytes <= 16384) }' $APPLIED
check "and no more than there is room for" $? "$(grep -c . $APPLIED) lines, $(wc -c <$APPLIED) bytes"
ask 'func hold_kmalloc +p'

# Two writers of the same sites, many queries each. A write is atomic: in the end all sites have the
# state of one writer, the last one. A slow machine takes longer for enough rounds.
for letter in a b c d e f g h i j k l m n o p q r s t u v w x y z; do
	grep -q "^mm/$letter" $CONTROL || continue
	echo "file mm/$letter* -p" >&3
	echo "file mm/$letter* +p" >&4
done 3>"$WORK/off" 4>"$WORK/on"
rounds=0
mixed=0
end=$(($(date +%s) + 5))
while [ $rounds -le 10 ] || [ "$(date +%s)" -lt $end ]; do
	dd if="$WORK/off" of=$CONTROL bs=64k 2>/dev/null &
	dd if="$WORK/on" of=$CONTROL bs=64k 2>/dev/null
	wait $!
	[ "$(grep '^mm/' $CONTROL | sed 's/.* =\([p_]\) id .*/\1/' | sort -u | wc -l)" -eq 1 ] ||
		mixed=$((mixed + 1))
	rounds=$((rounds + 1))
done
[ $mixed -eq 0 ]
check "two writers do not mix" $? "$mixed of $rounds"
ask '=p'

# Sites are switched while all CPUs allocate and free at them.
run churn start
: >"$WORK/go"
# writer NUMBER QUERY
writer()
{
	n=0
	while [ -e "$WORK/go" ]; do
		echo "$2 -p" >$CONTROL && echo "$2 +p" >$CONTROL && n=$((n + 1))
		echo $n >"$WORK/writes.$1"
	done
}
busy()
{
	while [ -e "$WORK/go" ]; do
		ls -lR /sys/kernel >/dev/null
		dd if=/dev/zero of="$WORK/file.$1" bs=64k count=20 2>/dev/null
		sh -c 'true | cat'
		rm "$WORK/file.$1"
	done
}
jobs=
writer 1 'module codetag_test' &
jobs="$jobs $!"
writer 2 'file mm/*' &
jobs="$jobs $!"
writer 3 'file fs/* func *alloc*' &
jobs="$jobs $!"
for i in 1 2; do
	busy $i &
	jobs="$jobs $!"
done
sleep "$(lasting 15)"
audited "audit under load"
sleep "$(lasting 15)"
rm "$WORK/go"
# shellcheck disable=SC2086
wait $jobs
rounds=$(sed -n 's/^rounds: //p' $CT/churn)
run churn stop
ask '=p'
equal "all are on after that" 0 "$(off_sites .)"
writes=$(cat "$WORK"/writes.* | xargs)
diag "written: $writes, $rounds rounds"
least=$(cat "$WORK"/writes.* | sort -n | head -n 1)
[ "$least" -gt 20 ] && [ "$rounds" -gt 500 ]
check "there was load" $? "written: $writes, $rounds rounds"
run drop all 2>/dev/null
# The name of the threads' cache is freed a little after the cache.
for i in 1 2 3 4 5; do
	out=$(compare) && break
	sleep 1
done
compared "nothing is left after the load"
# Back to the state without any query
if command -v codetag >/dev/null; then
	ask 'file fs/pipe.c -p'
	ask 'module nothing_like_that =p' 2>/dev/null
	[ ! -e $CONTEXTS ] || ask 'file fs/namei.c keys=size'
	[ ! -e $DEBUGFS/codetag/faults ] || ask 'file fs/xattr.c fault nth=1000000'
	out=$(codetag reset --dry-run)
	echo "$out" | grep -q 'would be counted again' && [ "$(off_sites .)" -gt 0 ]
	check "reset: a dry run changes nothing" $? "$out"
	out=$(codetag reset 2>&1)
	check "reset: all at once" $? "$out"
	equal "reset: nothing is left" "" "$(grep -v ' =p id [0-9]*$' $CONTROL; cat $DEBUGFS/codetag/queries)"
	equal "reset: and it says so" "everything is as usual" "$(codetag reset 2>&1)"
else
	skip_rest 4 "no codetag command" "reset"
fi
equal "no negative numbers" "" "$(awk 'NR > 2 && ($1 < 0 || $2 < 0)' $ALLOCINFO)"
audited "audit"
unload codetag_test
finish
