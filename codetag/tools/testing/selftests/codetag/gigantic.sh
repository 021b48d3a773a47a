#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Gigantic pages of hugetlb, and what becomes of them when they are demoted.
# boot: default
# boot: hugetlb_cma=1G
# mem: 6G
. "$(dirname "$0")/codetag.inc"

MB=$((1024 * 1024))
all=/sys/kernel/mm/hugepages
giga=$all/hugepages-1048576kB
huge=$all/hugepages-2048kB

prepare
if [ ! -w $giga/nr_hugepages ]; then
	cleanup
	skip_all "no gigantic pages"
fi
if [ ! -w $giga/demote ]; then
	cleanup
	skip_all "no $giga/demote"
fi

functions='(alloc_(buddy|gigantic)_[a-z_]*folio|[a-z_]*cma_[a-z_]*alloc)'
base site " mm/(hugetlb|cma).c:[0-9]* func:$functions "
echo 1 >$giga/nr_hugepages
if [ "$(cat $giga/nr_hugepages)" -ne 1 ]; then
	cleanup
	skip_all "no free range of a gigabyte, boot with more memory"
fi
plan 9
equal "a gigantic page held" "$((1024 * MB)) 1" "$(grown site)"
echo 0 >$giga/nr_hugepages
equal "a gigantic page freed" "0 0" "$(grown site)"

echo 1 >$giga/nr_hugepages
equal "a gigantic page again" 1 "$(cat $giga/nr_hugepages)"
echo 1 >$giga/demote
equal "demoted" "0 512" "$(cat $giga/nr_hugepages) $(cat $huge/nr_hugepages)"
equal "its parts held" "$((1024 * MB)) 512" "$(grown site)"
audited "audit with the parts"
echo 100 >$huge/nr_hugepages
equal "some parts freed" "$((200 * MB)) 100" "$(grown site)"
echo 0 >$huge/nr_hugepages
equal "the other parts freed" "0 0" "$(grown site)"
audited "audit"
finish
