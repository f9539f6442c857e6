/* SPDX-License-Identifier: MIT */
/*
 * The query lane of rdmad-probe: devices and netdevs for the scout, ports and contexts for an
 * adapter.
 */
#include <errno.h>

#include "macros.h"
#include "netdev.h"
#include "nldev.h"
#include "probe-internal.h"
#include "sysfs.h"

static int send_device(const struct device_facts *f, void *user)
{
	struct wire_message m = { .type = WIRE_DEVICE, .id = *(uint32_t *)user, .device = *f };

	sysfs_complete_device(&m.device);
	probe_send(&m);
	return 0;
}

static int send_netdev(const struct netdev_facts *f, void *user)
{
	struct wire_message m = { .type = WIRE_NETDEV, .id = *(uint32_t *)user, .netdev = *f };

	probe_send(&m);
	return 0;
}

static int send_address(const struct address_facts *f, void *user)
{
	struct wire_message m = { .type = WIRE_ADDRESS, .id = *(uint32_t *)user, .address = *f };

	probe_send(&m);
	return 0;
}

static int send_elsewhere(const struct elsewhere_facts *f, void *user)
{
	struct wire_message m = { .type = WIRE_ELSEWHERE, .id = *(uint32_t *)user };

	m.elsewhere = *f;
	probe_send(&m);
	return 0;
}

/* Whether RDMA netlink is there and may not be used, as under an SELinux policy that forbids it. */
static bool netlink_refused(int error)
{
	return error == -EACCES || error == -EPERM || error == -EPROTONOSUPPORT;
}

/* Lists the devices. Where RDMA netlink is refused sysfs says the same, with less. */
static int list_devices(struct lane *l, uint32_t id, struct wire_result *result)
{
	int r;

	if (!sysfs_have_rdma())
		return 0; /* no RDMA stack: a list of no devices */
	r = lane_open_nldev(l);
	if (r >= 0)
		r = nldev_list_devices(l->nldev, send_device, &id);
	if (r >= 0) {
		if (nldev_has_monitor(l->nldev))
			result->how |= LISTED_MONITOR;
	} else if (netlink_refused(r)) {
		result->how |= LISTED_SYSFS;
		result->error = r;
		r = sysfs_list_devices(send_device, &id);
	}
	return r;
}

static void do_list(struct lane *l, const struct wire_message *request)
{
	struct wire_message m = { .type = WIRE_LIST_DONE, .id = request->id };
	uint32_t id = request->id;
	int r;

	r = netdev_list(send_netdev, &id);
	if (r >= 0)
		r = netdev_list_addresses(send_address, &id);
	if (r >= 0)
		r = list_devices(l, id, &m.result);
	if (r >= 0)
		r = sysfs_list_elsewhere(send_elsewhere, &id);
	if (r < 0)
		m.result = (struct wire_result){ .error = r };
	probe_send(&m);
}

static void do_read_port(struct lane *l, const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_PORT, .id = request->id };
	struct port_facts f = port_facts_unknown(ref->device_index, ref->port);
	int r;

	r = lane_open_nldev_for(l, ref->device_index);
	if (r >= 0)
		r = nldev_read_port(l->nldev, ref->device_index, ref->port, &f);
	if (r >= 0)
		sysfs_complete_port(ref->device, &f);
	else if (netlink_refused(r))
		r = sysfs_read_port(ref->device_index, ref->device, ref->port, &f);
	f.error = MIN(r, 0);
	m.port = f;
	probe_send(&m);
}

static void do_watch(struct job *j)
{
	const struct wire_device_ref *ref = &j->request.ref;
	int r;

	if (ref->measure) {
		r = async_measure_pin(ref->device_index, ref->device);
		if (r != 0) {
			j->pins = r > 0;
			j->error = MIN(r, 0);
			return;
		}
	}
	j->error = async_open(ref->device_index, ref->device, &j->context);
}

void query_work(struct lane *l, struct job *j)
{
	if (j->request.type == WIRE_LIST)
		do_list(l, &j->request);
	else if (j->request.type == WIRE_READ_PORT)
		do_read_port(l, &j->request);
	else if (!j->cancelled)
		do_watch(j);
}
