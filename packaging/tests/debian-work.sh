#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In Debian with the codetag packages, behind migration.inc and debian-load.sh: run programs, and
# after each of them check that the profiler still accounts for every page and object. Prints
# "ok NAME", "not ok NAME", and after them lines with "# ".
# shellcheck disable=SC2154,SC2086 # dir is of debian-load.sh
stats=/sys/kernel/debug/codetag/stats
control=/sys/kernel/debug/codetag/control
from=/usr/src/codetag/codetag
selftests=$from/tools/testing/selftests/codetag

# result STATUS NAME
result()
{
	if [ "$1" -eq 0 ]; then
		echo "ok $2"
	else
		echo "not ok $2"
		tail -n 15 /tmp/out | sed 's/^/# /'
	fi
}

# check NAME COMMAND…
check()
{
	name=$1
	shift
	(set -e; "$@") >/tmp/out 2>&1
	result $? "$name"
}

stat_of() { sed -n "s/^$1: *//p" $stats; }
kib() { sed -n "s/^$1: *\([0-9]*\) kB/\1/p" /proc/meminfo; }

# work NAME COMMAND…: run it, then the checks that hold after any work
work()
{
	what=$1
	shift
	start=$(date +%s)
	check "$what" "$@"
	echo "# $(($(date +%s) - start)) s"
	check "$what: the audit finds no mismatch" audited
	sed 's/^/# /' /tmp/out
	check "$what: nothing stays with the lines that allocate targets of a migration" unmigrated
	check "$what: the report adds up with /proc/meminfo" adds_up
	sed 's/^/# /' /tmp/out
	check "$what: codetag where explains all memory but 0.5 %" explained
	sed 's/^/# /' /tmp/out
	check "$what: ids and names are left, none is damaged" sane
	echo "# $(grep -c '\[' /proc/allocinfo) lines in $(lsmod | tail -n +2 | wc -l) modules; $(($(cat $stats |
		awk '/^mem_[a-z_]*:/ && !/mem_slab_refs_/ { n += $2 } END { print int(n / 1024) }'))) KiB for the profiler"
}

audited() { codetag audit | tail -n 1 && codetag audit >/dev/null; }

unmigrated() { [ -n "$(migration_targets)" ] && targets_hold_nothing; }

# A report subtracts too much from the sum of all call sites: slabinfo counts free objects in the
# slabs of CPUs as used, and Percpu has memory that nobody allocated.
subtracted_too_much()
{
	echo 1 >/sys/kernel/debug/codetag/charged || return 1
	awk '$3 == "slab" || $3 == "percpu" { n -= $1 }
		FILENAME == "/proc/slabinfo" && !/^(#|slabinfo)/ { n += $2 * $4 }
		/^Percpu:/ { n += $2 * 1024 }
		END { printf "%.0f\n", n }' /sys/kernel/debug/codetag/charged /proc/slabinfo /proc/meminfo
}

# Without that, the sum of all call sites is within 2 % of the used memory. It is not exact
# (explained() is), as memory is allocated between two reads.
adds_up()
{
	for _ in 1 2 3 4 5; do
		shrink_slabs
		codetag report --top 1 --json >/tmp/json || return 1
		more=$(subtracted_too_much) || continue
		jq -r --argjson more "$more" '.memory |
			"\(.used) bytes in use, \(.not_attributed) of no call site, of these \($more) subtracted too much"' \
			/tmp/json
		jq -e --argjson more "$more" '.memory | (.not_attributed - $more | fabs) <= .used / 50' \
			/tmp/json >/dev/null && return 0
		sleep 2
	done
	return 1
}

# Exit status 1 of codetag where: something is unusual.
explained()
{
	codetag where --once --json >/tmp/where || [ $? -eq 1 ]
	jq -r '"\([.kinds[] | select(.name == "unaccounted").size] | add // 0) of \(.installed) bytes"' /tmp/where
	jq -e '([.kinds[] | select(.name == "unaccounted").size] | add // 0) <= .installed / 200 and
		([.kinds[].size] | add) == .used and .used + .free + .cpu_lists == .total and
		.boot + .total == .installed' /tmp/where
}

sane()
{
	cat $stats
	for name in tags_without_id modules_without_id names_lost ids_damaged pages_without_store; do
		[ "$(stat_of $name)" = 0 ]
	done
	[ "$(stat_of ids_module_free)" -gt 10000 ]
}

# ---- work that is for one kernel ----------------------------------------------

postgresql()
{
	database
	tmux -L top kill-server 2>/dev/null || true
	tmux -L top new-session -d -x 110 -y 24 -s held 'codetag top -d 2'
	tmux -L top new-session -d -x 110 -y 24 -s rates 'codetag top -d 2 -s allocs'
	transactions 1000
	tmux -L top capture-pane -p -t held >/srv/top.txt
	tmux -L top capture-pane -p -t rates >>/srv/top.txt
	tmux -L top kill-server
	grep -q 'func:\|\.c' /srv/top.txt
	grep -q 'ALLOCS/S' /srv/top.txt
	systemctl stop postgresql
}

# Left out are modules that take hardware away from others or are made to crash a kernel.
# tcrypt tests for minutes and makes the kernel warn if it is ended early. nettel maps the flash of
# a board at an address that is memory on other machines, so the kernel warns.
modules()
{
	loaded=0 refused=0
	# shellcheck disable=SC2013
	for file in $(sed 's/:.*//' "/lib/modules/$(uname -r)/modules.dep" | sort); do
		module=$(basename "$file")
		module=${module%%.ko*}
		case $module in
		*torture*|tcrypt|*_wdt|softdog|*watchdog*|netconsole|i6300esb|mtdoops|ramoops|nettel) continue ;;
		esac
		grep -q "^$(echo "$module" | tr - _) " /proc/modules && continue
		if timeout 60 modprobe -q "$module" 2>/dev/null; then
			loaded=$((loaded + 1))
			timeout 60 modprobe -q -r "$module" 2>/dev/null || true
		else
			refused=$((refused + 1))
		fi
	done
	echo "$loaded loaded, $refused have nothing to do here, $(lsmod | wc -l) stay"
	# A kernel with the modules of one machine has fewer.
	least=300
	case $(uname -r) in
	*-local) least=30 ;;
	esac
	[ $loaded -gt $least ]
}

