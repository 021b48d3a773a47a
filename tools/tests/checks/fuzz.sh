# SPDX-License-Identifier: GPL-2.0
# A short run of each fuzzer, so that a broken one is noticed; make fuzz is longer.
fuzz() {
	../tests/run-fuzz "$build" "${FUZZ_SECONDS:-1}" "$1"
}

if program clang fuzz; then
	for file in fuzz/*.c; do
		name=${file##*/}
		check "fuzz/${name%.c}" fuzz "${name%.c}"
	done
fi
