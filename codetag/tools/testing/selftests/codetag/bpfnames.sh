#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# BPF programs in stacks: contexts show the names of root's programs, and "[unknown]" for those of
# users. They never show an address, which bpf_jit_harden is to hide.
# guest: own
# store: any
. "$(dirname "$0")/codetag.inc"

prepare
have_engine || { cleanup; skip_all "not this profiler"; }
[ -e /proc/sys/net/core/bpf_jit_harden ] && [ -e $CONTEXTS ] ||
	{ cleanup; skip_all "no BPF that is compiled, or no contexts"; }
timeout 2 "$BIN/bpfstack" user >/dev/null 2>&1
[ $? -ne 4 ] || { cleanup; skip_all "users may load no BPF"; }
control=$DEBUGFS/codetag/control
plan 8

harden=$(cat /proc/sys/net/core/bpf_jit_harden)
for value in 0 2; do
	echo $value >/proc/sys/net/core/bpf_jit_harden
	for who in root user; do
		echo 'file kernel/bpf/* keys=stack' >$control
		"$BIN/bpfstack" $who >"$WORK/loaded" &
		while ! grep -q ready "$WORK/loaded"; do sleep 0.1; done
		cat $CONTEXTS >"$WORK/contexts"
		kill $!
		wait $! 2>/dev/null
		echo 'file kernel/bpf/* keys=none' >$control
		# Since Linux 7.0 programs get entries that an interrupt has allocated before.
		if grep -A 1 '^ bpf_mem_alloc_init+' "$WORK/contexts" | grep -q '^ trie_alloc+'; then
			skip_rest 2 "programs do not allocate" "harden $value: the program of $who"
			continue
		fi
		if [ $who = root ]; then
			grep -q '^ bpf_prog_[0-9a-f]*_named+0x[0-9a-f]*/0x[0-9a-f]*$' "$WORK/contexts"
		else
			grep -q '^ \[unknown\]$' "$WORK/contexts"
		fi
		check "harden $value: the program of $who is in a stack" $? "$(grep '^ ' "$WORK/contexts")"
		bad=$(grep -c -i '^ 0x\|^ [0-9a-f]\{16\}' "$WORK/contexts")
		equal "harden $value: no address with that of $who" 0 "$bad"
	done
done
echo "$harden" >/proc/sys/net/core/bpf_jit_harden
finish
