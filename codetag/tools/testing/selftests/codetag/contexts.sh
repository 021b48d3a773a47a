#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Call sites that are split: by each key and through every allocator the contexts hold exactly
# what their sites hold. Also bounds, lost contexts, modules that are unloaded, and switching all
# the time.
# store: any
# timeout: 300
. "$(dirname "$0")/codetag.inc"

CONTROL=$DEBUGFS/codetag/control
FAULTS=$DEBUGFS/codetag/faults
MAX=/sys/module/codetag/parameters/max_contexts

# control QUERY: write it; print the status and the message
control()
{
	{ echo "$1" >$CONTROL; } 2>&1
}

must()
{
	control "$1" || bail "cannot write: $1"
}

# sums: the sites of the test modules whose contexts do not add up to their row
sums()
{
	cat $CONTEXTS >"$WORK/contexts"
	cat $ALLOCINFO >"$WORK/rows"
	awk -v rows="$WORK/rows" '
		# The tag is what follows three numbers, up to the function.
		function tag(first,	i, t) {
			for (i = first; i <= NF; i++) {
				t = t " " $i
				if ($i ~ /^func:/)
					break
			}
			return t
		}
		FILENAME == rows && $3 ~ /\[codetag_/ || $4 ~ /^\[codetag_/ && FILENAME == rows {
			t = tag(3)
			row_bytes[t] += $1
			row_calls[t] += $2
			next
		}
		FILENAME == rows { next }
		/^# site: / {
			t = tag(6)
			split_[t] = 1
			bytes[t] += $3
			calls[t] += $4
			lost += $5
			next
		}
		/^[# ]*#/ { next }
		/^ *[0-9]/ {
			t = tag(4)
			bytes[t] += $1
			calls[t] += $2
			if ($3 < $2)
				print "freed before it was allocated: " $0
		}
		END {
			for (t in split_)
				if (t ~ /\[codetag_/ && (bytes[t] != row_bytes[t] ||
							 calls[t] != row_calls[t]))
					print "row " row_bytes[t], row_calls[t], "contexts",
					      bytes[t] + 0, calls[t] + 0, t
			if (lost > 0)
				print "lost: " lost
		}' "$WORK/rows" "$WORK/contexts"
}

# sums_right NAME
# split KEYS: split all sites of the driver except those of its ledger
split()
{
	must "module codetag_test keys=$1; file ledger.c keys=none"
}

sums_right()
{
	out=$(sums)
	[ -z "$out" ]
	check "$1" $? "$out"
}

# context FUNCTION LINE_REGEX: bytes and calls of the contexts that match
context()
{
	awk -v func_="func:$1" -v re="$2" '
		/^ *[0-9]/ && index($0, func_ " ") && $0 ~ re { bytes += $1; calls += $2 }
		END { print bytes + 0, calls + 0 }' $CONTEXTS
}

listed()
{
	grep -c '^ *[0-9]' $CONTEXTS
}

driver
[ -r $CONTEXTS ] || { unload codetag_test; skip_all "no $CONTEXTS"; }
keysets="size node,cpu gfp,accounted task cgroup stack caller age stack,age,size,node,task"
plan $((7 + 4 + 6 * $(echo "$keysets" | wc -w) + 28))
free_ids=$(stat_value ids_module_free)

# ---- listed and refused ------------------------------------------------------

equal "nothing is split" "# contexts - version: 1.0" "$(sed -n 1p $CONTEXTS)"
equal "nothing is listed" 0 "$(listed)"
refused()
{
	out=$(control "module codetag_test $1")
	[ $? -ne 0 ] && printf '%s' "$out" | grep -q "Invalid argument"
	check "refused: $1" $? "$out"
}
refused keys=
refused keys=stack,colour
refused "keys=stack depth=33"
refused "keys=size depth=3"
refused "keys=none max=3"

# The file of helpers
HELPERS=$DEBUGFS/codetag/helpers
before=$(cat $HELPERS)
for words in "none_such -not_there" "no/function"; do
	! { echo "$words" >$HELPERS; } 2>/dev/null && [ "$(cat $HELPERS)" = "$before" ]
	check "helpers: '$words' changes nothing" $?
done
! { printf 'hold_none\0' >$HELPERS; } 2>/dev/null && [ "$(cat $HELPERS)" = "$before" ]
check "helpers: a NUL byte changes nothing" $?
! { printf '%4095s ' hold_none | dd bs=8192 of=$HELPERS; } 2>/dev/null && [ "$(cat $HELPERS)" = "$before" ]
check "helpers: half of a long write changes nothing" $?
echo 'hold_kmal?oc, hold_none' >$HELPERS
equal "helpers: added" 2 "$(grep -c '^hold_' $HELPERS)"
echo '-hold_kmal?oc -hold_none' >$HELPERS
equal "helpers: removed" "$before" "$(cat $HELPERS)"

# ---- each key, each allocator -------------------------------------------------

for keys in $keysets; do
	split "$keys max=60000"
	snapshot
	hold_all
	compared "$keys: held"
	sums_right "$keys: held, in contexts"
	case $keys in
	size)
		# The lines of this function ask for one size each, as often as another.
		set -- $(context hold_kmalloc ' size=100$')
		[ "$2" -gt 0 ] && [ "$(context hold_kmalloc ' size=5000$')" = "$((8192 * $2)) $2" ]
		check "size: what was asked for" $? "$(grep hold_kmalloc $CONTEXTS)"
		# Pages that were split, large objects, memory on all CPUs. Not hold_speculative():
		# its first page is freed later than the others.
		out=$(awk '
			/^ *[0-9]/ && /\[codetag_/ && !/func:hold_speculative / {
				size = $NF
				sub("size=", "", size)
				if ($3 < $2 || size * $2 > $1)
					print
				lines++
			}
			END { if (lines < 20) print "only " lines + 0 " lines" }' $CONTEXTS)
		equal "size: no more freed than allocated, or asked for than taken" "" "$out"
		;;
	node,cpu)
		[ "$(context hold_percpu ' node=all ')" != "0 0" ] &&
			[ "$(context hold_kmalloc ' node=all ')" = "0 0" ]
		check "node,cpu: percpu memory is on all nodes" $? "$(grep hold_percpu $CONTEXTS)"
		;;
	gfp,accounted)
		[ "$(context hold_kmalloc_account ' accounted=yes gfp=.*GFP_KERNEL_ACCOUNT')" != "0 0" ] &&
			[ "$(context hold_kmalloc_account ' accounted=no ')" = "0 0" ] &&
			[ "$(context hold_kmalloc ' accounted=yes ')" = "0 0" ]
		check "gfp,accounted: as asked for" $? "$(grep hold_kmalloc $CONTEXTS)"
		;;
	task)
		grep -q ' task=<hardirq>$' $CONTEXTS && grep -q ' task=<softirq>$' $CONTEXTS
		check "task: interrupts are nobody's" $? "$(grep -v 'task=contexts.sh' $CONTEXTS)"
		;;
	stack)
		# The first frame is the function of the tag, or the one it is inlined into.
		out=$(awk '
			/^ *[0-9]/ { match($0, /func:[^ ]*/); f = substr($0, RSTART + 5, RLENGTH - 5); want = 1; next }
			want && /^ / { if (index($1, f "+") == 1) good++; else bad[f]++; want = 0 }
			END { print good + 0; for (f in bad) print f, bad[f] }' $CONTEXTS)
		[ "$(echo "$out" | head -n 1)" -gt 20 ]
		check "stack: begins at the call site" $? "$out"
		;;
	caller)
		# The site's own frame and one more, which is no helper. Contexts that hold nothing
		# can be of the keys before.
		out=$(awk '
			/^ *[0-9]/ { holds = $1 > 0; n = 0; next }
			!holds || !/^ / { next }
			++n == 2 { sub(/\+.*/, "", $1); print $1 }
			n > 2 { print "too many" }' $CONTEXTS | sort | uniq -c)
		[ -n "$out" ] && ! echo "$out" | grep -q -E ' (kvasprintf|kstrdup|__alloc_skb|too many)'
		check "caller: one frame behind the call site" $? "$out"
		;;
	*)
		[ "$(grep '^ *[0-9]' $CONTEXTS | grep -c "$(echo "$keys" | sed 's/.*,//; s/stack//')")" -gt 0 ]
		check "$keys: listed" $?
		;;
	esac
	run thin all
	compared "$keys: thinned"
	sums_right "$keys: thinned, in contexts"
	run drop all
	compared "$keys: freed"
