#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The audit finds wrong counters and ends whatever it finds. The test leaves wrong counters in
# this guest.
# guest: own
. "$(dirname "$0")/codetag.inc"

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 24

equal "none has run" "# no audit has run" "$(head -n 1 $AUDIT)"
grep -r mismatch "$DEBUGFS/codetag" >/dev/null
equal "reading starts none" "# no audit has run" "$(head -n 1 $AUDIT)"
for word in 0 2 '' 100 yes 1garbage "all of it"; do
	echo "$word" >$AUDIT 2>/dev/null
	[ $? != 0 ] || break
done
[ "$word" = "all of it" ] && [ "$(head -n 1 $AUDIT)" = "# no audit has run" ]
check "nor does another word" $? "$word"
dmesg | grep -q "audit: '1garbage': write 1 to start the audit"
check "and the kernel's log has the word" $?

audited "audit before"
cat $AUDIT >"$WORK/again"
cmp -s "$WORK/audit" "$WORK/again"
check "the result stays" $? "$(diff "$WORK/audit" "$WORK/again")"
n='[0-9]+'
form="^stopped: $n times, $n us at most, $n us per GiB\$"
equal "it says for how long everything was stopped" 1 "$(grep -c -E "$form" "$WORK/audit")"

# A task that is stopped while it makes a compound page.
run half on
audited "audit while a compound page is being made"
run half off
audited "audit after that"

# The machine is not stopped for longer than the parameter allows.
was=$(cat $AUDIT_MAX)
echo 0 >$AUDIT_MAX
audit >"$WORK/a"
form="^gave up: $n pages in codetag.audit_max_ms=0\$"
tail -n 1 "$WORK/a" | grep -q -E "$form"
check "it gives up in time" $? "$(cat "$WORK/a")"
equal "and says nothing that it does not know" 0 "$(grep -c -E '^(audit|mismatch):' "$WORK/a")"
echo "$was" >$AUDIT_MAX
audited "audit with more time"

# A result that is read in pieces stays the same while the next audit runs.
cat $AUDIT >"$WORK/was"
exec 5<$AUDIT
dd bs=10 count=1 <&5 >"$WORK/a" 2>/dev/null
run hold all
echo 1 >$AUDIT
cat <&5 >>"$WORK/a"
exec 5<&-
cmp -s "$WORK/was" "$WORK/a"
check "in pieces it is one result" $? "$(cat "$WORK/a")"
run drop all

# Audits that are started at the same time run one after the other.
for try in 1 2 3; do
	echo 1 >$AUDIT &
done
wait
tail -n 1 $AUDIT | grep -q ', 0 mismatches$'
check "several at once" $? "$(cat $AUDIT)"

# Pages that a caller loses are no mismatch. The next owner of the one page that was freed is
# charged for that page alone.
lost=$(stat_value pages_freed_in_parts)
run misuse put
run hold alloc_pages
# shellcheck disable=SC2046
equal "lost pages stay with their line" "$((3 * PAGE)) 3" "$(memory 'func:ct_misuse_put ')"
equal "and are counted" $((lost + 1)) "$(stat_value pages_freed_in_parts)"
audited "audit with lost pages"
run drop alloc_pages
audited "audit after that"

run misuse page
line=$(grep 'func:ct_misuse ' $ALLOCINFO)
# shellcheck disable=SC2086
set -- $line
equal "the line is wrong" "$((2 * PAGE)) 0" "$1 $2"
place=$3
audit >"$WORK/a"
equal "one mismatch" 1 "$(grep -c '^mismatch: ' "$WORK/a")"
grep -q "^mismatch: id [0-9]* counted $((2 * PAGE)) 0 found 0 0 $place func:ct_misuse" "$WORK/a"
check "it says what and where" $? "$(cat "$WORK/a")"
tail -n 1 "$WORK/a" | grep -q ', 1 mismatches$'
check "and counts it" $? "$(tail -n 1 "$WORK/a")"
audit >"$WORK/b"
equal "the next one finds it, too" "$(grep '^mismatch: ' "$WORK/a")" \
	"$(grep '^mismatch: ' "$WORK/b")"
grep -q '^stopped: [12] times, ' "$WORK/b"
check "and need not look again and again" $? "$(cat "$WORK/b")"
unload codetag_test
finish
