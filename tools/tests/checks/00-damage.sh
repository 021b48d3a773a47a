# SPDX-License-Identifier: GPL-2.0
# Files with some bytes changed at random, and cut: an error or a result, never a crash.

# survives TIMES FILE COPY MOST FIRST COMMAND...: in COPY, each time another one, at most
# MOST bytes from byte FIRST on are others, and one in three ends in the middle.
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
for _ in range(random.randrange(1, int(most) + 1)):
    data[random.randrange(int(first), len(data))] = random.randrange(256)
open(copy, "wb").write(data[:random.choice([len(data), len(data), len(data) // 2])])' \
			"$file" "$copy" $seed "$most" "$first" || return 1
		timeout 20 "$@" >"$scratch/survives.out" 2>&1
		status=$?
		if [ $status -gt 2 ] || grep -E 'runtime error|Sanitizer' "$scratch/survives.out"; then
			echo "seed $seed: exit $status"
			return 1
		fi
	done
}
