/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver/link/network.h"

#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* rtnetlink(7) */
static int watch_addresses(void)
{
	const struct sockaddr_nl groups = { .nl_family = AF_NETLINK,
					    .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (fd >= 0 && bind(fd, (const struct sockaddr *)&groups, sizeof(groups)) == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* The clock is set when the machine wakes up, which cancels this timer: timerfd_create(2). */
static void arm(int fd)
{
	const struct itimerspec never = { .it_value.tv_sec = INT_MAX };
	(void)timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

int network_watch(struct network *ret, struct error *err)
{
	struct network network = { .fd = epoll_create1(EPOLL_CLOEXEC) };
	struct epoll_event event = { .events = EPOLLIN };
	if (network.fd < 0)
		return error_set_errno(err, errno, "watch the network");
	network.addresses = watch_addresses();
	network.clock = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (network.clock >= 0)
		arm(network.clock);
	/* A descriptor that is -1 is refused. */
	(void)epoll_ctl(network.fd, EPOLL_CTL_ADD, network.addresses, &event);
	(void)epoll_ctl(network.fd, EPOLL_CTL_ADD, network.clock, &event);
	*ret = network;
	return 0;
}

void network_take(struct network *network)
{
	char bytes[8192];
	while (read(network->addresses, bytes, sizeof(bytes)) > 0 || errno == ENOBUFS)
		errno = 0;
	if (read(network->clock, bytes, sizeof(bytes)) < 0 && errno == ECANCELED)
		arm(network->clock);
}

void network_close(struct network *network)
{
	const int fds[] = { network->fd, network->addresses, network->clock };
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			(void)close(fds[i]);
	*network = NETWORK_NONE;
}
