#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# When the ids are used up modules load all the same, and the memory of their
# lines goes to the line codetag:1.
# boot: codetag.max_ids=3072
# timeout: 180
. "$(dirname "$0")/codetag.inc"

# rest: the numbers of the line codetag:1, which has the memory of lines without an id
rest()
{
	awk '$3 == "codetag:1" { print $1, $2 }' $ALLOCINFO
}

# shown MODULE: the sums of its lines, and how many of them are not accurate
shown()
{
	awk -v m="[$1]" '$4 == m { b += $1; c += $2; no += / accurate:no/ }
		END { printf("%d %d %d\n", b, c, no) }' $ALLOCINFO
}

warnings()
{
	dmesg | grep -c "codetag: no ids for .* of module $1:"
}

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
if [ "$(stat_value tags_without_id)" -ne 0 ]; then
	unload codetag_test
	skip_all "the kernel itself has too few ids"
fi
if [ "$(stat_value ids_module_free)" -gt 2500 ]; then
	unload codetag_test
	skip_all "there are too many ids, boot with codetag.max_ids=3072"
fi
plan 35
size=$(slab_sizes | awk '$1 == "kmalloc-32" { print $2 }')

# shellcheck disable=SC2046
set -- $(rest)
bytes=$1
calls=$2
free=$(stat_value ids_module_free)
diag "$free free ids"

# One module that is too large.
load codetag_many hold=2500
check "a module loads that has more lines than there are ids" $?
sites=$(cat /sys/module/codetag_many/parameters/sites)
without=$(stat_value tags_without_id)
[ "$without" -gt 0 ] && [ "$without" -le "$sites" ]
check "some lines have no id" $? "$without of $sites"
equal "stats count the module" 1 "$(stat_value modules_without_id)"
equal "one warning names it" 1 "$(warnings codetag_many)"
# shellcheck disable=SC2046
set -- $(rest) $(shown codetag_many)
equal "objects without a line of their own" "$((without * size)) $without" \
	"$(($1 - bytes)) $(($2 - calls))"
equal "objects with a line" "$(((sites - without) * size)) $((sites - without))" "$3 $4"
equal "lines that are not accurate" "$without" "$5"
equal "all lines are listed" "$sites" "$(grep -c '\[codetag_many\]' $ALLOCINFO)"
audited "audit with too few ids"

# Its memory goes with the module, and back to nothing.
unload codetag_many
check "it unloads" $?
# shellcheck disable=SC2046
set -- $(rest) $(shown codetag_many)
equal "unloaded: objects without a line" "$((without * size)) $without" \
	"$(($1 - bytes)) $(($2 - calls))"
equal "unloaded: objects with a line" "$(((sites - without) * size)) $((sites - without))" "$3 $4"
run drop many
equal "freed: nothing is left" "$bytes $calls" "$(rest)"
equal "freed: no line is left" 0 "$(grep -c '\[codetag_many\]' $ALLOCINFO)"
equal "the ids are free again" "$free" "$(stat_value ids_module_free)"
equal "no line is without an id" 0 "$(stat_value tags_without_id)"

# A small module has ids again, and its lines are exact.
load codetag_victim group=small
compared "a small module is exact"
unload codetag_victim
compared "and when it is unloaded"
run drop small

# Until there is none left: unloaded modules that hold memory keep their ids.
rounds=0
while [ "$(stat_value ids_module_free)" -gt 0 ] && [ $rounds -lt 200 ]; do
	rounds=$((rounds + 1))
	load codetag_victim pieces=1 group=keep || break
	unload codetag_victim || break
done
diag "$rounds modules used up all ids"
equal "all ids are used" 0 "$(stat_value ids_module_free)"
compared "all that was unloaded keeps its memory"
equal "no warning so far" 0 "$(warnings codetag_victim)"

# shellcheck disable=SC2046
set -- $(rest)
bytes=$1
calls=$2
load codetag_victim pieces=6 group=over
check "a module loads without any id" $?
equal "a warning names it" 1 "$(warnings codetag_victim)"
# The ledger's objects and bytes for it
slab_sizes >"$WORK/slabs"
want=$(awk '
	NR == FNR { size[$1] = $2; next }
	$1 == "over" {
		calls += $6
		n = split($7, terms, "+")
		for (i = 1; i <= n; i++)
			bytes += split(terms[i], f, "*") == 1 ? f[1] : f[1] * size[f[2]]
	}
	END { printf("%d %d\n", bytes, calls) }' "$WORK/slabs" $CT/expect)
# shellcheck disable=SC2046
set -- $(rest)
equal "pages and objects of all kinds go to one line" "$want" "$(($1 - bytes)) $(($2 - calls))"
audited "audit without any id"
unload codetag_victim
check "it unloads too" $?
# shellcheck disable=SC2046
set -- $(rest)
equal "its memory stays" "$want" "$(($1 - bytes)) $(($2 - calls))"
run drop over
equal "and goes" "$bytes $calls" "$(rest)"
load codetag_victim pieces=1 group=over
equal "every module is warned of" 2 "$(warnings codetag_victim)"
unload codetag_victim
run drop over

# Freed ids are used again.
run drop keep
equal "all ids are free again" "$free" "$(stat_value ids_module_free)"
load codetag_victim pieces=3 group=last
compared "a module is exact after that"
unload codetag_victim
run drop last
equal "nothing is left in the end" "$bytes $calls" "$(rest)"
equal "the profiler is on" 1 "$(cat $SWITCH)"
compared "no line is left"
audited "audit"
unload codetag_test
finish
