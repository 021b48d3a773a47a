# SPDX-License-Identifier: GPL-2.0
# leaks --stacks beside a kernel that is made up: files that change as those of one in
# which one caller of a helper leaks. What is written to it is noted.

stacks=$scratch/stacks

# For SECONDS a kernel in which take() leaks and give() does not; alloc() of b.c is idle.
pretend() {
	local start=$SECONDS now=0 born
	while [ $now -lt "$1" ]; do
		now=$((SECONDS - start))
		{
			echo 'allocinfo - version: 2.0'
			echo "$((100000 + 640 * now)) $((100 + now)) a.c:1 func:helper"
			echo '5000 5 b.c:2 func:alloc'
			echo "$((9 * now)) $now mm/slub.c:9 func:alloc_slab_page"
		} >"$stacks/allocinfo.new"
		{
			echo '# contexts - version: 1.0'
			echo '# site: 100000 100 0 a.c:1 func:helper keys=age,stack depth=16 max=4096 contexts=9'
			for ((born = 0; born <= now; born++)); do
				age=$((now - born > 0 ? now - born - 1 : 0))-$((now - born))
				printf '%s\n' "640 10 1000 a.c:1 func:helper age=$age" \
					' helper+0x10/0x20' ' kstrdup+0x1/0x2' ' take+0x10/0x20 [leaky]'
				[ $((now - born)) -gt 1 ] || printf '%s\n' \
					"64000 990 990 a.c:1 func:helper age=$age" \
					' helper+0x10/0x20' ' give+0x10/0x20 [leaky]'
			done
		} >"$stacks/contexts.new"
		mv "$stacks/allocinfo.new" "$stacks/allocinfo"
		[ ! -e "$stacks/contexts" ] || mv "$stacks/contexts.new" "$stacks/contexts"
		sleep 0.3
	done
}

# stacks_run SECONDS OPTION...: the command beside it; what it wrote is in $stacks/written
stacks_run() {
	local seconds=$1 pretender status
	shift
	pretend "$seconds" &
	pretender=$!
	sleep 0.5
	WRITTEN=$stacks/written LD_PRELOAD=$stacks/note.so "$build/clang/codetag" leaks --stacks \
		--debugfs "$stacks" "$@" >"$stacks/out" 2>"$stacks/err" &
	command=$!
	"${meanwhile:-:}"
	wait $command
	status=$?
	kill $pretender
	wait $pretender 2>/dev/null
	return $status
}

stacks_prepare() {
	nice -n 5 make -s -C .. O="$build/clang" CC=clang || return 1
	rm -rf "$stacks" && mkdir -p "$stacks" || return 1
	printf '%s\n' 'a.c:1 func:helper =p id 40' 'b.c:2 func:alloc =p id 41 keys=size,node max=9' \
		'mm/slub.c:9 func:alloc_slab_page =p id 42' >"$stacks/control"
	echo 60 >"$stacks/age_interval"
	: >"$stacks/contexts"
	: >"$stacks/written"
	gcc -shared -fPIC -o "$stacks/note.so" -x c - <<-'C'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		ssize_t write(int fd, const void *data, size_t len)
		{
			char link[32], path[4096] = "";
			int note;

			snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
			if (readlink(link, path, sizeof(path) - 1) < 0 ||
			    (!strstr(path, "/control") && !strstr(path, "/age_interval")))
				return syscall(SYS_write, fd, data, len);
			note = open(getenv("WRITTEN"), O_WRONLY | O_APPEND);
			syscall(SYS_write, note, data, len);
			if (((const char *)data)[len - 1] != '\n')
				syscall(SYS_write, note, "\n", 1);
			close(note);
			return len;
		}
	C
}

stacks_says() {
	grep -qF -- "$1" "$stacks/$2" || { echo "no '$1' in $2:"; cat "$stacks/$2"; return 1; }
}

# What is written: both sites when both are few enough, and back as they were.
all_put_back() {
	local want="3
id 40 keys=stack,age max=4096
id 41 keys=stack,age max=4096
id 40 keys=none
id 41 keys=size,node max=9
60"
	[ "$(cat "$stacks/written")" = "$want" ] || { cat "$stacks/written" "$stacks/err"; return 1; }
}

# The whole of it: only the site that grows is split, and the caller that leaks is named.
stacks_names_it() {
	stacks_prepare && stacks_run 30 --for 18 --sites 1 "$stacks/allocinfo"
	[ $? -eq 1 ] || { cat "$stacks/out" "$stacks/err"; return 1; }
	stacks_says ' 1. take [leaky] leaks' out && stacks_says 'leaks: 1, unsure: 0' out &&
		! grep -q 'give' "$stacks/out" &&
		stacks_says '1 in 100 is not freed' out &&
		[ "$(cat "$stacks/written")" = "1
id 40 keys=stack,age max=4096
id 40 keys=none
60" ]
}

# Its JSON, from a run that is cut short as soon as it has enough.
stacks_json() {
	local meanwhile=enough
	stacks_prepare && stacks_run 30 --for 20 --json
	[ $? -eq 1 ] && json_is_documented cat "$stacks/out"
}

enough() {
	sleep 14
	kill -INT "$command"
}

interrupt() {
	sleep 5
	kill -"$signal" "$command"
}

stacks_interrupted() {
	local signal=$1 meanwhile=interrupt
	stacks_prepare && stacks_run 20 --for 40
	[ $? -eq 2 ] && stacks_says 'too short to tell' err && all_put_back
}

lose_contexts() {
	sleep 4
	rm "$stacks/contexts"
}

stacks_error() {
	local meanwhile=lose_contexts
	stacks_prepare && stacks_run 20 --for 40
	[ $? -eq 2 ] && stacks_says 'No such file' err && all_put_back
}

check leaks/stacks stacks_names_it
check docs/json/leaks-stacks stacks_json
check leaks/stacks-SIGINT stacks_interrupted INT
check leaks/stacks-SIGTERM stacks_interrupted TERM
check leaks/stacks-error stacks_error
check docs/refuses/stacks-for refuses 'too short' leaks --stacks --for 5s
check docs/refuses/stacks-live refuses --for leaks --stacks --live
check docs/refuses/for refuses --stacks leaks --for 2m x.db
check docs/refuses/stacks-group refuses --group leaks --stacks -g dir
