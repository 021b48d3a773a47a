#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The files stats and audit.
. "$(dirname "$0")/codetag.inc"

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
plan 36

equal "mode of stats" "-r--------" "$(ls -l $STATS | cut -c 1-10)"
equal "mode of audit" "-rw-------" "$(ls -l $AUDIT | cut -c 1-10)"
bad=$(grep -v -E '^[a-z_0-9]+: (-?[0-9]+|[a-z_]+)$' $STATS)
equal "stats are names and values" "" "$bad"
equal "no name twice" "" "$(cut -d : -f 1 $STATS | sort | uniq -d)"

missing=
for key in store store_bits ids_builtin ids_module_used ids_module_free mem_tags \
	mem_counters mem_page_refs mem_slab_refs mem_percpu_refs; do
	[ -n "$(stat_value $key)" ] || missing="$missing $key"
done
equal "nothing is missing in stats" "" "$missing"

store=$(stat_value store)
bits=$(stat_value store_bits)
mem=$(stat_value mem_page_refs)
pages=$(awk '$1 == "MemTotal:" { print int($2 * 1024 / page) }' page="$PAGE" /proc/meminfo)
diag "store $store, $bits bits, $mem bytes for $pages pages"
case $store in
flags)
	[ "$bits" -ge 8 ] && [ "$bits" -le 16 ]
	check "bits" $? "$bits"
	equal "memory for pages" 0 "$mem" ;;
slot|page_ext)
	equal "bits" 16 "$bits"
	# Two bytes for each page; holes in physical memory can nearly double that.
	[ "$mem" -ge $((pages * 2)) ] && [ "$mem" -le $((pages * 4 + 300000)) ]
	check "memory for pages" $? "$mem bytes for $pages pages" ;;
*)
	fail "bits" "unknown store $store"
	fail "memory for pages" "unknown store $store" ;;
esac
asked=$(sed -n 's/.*codetag\.page_ref=\([^ ]*\).*/\1/p' /proc/cmdline)
case $asked in
flags|slot|page_ext) equal "the store that was asked for" "$asked" "$store" ;;
*) skip "the store that was asked for" "none was" ;;
esac

# With KALLSYMS_ALL all objects of the kernel are there, tags for live patches, but not
# their counters. Those of a module can be.
names='[ .]_alloc_tag_counters(\.[0-9]+)?$'
if grep -q ' d [^[]*$' /proc/kallsyms 2>/dev/null; then
	equal "counters are not in kallsyms" "" "$(grep -E "$names" /proc/kallsyms | head -n 3)"
	# KUnit tests give some of theirs other names.
	named=$(grep -c -E '[ .]_alloc_tag(\.[0-9]+)?$' /proc/kallsyms)
	[ "$named" -gt $(($(stat_value ids_builtin) * 9 / 10)) ]
	check "tags are" $? "$named of $(stat_value ids_builtin)"
else
	skip "counters are not in kallsyms" "no objects in it"
	skip "tags are" "no objects in it"
fi

# Ids: as many as there are lines.
lines=$(awk 'NR > 2 && $4 !~ /^\[/ && $3 !~ /^codetag:/' $ALLOCINFO | wc -l)
equal "ids of the kernel" "$lines" "$(stat_value ids_builtin)"
equal "ids of modules" "$(grep -c '\] func:' $ALLOCINFO)" "$(stat_value ids_module_used)"
used=$(stat_value ids_module_used)
free=$(stat_value ids_module_free)
tags=$(stat_value mem_tags)
counters=$(stat_value mem_counters)
load codetag_many
sites=$(cat /sys/module/codetag_many/parameters/sites)
equal "ids of one module more" $((used + sites)) "$(stat_value ids_module_used)"
now=$(stat_value ids_module_free)
[ $((free - now)) -ge "$sites" ] && [ $((free - now)) -lt $((sites + 200)) ]
check "free ids" $? "had $free, has $now, for $sites"
[ "$(stat_value mem_tags)" -ge $((tags + sites * 16)) ]
check "memory for tags" $? "had $tags, has $(stat_value mem_tags)"
[ "$(stat_value mem_counters)" -ge $((counters + sites * 16)) ]
check "memory for counters" $? "had $counters, has $(stat_value mem_counters)"
unload codetag_many
equal "ids are given back" "$used $free" \
	"$(stat_value ids_module_used) $(stat_value ids_module_free)"
equal "memory is given back" "$tags $counters" "$(stat_value mem_tags) $(stat_value mem_counters)"

# Memory with slab objects.
slab=$(stat_value mem_slab_refs)
[ "$slab" -gt 0 ]
check "memory for slab objects" $? "$slab"
load codetag_many hold=2500
[ "$(stat_value mem_slab_refs)" -ge "$slab" ]
check "memory for more slab objects" $? "had $slab, has $(stat_value mem_slab_refs)"
compared "many lines with one object each"
run drop many
compared "many lines with nothing"
unload codetag_many

# Drops: none of these may count in a quiet system.
for key in pages_not_representable pages_without_store tags_without_id modules_without_id \
	names_lost ids_damaged parts_lost pages_freed_in_parts percpu_refs_failed; do
	if [ "$store" = flags ] && [ $key = pages_not_representable ] && [ "$bits" -lt 16 ]; then
		skip "$key" "the store has $bits bits"
	else
		equal "$key" 0 "$(stat_value $key)"
	fi
done

# The audit.
run hold all
audit >"$WORK/a"
line=$(tail -n 1 "$WORK/a")
echo "$line" | grep -q -E '^audit: [0-9]+ tags, [0-9]+ pages, [0-9]+ objects, [0-9]+ mismatches$'
check "last line of the audit" $? "$line"
n='-?[0-9]+'
form="^mismatch: id [0-9]+ counted $n $n found $n $n [^ ]+:[0-9]+ func:.+\$"
bad=$(sed '$d' "$WORK/a" | grep -v -e '^stopped: ' -e '^# begun [0-9]* s after boot$' |
	grep -v -E "$form")
equal "other lines of the audit" "" "$bad"
# shellcheck disable=SC2046
set -- $(echo "$line" | tr -dc '0-9 \n')
[ "$1" -ge "$(stat_value ids_builtin)" ] && [ "$2" -ge "$pages" ] && [ "$3" -gt 5000 ]
check "the audit looks at everything" $? "$line, of $pages pages"
audited "audit while all is held"
run drop all
audited "audit"

unload codetag_test
finish