stress()
{
	stress-ng --vm 1 --vm-bytes 256M --fork 2 --mmap 1 --mmap-bytes 64M --shm 1 --sock 2 --inode-flags 1 --timer 1 \
		--pipe 1 --timeout 40s --temp-path $dir --metrics-brief
}

hibernate()
{
	swap=$dir/swap
	dd if=/dev/zero of=$swap bs=1M count=1024 2>/dev/null
	chmod 600 $swap
	mkswap -q $swap
	swapon $swap
	filefrag -v $swap | awk '$1 == "0:" { print $4 + 0 }' >/sys/power/resume_offset
	mountpoint -d / >/tmp/dev
	echo test_resume >/sys/power/disk
	# This sets the device, and then fails, because there is no image on it.
	cat /tmp/dev >/sys/power/resume 2>/dev/null || true
	dmesg -C
	echo disk >/sys/power/state
	dmesg | tail -n 30
	dmesg | grep 'hibernation: hibernation exit'
	swapoff $swap
	rm $swap
}

# An out-of-tree module that DKMS has built is unloaded, and its memory stays.
# Lines that allocate for others, by pattern of their function: those of the file helpers, and the
# packs of BPF programs.
helpers_pattern()
{
	{ cat /sys/kernel/debug/codetag/helpers; echo bpf_jit_alloc_exec; } |
		sed 's/\*/.*/g; s/?/./g' | paste -s -d '|'
}

# At most 5 % of the memory in slabs and in pages on no reclaim list is charged to helpers without a
# caller. The command line has split the largest.
helpers_share()
{
	kernel=$(($(kib MemTotal) - $(kib MemFree) - $(kib Active) - $(kib Inactive) - $(kib Unevictable)))
	awk -v helper="^($(helpers_pattern))(_noprof)?\$" -v kernel=$kernel '
		function function_of(tag) { sub(/.*func:/, "", tag); sub(/ .*/, "", tag); return tag }
		FILENAME == "/proc/allocinfo" {
			f = function_of($0)
			if ($0 ~ /func:/ && f ~ helper) { all += $1; held[$0] = $1 }
			next
		}
		/^#/ { next }
		/ func:/ { bytes = $1; f = function_of($0); frames = 0; next }
		++frames == 2 && f ~ helper { named += bytes; of[f] += bytes }
		END {
			printf "%d KiB in slabs and on no list, helpers hold %d (%.1f %%), without a caller %d (%.1f %%)\n",
				kernel, all / 1024, all / 10.24 / kernel,
				(all - named) / 1024, (all - named) / 10.24 / kernel
			for (line in held) {
				f = function_of(line)
				if (held[line] - of[f] > 100000)
					printf "%d of %d without a caller: %s\n", held[line] - of[f], held[line], line
			}
			exit (all - named) / 10.24 / kernel > 5
		}' /proc/allocinfo /sys/kernel/debug/codetag/contexts
}

