# SPDX-License-Identifier: GPL-2.0-only
# 15 s of fuzzing for each parser; make fuzz takes a minute for each. A parser that has not
# changed since then only gets its old inputs and a few new ones.
fuzz() {
	FUZZ_AGAIN=2 ../tests/run-fuzz "$build" "${FUZZ_SECONDS:-15}" "$1"
}

if program clang fuzz; then
	for file in fuzz/*.c; do
		name=${file##*/}
		[ "$name" != map.c ] || feature libelf fuzz/map || continue
		[ "$name" != database.c ] || feature sqlite3 fuzz/database || continue
		check "fuzz/${name%.c}" fuzz "${name%.c}"
	done
fi
