#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boot parameters that make no sense: a warning, and everything works.
# store: any
# boot: codetag.page_ref=bogus
# boot: codetag.page_ref=
# boot: codetag.page_ref
# boot: codetag.max_ids=many
# boot: codetag.max_ids=70000
# boot: codetag.max_ids=-1
# boot: codetag.max_ids
# boot: sysctl.vm.mem_profiling=perhaps
. "$(dirname "$0")/codetag.inc"

driver
have_engine || { unload codetag_test; skip_all "not this profiler"; }
name=$(tr ' ' '\n' </proc/cmdline |
	grep -E '^(codetag\.(page_ref|max_ids)|sysctl\.vm\.mem_profiling)' | tail -n 1)
if [ -z "$name" ]; then
	unload codetag_test
	skip_all "not booted with a bad parameter"
fi
plan 5
diag "$name"
dmesg | grep -E "codetag: .*${name%%=*}" >"$WORK/warning"
equal "one warning names the parameter" 1 "$(wc -l <"$WORK/warning")"
case $(stat_value store) in
flags|slot|page_ext) pass "there is a store" ;;
*) fail "there is a store" "$(stat_value store)" ;;
esac
equal "is on" 1 "$(cat $SWITCH)"
snapshot
run hold all
compared "everything is exact"
run drop all
audited "audit"
unload codetag_test
finish