done
grep -q "keys=node,size,age,task,stack depth=16 max=60000" $CONTROL
check "control says how a site is split" $? "$(grep codetag_test $CONTROL | head -n 3)"
audited "audit with contexts"

# ---- the end of it --------------------------------------------------------------

run hold kmalloc
before=$(memory 'func:hold_kmalloc ')
must "module codetag_test keys=none"
equal "keys=none leaves what is held" "$before" "$(memory 'func:hold_kmalloc ')"
[ "$(context hold_kmalloc .)" = "$before" ]
check "and it is still listed" $? "$(context hold_kmalloc .)"
! grep -q ' keys=' $CONTROL
check "no site is split" $? "$(grep ' keys=' $CONTROL)"
run drop all
until_true 60 no_contexts
check "what holds nothing is forgotten" $? "$(cat $STATS; head $CONTEXTS)"
equal "all ids are back" "$free_ids" "$(stat_value ids_module_free)"

# ---- bounds -----------------------------------------------------------------------

split "size max=1"
snapshot
hold_all
compared "one context a site: held"
lost=$(stat_value contexts_lost)
[ "$lost" -gt 0 ]
check "what is lost is counted" $? "$lost"
equal "for each site, too" "$lost" "$(awk '/^# site:/ { n += $5 } END { print n }' $CONTEXTS)"
run drop all
compared "one context a site: freed"

