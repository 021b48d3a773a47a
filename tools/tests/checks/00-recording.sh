# SPDX-License-Identifier: GPL-2.0
# The recording that the tests of record, leaks and chart read, made first.

recording=$scratch/recording.db

make_recording() {
	TZ=UTC python3 make-recording.py "$codetag" "$recording" 16
}

# Not one of those that T= leaves out: others need it.
if feature sqlite3 record/make; then
	pattern='*' check record/make make_recording
fi
