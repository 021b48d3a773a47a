#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Typical work of a Debian machine, as functions. To be put before a script that calls them.
export DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root
dir=/srv/work
mkdir -p $dir

pgbench=$(echo /usr/lib/postgresql/*/bin/pgbench)

# database: make one for pgbench; transactions N: run N with each of four clients
database()
{
	systemctl start postgresql
	cd /tmp || return
	su postgres -c 'dropdb --if-exists bench; createdb bench'
	su postgres -c "$pgbench -q -i -s 2 bench"
}
transactions() { cd /tmp && su postgres -c "$pgbench -c 4 -j 2 -t $1 -n bench"; }

compile()
{
	rm -rf /tmp/build
	make -s -C /usr/src/codetag/tools O=/tmp/build -j2
	/tmp/build/codetag --version
	rm -rf /tmp/build
}

# The packages have been downloaded before.
apt_work()
{
	apt-get -q -y install --no-download git
	git --version
	apt-get -q -y purge git
	apt-get -q -y autoremove --purge
}

# files DIRECTORY: make, change, move and remove files
files()
{
	cp -r /usr/share/common-licenses /usr/share/perl5 "$1/"
	for n in 1 2 3 4 5; do
		cp -r "$1/perl5" "$1/perl5.$n"
		dd if=/dev/urandom of="$1/$n" bs=64k count=100 2>/dev/null
		find "$1/perl5.$n" -name '*.pm' -exec sed -i '1i #' {} +
		ln -f "$1/$n" "$1/link.$n"
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
	ip netns exec left iperf3 -c 10.9.0.2 -n 200M -P 4
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
		systemd-nspawn -q --console=pipe -D $root --private-network --as-pid2 -M work$n /bin/busybox sh -c \
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

# Free all slabs without objects in use.
shrink_slabs()
{
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
}

# start_memleak ARGUMENT…: start bcc's memleak and wait until it counts: it compiles its program
# first. $memleak is its process.
start_memleak()
{
	PYTHONUNBUFFERED=1 memleak-bpfcc "$@" >/tmp/memleak 2>&1 &
	memleak=$!
	memleak_says 'Attaching to kernel'
}

# memleak_says TEXT: wait until memleak prints TEXT
memleak_says()
{
	for _ in $(seq 150); do
		! grep -q "$1" /tmp/memleak || return 0
		kill -0 "$memleak" || break
		sleep 2
	done
	tail -n 20 /tmp/memleak
	return 1
}

stop_memleak()
{
	kill "$memleak"
	wait "$memleak" || true
}
