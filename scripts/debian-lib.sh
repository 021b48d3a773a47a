# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2094,SC2153,SC2154
# Debian machines: images of root file systems, and results of checks on them. To be sourced
# after progress-lib.sh.
work=$(mktemp -d "$CACHE/run/debian.XXXXXX")
at_exit rm -rf "$work"
number=0 failures=0
debs=${DEBS:-$work/debs}
# the image of the machine, where it is mounted, and options of its guest
image=$work/image
root=$work/root
guest=()
mkdir -p "$root"

# result STATUS NAME: print one result, and the end of $work/out if it is a failure
result()
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number $2"
	else
		echo "not ok $number $2"
		failures=$((failures + 1))
		tail -n 15 "$work/out" | sed 's/^/# /'
	fi
}

# check NAME COMMAND…
check()
{
	local name=$1 status

	shift
	doing "$name"
	# In a condition, set -e would have no effect inside the command.
	set +e
	(set -e; "$@") >"$work/out" 2>&1
	status=$?
	set -e
	result "$status" "$name"
}

# root_tar SUITE [PACKAGE…]: its root file system with grub and DKMS, as a tar file, once
root_tar()
{
	local suite=$1 packages=systemd-sysv,udev,dbus,initramfs-tools,linux-base,grub2-common,dkms,procps

	shift
	packages=$(printf '%s' "$packages" "${@/#/,}")
	tar=$CACHE/debian/$suite-$(cksum <<<"$packages" | cut -d' ' -f1).tar
	[ ! -s "$tar" ] || return 0
	mkdir -p "$CACHE/debian"
	mmdebstrap --format=tar --variant=minbase --include="$packages" "$suite" "$tar.new" &&
		mv "$tar.new" "$tar"
}

# machine SUITE [PACKAGE…]: make an image of a machine that does not have the packages yet
machine()
{
	local tar

	root_tar "$@"
	rm -f "$image"
	truncate -s "${IMAGE_SIZE:-6G}" "$image"
	mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=1 "$image"
	mounted tar -C "$root" -xf "$tar"
	mounted sh -c 'install -D -m 755 "$2" "$1/usr/local/sbin/debian-run"
		install -D -m 644 -t "$1/etc/systemd/system" "$2.service"
		mkdir -p "$1/etc/systemd/system/multi-user.target.wants" "$1/boot/grub" "$1/debs"
		ln -s /etc/systemd/system/debian-run.service "$1/etc/systemd/system/multi-user.target.wants/"
		echo "/dev/vda / ext4 defaults 0 1" >"$1/etc/fstab"' sh "$root" "$ROOT/packaging/tests/debian-run"
	mounted cp -r "$ROOT/packaging/tests/hold" "$root/usr/src/hold-1.0"
	inside 'update-grub
		dkms add hold/1.0
		apt-get -q update'
	listing >"$work/before"
}

# mounted COMMAND…: run COMMAND with the image mounted at $root, visible to it alone
mounted()
{
	unshare -m --propagation private sh -e -c 'mount -o loop "$1" "$2"; shift 2; exec "$@"' \
		sh "$image" "$root" "$@"
}

# inside COMMANDS: run them by a root shell in the image
inside()
{
	# grub-probe does not know loop devices, so a script that names the guest's disk stands in.
	mounted sh -e -c 'cp /etc/resolv.conf "$1/etc/"
		for dir in dev proc sys; do mount --rbind "/$dir" "$1/$dir"; done
		mount --bind "$3" "$1/usr/sbin/grub-probe"
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
			DEBIAN_FRONTEND=noninteractive chroot "$1" sh -e -x -c "$2"' sh "$root" "$1" "$ROOT/packaging/tests/grub-probe" </dev/null
}

# listing: all files except the package manager's records, and checksums of /etc and /boot. A
# running system writes to run and var/tmp, and each boot to .updated and grubenv: these are
# left out. So is hold: DKMS of Debian 12 forgets a module with the last kernel that it was
# built for.
listing()
{
	mounted sh -c 'cd "$1" && find . -xdev \( -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \
		-o -path ./var/lib/dpkg -o -path ./var/lib/systemd -o -path ./var/lib/dbus -o -path ./debs -o -path ./root -o -path ./tmp -o -path ./run -o -path ./var/tmp -o -path ./var/lib/dkms/hold \
		-o -path './var/lib/dkms/mok.*' -o -path ./etc/resolv.conf -o -path ./etc/machine-id -o -path ./etc/ld.so.cache \
		-o -name .updated -o -path ./boot/grub/grubenv \) -prune -o \
		-print | sort; find etc boot -type f ! -name ld.so.cache ! -name resolv.conf ! -name machine-id ! -name .updated ! -name grubenv \
		-exec sha256sum {} + | sort -k 2' sh "$root"
}

# build: make the packages of $what
build() { OUT=$debs "$SCRIPTS/build-deb" "$what" && ls -l "$debs"; }

# of_packages: set release to that of the kernel in the packages
of_packages()
{
	release=$(basename "$(echo "$debs"/linux-headers-*.deb)")
	release=${release#linux-headers-} release=${release%%_*}
}

copy_in() { mounted sh -c 'rm -rf "$1/debs" && mkdir "$1/debs" && cp "$2"/*.deb "$1/debs/"' sh "$root" "$1"; }

install_them()
{
	copy_in "$debs"
	inside 'apt-get -q -y install /debs/*.deb && rm -rf /debs'
}

# copy_out RELEASE: a kernel and its initramfs from the image
copy_out()
{
	mounted sh -c 'cp -t "$2" "$1/boot/vmlinuz-$3" "$1/boot/initrd.img-$3"' sh "$root" "$work" "$1"
}

# run NAME RELEASE SCRIPT…: run the scripts in a guest of that kernel, with the options in
# the array guest
run()
{
	local name=debian-$1 release=$2

	shift 2
	"$SCRIPTS/run-debian" --name "$name" "${guest[@]}" --mem "${MEM:-1G}" "$image" \
		"$work/vmlinuz-$release" "$work/initrd.img-$release" "${@/#/$ROOT/packaging/tests/}"
}

boot() { copy_out "$release" && run "$1" "$release" "${@:2}" >"$work/guest"; }

# passed_on SUITE: the results of the guest as those of this script
passed_on()
{
	local line after=''

	while read -r line; do
		case $line in
		'ok '*) after=ok ;;
		'not ok '*) after= ;;
		esac
		case $line in
		'ok '*) result 0 "$1: ${line#ok }" ;;
		'not ok '*)
			awk -v line="$line" '$0 == line { on = 1; next } !/^#/ { on = 0 } on' "$work/guest" >"$work/out"
			result 1 "$1: ${line#not ok }" ;;
		'# '*) [ "$after" != ok ] || echo "$line" ;;
		esac
	done <"$work/guest"
}

# booted SUITE SCRIPT…: boot, and pass each result of the guest on
booted()
{
	local status=0

	doing "$1 boots"
	boot "$@" 2>"$work/out" || status=$?
	cat "$work/guest" >>"$work/out"
	result "$status" "$1: it boots, and ends, without a warning"
	passed_on "$1"
}