left_behind()
{
	modprobe hold keep=1
	rmmod hold
	grep '\[hold\]' /proc/allocinfo
	[ "$(awk '/\[hold\]/ { print $2 }' /proc/allocinfo)" = 1 ]
}

bpftrace_reads()
{
	while :; do
		cat /etc/passwd >/tmp/passwd
		sleep 0.1
	done &
	busy=$!
	bpftrace -e 'kprobe:vfs_read { @reads = count(); } interval:s:3 { exit(); }' >/tmp/bpf
	bpftrace -e 'kfunc:vfs_read { @[comm] = sum(args->count); } interval:s:3 { exit(); }' >>/tmp/bpf
	kill $busy
	cat /tmp/bpf
	grep '@reads: [1-9]' /tmp/bpf
	grep '@\[cat\]: [1-9]' /tmp/bpf
}

# activity_of FUNCTION: the allocations and frees of its lines
activity_of()
{
	awk -v func_="func:$1 " 'index($0 " ", " " func_) { allocs += $1; frees += $2 }
		END { print allocs + 0, frees + 0 }' /sys/kernel/debug/codetag/activity
}

# messages: write a program that sends 5,000 and leaves as many as its argument says. load_msg() calls
# alloc_msg() once for each short message, and free_msg() frees it. No other program sends messages.
messages()
{
	cat >/tmp/messages <<-'PERL'
	use IPC::SysV qw(IPC_PRIVATE IPC_RMID S_IRUSR S_IWUSR);
	my $left = shift // 0;
	my $queue = msgget(IPC_PRIVATE, S_IRUSR | S_IWUSR) // die "msgget: $!";
	for (1 .. 5000 + 100 - $left) {
		msgsnd($queue, pack("l! a100", 1, "text"), 0) or die "msgsnd: $!" if $_ <= 5000;
		msgrcv($queue, my $got, 200, 0, 0) // die "msgrcv: $!" if $_ > 100;
	}
	msgctl($queue, IPC_RMID, 0) unless $left;
	PERL
}

bpftrace_agrees()
{
	messages
	read -r allocs frees <<-END
	$(activity_of alloc_msg)
	END
	timeout 300 bpftrace -c '/usr/bin/perl /tmp/messages' -e 'kprobe:load_msg { @allocs = count(); } kprobe:free_msg { @frees = count(); }' >/tmp/bpf
	cat /tmp/bpf
	read -r allocs_then frees_then <<-END
	$(activity_of alloc_msg)
	END
	echo "alloc_msg: $((allocs_then - allocs)) allocations, $((frees_then - frees)) frees"
	[ $((allocs_then - allocs)) -ge 5000 ]
	grep -x "@allocs: $((allocs_then - allocs))" /tmp/bpf
	grep -x "@frees: $((frees_then - frees))" /tmp/bpf
}

