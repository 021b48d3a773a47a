#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A large module that leaks an object each time it is loaded: the ids of all that holds
# nothing are free again, so that it can be loaded for longer than there are ids.
# guest: own
# store: any
# timeout: 240
. "$(dirname "$0")/codetag.inc"

# The numbers of the line codetag:1, which has the memory of lines without an id
rest()
{
	awk '$3 == "codetag:1" { print $1, $2 }' $ALLOCINFO
}

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 10

free=$(stat_value ids_module_free)
used=$(stat_value ids_unloaded)
before=$(rest)
load codetag_many || bail "cannot load codetag_many"
sites=$(cat /sys/module/codetag_many/parameters/sites)
unload codetag_many

loads=$((free / sites + 10))
diag "$loads loads of $sites call sites, with $free free ids"
bad=
n=0
while [ $n -lt $loads ]; do
	n=$((n + 1))
	load codetag_many hold=1 || { bad="$bad load $n fails;"; break; }
	without=$(stat_value tags_without_id)
	[ "$without" -eq 0 ] || bad="$bad load $n: $without without an id;"
	unload codetag_many || { bad="$bad unload $n fails;"; break; }
done
equal "each load gets all of its ids" "" "$bad"
equal "no module has too few" 0 "$(stat_value modules_without_id)"
equal "nothing is charged to the line codetag:1" "$before" "$(rest)"
lines=$(grep '\[codetag_many\]' $ALLOCINFO | grep -c ' unloaded:yes')
equal "a line for each object" $loads "$lines"
compared "and the right numbers"
now=$(stat_value ids_module_free)
[ $((free - now)) -le $((loads * 32)) ]
check "an object keeps 32 ids" $? "$((free - now)) for $loads objects"
[ $(($(stat_value ids_unloaded) - used)) -le $((loads * 32)) ]
check "and they are counted" $? "$(stat_value ids_unloaded), was $used"
audited "audit"
run drop many
equal "freed: all ids are free again" "$free $used" \
	"$(stat_value ids_module_free) $(stat_value ids_unloaded)"
equal "no names were lost" 0 "$(stat_value names_lost)"
unload codetag_test
finish
