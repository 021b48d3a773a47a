# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
# Which QEMU, and how it runs processors. To be sourced after lib.sh.

# /dev/kvm can exist and not work: let QEMU start a processor on it.
kvm_works()
{
	[ -w /dev/kvm ] && [ "$(uname -m)" = "$cpu" ] &&
		(printf 'quit\n' | timeout 10 "$qemu" -machine "$machine" -accel kvm -cpu host \
		-S -display none -nodefaults -monitor stdio) >/dev/null 2>&1
}

# tsc_khz: how fast the time stamp counter of this machine is, measured once a boot
tsc_khz()
{
	local kept=$CACHE/run/tsc-khz boot was='' khz=''

	boot=$(</proc/sys/kernel/random/boot_id)
	[ ! -s "$kept" ] || read -r was khz <"$kept"
	if [ "$was" != "$boot" ]; then
		mkdir -p "$CACHE/run"
		gcc -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o "$kept.$$" "$SCRIPTS/tsc-khz.c"
		khz=$("$kept.$$")
		printf '%s %s\n' "$boot" "$khz" >"$kept.$$"
		mv "$kept.$$" "$kept"
	fi
	printf '%s\n' "$khz"
}

# qemu_choose THREADS [ARCH [MODEL]]: set qemu, its machine, kind (kvm or tcg) and the options
# for that in accel. It also sets the path of the kernel (kernel_image) and its parameters
# (boot_line, early_console). THREADS is how TCG runs the processors, single or multi.
qemu_choose()
{
	local cpu model=max

	case ${2:-x86_64} in
	x86_64)
		cpu=x86_64 machine=q35 kernel_image=vmlinux
		# On a busy machine the kernel's check of the timer can time out.
		boot_line="console=ttyS0 reboot=t tsc=reliable no_timer_check"
		early_console="earlyprintk=serial,ttyS0,115200" ;;
	arm64)
		cpu=aarch64 machine=virt,gic-version=3 kernel_image=arch/arm64/boot/Image
		# Only the model max has memory tagging.
		[ -n "${3:-}" ] || machine+=,mte=on
		# Signing pointers by the architecture's algorithm takes half of TCG's time.
		model=max,pauth-impdef=on
		boot_line="console=ttyAMA0"
		early_console=earlycon ;;
	*) die "no guests of architecture $2" ;;
	esac
	qemu=$(command -v "qemu-system-$cpu") || die "no qemu-system-$cpu" \
		"run: scripts/install-packages scripts/packages.txt scripts/packages-arch.txt"
	case ${ACCEL:-auto} in
	auto) if kvm_works; then kind=kvm; else kind=tcg; fi ;;
	kvm|tcg) kind=$ACCEL ;;
	*) die "ACCEL=$ACCEL is neither kvm nor tcg" ;;
	esac
	if [ "$kind" = kvm ]; then
		accel=(-accel kvm -cpu host)
	else
		accel=(-accel "tcg,thread=$1" -cpu "${3:-$model}")
		# A slow guest measures a wrong frequency of its counter, or none, and then has no
		# clock but its timer ticks. Tell it the frequency: TCG shows it the host's counter.
		[ "$cpu $(uname -m)" != "x86_64 x86_64" ] || boot_line+=" tsc_early_khz=$(tsc_khz)"
	fi
}

# emulator_fault STATUS THREADS CONSOLE: whether TCG failed, and not the guest; sets fault. QEMU
# 7.2 is killed by a signal once in some hundred boots. Before 8.1, QEMU may run stale code
# after another CPU has patched it: it reads the code before it starts to watch the page. The
# guest then dies of an int3 that is no longer there, with any kernel. If that int3 is in
# local_clock(), printk() runs into it, too, and nothing is printed: "Marking stable" is the
# last message before that function is patched.
emulator_fault()
{
	case $1 in
	132|134|135|136|139) fault="QEMU died of signal $(($1 - 128))" ;;
	*)
		[ "$2" = multi ] || return 1
		grep -q 'Oops: int3: ' "$3" || tail -n 1 "$3" | grep -q 'sched_clock: Marking stable' ||
			return 1
		fault="QEMU ran stale code" ;;
	esac
}

# emulated THREADS AGAIN COMMAND…: run guest_run, up to three times if the emulator fails. The
# command AGAIN restores the state from before the run. Sets status.
emulated()
{
	local threads=$1 again=$2 attempt

	shift 2
	for attempt in 1 2 3; do
		status=0
		guest_run "$@" || status=$?
		if [ "$attempt" -eq 3 ] || [ "$kind" != tcg ] ||
			! emulator_fault "$status" "$threads" "$console"; then
			return
		fi
		cp "$console" "$console.fault-$attempt"
		printf '%s: %s (%s); once more\n' "${0##*/}" "$fault" "$console.fault-$attempt" >&2
		"$again"
	done
}