# The script in codetag.rst: what a line allocated and freed, and who allocated what is left
bpftrace_follows()
{
	awk '/bpftrace script/ { in_text = 1 } in_text && /^  / { print; script = 1 } script && /^[^ ]/ { exit }' \
		$from/Documentation/admin-guide/mm/codetag.rst >/tmp/follow.bt
	cat /tmp/follow.bt
	messages
	codetag trace --on func alloc_msg
	timeout 300 bpftrace -c '/usr/bin/perl /tmp/messages 7' /tmp/follow.bt >/tmp/bpf
	codetag trace --off func alloc_msg
	ipcrm --all=msg
	cat /tmp/bpf
	id=$(sed -n 's/^@allocated\[\([0-9]*\)\]: .*/\1/p' /tmp/bpf)
	codetag status id "$id" | grep 'func:alloc_msg'
	bytes=$(sed -n "s/^@allocated\[$id\]: //p" /tmp/bpf)
	freed=$(sed -n "s/^@freed\[$id\]: //p" /tmp/bpf)
	echo "line $id: $bytes bytes allocated, $freed freed"
	[ "$freed" -gt 0 ] && [ $((freed * 5000)) -eq $((bytes * 4993)) ]
	[ "$(grep -c "^@held\[$id, " /tmp/bpf)" = 7 ]
	[ "$(grep -c 'load_msg+' /tmp/bpf)" = 7 ]
}

# For a call site, the contexts have the same counts and callers as memleak while it is attached.
memleak_agrees()
{
	start_memleak -o 0 -z 4096 -Z 4096 -T 1000 20
	echo 'module hold keys=stack' >$control
	modprobe hold pages=500
	memleak_says hold_pages
	stop_memleak
	codetag contexts 'module hold func hold_pages' --json >/tmp/contexts
	grep 'func:hold_pages' /proc/allocinfo
	awk '/ bytes in / { told = $0 } /hold_pages/ { print told; exit }' /tmp/memleak
	awk '/ bytes in / { told = $0 } /hold_pages/ { print told; exit }' /tmp/memleak |
		grep -E '^[[:space:]]*2048000 bytes in 500 allocations'
	grep -E '^ *2048000 +500 .*func:hold_pages' /proc/allocinfo
	grep -A 1 -E '^ *2048000 +500 +500 .*func:hold_pages' /sys/kernel/debug/codetag/contexts
	rmmod hold
	echo 'keys=none' >$control
}

perf_works()
{
	perf record -q -e cpu-clock -a -g -o /tmp/perf.data sleep 2
	perf report --stdio -i /tmp/perf.data >/tmp/perf.txt 2>/dev/null
	grep -m 3 '%' /tmp/perf.txt
	perf stat -e kmem:kmalloc,kmem:mm_page_alloc -a ls / 2>&1 | grep kmem:kmalloc
	perf bench sched messaging -g 4 -l 50
	hackbench -g 4 -l 50
}

dump_reads()
{
	makedumpfile --mem-usage /proc/kcore 2>&1 | tee /tmp/usage
	# makedumpfile warns that it does not know this kernel version, and goes on.
	grep -E 'KERN_DATA[[:space:]]*[1-9]' /tmp/usage
}

# A 32-bit program uses the same structures for the ioctls.
for_32_bits()
{
	gcc -m32 -Wall -idirafter $from/include/uapi -o /tmp/allocinfo32 $selftests/helpers/allocinfo.c
	/tmp/allocinfo32 same
}

# The self-test of codetag where, with its module, which was built with the headers
planted()
{
	KO=$selftests/module sh $selftests/where.sh >/tmp/where.ktap 2>&1 || true
	grep -v '^ok' /tmp/where.ktap
	! grep '^not ok' /tmp/where.ktap
}

split()
{
	echo 'func alloc_inode keys=stack' >$control
	find / -xdev >/dev/null
	echo 2 >/proc/sys/vm/drop_caches
	find /usr -xdev >/dev/null
	codetag contexts --top 3
	grep 'alloc_inode+' /sys/kernel/debug/codetag/contexts | head -n 2
	echo 'keys=none' >$control
}

work 'after boot' true
work 'memory of each kind is planted' planted
work 'PostgreSQL with pgbench' postgresql
sed 's/^/# /' /srv/top.txt
work 'codetag is compiled' compile
work 'apt installs and purges' apt_work
work 'ext4, xfs, btrfs, overlayfs' filesystems
work 'nftables and network namespaces' network
work 'containers' container
work 'a program for 32 bits uses the ioctls' for_32_bits
work 'dm-crypt and LVM on a loop device' encrypted
check 'at most 5 % is charged to lines that allocate for others' helpers_share
sed 's/^/# /' /tmp/out
work 'a call site is split by its callers' split
work 'a module leaves memory behind' left_behind
work 'stress-ng' stress
work 'bpftrace, with types of the kernel' bpftrace_reads
work 'bpftrace counts as many allocations and frees of a line' bpftrace_agrees
work 'the bpftrace script of codetag.rst' bpftrace_follows
work 'bcc memleak beside contexts' memleak_agrees
work 'perf and hackbench' perf_works
work 'makedumpfile reads /proc/kcore' dump_reads
work 'suspend to disk, and back' hibernate
# To see the charges of helpers
check 'a report of the largest call sites' codetag report --top 80 --human
sed 's/^/# /' /tmp/out
work 'all modules, one after the other' modules
