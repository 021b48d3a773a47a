# SPDX-License-Identifier: GPL-2.0
# Files with some bytes changed at random, and cut: an error or a result, never a crash.

# survives TIMES FILE COPY MOST FIRST[-END] COMMAND...: in COPY, each time another one, at most
# MOST bytes from byte FIRST on are others, and one in three is cut off anywhere.
survives() {
	local times=$1 file=$2 copy=$3 most=$4 first=$5 seed status
	shift 5
	for ((seed = 1; seed <= times; seed++)); do
		rm -f "$copy"-*	# what SQLite leaves beside it
		python3 -c '
import random, sys
file, copy, seed, most, first = sys.argv[1:]
random.seed(int(seed))
data = bytearray(open(file, "rb").read())
first, _, end = first.partition("-")
for _ in range(random.randrange(1, int(most) + 1)):
    data[random.randrange(int(first), int(end or len(data)))] = random.randrange(256)
open(copy, "wb").write(data[:random.choice([len(data), len(data), random.randrange(len(data))])])' \
			"$file" "$copy" $seed "$most" "$first" || return 1
		timeout 120 "$@" >"$scratch/survives.out" 2>&1
		status=$?
		if [ $status -gt 2 ] || { [ $status -eq 2 ] && [ ! -s "$scratch/survives.out" ]; } ||
		   grep -E 'runtime error|Sanitizer' "$scratch/survives.out"; then
			echo "seed $seed: exit $status"
			return 1
		fi
	done
}
