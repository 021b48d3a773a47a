#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In Debian with the packages of faults-amd64: let each allocation of the workloads in
# /usr/src/sweep fail once. Prints "ok NAME" or "not ok NAME" for each of them, followed by the
# findings, and "sweep: over" at the end. Without that the guest has to boot again: the script
# continues where it stopped, with the journals and results in /var/lib/sweep.
from=/usr/src/sweep
state=/var/lib/sweep
# The sweep works in memory: no fault may hit the disk of the machine.
top=/run/sweep
mkdir -p $state $top
mount -t tmpfs -o size=2500M tmpfs $top
tar -C / -c --exclude=./usr/src --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' \
	./bin ./sbin ./lib ./lib64 ./etc ./usr | tar -C $top -x
mkdir $top/dev $top/proc $top/sys $top/tmp $top/mnt $top/run $top/old
for name in dev proc sys; do
	mount --rbind /$name $top/$name
done
mount --bind $state $top/mnt
mkdir -p $top/usr/src
cp -r $from $top/usr/src/
# The sweep reports warnings. An oops ends the guest, because locks stay held after it.
sysctl -q kernel.panic_on_warn=0 kernel.panic_on_oops=1
end=$(($(date +%s) + 4000))

# $inside COMMAND: run it with $top as the root. chroot would forbid user namespaces.
cat >/run/inside <<'END'
#!/bin/sh
cd /run/sweep && pivot_root . old && umount -l old && exec "$@"
END
inside="unshare -m --propagation private sh /run/inside"

# run NAME prepare|work
run() { $inside sh $from/workload.sh $from/"$1".sh "$2" 2>&1; }

# sweep NAME: with a report. Returns 2 if the guest has to boot again.
sweep()
{
	run "$1" prepare || { echo "it cannot be prepared"; return 3; }
	run "$1" work || { echo "it does not work as it is"; return 3; }
	query=$(sed -n 's/^# query: //p' $from/"$1".sh)
	# shellcheck disable=SC2086
	timeout --foreground -s INT $((end - $(date +%s))) $inside codetag sweep --ktap --journal /mnt/"$1".journal \
		"$query" -- sh $from/workload.sh $from/"$1".sh work 2>&1
	status=$?
	[ $status -ne 124 ] || return 2
	[ $status -gt 1 ] || run "$1" work || { echo "it does not work after the faults"; return 3; }
	return $status
}

# alive: show on the console what the last result is, so that the guest is not taken for dead
alive()
{
	while sleep 60; do
		tail -q -n 1 "$state"/*.report >/dev/console
	done
}
alive &
for file in "$from"/*.sh; do
	name=$(basename "$file" .sh)
	[ "$name" != workload ] || continue
	if [ ! -e $state/"$name".status ]; then
		lines=$(cat $state/"$name".journal 2>/dev/null | wc -l)
		start=$(date +%s)
		if [ "$(cat $state/"$name".at 2>/dev/null)" = "$lines" ]; then
			echo "it does not get further" >>$state/"$name".report
			status=3
		else
			echo "$lines" >$state/"$name".at
			sync
			sweep "$name" >$state/"$name".report
			status=$?
		fi
		[ $status -ne 2 ] || exit 0
		echo "$status $(($(date +%s) - start)) s" >$state/"$name".status
		sync
	fi
	read -r status seconds <$state/"$name".status
	[ "$status" -eq 0 ] && echo "ok $name" || echo "not ok $name"
	grep -v '^ok\|^1\.\.\|^KTAP' $state/"$name".report | sed 's/^# *//; s/^/# /'
	echo "# $seconds"
done
echo "sweep: over"