old=$(cat $MAX)
echo 5 >$MAX
split size,gfp
snapshot
hold_all
compared "five contexts: held"
[ "$(stat_value contexts_lost)" -gt "$lost" ]
check "more is lost" $?
run drop all
compared "five contexts: freed"
echo "$old" >$MAX
must "module codetag_test keys=none"
until_true 60 no_contexts
check "all is given back" $? "$(cat $STATS)"

# Without memory for contexts.
if [ -e $FAULTS ]; then
	lost=$(stat_value contexts_lost)
	must "func add_block fault probability=100 times=-1 verbose=0"
	split size
	snapshot
	hold_all
	compared "no memory for contexts: held"
	[ "$(stat_value contexts_used)" = 0 ] && [ "$(stat_value contexts_lost)" -gt "$lost" ]
	check "no memory for contexts: all is lost" $? "$(grep contexts_ $STATS)"
	run drop all
	compared "no memory for contexts: freed"
	must "func add_block fault=off; module codetag_test keys=none"
else
	skip_rest 3 "no faults" "no memory for contexts"
fi

# ---- a module that goes -------------------------------------------------------------

# Sites of unloaded modules go with their last contexts, and so do their counts of lost contexts.
until_true 60 no_contexts
must "module codetag_victim keys=stack"
load codetag_victim pieces=10 group=victim
compared "a query for a module to come" victim
sums_right "the module's contexts"
unload codetag_victim
[ "$(grep -c '\[codetag_victim\] func:.* unloaded:yes' $CONTEXTS)" -gt 5 ] &&
	grep -q '^ .*\[codetag_victim\]$' $CONTEXTS
check "its names and stacks stay" $? "$(cat $CONTEXTS)"
compared "it is gone, its memory is not" victim
run drop victim
echo "remove all" >$DEBUGFS/codetag/queries
until_true 60 no_contexts
check "then its contexts are gone" $? "$(cat $CONTEXTS)"

# ---- all the time ---------------------------------------------------------------------

snapshot
run churn start
end=$(($(date +%s) + $(lasting 15)))
rounds=0
while [ "$(date +%s)" -lt $end ]; do
	for keys in size,gfp none stack,age node max; do
		case $keys in
		max) split "cpu,task max=2" ;;
		*) split "$keys" ;;
		esac
	done
	must "module codetag_test -p; module codetag_test +p"
	cat $CONTEXTS >/dev/null
	rounds=$((rounds + 1))
done
diag "$rounds rounds, lost: $(stat_value contexts_lost)"
run churn stop
must "module codetag_test keys=none"
# The texts of the queries are memory, too.
echo "remove all" >$DEBUGFS/codetag/queries
compared_after_churn "switched under load"
audited "audit after that"

unload codetag_test
finish
