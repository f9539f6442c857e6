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

/* A device that keeps being renamed is looked at so often. */
#define LOOKS 4

/* A device that so many listings in a row leave out is being removed: see nldev_read_device(). */
#define LEFT_OUT_MAX 3

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

/*
 * Devices as RDMA netlink lists them, each to be completed out of sysfs, where a device is found by
 * its name only. Names change, and change hands: only what a second list calls the same stands.
 */
struct listing {
	struct listed {
		struct device_facts facts;
		bool stands;
		unsigned left_out; /* of how many listings in a row, this one included */
	} * devices;
	size_t n, allocated;
	bool moved; /* one was renamed between the lists */
};

static int keep_device(const struct device_facts *f, void *user)
{
	struct listing *l = user;

	if (l->n == l->allocated) {
		size_t more = MAX(2 * l->allocated, (size_t)16);
		struct listed *devices = reallocarray(l->devices, more, sizeof(*devices));

		if (!devices)
			return -ENOMEM;
		l->devices = devices;
		l->allocated = more;
	}
	l->devices[l->n++] = (struct listed){ .facts = *f };
	return 0;
}

static int compare_name(const struct device_facts *f, void *user)
{
	struct listing *l = user;

	for (size_t i = 0; i < l->n; i++) {
		struct listed *d = &l->devices[i];

		if (d->facts.index != f->index)
			continue;
		d->stands = streq(d->facts.name, f->name);
		l->moved = l->moved || !d->stands;
	}
	return 0; /* what is new has its uevent, and the next listing */
}

/*
 * What the last listing came to. A driver, a PCI function, an adapter stay with an index for its
 * life: reading them again is most of what a listing costs.
 */
static struct listing last;

static void complete(struct device_facts *f)
{
	for (size_t i = 0; i < last.n; i++) {
		const struct device_facts *known = &last.devices[i].facts;

		/* A software link's netdev may be renamed: that is read anew. */
		if (known->index != f->index || known->node_guid != f->node_guid ||
			known->link_type != LINK_TYPE_NONE || !known->driver[0])
			continue;
		STRSCPY(f->node_type, known->node_type);
		STRSCPY(f->driver, known->driver);
		STRSCPY(f->pci_address, known->pci_address);
		STRSCPY(f->adapter, known->adapter);
		f->numa_node = known->numa_node;
		sysfs_find_node(f);
		return;
	}
	sysfs_complete_device(f);
}

static bool is_listed(const struct listing *l, uint32_t index)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->devices[i].facts.index == index)
			return true;
	return false;
}

/* Asks for a device by itself. 0, also when it is not there. */
static int ask_for(struct nldev *n, uint32_t index, nldev_device_cb cb, struct listing *l)
{
	int r = nldev_read_device(n, index, cb, l);

	return r == -ENODEV ? 0 : r;
}

/*
 * What a list left out, though it was there before, may be there all the same: nldev_read_device().
 * One that is new and left out has its uevent.
 */
static int read_left_out(struct nldev *n, struct listing *l)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < last.n; i++)
		if (!is_listed(l, last.devices[i].facts.index))
			r = ask_for(n, last.devices[i].facts.index, keep_device, l);
	return r;
}

/*
 * Those from the one given on are not in the first list; left out is what does not stand by the second,
 * either. The kernel finds a device by its index until the last who has it open lets go: also one that it
 * is removing, and lists no more. That may be us, or may never be.
 */
static void count_left_out(struct listing *l, size_t from)
{
	for (size_t i = from; i < l->n; i++) {
		struct listed *d = &l->devices[i];

		if (d->stands)
			continue;
		d->left_out = 1;
		for (size_t k = 0; k < last.n; k++)
			if (last.devices[k].facts.index == d->facts.index)
				d->left_out += last.devices[k].left_out;
	}
}

static int confirm_left_out(struct nldev *n, struct listing *l)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < l->n; i++)
		if (!l->devices[i].stands && l->devices[i].left_out < LEFT_OUT_MAX)
			r = ask_for(n, l->devices[i].facts.index, compare_name, l);
	return r;
}

/* Returns 0; -EINTR: the names never held still; or another negative errno. */
static int read_listing(struct nldev *n, struct listing *l)
{
	size_t n_listed;
	int r;

	for (int i = 0; i < LOOKS; i++) {
		l->n = 0;
		l->moved = false;
		r = nldev_list_devices(n, keep_device, l);
		n_listed = l->n;
		if (r >= 0)
			r = read_left_out(n, l);
		if (r < 0)
			return r;
		for (size_t k = 0; k < l->n; k++)
			complete(&l->devices[k].facts);
		r = nldev_list_devices(n, compare_name, l);
		if (r >= 0 && !l->moved) {
			count_left_out(l, n_listed);
			r = confirm_left_out(n, l);
		}
		if (r < 0)
			return r;
		if (!l->moved)
			return 0;
	}
	return -EINTR;
}

static int list_by_netlink(struct nldev *n, uint32_t id, struct wire_result *result)
{
	struct listing l = { 0 };
	int r = read_listing(n, &l);

	for (size_t i = 0; r >= 0 && i < l.n; i++) {
		struct wire_message m = { .type = WIRE_DEVICE, .id = id };

		if (!l.devices[i].stands)
			continue; /* it went in between */
		if (l.devices[i].left_out)
			result->how |= LISTED_DOUBT;
		m.device = l.devices[i].facts;
		probe_send(&m);
	}
	if (r < 0) {
		free(l.devices);
		return r;
	}
	free(last.devices);
	last = l;
	return 0;
}

/* Lists the devices. Where RDMA netlink is refused sysfs says the same, with less. */
static int list_devices(
	struct lane *l, uint32_t id, struct wire_result *result, struct system_facts *system)
{
	int r;

	if (!sysfs_have_rdma())
		return 0; /* no RDMA stack: a list of no devices */
	r = lane_open_nldev(l);
	if (r >= 0)
		r = list_by_netlink(l->nldev, id, result);
	if (r >= 0) {
		(void)nldev_read_system(l->nldev, system); /* else it stays unknown */
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
	struct wire_message system = { .type = WIRE_SYSTEM, .id = request->id };
	uint32_t id = request->id;
	int r;

	system.system = system_facts_unknown();
	r = netdev_list(send_netdev, &id);
	if (r >= 0)
		r = netdev_list_addresses(send_address, &id);
	if (r >= 0)
		r = list_devices(l, id, &m.result, &system.system);
	if (r >= 0)
		r = sysfs_list_elsewhere(send_elsewhere, &id);
	if (r >= 0)
		probe_send(&system);
	else
		m.result = (struct wire_result){ .error = r };
	probe_send(&m);
}

/* Reads a port, the part that only sysfs knows by the name that the device had at that moment. */
static int read_port(struct nldev *n, const struct wire_device_ref *ref, struct port_facts *ret)
{
	char name[RDMA_NAME_MAX];
	int r;

	for (int i = 0; i < LOOKS; i++) {
		r = nldev_read_port(n, ref->device_index, ref->port, ret, name);
		if (r < 0)
			return r;
		r = sysfs_complete_port(name, ret);
		if (r != -ENOENT)
			return r;
	}
	return -ENODEV; /* is being removed, or keeps being renamed: a listing tells */
}

static void do_read_port(struct lane *l, const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_PORT, .id = request->id };
	struct port_facts f = port_facts_unknown(ref->device_index, ref->port);
	int r;

	r = lane_open_nldev_for(l, ref->device_index);
	if (r >= 0)
		r = read_port(l->nldev, ref, &f);
	if (netlink_refused(r))
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
