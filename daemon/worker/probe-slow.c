/* SPDX-License-Identifier: MIT */
/*
 * The slow lane of rdmad-probe: where firmware may be asked for each value, and nobody's alarm waits
 * for the answer.
 */
#include <errno.h>

#include "counter-reader.h"
#include "ethtool.h"
#include "macros.h"
#include "nldev.h"
#include "probe-internal.h"
#include "qos.h"
#include "roce.h"
#include "sysfs.h"
#include "vf-policy.h"

/* What is learned of one source of counters, from reading to reading. */
struct counters_entry {
	uint32_t device_index;
	uint32_t port;
	enum counter_source source;
	struct counter_reader *reader;
	struct counters_entry *next;
};

static struct counters_entry *entries; /* of the slow thread */

static void entry_free(struct counters_entry *e)
{
	counter_reader_free(e->reader);
	free(e);
}

static struct counters_entry *find_entry(const struct wire_device_ref *ref)
{
	struct counters_entry *e;

	for (e = entries; e; e = e->next)
		if (e->device_index == ref->device_index && e->port == ref->port &&
			e->source == ref->source)
			return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->device_index = ref->device_index;
	e->port = ref->port;
	e->source = ref->source;
	if (counter_reader_new(ref->device, ref->device_index, ref->port, ref->source, &e->reader) <
		0) {
		free(e);
		return NULL;
	}
	e->next = entries;
	entries = e;
	return e;
}

static void forget_device(uint32_t device_index)
{
	for (struct counters_entry **at = &entries; *at;) {
		struct counters_entry *e = *at;

		if (e->device_index != device_index) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		entry_free(e);
	}
}

static void read_details(const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_DETAILS, .id = request->id };

	sysfs_read_details(ref->device_index, ref->device, &m.details);
	probe_send(&m);
}

static int send_gid(const struct gid_facts *f, void *user)
{
	struct wire_message m = { .type = WIRE_GID, .id = *(uint32_t *)user, .gid = *f };

	probe_send(&m);
	return 0;
}

static int send_pkeys(const struct pkey_facts *f, void *user)
{
	struct wire_message m = { .type = WIRE_PKEYS, .id = *(uint32_t *)user, .pkeys = *f };

	probe_send(&m);
	return 0;
}

static void read_tables(const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_TABLES_DONE, .id = request->id };
	uint32_t id = request->id;

	sysfs_read_tables(
		ref->device_index, ref->device, ref->port, send_gid, send_pkeys, &id, &m.tables);
	probe_send(&m);
}

static int send_name(const struct counter_name *f, void *user)
{
	struct wire_message m = { .type = WIRE_COUNTER_NAME, .id = *(uint32_t *)user };

	m.counter_name = *f;
	probe_send(&m);
	return 0;
}

static int send_values(const struct counter_values *f, void *user)
{
	struct wire_message m = { .type = WIRE_COUNTER_VALUES, .id = *(uint32_t *)user };

	m.counter_values = *f;
	probe_send(&m);
	return 0;
}

static int send_done(const struct counters_done *f, void *user)
{
	struct wire_message m = { .type = WIRE_COUNTERS_DONE, .id = *(uint32_t *)user };

	m.counters_done = *f;
	probe_send(&m);
	return 0;
}

static void read_counters(struct lane *l, const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct counters_entry *e = find_entry(ref);
	uint32_t id = request->id;
	const struct counter_sink sink = {
		.name = send_name,
		.values = send_values,
		.done = send_done,
		.user = &id,
	};
	struct counters_done failed = { .device_index = ref->device_index,
		.port = ref->port,
		.source = ref->source,
		.error = -ENOMEM };

	bool netlink = ref->source != COUNTER_HW || lane_open_nldev_for(l, ref->device_index) >= 0;

	/* Without the socket sysfs has the same values, one file each. */
	if (e)
		counter_reader_read(e->reader, netlink ? l->nldev : NULL, timepoint_now().mono,
			ref->names, &sink);
	else
		send_done(&failed, &id);
}

