# SPDX-License-Identifier: GPL-2.0-only
# Files that are damaged at random or cut give an error or a result, never a crash.

# survives TIMES FILE COPY MOST FIRST[-END] COMMAND...: each time COPY is another copy of FILE
# in which up to MOST bytes from byte FIRST on are changed; one in three is cut.
survives() {
	python3 helpers/run-on-damaged-copies.py "$@"
}
