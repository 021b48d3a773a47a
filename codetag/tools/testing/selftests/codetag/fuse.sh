#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A file system in user space moves its pages into the page cache: they stay charged to the call
# site that allocated them, and the kernel prints no warning.
. "$(dirname "$0")/codetag.inc"

prepare
[ -c /dev/fuse ] || modprobe fuse 2>/dev/null
[ -c /dev/fuse ] || { cleanup; skip_all "no FUSE"; }
plan 6

pages=512
base cache ' mm/filemap.c:[0-9]* .*func:__filemap_get_folio'
base pipe ' fs/pipe.c:[0-9]* func:(pipe_write|anon_pipe_[a-z_]*)'
mkdir "$WORK/mnt"
"$BIN/fuse" "$WORK/mnt" $pages &
server=$!
until_true 10 mounted "$WORK/mnt"
check "mounted" $?
equal "what is read" "$((pages * PAGE))" "$(wc -c <"$WORK/mnt/file")"
sum=$(dd if=/dev/zero bs=$PAGE count=$pages 2>/dev/null | tr '\0' 'F' | md5sum)
equal "it is what was written" "$sum" "$(md5sum <"$WORK/mnt/file" 2>/dev/null)"

# Pages of the pipe are in the page cache now, instead of the ones read ahead.
# shellcheck disable=SC2046
set -- $(grown pipe)
[ "$2" -ge $((pages / 2)) ]
check "pages have moved" $? "$2 of $pages are charged to who writes to a pipe"
strange=$(dmesg | grep -c 'weird page')
equal "no page is strange" 0 "$strange"
audited "audit"
umount "$WORK/mnt"
wait $server
finish
