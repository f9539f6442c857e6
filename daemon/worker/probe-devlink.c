/* SPDX-License-Identifier: MIT */
/*
 * The slow lane of rdmad-probe: what devlink says of the hardware behind a device.
 */
#include <errno.h>

#include "devlink.h"
#include "macros.h"
#include "probe-internal.h"
#include "sysfs.h"
#include "timespan.h"

/* How long the reporters that are known are all that is asked for: see devlink_list_reporters(). */
#define RELIST_INTERVAL (10 * USEC_PER_MINUTE)

struct devlink_entry {
	struct devlink_facts facts;
	usec_t listed; /* mono */
	struct devlink_entry *next;
};

static struct devlink_entry *devlinks; /* of the slow thread */

static struct devlink_entry **find_devlink(uint32_t device_index)
{
	struct devlink_entry **at = &devlinks;

	while (*at && (*at)->facts.device_index != device_index)
		at = &(*at)->next;
	return at;
}

void devlink_forget(uint32_t device_index)
{
	struct devlink_entry **at = find_devlink(device_index), *e = *at;

	if (!e)
		return;
	*at = e->next;
	free(e);
}

static void remember_devlink(const struct devlink_facts *f)
{
	struct devlink_entry **at = find_devlink(f->device_index);

	if (!*at)
		*at = calloc(1, sizeof(**at));
	if (!*at)
		return; /* then all are listed each time */
	(*at)->facts = *f;
	(*at)->listed = timepoint_now().mono;
}

/* The nearest to the device that has an instance: of a subfunction its own, else the PCI function's. */
static int list_reporters(const char *device, struct devlink_facts *f)
{
	int r;

	for (unsigned n = 0;; n++) {
		if (sysfs_devlink_handle(device, n, f->handle) < 0)
			break;
		r = devlink_list_reporters(f->handle, f);
		if (r != -ENODEV)
			return r;
	}
	f->handle[0] = '\0';
	return -ENODEV;
}

/* Reads those again that are known. False: they are others now, or not all are known. */
static bool reread_reporters(struct devlink_facts *f)
{
	struct devlink_entry *e = *find_devlink(f->device_index);

	if (!e || e->facts.n < e->facts.n_all ||
		usec_sub(timepoint_now().mono, e->listed) >= RELIST_INTERVAL)
		return false;
	for (size_t i = 0; i < e->facts.n; i++)
		if (devlink_read_reporter(e->facts.handle, &e->facts.reporters[i]) < 0)
			return false;
	*f = e->facts;
	return true;
}

void devlink_work(const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_DEVLINK, .id = request->id };
	struct devlink_facts f = { .device_index = ref->device_index };

	if (!reread_reporters(&f)) {
		f.error = list_reporters(ref->device, &f);
		devlink_forget(ref->device_index);
		if (f.error >= 0)
			remember_devlink(&f);
	}
	m.devlink = f;
	probe_send(&m);
}

void devlink_work_switch(const struct wire_message *request)
{
	struct wire_message m = { .type = WIRE_SWITCH, .id = request->id };
	char handle[DEVLINK_HANDLE_MAX + 8];

	snprintf(handle, sizeof(handle), "pci/%s", request->ref.device);
	STRSCPY(m.rdma_switch.pci_address, request->ref.device);
	m.rdma_switch.on = MAX(devlink_read_switch(handle, "enable_rdma"), -1);
	probe_send(&m);
}
