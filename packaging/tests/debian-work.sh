#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In Debian with our packages: real work, and after each piece of it whether the
# profiler still knows of every page and object. Prints "ok NAME", "not ok NAME", and
# after them lines with "# ".
export DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root
stats=/sys/kernel/debug/codetag/stats
control=/sys/kernel/debug/codetag/control
dir=/srv/work
mkdir -p $dir

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

# work NAME COMMAND…, and what holds after any work
work()
{
	what=$1
	shift
	start=$(date +%s)
	check "$what" "$@"
	echo "# $(($(date +%s) - start)) s"
	check "$what: the audit finds no mismatch" audited
	sed 's/^/# /' /tmp/out
	check "$what: the report adds up with /proc/meminfo" adds_up
	sed 's/^/# /' /tmp/out
	check "$what: ids and names are left, none is damaged" sane
	echo "# $(grep -c '\[' /proc/allocinfo) lines in $(lsmod | tail -n +2 | wc -l) modules; $(($(cat $stats |
		awk '/^mem_[a-z_]*:/ && !/mem_slab_refs_/ { n += $2 } END { print int(n / 1024) }'))) KiB for the profiler"
}

audited() { codetag audit | tail -n 1 && codetag audit >/dev/null; }

# To within 1 % of what is in use. Slabinfo, which tells what part of the sites' memory
# is objects in pages of other sites, takes what is free in the slabs of CPUs as used:
# none has one at that moment. Somebody may take pages between two reads.
adds_up()
{
	for _ in 1 2 3 4 5; do
		for cache in /sys/kernel/slab/*/shrink; do
			echo 1 >"$cache"
		done
		codetag report --top 1 --json >/tmp/json || return 1
		jq -r '.memory | "\(.used) bytes in use, \(.not_attributed) of no call site"' /tmp/json
		jq -e '.memory | (.not_attributed | fabs) <= .used / 100' /tmp/json >/dev/null && return 0
		sleep 2
	done
	return 1
}

sane()
{
	cat $stats
	for name in tags_without_id modules_without_id names_lost ids_damaged pages_without_store; do
		[ "$(stat_of $name)" = 0 ]
	done
	[ "$(stat_of ids_module_free)" -gt 10000 ]
}

# ---- work --------------------------------------------------------------------

postgresql()
{
	systemctl start postgresql
	cd /tmp
	bench=$(echo /usr/lib/postgresql/*/bin/pgbench)
	su postgres -c 'dropdb --if-exists bench; createdb bench'
	su postgres -c "$bench -q -i -s 2 bench"
	tmux -L top kill-server 2>/dev/null || true
	tmux -L top new-session -d -x 110 -y 24 'codetag top -d 2'
	su postgres -c "$bench -c 4 -j 2 -T 30 -n bench"
	tmux -L top capture-pane -p >/srv/top.txt
	tmux -L top kill-server
	grep -q 'func:\|\.c' /srv/top.txt
	systemctl stop postgresql
}

compile()
{
	rm -rf /tmp/build
	make -s -C /usr/src/codetag/tools O=/tmp/build -j2
	/tmp/build/codetag --version
	rm -rf /tmp/build
}

# What it needs has been fetched before.
apt_work()
{
	apt-get -q -y install --no-download git
	git --version
	apt-get -q -y purge git
	apt-get -q -y autoremove --purge
}

# files DIRECTORY: made, changed, moved and removed
files()
{
	cp -r /usr/share/common-licenses /usr/share/perl5 "$1/"
	for n in 1 2 3 4 5; do
		cp -r "$1/perl5" "$1/perl5.$n"
		dd if=/dev/urandom of="$1/$n" bs=64k count=100 2>/dev/null
		find "$1/perl5.$n" -name '*.pm' -exec sed -i '1i #' {} +
		ln "$1/$n" "$1/link.$n"
		mv "$1/perl5.$n" "$1/moved.$n"
	done
	cat "$1"/[0-9] >/dev/null
	sync
	truncate -s 1000 "$1"/[0-9]
	rm -rf "${1:?}"/moved.[1-4]
}

filesystems()
{
	for fs in ext4 xfs btrfs; do
		truncate -s 600M $dir/$fs
		mkfs.$fs -q $dir/$fs
		mkdir -p $dir/mnt.$fs
		mount -o loop $dir/$fs $dir/mnt.$fs
		files $dir/mnt.$fs
	done
	mkdir -p $dir/mnt.xfs/upper $dir/mnt.xfs/work $dir/over
	mount -t overlay -o lowerdir=$dir/mnt.ext4,upperdir=$dir/mnt.xfs/upper,workdir=$dir/mnt.xfs/work \
		none $dir/over
	files $dir/over
	umount $dir/over
	for fs in ext4 xfs btrfs; do
		umount $dir/mnt.$fs
		rm $dir/$fs
	done
}

