# SPDX-License-Identifier: GPL-2.0-only
# Files that cost their reader more work or memory than their size explains: each is read
# in seconds, or refused with the reason.

# work SECONDS COMMAND...: it ends within so much CPU time and 4 GiB, with a message
work() {
	local seconds=$1
	shift
	( ulimit -t "$seconds"; "$codetag" "$@" ) >"$scratch/out" 2>&1
	local status=$?
	[ $status -le 2 ] && ! grep -E 'Sanitizer|runtime error' "$scratch/out" && return 0
	echo "exit $status: codetag $*: $(head -c 500 "$scratch/out")"
	return 1
}

# archive HOSTS SITES [NAMES]: a tar of HOSTS machines with SITES call sites each, which
# have the same names on all of them, or names of their own
archive() {
	python3 helpers/make-fleet-archive.py "$@"
}

# Assigning files to machines
many_machines() {
	archive 4000 1 >"$scratch/machines.tar" || return 1
	work 20 report -b -N "$scratch/machines.tar" && grep -q '^4000 ' <(tr -s ' ' <"$scratch/out" | sed 's/^ //') &&
		return
	head -n 5 "$scratch/out"
	return 1
}

# No fleet has an archive with so many files.
many_files() {
	archive 20001 1 >"$scratch/files.tar" || return 1
	work 20 report "$scratch/files.tar" && grep -q 'too many' "$scratch/out" && return
	head -n 5 "$scratch/out"
	return 1
}

# Each host has a value for each call site.
many_values() {
	archive 4000 50 own >"$scratch/values.tar" || return 1
	work 20 merge "$scratch/values.tar" && grep -q 'too many' "$scratch/out" && return
	head -n 5 "$scratch/out"
	return 1
}

# The same in a database, in which a host takes some bytes
many_hosts() {
	local command
	rm -f "$scratch/hosts.db"
	"$codetag" merge --sqlite "$scratch/hosts.db" data/handmade-v1.allocinfo data/handmade-v2.allocinfo >/dev/null &&
		python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
n = [(i,) for i in range(1000, 41000)]
db.executemany("INSERT INTO host VALUES (?, 1, 1, 1, 1)", n)
db.executemany("INSERT INTO site VALUES (?1, 1, ?1, 1, 1, 1, 1)", n)
db.commit()' "$scratch/hosts.db" || return 1
	for command in report merge 'report --group host'; do
		# shellcheck disable=SC2086
		work 20 $command "$scratch/hosts.db" && grep -q 'too many' "$scratch/out" && continue
		head -n 5 "$scratch/out"
		return 1
	done
}

# Copies of a list that come in the wrong order: no copy waits for the disk, either.
many_copies() {
	seq 1700020000 -1 1700000001 | sed 's/$/\n1 1 a.c:1 func:f/' >"$scratch/many-copies"
	work 30 leaks "$scratch/many-copies"
}

# Lines of one function in the wrong order, none of which the other list has
many_lines() {
	seq 200000 -2 2 | sed 's/.*/1 1 a.c:& func:f/' >"$scratch/even"
	seq 199999 -2 1 | sed 's/.*/1 1 a.c:& func:f/' >"$scratch/odd"
	work 20 diff "$scratch/even" "$scratch/odd" && work 20 merge "$scratch/even" "$scratch/odd"
}

# Pointers that would share a slot of a table if its hash were not secret
many_pointers() {
	awk 'BEGIN { for (i = 1; i <= 120000; i++)
		printf("x-1 [000] 1.0: kmalloc: call_site=f ptr=%x00000000000 bytes_req=8 bytes_alloc=8\n", i) }' \
		>"$scratch/pointers.trace"
	work 20 trace "$scratch/pointers.trace" && grep -q 120000 "$scratch/out" && return
	head -n 5 "$scratch/out"
	return 1
}
check work/pointers many_pointers

if feature libarchive work/archives; then
	check work/machines many_machines
	check work/files many_files
	check work/values many_values
fi
feature sqlite3 work/hosts && check work/hosts many_hosts
feature sqlite3 work/copies && check work/copies many_copies
check work/lines many_lines
