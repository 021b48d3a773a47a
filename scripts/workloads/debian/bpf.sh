#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# BPF: maps of several types, a program, a link to a control group
# query: file kernel/bpf/*; file net/core/filter.c; file arch/x86/net/*
prepare()
{
	cat >/tmp/bpf.pl <<'END'
sub must { my ($name, $got) = @_; return $got if $got >= 0; print STDERR "$name: $!\n"; exit 1 }
# bpf(command, attributes): attributes is a packed union bpf_attr
sub bpf { my ($command, $attr) = @_; $attr .= "\0" x (128 - length $attr); return syscall(321, $command, $attr, 128) }
my %map;
# hash, array, percpu hash, percpu array, lru hash, lpm trie, queue, ring buffer
for my $type (1, 2, 5, 6, 9, 11, 22, 27) {
	my ($key, $value, $entries, $flags) = (4, 8, 64, 0);
	($key, $flags) = (8, 1) if $type == 11;
	$key = 0 if $type == 22;
	($key, $value, $entries) = (0, 0, 4096) if $type == 27;
	$map{$type} = must("map $type", bpf(0, pack("L5", $type, $key, $value, $entries, $flags)));
}
for my $type (1, 2, 9) {
	my ($key, $value) = (pack("L", 1), pack("Q", 2));
	must("update $type", bpf(2, pack("L x4 P P Q", $map{$type}, $key, $value, 0)));
	must("delete $type", bpf(3, pack("L x4 P", $map{$type}, $key))) if $type != 2;
}
# r0 = 1; exit
my $code = pack("C C s l", 0xb7, 0, 0, 1) . pack("C C s l", 0x95, 0, 0, 0);
my $license = "GPL\0";
my $prog = must("load", bpf(5, pack("L L P P L L P L L a16 L L", 8, 2, $code, $license, 0, 0, undef, 0, 0, "work", 0, 0)));
open(my $group, "<", "/sys/fs/cgroup/bpf") or die;
my $link = must("link", bpf(28, pack("L L L L", $prog, fileno($group), 0, 0)));
must("info", bpf(15, pack("L L P", $prog, 128, "\0" x 128)));
END
	mkdir -p /sys/fs/cgroup/bpf && perl /tmp/bpf.pl
}
work() { step "perl" perl /tmp/bpf.pl; }
