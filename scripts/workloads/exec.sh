#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# fork, exec, mmap: processes with pipes between them, scripts and programs
# query: file kernel/fork.c; file kernel/cred.c; file kernel/pid.c; file kernel/signal.c; file fs/exec.c; file fs/binfmt_*.c; file fs/file.c; file mm/mmap.c; file mm/vma.c; file mm/rmap.c; file mm/util.c; file arch/x86/*
# flavour: checks
prepare()
{
	printf '#!/bin/sh\nexit 0\n' >/tmp/script && chmod 755 /tmp/script
}

work()
{
	step "pipeline" sh -c 'seq 100 | tac | wc -l'
	step "script" /tmp/script
	step "environment" env A=1 true
	step "files" sh -c 'exec 3</proc/version 4<&3 5<&3 6<&3; cat <&5'
	step "signal" sh -c 'sleep 10 & kill $!; wait $!; true'
}
