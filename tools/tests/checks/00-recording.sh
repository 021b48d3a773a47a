# SPDX-License-Identifier: GPL-2.0
# The recording that the tests of record, leaks and chart read, made first.

recording=$scratch/recording.db

make_recording() {
	TZ=UTC python3 make-recording.py "$codetag" "$recording" 16
}

# Others need it, so it is made whatever T= leaves out; then it does not count.
if feature sqlite3 record/make; then
	if selected record/make; then
		check record/make make_recording
	else
		make_recording
	fi
fi
