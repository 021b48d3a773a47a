#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2086,SC2154	# the runner sets $dir and has step(), fill() and links()
# sockets of the kernel's ciphers: hash and encrypt
# query: module algif_*; module af_alg; file crypto/*; file arch/x86/crypto/*
prepare()
{
	cat >/tmp/cipher.pl <<'END'
sub must { my ($name, $got) = @_; return $got if $got; print STDERR "$name: $!\n"; exit 1 }
for my $what (["hash", "sha256"], ["hash", "hmac(sha1)"], ["skcipher", "cbc(aes)"], ["skcipher", "xts(aes)"]) {
	my ($type, $name) = @$what;
	must("socket", socket(my $socket, 38, 5, 0));
	must("bind", bind($socket, pack("S a14 L L a64", 38, $type, 0, 0, $name)));
	my $size = $name =~ /xts/ ? 32 : 16;
	must("key", setsockopt($socket, 279, 1, "k" x $size)) if $name ne "sha256";
	# accept() of perl asks for the address, which these sockets do not have.
	my $fd = syscall(43, fileno($socket), 0, 0);
	must("accept", $fd >= 0);
	open(my $work, "+<&=", $fd);
	my $data = "x" x 4096;
	if ($type eq "hash") {
		must("send", defined send($work, $data, 0));
	} else {
		# Control messages: encrypt, and the vector
		my $control = pack("Q l l L x4", 20, 279, 3, 1) . pack("Q l l L a16", 36, 279, 2, 16, "v" x 16) . "\0" x 4;
		my $iov = pack("P Q", $data, length $data);
		my $message = pack("Q L x4 P Q P Q l x4", 0, 0, $iov, 1, $control, length $control, 0);
		must("send", syscall(46, fileno($work), $message, 0) > 0);
	}
	must("read", sysread($work, my $got, 4096));
}
END
	modprobe -a algif_hash algif_skcipher && perl /tmp/cipher.pl
}
work() { step "perl" perl /tmp/cipher.pl; }
