#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In Debian with the codetag packages: check that the kernel runs and that the packages work.
# Prints "ok NAME" and "not ok NAME"; errors are on the console.
check()
{
	name=$1
	shift
	if "$@" >/tmp/out 2>&1; then
		echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/# /' /tmp/out
	fi
}
up() { [ "$(systemctl is-system-running --wait)" = running ] || { systemctl --failed --no-legend; false; }; }
ours() { uname -a; case $(uname -r) in *-codetag-*) ;; *) false ;; esac; }
profiles() { sysctl vm.mem_profiling; [ "$(sysctl -n vm.mem_profiling)" = 1 ] && [ "$(wc -l </proc/allocinfo)" -gt 500 ]; }
# Every flavour has the driver of the disk as a module.
modules() { grep -m 3 '\[virtio_blk\]' /proc/allocinfo; }
untainted() { cat /proc/sys/kernel/tainted; [ "$(cat /proc/sys/kernel/tainted)" = 0 ]; }
signed() { modinfo -F signer virtio_blk | grep .; }
audit() { codetag audit; }
adds_up() { codetag report --top 5; }
off() { ! systemctl is-enabled codetag-record.timer && ! systemctl is-active codetag-record.timer; }
record()
{
	for _ in 1 2; do
		systemctl start codetag-record.service || {
			journalctl --no-pager -u codetag-record.service
			return 1
		}
	done
}
recorded() { ls -l /var/lib/codetag; codetag replay --list /var/lib/codetag/*.db; }
private() { [ "$(stat -c %a /var/lib/codetag)" = 700 ]; }
timer() { systemctl enable --now codetag-record.timer && systemctl is-active codetag-record.timer; }
dkms_module() { modprobe hold && grep '\[hold\] func:hold_init' /proc/allocinfo && rmmod hold && ! grep '\[hold\]' /proc/allocinfo; }
btf() { [ -s /sys/kernel/btf/vmlinux ] && [ -s /sys/kernel/btf/virtio_blk ]; }

check 'systemd is up, nothing has failed' up
check 'it is our kernel' ours
check 'the profiler is on' profiles
check 'the modules of the initramfs have call sites' modules
check 'the kernel is not tainted' untainted
check 'modules are signed' signed
[ ! -e /sys/kernel/btf ] || check 'types of the kernel and of modules' btf
check 'the call site of a module that DKMS has built' dkms_module
check 'the audit finds no mismatch' audit
check 'a report' adds_up
check 'the timer is off' off
check 'a snapshot is recorded, and another' record
check 'the recording can be read' recorded
check 'nobody else can read it' private
check 'the timer can be switched on' timer
