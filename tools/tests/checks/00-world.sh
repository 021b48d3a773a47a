# SPDX-License-Identifier: GPL-2.0
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
