# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Which QEMU, and how it runs processors. To be sourced after lib.sh.

# A /dev/kvm that exists does not have to work: let QEMU start a processor on it.
kvm_works()
{
	[ -w /dev/kvm ] && (printf 'quit\n' | timeout 10 "$qemu" -machine q35 -accel kvm -cpu host \
		-S -display none -nodefaults -monitor stdio) >/dev/null 2>&1
}

# qemu_choose THREADS: sets qemu, kind (kvm or tcg) and the options for it in accel;
# THREADS is how TCG runs the processors, single or multi
qemu_choose()
{
	qemu=$(command -v qemu-system-x86_64) || die "no qemu-system-x86_64" \
		"run: scripts/install-packages"
	case ${ACCEL:-auto} in
	auto) if kvm_works; then kind=kvm; else kind=tcg; fi ;;
	kvm|tcg) kind=$ACCEL ;;
	*) die "ACCEL=$ACCEL is neither kvm nor tcg" ;;
	esac
	if [ "$kind" = kvm ]; then
		accel=(-accel kvm -cpu host)
	else
		accel=(-accel "tcg,thread=$1" -cpu max)
	fi
}

# emulator_fault STATUS THREADS CONSOLE: what TCG did wrong says nothing about the
# guest; sets fault. QEMU 7.2 dies of a signal itself once in some hundred boots.
# Before 8.1 it may run stale code after another CPU has patched it (it reads the code
# before it starts to watch the page), and the guest dies of an int3 that is not there
# any more, with any kernel.
emulator_fault()
{
	case $1 in
	132|134|135|136|139) fault="QEMU died of signal $(($1 - 128))" ;;
	*) [ "$2" = multi ] && grep -q 'Oops: int3: ' "$3" && fault="QEMU ran stale code" ;;
	esac
}
