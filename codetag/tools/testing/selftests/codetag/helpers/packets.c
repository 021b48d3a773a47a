// SPDX-License-Identifier: GPL-2.0-only
/*
 * packets COUNT BYTES - send COUNT datagrams of BYTES to a UNIX socket and as many to a UDP
 * socket of this machine. A packet socket, if the kernel has such, gets clones of the latter,
 * and a netlink socket a list of the network devices. Nobody receives anything: all is held
 * until stdin ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void must(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
}

/* A guest has no network until its loopback device is switched on. */
static void loopback_up(int fd)
{
	struct ifreq lo = { .ifr_name = "lo" };

	must(ioctl(fd, SIOCGIFFLAGS, &lo), "lo");
	lo.ifr_flags |= IFF_UP;
	must(ioctl(fd, SIOCSIFFLAGS, &lo), "lo up");
}

/* Sockets that get what other sockets send */
static void listen_to_all(void)
{
	struct {
		struct nlmsghdr header;
		struct rtgenmsg list;
	} request = {
		.header.nlmsg_len = sizeof(request),
		.header.nlmsg_type = RTM_GETLINK,
		.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int link, packets;

	link = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	must(link, "netlink socket");
	must(send(link, &request, sizeof(request), 0), "ask for the network devices");
	packets = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	if (packets < 0 && errno == EAFNOSUPPORT)
		return;
	must(packets, "packet socket");
	must(bind(packets, (struct sockaddr *)&ll, sizeof(ll)), "bind packet socket");
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(to);
	static char data[4096];
	int count, bytes, pair[2], from, at, i;

	if (argc != 3)
		return 2;
	count = atoi(argv[1]);
	bytes = atoi(argv[2]);
	if (bytes < 1 || bytes > (int)sizeof(data))
		return 2;

	must(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair");
	at = socket(AF_INET, SOCK_DGRAM, 0);
	must(at, "socket");
	from = socket(AF_INET, SOCK_DGRAM, 0);
	must(from, "socket");
	listen_to_all();
	loopback_up(at);
	must(bind(at, (struct sockaddr *)&to, sizeof(to)), "bind");
	must(getsockname(at, (struct sockaddr *)&to, &len), "getsockname");

	for (i = 0; i < count; i++) {
		must(send(pair[0], data, bytes, MSG_DONTWAIT), "send");
		must(sendto(from, data, bytes, MSG_DONTWAIT, (struct sockaddr *)&to, len),
		     "sendto");
	}
	puts("sent");
	fflush(stdout);
	while (read(0, data, sizeof(data)) > 0)
		;
	return 0;
}