static void read_qos(const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_QOS, .id = request->id };

	qos_read(ref->device_index, ref->device, &m.qos); /* says itself what is unknown */
	probe_send(&m);
}

static void read_link(const struct wire_message *request)
{
	struct wire_message m = { .type = WIRE_LINK, .id = request->id };

	ethtool_read_link(request->ref.device_index, &m.link); /* says itself what is unknown */
	probe_send(&m);
}

static void read_vf(const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_VF, .id = request->id };

	(void)vf_policy_read(ref->device_index, ref->device, &m.vf_policy); /* else unknown */
	probe_send(&m);
}

/* Appends a name to a list of words; false: it does not fit. */
static bool append_word(char list[SETTING_LIST_MAX], const char *word)
{
	size_t n = strlen(list);

	if (n + strlen(word) + 2 > SETTING_LIST_MAX)
		return false;
	snprintf(list + n, SETTING_LIST_MAX - n, "%s%s", n ? " " : "", word);
	return true;
}

static int note_optional(const char *name, uint32_t hw_index, bool enabled, void *user)
{
	struct setting_facts *f = user;

	(void)hw_index;
	/* What is not one word cannot be configured. */
	for (const char *c = name; *c; c++)
		if (*c < '!' || *c > '~')
			return 0;
	if (!append_word(f->optional_all, name) || (enabled && !append_word(f->optional_on, name)))
		return -E2BIG;
	return 0;
}

static void read_port_settings(struct nldev *n, const char *device, struct setting_facts *f)
{
	enum gid_type mode;
	int tos;

	if (roce_read(device, f->port, &mode, &tos) >= 0) {
		f->roce_mode = mode;
		f->roce_tos = tos;
	}
	f->optional_error =
		n ? nldev_list_optional_counters(n, f->device_index, f->port, note_optional, f)
		  : -EPROTONOSUPPORT;
	if (f->optional_error < 0)
		f->optional_on[0] = f->optional_all[0] = '\0';
}

static void read_settings(struct lane *l, const struct wire_message *request)
{
	const struct wire_device_ref *ref = &request->ref;
	struct wire_message m = { .type = WIRE_SETTINGS, .id = request->id };
	struct nldev *n = lane_open_nldev_for(l, ref->device_index) >= 0 ? l->nldev : NULL;

	for (uint32_t port = 1; port <= MIN(ref->port, (uint32_t)RDMA_PORTS_MAX); port++) {
		m.settings = setting_facts_unknown(ref->device_index, port);
		read_port_settings(n, ref->device, &m.settings);
		probe_send(&m);
	}
	m.settings = setting_facts_unknown(ref->device_index, 0);
	(void)sysfs_read_node_desc(ref->device, m.settings.node_desc, sizeof(m.settings.node_desc));
	if (n)
		m.settings.adaptive_moderation =
			MAX(nldev_read_adaptive_moderation(n, ref->device_index), -1);
	probe_send(&m);
}

void slow_work(struct lane *l, struct job *j)
{
	switch ((int)j->request.type) {
	case WIRE_READ_DETAILS:
		read_details(&j->request);
		break;
	case WIRE_READ_TABLES:
		read_tables(&j->request);
		break;
	case WIRE_READ_COUNTERS:
		read_counters(l, &j->request);
		break;
	case WIRE_READ_QOS:
		read_qos(&j->request);
		break;
	case WIRE_READ_SETTINGS:
		read_settings(l, &j->request);
		break;
	case WIRE_READ_DEVLINK:
		devlink_work(&j->request);
		break;
	case WIRE_READ_LINK:
		read_link(&j->request);
		break;
	case WIRE_READ_VF:
		read_vf(&j->request);
		break;
	case WIRE_READ_SWITCH:
		devlink_work_switch(&j->request);
		break;
	case WIRE_FORGET:
		forget_device(j->request.ref.device_index);
		devlink_forget(j->request.ref.device_index);
		break;
	}
}
