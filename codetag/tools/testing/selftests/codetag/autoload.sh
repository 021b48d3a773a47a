#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A user without privileges makes the kernel load modules until the ids are used up. All memory
# stays counted; the user can neither exhaust ids for good nor flood the kernel log.
# boot: codetag.max_ids=3072
# store: any
. "$(dirname "$0")/codetag.inc"

MODPROBE=/proc/sys/kernel/modprobe

# user_loads TIMES PARAMETER: a user makes the kernel load codetag_many TIMES, with PARAMETER
user_loads()
{
	printf '#!/bin/sh\nexec insmod %s/codetag_many.ko %s\n' "$KO" "$2" >"$WORK/modprobe"
	chmod 755 "$WORK/modprobe"
	echo "$WORK/modprobe" >$MODPROBE
	"$BIN/caps" user=65534 "$BIN/socket" 9 "$1"
	echo "$was" >$MODPROBE
}

warnings()
{
	dmesg | grep -c 'codetag: no ids for .* of module codetag_many:'
}

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
[ -w $MODPROBE ] || { unload codetag_test; skip_all "modules do not load by themselves"; }
was=$(cat $MODPROBE)
free=$(stat_value ids_module_free)
[ "$free" -lt 2500 ] || { unload codetag_test; skip_all "there are too many ids"; }
plan 10
chmod 755 "$WORK"

# A module whose init fails is loaded again for each request.
user_loads 40 hold=nothing
! have_module codetag_many
check "a module that cannot start is not there" $?
equal "nor are its ids gone" "$free" "$(stat_value ids_module_free)"
equal "no line is without an id" 0 "$(stat_value tags_without_id)"
said=$(warnings)
[ "$said" -ge 1 ] && [ "$said" -le 20 ]
check "40 loads do not fill the kernel log" $? "$said warnings"

# A module that stays takes all ids.
user_loads 3 hold=2500
have_module codetag_many
check "a user makes the kernel load a module" $?
equal "all ids are used" 0 "$(stat_value ids_module_free)"
run hold all
audited "audit without ids"
run drop all
negative=$(awk 'NR > 2 && ($1 < 0 || $2 < 0)' $ALLOCINFO)
equal "no negative numbers" "" "$negative"
unload codetag_many
run drop many
equal "the ids come back" "$free" "$(stat_value ids_module_free)"
audited "audit"
unload codetag_test
finish
