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

bool wire_is_of_device(uint32_t type)
{
	switch (type) {
	case WIRE_READ_PORT:
	case WIRE_WATCH:
	case WIRE_UNWATCH:
	case WIRE_READ_DETAILS:
	case WIRE_READ_TABLES:
	case WIRE_READ_COUNTERS:
	case WIRE_READ_SETTINGS:
	case WIRE_READ_DEVLINK:
	case WIRE_READ_VF:
	case WIRE_FORGET:
		return true;
	default:
		return false; /* the list; of a netdev or a PCI function */
	}
}

#define TERMINATE(a) ((a)[sizeof(a) - 1] = '\0')

static void terminate_details(struct device_details *d)
{
	d->n_pcie = MIN(d->n_pcie, (uint32_t)PCIE_HOPS_MAX);
	TERMINATE(d->board_id);
	TERMINATE(d->hca_type);
	TERMINATE(d->hw_rev);
	TERMINATE(d->node_desc);
	TERMINATE(d->physfn);
	TERMINATE(d->gpu);
	TERMINATE(d->local_cpus);
	for (size_t i = 0; i < ARRAY_SIZE(d->pcie); i++)
		TERMINATE(d->pcie[i].address);
}

static void terminate_devlink(struct devlink_facts *f)
{
	f->n = MIN(f->n, (uint32_t)REPORTERS_MAX);
	TERMINATE(f->handle);
	for (size_t i = 0; i < ARRAY_SIZE(f->reporters); i++)
		TERMINATE(f->reporters[i].name);
}

/* A worker deals with the kernel's strings for us; it must not be able to send an endless one. */
static void terminate_strings(struct wire_message *m)
{
	switch ((enum wire_type)m->type) {
	case WIRE_READ_PORT:
	case WIRE_WATCH:
	case WIRE_UNWATCH:
	case WIRE_READ_DETAILS:
	case WIRE_READ_TABLES:
	case WIRE_READ_COUNTERS:
	case WIRE_READ_QOS:
	case WIRE_READ_SETTINGS:
	case WIRE_READ_DEVLINK:
	case WIRE_READ_LINK:
	case WIRE_READ_VF:
	case WIRE_READ_SWITCH:
	case WIRE_FORGET:
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
		TERMINATE(m->netdev.kind);
		TERMINATE(m->netdev.phys_port_name);
		m->netdev.address_length = MIN(m->netdev.address_length, HW_ADDRESS_MAX);
		break;
	case WIRE_PORT:
		TERMINATE(m->port.width);
		TERMINATE(m->port.speed);
		TERMINATE(m->port.netdev);
		break;
	case WIRE_ELSEWHERE:
		TERMINATE(m->elsewhere.name);
		TERMINATE(m->elsewhere.pci_address);
		TERMINATE(m->elsewhere.driver);
		break;
	case WIRE_DETAILS:
		terminate_details(&m->details);
		break;
	case WIRE_GID:
		TERMINATE(m->gid.netdev);
		break;
	case WIRE_TABLES_DONE:
		TERMINATE(m->tables.umad);
		break;
	case WIRE_COUNTER_NAME:
		TERMINATE(m->counter_name.name);
		break;
	case WIRE_QOS:
		TERMINATE(m->qos.name);
		break;
	case WIRE_SETTINGS:
		TERMINATE(m->settings.node_desc);
		TERMINATE(m->settings.optional_on);
		TERMINATE(m->settings.optional_all);
		break;
	case WIRE_DEVLINK:
		terminate_devlink(&m->devlink);
		break;
	case WIRE_VF:
		TERMINATE(m->vf_policy.netdev);
		break;
	case WIRE_SWITCH:
		TERMINATE(m->rdma_switch.pci_address);
		break;
	case WIRE_LIST:
	case WIRE_ADDRESS:
	case WIRE_SYSTEM:
	case WIRE_LIST_DONE:
	case WIRE_WATCHED:
	case WIRE_EVENT:
	case WIRE_PKEYS:
	case WIRE_COUNTER_VALUES:
	case WIRE_COUNTERS_DONE:
	case WIRE_LINK:
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
