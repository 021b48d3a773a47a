# SPDX-License-Identifier: GPL-2.0-only
# Terminals, colours and memory checks of the ordinary build.

# on_terminal COMMAND: what it prints on a terminal, by script(1)
on_terminal() {
	script -qec "$1" /dev/null </dev/null
}

escape=$(printf '\033')

colours_on_terminal() {
	on_terminal "TERM=xterm $codetag report data/handmade-v1.allocinfo" | grep -q "$escape"
}

no_colours() {
	! on_terminal "$1 $codetag report data/handmade-v1.allocinfo" | grep -q "$escape"
}

# Not with status 1, as curses would exit; that also leaks.
unknown_terminal() {
	on_terminal "ASAN_OPTIONS=detect_leaks=0 TERM=nonesuch $codetag top data/handmade-v1.allocinfo; echo exit \$?" | tr -d '\r' >"$scratch/unknown"
	grep -q "the terminal 'nonesuch' is not known here" "$scratch/unknown" && grep -qx 'exit 2' "$scratch/unknown"
}

pprof_refuses_terminal() {
	on_terminal "$codetag export --format pprof data/handmade-v1.allocinfo; echo exit \$?" |
		tr -d '\r' | grep -qx 'exit 2'
}

# Nothing unsafe reaches a terminal; characters that the end of a buffer cuts stay whole.
terminal_is_safe() {
	local file=$scratch/unsafe.text
	python3 -c 'print("x" * 1023 + "äöü" * 3000 + "\u009b31m")' >"$file"
	gcc -D_GNU_SOURCE -I../lib -o "$scratch/print" helpers/print-guarded.c ../lib/base/{terminal,text,message,memory}.c || return 1
	on_terminal "$scratch/print $file" | tr -d '\r' >"$scratch/shown"
	python3 -c 'print("x" * 1023 + "äöü" * 3000 + "?31m")' | cmp - "$scratch/shown"
}

valgrind_clean() {
	clang_build || return 1
	valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
		--error-exitcode=99 "$build/clang/codetag" "$@" >/dev/null
	[ $? -lt 99 ]
}

check terminal/colours colours_on_terminal
check terminal/no-color no_colours "TERM=xterm NO_COLOR=1"
check terminal/dumb no_colours TERM=dumb
if feature ncursesw terminal/unknown; then
	check terminal/unknown unknown_terminal
fi
check terminal/safe terminal_is_safe
check terminal/pprof pprof_refuses_terminal
if program valgrind valgrind; then
	file=data/recorded-mainline-6.12.allocinfo
	check valgrind/report valgrind_clean report --tree "$file"
	check valgrind/diff valgrind_clean diff "$file" data/recorded-ours-6.12.allocinfo
	check valgrind/pprof valgrind_clean export --format pprof -o "$scratch/v.pb.gz" "$file"
	check valgrind/trace valgrind_clean trace data/handmade-modern.trace
	[ ! -e "$recording" ] || check valgrind/leaks valgrind_clean leaks "$recording"
fi
