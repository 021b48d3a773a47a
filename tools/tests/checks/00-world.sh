# SPDX-License-Identifier: GPL-2.0-only
# Pretended time, which passes only while the command sleeps: a busy machine makes no
# difference, and no test waits.

make_world() {
	[ ! -e "$scratch/world.so" ] || return 0
	gcc -shared -fPIC -o "$scratch/world.so" helpers/pretend-time.c
}

# in_world COMMAND...: at second 0, and after each sleep, `pretend SECOND` changes the files
# that the command reads. If it returns a number, the command gets this signal. Variables of the
# test that it needs have to be exported. $WRITTEN, if set, gets everything that the command
# writes to the kernel's files. A command that hangs is killed.
in_world() {
	local status
	make_world && pretend 0 || return 2
	declare -f pretend >"$scratch/pretend"
	WORLD=$scratch/pretend ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 \
		timeout 300 env LD_PRELOAD="$scratch/world.so" "$@"
	status=$?
	[ $status -ne 124 ] || echo 'it was still running after 300 s' >&2
	return $status
}

# on_machine COMMAND...: runs it where /proc has only an allocinfo
on_machine() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none /proc && cp data/handmade-v1.allocinfo /proc/allocinfo &&
		exec "$0" "$@"' "$build/clang/codetag" "$@"
}

# machine_with SWITCH COMMAND...: the same with profiling switched on (1) or off (0)
machine_with() {
	# shellcheck disable=SC2016
	SWITCH=$1 unshare -m sh -c 'mount -t tmpfs none /proc && cp data/handmade-v1.allocinfo /proc/allocinfo &&
		mkdir -p /proc/sys/vm /proc/sys/kernel/random && echo "$SWITCH" >/proc/sys/vm/mem_profiling &&
		echo "${BOOT:-11d32da5}-57b3-4f2e-a3f4-1d9e6b5c0a87" >/proc/sys/kernel/random/boot_id && exec "$0" "$@"' \
		"$build/clang/codetag" "${@:2}"
}
