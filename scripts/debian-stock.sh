# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2154
# Compare Debian's kernel with the codetag kernel, on one image: instructions of boot and of
# programs, and memory. MAINLINE=DIR, which has packages of "build-deb mainline", adds a kernel
# with mainline's profiler. To be sourced after debian-lib.sh.

# Boots of each kernel: runs of one kernel differ, too.
runs=${RUNS:-2}
counted=(stock on off ${MAINLINE:+mainline})

# Install the kernel that Debian has built from the same sources; write its release to /run/stock.
install_stock()
{
	inside "version=${release%%-*} what=$what"'
		package=$(apt-cache search -n "^linux-image-$version\+[a-z0-9.]*-$what\$" | cut -d" " -f1)
		apt-get -q -y install $package
		echo ${package#linux-image-} >/run/stock'
}

install_mainline()
{
	copy_in "$MAINLINE"
	inside 'apt-get -q -y install /debs/linux-*.deb && rm -rf /debs
		ls /lib/modules | grep mainline >/run/mainline'
}

# Remove the signatures of all modules. Debian signs with an elliptic curve, while a build with
# its configuration signs with RSA, which the kernel verifies faster: that would distort the
# comparison. The signature is behind the ELF file, so objcopy drops it.
unsign()
{
	inside 'unsign_some()
		{
			while read -r module; do
				xz -dc "$module" >"$module.o"
				objcopy "$module.o"
				xz -0 --check=crc32 -c "$module.o" >"$module"
				rm "$module.o"
			done
		}
		find /lib/modules -name "*.ko.xz" | sort >/tmp/modules
		sed -n 1~2p /tmp/modules | unsign_some &
		sed -n 2~2p /tmp/modules | unsign_some
		wait $!
		for kernel in /lib/modules/*; do
			[ -z "$(modinfo -k "${kernel##*/}" -F signer btrfs)" ]
		done
		update-initramfs -u -k all'
}

# count KERNEL NUMBER: boot it once; the results are in $work/count/KERNEL.NUMBER. Which
# self-tests crypto runs depends on the type of the built-in key, so they are all disabled.
count()
{
	local of=$release
	local -a guest=(--count --timeout 1800 --append cryptomgr.notests)

	case $1 in
	stock) of=$stock ;;
	mainline) of=$mainline ;;
	off) guest+=(--append sysctl.vm.mem_profiling=0) ;;
	esac
	MEM=4G run "$1.$2" "$of" debian-load.sh debian-count.sh >"$work/count/$1.$2"
}

# As many at a time as there are processors: each has one.
count_all()
{
	local number kernel bad=0

	mkdir "$work/count"
	for kernel in $(mounted ls "$root/lib/modules"); do
		copy_out "$kernel"
	done
	for ((number = 1; number <= runs; number++)); do
		for kernel in "${counted[@]}"; do
			[ "$(jobs -r -p | wc -l)" -lt "$JOBS" ] || wait -n || bad=1
			count "$kernel" "$number" &
		done
	done
	while [ -n "$(jobs -p)" ]; do
		wait -n || bad=1
	done
	cat "$work"/count/* | grep -A 15 '^failed' && bad=1
	return "$bad"
}

# table KIND UNIT: the mean of stock, and in per cent of it: the difference of codetag on and
# off, the distance between the runs of stock ("apart"), and the difference of mainline
table()
{
	awk -v kind="$1" -v unit="$2" '
	FNR == 1 { kernel = FILENAME; sub(/.*\//, "", kernel); sub(/\..*/, "", kernel) }
	$1 != kind { next }
	!(kernel SUBSEP $2 in n) && kernel == "stock" { names[++count] = $2; low[$2] = high[$2] = $3 }
	{ n[kernel, $2]++; sum[kernel, $2] += $3 }
	kernel == "stock" { if ($3 < low[$2]) low[$2] = $3; if ($3 > high[$2]) high[$2] = $3 }
	function mean(kernel, name) { return sum[kernel, name] / n[kernel, name] }
	function over(kernel, name) { return (mean(kernel, name) / mean("stock", name) - 1) * 100 }
	END {
		there = ("mainline" SUBSEP names[1]) in n
		printf "%-18s %12s %8s %8s %8s%s\n", unit, "stock", "on", "off", "apart", there ? " mainline" : ""
		for (i = 1; i <= count; i++) {
			name = names[i]
			printf "%-18s %12.0f %+7.2f%% %+7.2f%% %7.2f%%%s\n", name, mean("stock", name), over("on", name),
				over("off", name), (high[name] - low[name]) / mean("stock", name) * 100,
				there ? sprintf(" %+7.2f%%", over("mainline", name)) : ""
		}
	}' "$work"/count/*
}

# within COLUMN PER-CENT: whether each difference is within PER-CENT, or within the distance
# between two runs of stock, or below the resolution (10 million instructions for a boot)
within()
{
	awk -v column="$1" -v limit="$2" 'NR > 1 {
		over = $column + 0
		if (over > limit && over > $5 + 0 && over * $2 / 100 > ($1 == "boot" ? 11 : 1)) { print; bad = 1 }
	} END { exit bad || NR < 10 }' "$work/table"
}

# lost: the memory that ids of objects take, by cache: fewer objects fit into a slab
lost()
{
	awk '
	$1 != "slab" { next }
	FILENAME ~ /stock/ { size[$2] = $4; next }
	$2 in size && $4 > size[$2] {
		bytes = $3 * ($4 - size[$2])
		all += bytes
		printf "%d bytes by %s: %d objects of %d instead of %d\n", bytes, $2, $3, $4, size[$2]
	}
	FILENAME !~ /stock/ { objects += $3 }
	END {
		printf "%d bytes by ids of objects\n", all
		printf "%d bytes if each of %d objects had 8 bytes\n", objects * 8, objects
	}' "$work/count/stock.1" "$work/count/on.1" | sort -rn | head -n 16
}

# told COMMAND…: print its output as a comment of the previous result
told() { "$@" | sed 's/^/# /'; }

stock_test()
{
	local suite=$1 release stock mainline='' bad=$failures

	work_machine "$suite"
	check "$suite: Debian's own kernel of this version" install_stock
	[ -z "${MAINLINE:-}" ] || check "$suite: the same with the profiler of mainline" install_mainline
	check "$suite: no module of these has a signature" unsign
	[ "$failures" -eq "$bad" ] || return 0
	stock=$(mounted cat "$root/run/stock")
	[ -z "${MAINLINE:-}" ] || mainline=$(mounted cat "$root/run/mainline")
	check "$suite: all boot and work, $runs times each" count_all
	if [ "$failures" -ne "$bad" ]; then
		# Keep the measurements: they took half an hour.
		(cd "$work/count" && told grep -E '^(work|memory|failed)' ./*)
		return 0
	fi
	table work 'million instr.' >"$work/table"
	check "$suite: within 1 % of $stock while it is on" within 3 1
	check "$suite: and within what that is of itself while it is off" within 4 0.3
	told cat "$work/table"
	told table memory KiB
	told lost
	(cd "$work/count" && told grep "^page" ./*.1)
	rm -f "$image"
}