network()
{
	for ns in left right; do
		ip netns add $ns
		ip -n $ns link set lo up
	done
	ip link add end0 netns left type veth peer name end1 netns right
	ip -n left addr add 10.9.0.1/24 dev end0
	ip -n right addr add 10.9.0.2/24 dev end1
	ip -n left link set end0 up
	ip -n right link set end1 up
	ip netns exec right nft -f - <<-'NFT'
	table inet filter {
		set seen { type ipv4_addr; flags dynamic; size 1000; }
		chain input {
			type filter hook input priority 0; policy drop;
			ct state established,related accept
			ip protocol icmp accept
			tcp dport 5201 ct state new add @seen { ip saddr } counter accept
		}
	}
	NFT
	ip netns exec right iperf3 -s -D -1
	sleep 1
	ip netns exec left iperf3 -c 10.9.0.2 -t 5 -P 4
	ip netns exec right nft list ruleset | grep 10.9.0.1
	ip netns del left
	ip netns del right
}

container()
{
	root=$dir/container
	mkdir -p $root/bin $root/etc $root/usr/bin
	cp /bin/busybox $root/bin/
	echo ID=none >$root/etc/os-release
	for n in 1 2 3; do
		# shellcheck disable=SC2016
		systemd-nspawn -q -D $root --private-network --as-pid2 -M work$n /bin/busybox sh -c \
			'i=0; while [ $i -lt 50 ]; do echo $i | /bin/busybox cat >/tmp/$i; i=$((i + 1)); done; /bin/busybox ls /tmp | /bin/busybox wc -l' \
			</dev/null | grep -x 50
	done
	rm -rf $root
}

encrypted()
{
	truncate -s 400M $dir/crypt
	loop=$(losetup -f --show $dir/crypt)
	echo secret >/tmp/key
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$loop" /tmp/key
	cryptsetup open --key-file /tmp/key "$loop" worked
	vgcreate -q worked /dev/mapper/worked
	lvcreate -q -y -W n -L 300M -n data worked
	mkfs.ext4 -q /dev/worked/data
	mkdir -p $dir/crypted
	mount /dev/worked/data $dir/crypted
	files $dir/crypted
	umount $dir/crypted
	vgchange -q -a n worked
	vgremove -q -y worked
	cryptsetup close worked
	losetup -d "$loop"
	rm $dir/crypt
}

# Not those that take hardware away from others or are there to bring a kernel down.
modules()
{
	loaded=0 refused=0
	# shellcheck disable=SC2013
	for file in $(sed 's/:.*//' "/lib/modules/$(uname -r)/modules.dep" | sort); do
		module=$(basename "$file")
		module=${module%%.ko*}
		case $module in
		*torture*|*_wdt|softdog|*watchdog*|netconsole|i6300esb|mtdoops|ramoops) continue ;;
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
	[ $loaded -gt 300 ]
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
	# This looks for an image that is not there.
	cat /tmp/dev >/sys/power/resume 2>/dev/null || true
	dmesg -C
	echo disk >/sys/power/state
	dmesg | tail -n 30
	dmesg | grep 'hibernation: hibernation exit'
	swapoff $swap
	rm $swap
}

# An out-of-tree module that DKMS has built goes, and what it has allocated stays.
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
	# It says that it does not know this version yet, and goes on.
	grep 'KERN_DATA *[1-9]' /tmp/usage
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
work 'PostgreSQL with pgbench' postgresql
sed 's/^/# /' /srv/top.txt
work 'codetag is compiled' compile
work 'apt installs and purges' apt_work
work 'ext4, xfs, btrfs, overlayfs' filesystems
work 'nftables and network namespaces' network
work 'containers' container
work 'dm-crypt and LVM on a loop device' encrypted
work 'a call site is split by its callers' split
work 'a module leaves memory behind' left_behind
work 'stress-ng' stress
work 'bpftrace, with types of the kernel' bpftrace_reads
work 'perf and hackbench' perf_works
work 'makedumpfile reads /proc/kcore' dump_reads
work 'suspend to disk, and back' hibernate
work 'all modules, one after the other' modules
