/* SPDX-License-Identifier: MIT */
#include "protocol.h"

#include <errno.h>
#include <sys/socket.h>

#include "macros.h"

int wire_send(int fd, struct wire_message *m, int flags)
{
	ssize_t n;

	m->magic = WIRE_MAGIC;
	m->version = WIRE_VERSION;
	do
		n = send(fd, m, sizeof(*m), flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

#define TERMINATE(a) ((a)[sizeof(a) - 1] = '\0')

/* A worker deals with the kernel's strings for us; it must not be able to send an endless one. */
static void terminate_strings(struct wire_message *m)
{
	switch ((enum wire_type)m->type) {
	case WIRE_READ_PORT:
	case WIRE_WATCH:
	case WIRE_UNWATCH:
		TERMINATE(m->ref.device);
		break;
	case WIRE_DEVICE:
		TERMINATE(m->device.name);
		TERMINATE(m->device.node_type);
		TERMINATE(m->device.protocol);
		TERMINATE(m->device.driver);
		TERMINATE(m->device.pci_address);
		TERMINATE(m->device.adapter);
		TERMINATE(m->device.firmware_version);
		TERMINATE(m->device.board_id);
		TERMINATE(m->device.uverbs);
		TERMINATE(m->device.parent_netdev);
		break;
	case WIRE_NETDEV:
		TERMINATE(m->netdev.name);
		break;
	case WIRE_PORT:
		TERMINATE(m->port.width);
		TERMINATE(m->port.speed);
		TERMINATE(m->port.netdev);
		break;
	case WIRE_LIST:
	case WIRE_LIST_DONE:
	case WIRE_WATCHED:
	case WIRE_EVENT:
	case _WIRE_TYPE_MAX:
		break;
	}
}

int wire_receive(int fd, struct wire_message *m, int flags)
{
	ssize_t n;

	do
		n = recv(fd, m, sizeof(*m), flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n == 0)
		return 0;
	if ((size_t)n != sizeof(*m) || m->magic != WIRE_MAGIC || m->version != WIRE_VERSION ||
		m->type >= _WIRE_TYPE_MAX)
		return -EBADMSG;
	terminate_strings(m);
	return 1;
}
