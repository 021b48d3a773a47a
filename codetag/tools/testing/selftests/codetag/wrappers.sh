#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Helpers that allocate for others have no call site: their callers have.
# guest: own
# store: any
. "$(dirname "$0")/codetag.inc"

COUNT=8
BYTES=1000

# held FILE FUNCTION: bytes and calls of the lines of a function in a file
held()
{
	awk -v file="$1:" -v function_="func:$2" '
		index($3, file) == 1 && $4 == function_ { bytes += $1; calls += $2 }
		END { print bytes + 0, calls + 0 }' $ALLOCINFO
}

# rows FUNCTION...: lines of these functions that hold something; a patch can add _noprof to a name
rows()
{
	for f in "$@"; do
		awk -v function_="func:$f" '$1 != 0 && ($4 == function_ || $4 == function_ "_noprof")' \
			$ALLOCINFO
	done
}

# more NAME FILE FUNCTION CALLS BYTES: its lines hold exactly CALLS more, and at least BYTES more
more()
{
	was=$(sed -n "s/^$3 //p" "$WORK/held")
	now=$(held "$2" "$3")
	[ $((${now#* } - ${was#* })) -eq "$4" ] && [ $((${now% *} - ${was% *})) -ge "$5" ]
	check "$1" $? "want $4 calls and $5 bytes more, got $now after $was"
}

# none NAME FUNCTION...: no line of these functions holds anything
none()
{
	name=$1
	shift
	got=$(rows "$@")
	[ -z "$got" ]
	check "$name" $? "$got"
}

# some NAME FILE FUNCTION: a line of this function holds something
some()
{
	[ "$(held "$2" "$3")" != "0 0" ]
	check "$1" $? "no line of $3() holds anything"
}

# packet_sockets NAME CALLS BYTES: more(), where there are such sockets
packet_sockets()
{
	if [ -e /proc/net/packet ]; then
		more "$1" net/core/dev.c dev_queue_xmit_nit "$2" "$3"
	else
		skip "$1" "no packet sockets"
	fi
}

remember()
{
	while read -r file func; do
		echo "$func $(held "$file" "$func")"
	done >"$WORK/held" <<-END
		net/unix/af_unix.c unix_create1
		net/ipv4/af_inet.c inet_create
		net/unix/af_unix.c unix_dgram_sendmsg
		net/ipv4/ip_output.c __ip_append_data
		net/core/dev.c dev_queue_xmit_nit
		net/netlink/af_netlink.c netlink_dump
	END
}

sent()
{
	[ -s "$WORK/sent" ]
}

prepare
[ -e /proc/net/unix ] && [ -e /proc/net/udp ] || skip_all "no UNIX or UDP sockets"
plan 16

mkfifo "$WORK/stop"
remember
"$BIN/packets" $COUNT $BYTES <"$WORK/stop" >"$WORK/sent" 2>"$WORK/error" &
exec 3>"$WORK/stop"
until_true 20 sent
check "datagrams are sent" $? "$(cat "$WORK/error")"
more "UNIX sockets" net/unix/af_unix.c unix_create1 2 1000
more "UDP sockets" net/ipv4/af_inet.c inet_create 2 1000
none "the helpers of sockets" sk_prot_alloc sk_alloc sk_clone_lock
more "datagrams of UNIX sockets" net/unix/af_unix.c unix_dgram_sendmsg $((COUNT * 2)) \
	$((COUNT * BYTES))
more "datagrams of UDP sockets" net/ipv4/ip_output.c __ip_append_data $((COUNT * 2)) \
	$((COUNT * BYTES))
packet_sockets "what packet sockets see" $COUNT $((COUNT * 200))
more "messages of netlink" net/netlink/af_netlink.c netlink_dump 2 1000
none "the helpers of network buffers" __alloc_skb alloc_skb kmalloc_reserve \
	alloc_skb_with_frags sock_alloc_send_pskb sock_wmalloc skb_clone skb_copy \
	__netdev_alloc_skb __build_skb nlmsg_new netlink_alloc_large_skb
exec 3>&-
wait
more "closed UNIX sockets" net/unix/af_unix.c unix_create1 0 0
more "received datagrams" net/unix/af_unix.c unix_dgram_sendmsg 0 0
packet_sockets "closed packet sockets" 0 0
more "closed netlink sockets" net/netlink/af_netlink.c netlink_dump 0 0
some "tables of TCP" net/ipv4/tcp.c tcp_init
none "the helpers of hash tables and code" alloc_large_system_hash __execmem_alloc
none "the helpers of block devices" bioset_init biovec_init_pool blk_mq_alloc_rqs \
	blk_mq_init_tags sbitmap_init_node sbitmap_queue_init_node
finish
