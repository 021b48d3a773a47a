#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# addresses and routes, and lists of them and of links and neighbours, by netlink
# query: file net/*
# flavour: checks
# programs: ip
# In a larger prefix on lo, the gateway would be an address of this machine.
prepare() { ip link set lo up; }

clean()
{
	ip route del 10.10.0.0/16
	ip addr del 10.9.0.1/32 dev lo
}

work()
{
	step "address" ip addr add 10.9.0.1/32 dev lo
	step "route" ip route add 10.10.0.0/16 via 10.9.0.2 dev lo onlink
	step "get" ip route get 10.10.1.1
	for what in link addr route neigh; do
		step "list $what" ip $what show
	done
	step "route away" ip route del 10.10.0.0/16
	step "address away" ip addr del 10.9.0.1/32 dev lo
}
