#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# network devices without hardware: veth, bridge, bond, VLAN, macvlan, VXLAN, WireGuard, tun; queues
# query: module veth; module bridge; module stp; module bonding; module 8021q; module macvlan; module vxlan; module wireguard; module tun; module dummy; module ifb; module sch_*; module cls_*; module act_*; file net/core/*; file net/sched/*
prepare()
{
	modprobe -a veth bridge bonding 8021q macvlan vxlan wireguard tun dummy sch_htb cls_u32 act_mirred
}
# In a network namespace, which removes what is left
work()
{
	step "devices" unshare -n sh -e -c '
		ip link add v0 type veth peer name v1
		ip link add b0 type bridge
		ip link set v0 master b0
		ip link set v0 up; ip link set v1 up; ip link set b0 up
		ip link add d0 type dummy
		ip link add o0 type bond
		ip link set d0 master o0
		ip link add link v1 name l0 type vlan id 5
		ip link add link v1 name m0 type macvlan
		ip link add x0 type vxlan id 7 dstport 4789 local 10.0.0.1
		ip link add w0 type wireguard
		ip tuntap add t0 mode tap
		ip addr add 10.0.0.1/24 dev v1
		ip route add 10.1.0.0/16 via 10.0.0.2
		ip neigh add 10.0.0.3 lladdr 02:00:00:00:00:01 dev v1
		tc qdisc add dev v1 root handle 1: htb default 10
		tc class add dev v1 parent 1: classid 1:10 htb rate 1mbit
		tc filter add dev v1 parent 1: protocol ip u32 match ip dst 10.0.0.9 action mirred egress redirect dev d0
		ip link del o0; ip link del v0; ip link del t0'
}
