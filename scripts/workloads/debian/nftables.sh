#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# nftables in a network namespace of its own: tables, sets, maps, chains, counters, NAT
# query: module nf_tables; module nfnetlink; module nf_conntrack; module nf_nat; module nft_*; file net/netfilter/*
prepare()
{
	cat >/tmp/rules <<-'END'
	table inet filter {
		set seen { type ipv4_addr; flags dynamic; size 1000; }
		set ports { type inet_service; flags interval; elements = { 22, 80-90, 443 } }
		map where { type inet_service : verdict; elements = { 53 : accept, 54 : drop } }
		counter hits { }
		chain other { return; }
		chain input {
			type filter hook input priority 0; policy drop;
			ct state established,related accept
			tcp dport @ports add @seen { ip saddr limit rate 1/second } counter name hits accept
			udp dport vmap @where
			log prefix "none" jump other
		}
	}
	table ip nat {
		chain post { type nat hook postrouting priority 100; ip saddr 10.0.0.0/8 masquerade; }
	}
	END
	unshare -n nft -f /tmp/rules
}
work()
{
	step "nft" unshare -n sh -c 'nft -f /tmp/rules && nft list ruleset && nft delete table inet filter &&
		ip link set lo up && ping -q -c 1 -W 1 127.0.0.1'
}
