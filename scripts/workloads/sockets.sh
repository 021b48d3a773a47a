#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step()
# sockets: unix, TCP, UDP, raw, packet, netlink; options, filters, descriptors in messages
# query: file net/*
# flavour: checks
# programs: perl
prepare()
{
	cat >/tmp/sockets.pl <<'END'
sub must { my ($name, $got) = @_; return $got if $got; print STDERR "$name: $!\n"; exit 1 }
my ($a, $b, $c);
for my $type (1, 2, 5) {
	must("socketpair", socketpair($a, $b, 1, $type, 0));
	must("send", defined send($a, "hello", 0));
	must("receive", defined recv($b, $c, 100, 0));
}
must("pair", socketpair($a, $b, 1, 1, 0));
# A descriptor in a message: struct msghdr with SCM_RIGHTS
my $data = "x";
my $iov = pack("P Q", $data, 1);
my $control = pack("Q l l l x4", 20, 1, 1, fileno($b));
my $message = pack("Q L x4 P Q P Q l x4", 0, 0, $iov, 1, $control, 24, 0);
must("sendmsg", syscall(46, fileno($a), $message, 0) == 1);
my $path = "/tmp/socket.$$";
must("socket", socket(my $listen, 1, 1, 0));
must("bind", bind($listen, pack("S a*", 1, "$path\0")));
must("listen", listen($listen, 5));
must("socket", socket(my $client, 1, 1, 0));
must("connect", connect($client, pack("S a*", 1, "$path\0")));
must("accept", accept(my $server, $listen));
unlink $path;
my $here = pack("S n C4 x8", 2, 0, 127, 0, 0, 1);
must("socket", socket(my $tcp, 2, 1, 6));
must("bind", bind($tcp, $here));
must("listen", listen($tcp, 5));
must("socket", socket(my $to, 2, 1, 6));
must("connect", connect($to, getsockname($tcp)));
must("accept", accept(my $from, $tcp));
must("send", defined send($to, "y" x 20000, 0));
must("receive", defined recv($from, $c, 20000, 0));
must("socket", socket(my $udp, 2, 2, 17));
must("bind", bind($udp, $here));
must("connect", connect($udp, getsockname($udp)));
must("send", defined send($udp, "z" x 9000, 0));
must("receive", defined recv($udp, $c, 9000, 0));
must("multicast", setsockopt($udp, 0, 35, pack("C4 C4", 224, 0, 0, 9, 127, 0, 0, 1)));
# One instruction: return 0xffff
my $program = pack("S C C L", 6, 0, 0, 0xffff);
must("filter", setsockopt($udp, 1, 26, pack("S x6 P", 1, $program)));
must("raw", socket(my $raw, 2, 3, 1));
must("packet", socket(my $packet, 17, 3, 0x300));
must("ring", setsockopt($packet, 263, 5, pack("L4", 4096, 4, 2048, 8)));
must("netlink", socket(my $netlink, 16, 3, 0));
must("bind", bind($netlink, pack("S S L L", 16, 0, 0, 1)));
END
	perl /tmp/sockets.pl
}

clean() { rm -f /tmp/socket.*; }

work() { step "perl" perl /tmp/sockets.pl; }
