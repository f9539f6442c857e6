/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include <inttypes.h>

#include "build-config.h"
#include "bus-names.h"
#include "macros.h"

const char *device_path(uint32_t index, char buf[OBJECT_PATH_MAX])
{
	snprintf(buf, OBJECT_PATH_MAX, BUS_DEVICE_PREFIX "/d%" PRIu32, index);
	return buf;
}

const char *port_path(uint32_t index, uint32_t number, char buf[OBJECT_PATH_MAX])
{
	snprintf(buf, OBJECT_PATH_MAX, BUS_PORT_PREFIX "/d%" PRIu32 "p%" PRIu32, index, number);
	return buf;
}

void value_set_string(struct value *v, const char *s)
{
	v->known = s && s[0];
	v->string = s;
}

void value_set_number(struct value *v, uint64_t number, bool known)
{
	v->known = known;
	v->number = number;
}

void value_set_flag(struct value *v, bool flag)
{
	v->known = true;
	v->flag = flag;
}

void value_set_time(struct value *v, struct timepoint t)
{
	value_set_number(v, t.real, t.real > 0);
}

void value_set_reasons(struct value *v, const struct verdict *verdict)
{
	v->known = true;
	v->verdict = verdict;
}

static void set_guid(struct value *v, uint64_t guid)
{
	value_set_string(v, guid_format(v->text, guid));
}

static void set_health(struct value *v, const struct verdict *verdict)
{
	value_set_string(v, health_to_string(verdict->health));
}

/* ---- the daemon ---- */

static void get_version(const struct subject *s, struct value *v)
{
	value_set_string(v, RDMAD_VERSION);
}

static void get_config_generation(const struct subject *s, struct value *v)
{
	value_set_number(v, s->ctx->config_generation, true);
}

static void get_host_health(const struct subject *s, struct value *v)
{
	set_health(v, &s->ctx->model->verdict);
}

static void get_host_since(const struct subject *s, struct value *v)
{
	value_set_time(v, s->ctx->model->verdict.since);
}

static void get_host_reasons(const struct subject *s, struct value *v)
{
	value_set_reasons(v, &s->ctx->model->verdict);
}

static void get_device_count(const struct subject *s, struct value *v)
{
	uint64_t n = 0;

	for (const struct device *d = s->ctx->model->devices; d; d = d->next)
		n++;
	value_set_number(v, n, true);
}

static void get_port_count(const struct subject *s, struct value *v)
{
	uint64_t n = 0;

	for (const struct device *d = s->ctx->model->devices; d; d = d->next)
		n += d->n_ports;
	value_set_number(v, n, true);
}

static void get_expects(const struct subject *s, struct value *v)
{
	value_set_flag(v, s->ctx->expects_anything);
}

/* A list that is always known. */
static void get_list(const struct subject *s, struct value *v)
{
	v->known = true;
}

static void get_ready(const struct subject *s, struct value *v)
{
	value_set_flag(v, s->ctx->ready);
}

static void get_previous_version(const struct subject *s, struct value *v)
{
	value_set_string(v, s->ctx->previous_version);
}

static void get_gap(const struct subject *s, struct value *v)
{
	value_set_number(v, s->ctx->gap, s->ctx->previous_version[0] != '\0');
}

/* JSON has those for the bus only in its own places: see describe.c. */
const struct field manager_fields[] = {
	{ "Version", FIELD_STRING, FIELD_BUS_ONLY, get_version },
	{ "ConfigGeneration", FIELD_U64, FIELD_BUS_ONLY, get_config_generation },
	{ "HealthState", FIELD_STRING, FIELD_EVERYWHERE, get_host_health },
	{ "HealthSince", FIELD_U64, FIELD_EVERYWHERE, get_host_since },
	{ "Reasons", FIELD_LIST, FIELD_EVERYWHERE, get_host_reasons, &reason_list },
	{ "DeviceCount", FIELD_U32, FIELD_BUS_ONLY, get_device_count },
	{ "PortCount", FIELD_U32, FIELD_BUS_ONLY, get_port_count },
	{ "ExpectationConfigured", FIELD_BOOL, FIELD_BUS_ONLY, get_expects },
	{ "Missing", FIELD_LIST, FIELD_BUS_ONLY, get_list, &missing_list },
	{ "Setup", FIELD_LIST, FIELD_BUS_ONLY, get_list, &setup_list },
	{ "Ready", FIELD_BOOL, FIELD_BUS_ONLY, get_ready },
	{ "PreviousVersion", FIELD_STRING, FIELD_BUS_ONLY, get_previous_version },
	{ "GapUSec", FIELD_U64, FIELD_BUS_ONLY, get_gap },
	{ NULL },
};

/* ---- devices ---- */

#define DEVICE_TEXT(function, member)                                  \
	static void function(const struct subject *s, struct value *v) \
	{                                                              \
		value_set_string(v, s->device->facts.member);          \
	}

DEVICE_TEXT(get_name, name)
DEVICE_TEXT(get_node_type, node_type)
DEVICE_TEXT(get_driver, driver)
DEVICE_TEXT(get_pci_address, pci_address)
DEVICE_TEXT(get_adapter, adapter)
DEVICE_TEXT(get_firmware_version, firmware_version)
DEVICE_TEXT(get_board_id, board_id)

#define DETAIL_TEXT(function, member)                                  \
	static void function(const struct subject *s, struct value *v) \
	{                                                              \
		value_set_string(v, s->device->details.member);        \
	}

DEVICE_TEXT(get_uverbs, uverbs)
DETAIL_TEXT(get_node_desc, node_desc)
DETAIL_TEXT(get_hca_type, hca_type)
DETAIL_TEXT(get_hw_rev, hw_rev)
DETAIL_TEXT(get_physfn, physfn)
DETAIL_TEXT(get_local_cpus, local_cpus)
DETAIL_TEXT(get_gpu, gpu)

static void get_gpu_hops(const struct subject *s, struct value *v)
{
	int32_t hops = s->device->details.gpu_hops;

	value_set_number(v, (uint64_t)hops, hops >= 0);
}

static void get_index(const struct subject *s, struct value *v)
{
	uint32_t index = s->device->facts.index;

	value_set_number(v, index, !device_index_is_made_up(index));
}

static void get_node_guid(const struct subject *s, struct value *v)
{
	set_guid(v, s->device->facts.node_guid);
}

static void get_sys_image_guid(const struct subject *s, struct value *v)
{
	set_guid(v, s->device->facts.sys_image_guid);
}

static void get_numa_node(const struct subject *s, struct value *v)
{
	int32_t node = s->device->facts.numa_node;

	value_set_number(v, (uint64_t)node, node >= 0);
}

static void get_released_until(const struct subject *s, struct value *v)
{
	const struct release *r = &s->device->release;

	value_set_number(v, r->until.real, r->until.mono > 0);
}

static void get_released_by(const struct subject *s, struct value *v)
{
	value_set_string(v, s->device->release.by);
}

static void get_device_health(const struct subject *s, struct value *v)
{
	set_health(v, &s->device->verdict);
}

static void get_device_since(const struct subject *s, struct value *v)
{
	value_set_time(v, s->device->verdict.since);
}

static void get_device_reasons(const struct subject *s, struct value *v)
{
	value_set_reasons(v, &s->device->verdict);
}

static void get_device_ignored(const struct subject *s, struct value *v)
{
	value_set_string(v, s->device->verdict.ignored_because);
}

static void get_setup_state(const struct subject *s, struct value *v)
{
	if (s->device->have_setup_result)
		value_set_string(v, step_result_to_string(s->device->setup_result));
}

const struct field device_fields[] = {
	{ "Index", FIELD_U32, FIELD_EVERYWHERE, get_index, .brief = true },
	{ "Name", FIELD_STRING, FIELD_EVERYWHERE, get_name, .brief = true },
	{ "NodeGuid", FIELD_STRING, FIELD_EVERYWHERE, get_node_guid },
	{ "SysImageGuid", FIELD_STRING, FIELD_EVERYWHERE, get_sys_image_guid },
	{ "NodeType", FIELD_STRING, FIELD_EVERYWHERE, get_node_type },
	{ "Driver", FIELD_STRING, FIELD_EVERYWHERE, get_driver },
	{ "PciAddress", FIELD_STRING, FIELD_EVERYWHERE, get_pci_address, .brief = true },
	{ "Adapter", FIELD_STRING, FIELD_EVERYWHERE, get_adapter },
	{ "NumaNode", FIELD_U32, FIELD_EVERYWHERE, get_numa_node },
	{ "FirmwareVersion", FIELD_STRING, FIELD_EVERYWHERE, get_firmware_version },
	{ "BoardId", FIELD_STRING, FIELD_EVERYWHERE, get_board_id },
	{ "HcaType", FIELD_STRING, FIELD_EVERYWHERE, get_hca_type },
	{ "HardwareRevision", FIELD_STRING, FIELD_EVERYWHERE, get_hw_rev },
	{ "NodeDescription", FIELD_STRING, FIELD_EVERYWHERE, get_node_desc },
	{ "UverbsNode", FIELD_STRING, FIELD_EVERYWHERE, get_uverbs },
	{ "PhysicalFunction", FIELD_STRING, FIELD_EVERYWHERE, get_physfn },
	{ "LocalCpus", FIELD_STRING, FIELD_EVERYWHERE, get_local_cpus },
	{ "Gpu", FIELD_STRING, FIELD_EVERYWHERE, get_gpu },
	{ "GpuHops", FIELD_U32, FIELD_EVERYWHERE, get_gpu_hops },
	{ "HealthState", FIELD_STRING, FIELD_EVERYWHERE, get_device_health, .brief = true },
	{ "HealthSince", FIELD_U64, FIELD_EVERYWHERE, get_device_since, .brief = true },
	{ "Reasons", FIELD_LIST, FIELD_EVERYWHERE, get_device_reasons, &reason_list,
		.brief = true },
	{ "IgnoredBecause", FIELD_STRING, FIELD_EVERYWHERE, get_device_ignored, .brief = true },
	{ "ReleasedUntil", FIELD_U64, FIELD_EVERYWHERE, get_released_until },
	{ "ReleasedBy", FIELD_STRING, FIELD_EVERYWHERE, get_released_by },
	{ "SetupState", FIELD_STRING, FIELD_EVERYWHERE, get_setup_state },
	{ NULL },
};

/* ---- ports ---- */

static void get_port_device(const struct subject *s, struct value *v)
{
	value_set_string(v, device_path(s->device->facts.index, v->text));
}

static void get_number(const struct subject *s, struct value *v)
{
	value_set_number(v, s->port->number, true);
}

static void get_link_layer(const struct subject *s, struct value *v)
{
	if (s->port->facts.link_layer != LINK_LAYER_UNKNOWN)
		value_set_string(v, link_layer_to_string(s->port->facts.link_layer));
}

static void get_port_state(const struct subject *s, struct value *v)
{
	value_set_string(v, port_state_word(s->port->facts.state, v->text));
}

static void get_phys_state(const struct subject *s, struct value *v)
{
	value_set_string(v, phys_state_word(s->port->facts.phys_state, v->text));
}

static void get_rate(const struct subject *s, struct value *v)
{
	value_set_number(v, s->port->facts.rate_mbps, s->port->facts.rate_mbps > 0);
}

static void get_width(const struct subject *s, struct value *v)
{
	value_set_string(v, s->port->facts.width);
}

static void get_speed(const struct subject *s, struct value *v)
{
	value_set_string(v, s->port->facts.speed);
}

static void get_active_mtu(const struct subject *s, struct value *v)
{
	value_set_number(v, s->port->facts.active_mtu, s->port->facts.active_mtu > 0);
}

static void get_lid(const struct subject *s, struct value *v)
{
	value_set_number(v, s->port->facts.lid, s->port->facts.lid != UINT32_MAX);
}

static void get_sm_lid(const struct subject *s, struct value *v)
{
	value_set_number(v, s->port->facts.sm_lid, s->port->facts.sm_lid != UINT32_MAX);
}

static void get_netdev(const struct subject *s, struct value *v)
{
	value_set_string(v, s->port->facts.netdev);
}

static void get_netdev_index(const struct subject *s, struct value *v)
{
	value_set_number(v, s->port->facts.netdev_index, s->port->facts.netdev_index > 0);
}

static void get_umad(const struct subject *s, struct value *v)
{
	value_set_string(v, s->port->tables.facts.umad);
}

static void get_required(const struct subject *s, struct value *v)
{
	value_set_flag(v, s->port->required);
}

static void get_port_health(const struct subject *s, struct value *v)
{
	set_health(v, &s->port->verdict);
}

static void get_port_since(const struct subject *s, struct value *v)
{
	value_set_time(v, s->port->verdict.since);
}

static void get_port_reasons(const struct subject *s, struct value *v)
{
	value_set_reasons(v, &s->port->verdict);
}

static void get_port_ignored(const struct subject *s, struct value *v)
{
	value_set_string(v, s->port->verdict.ignored_because);
}

static void get_group(const struct subject *s, struct value *v)
{
	value_set_string(v, s->port->group);
}

static void get_flap_count(const struct subject *s, struct value *v)
{
	value_set_number(v, s->port->flap_count, true);
}

static void get_down_since(const struct subject *s, struct value *v)
{
	value_set_number(v, s->port->down_since.real, s->port->down_since.mono > 0);
}

static void get_probe_state(const struct subject *s, struct value *v)
{
	value_set_string(v, probe_state_to_string(s->port->probe_state));
}

static void get_last_probe(const struct subject *s, struct value *v)
{
	value_set_time(v, s->port->read_at);
}

static void get_gids(const struct subject *s, struct value *v)
{
	v->known = s->port->tables.gids_known;
}

const struct field port_fields[] = {
	{ "Device", FIELD_PATH, FIELD_BUS_ONLY, get_port_device },
	{ "Number", FIELD_U32, FIELD_EVERYWHERE, get_number, .brief = true },
	{ "LinkLayer", FIELD_STRING, FIELD_EVERYWHERE, get_link_layer, .brief = true },
	{ "PortState", FIELD_STRING, FIELD_EVERYWHERE, get_port_state, .brief = true },
	{ "PhysState", FIELD_STRING, FIELD_EVERYWHERE, get_phys_state, .brief = true },
	{ "Rate", FIELD_U64, FIELD_EVERYWHERE, get_rate, .brief = true },
	{ "Width", FIELD_STRING, FIELD_EVERYWHERE, get_width, .brief = true },
	{ "Speed", FIELD_STRING, FIELD_EVERYWHERE, get_speed, .brief = true },
	{ "ActiveMtu", FIELD_U32, FIELD_EVERYWHERE, get_active_mtu },
	{ "Lid", FIELD_U32, FIELD_EVERYWHERE, get_lid },
	{ "SmLid", FIELD_U32, FIELD_EVERYWHERE, get_sm_lid },
	{ "NetDevice", FIELD_STRING, FIELD_EVERYWHERE, get_netdev, .brief = true },
	{ "NetDeviceIndex", FIELD_U32, FIELD_EVERYWHERE, get_netdev_index },
	{ "UmadNode", FIELD_STRING, FIELD_EVERYWHERE, get_umad },
	{ "Group", FIELD_STRING, FIELD_EVERYWHERE, get_group, .brief = true },
	{ "Required", FIELD_BOOL, FIELD_EVERYWHERE, get_required, .brief = true },
	{ "HealthState", FIELD_STRING, FIELD_EVERYWHERE, get_port_health, .brief = true },
	{ "HealthSince", FIELD_U64, FIELD_EVERYWHERE, get_port_since, .brief = true },
	{ "Reasons", FIELD_LIST, FIELD_EVERYWHERE, get_port_reasons, &reason_list, .brief = true },
	{ "IgnoredBecause", FIELD_STRING, FIELD_EVERYWHERE, get_port_ignored, .brief = true },
	{ "FlapCount", FIELD_U64, FIELD_EVERYWHERE, get_flap_count },
	{ "DownSince", FIELD_U64, FIELD_EVERYWHERE, get_down_since },
	{ "ProbeState", FIELD_STRING, FIELD_EVERYWHERE, get_probe_state, .brief = true },
	{ "LastProbe", FIELD_U64, FIELD_QUIET, get_last_probe },
	{ "Gids", FIELD_LIST, FIELD_BY_NAME, get_gids, &gid_list },
	{ NULL },
};

_Static_assert(ARRAY_SIZE(manager_fields) <= FIELDS_MAX, "FIELDS_MAX");
_Static_assert(ARRAY_SIZE(device_fields) <= FIELDS_MAX, "FIELDS_MAX");
_Static_assert(ARRAY_SIZE(port_fields) <= FIELDS_MAX, "FIELDS_MAX");

/* ---- any field ---- */

void field_get(const struct field *f, const struct subject *s, struct value *v)
{
	v->known = false;
	v->flag = false;
	v->number = 0;
	v->string = NULL;
	v->verdict = NULL;
	f->get(s, v);
	v->string = text_clean(v->string, v->text);
}

const char *field_signature(const struct field *f)
{
	static const char *const signatures[] = {
		[FIELD_STRING] = "s",
		[FIELD_U32] = "u",
		[FIELD_U64] = "t",
		[FIELD_BOOL] = "b",
		[FIELD_PATH] = "o",
		[FIELD_LIST] = "aa{sv}",
	};

	return signatures[f->type];
}

const struct field *field_find(const struct field *fields, const char *name)
{
	/* Asked for each property of each object: most names differ in their first letter already. */
	for (; fields->name; fields++)
		if (fields->name[0] == name[0] && streq(fields->name, name))
			return fields;
	return NULL;
}

/* FNV-1a: this is for telling two values apart, not for tables that somebody could attack. */
static uint64_t hash_bytes(uint64_t h, const void *data, size_t size)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * 0x100000001b3;
	return h;
}

static uint64_t hash_text(uint64_t h, const char *s)
{
	return hash_bytes(h, s, strlen(s) + 1); /* with the zero: "a","b" is not "ab","" */
}

static uint64_t hash_field(uint64_t h, const struct field *f, const struct subject *s);

static uint64_t hash_list(
	uint64_t h, const struct list *l, const struct subject *s, const struct value *v)
{
	struct subject row = *s;
	uint64_t version;

	if (l->version) {
		version = l->version(s);
		return hash_bytes(h, &version, sizeof(version));
	}
	for (size_t i = 0; l->row(s, v, i, &row); i++)
		for (const struct field *f = l->fields; f->name; f++)
			h = hash_field(h, f, &row);
	return h;
}

static uint64_t hash_field(uint64_t h, const struct field *f, const struct subject *s)
{
	struct value v;

	field_get(f, s, &v);
	h = hash_bytes(h, &v.known, sizeof(v.known));
	if (!v.known)
		return h;
	switch (f->type) {
	case FIELD_STRING:
	case FIELD_PATH:
		return hash_text(h, v.string);
	case FIELD_U32:
	case FIELD_U64:
		return hash_bytes(h, &v.number, sizeof(v.number));
	case FIELD_BOOL:
		return hash_bytes(h, &v.flag, sizeof(v.flag));
	case FIELD_LIST:
		return hash_list(h, f->list, s, &v);
	}
	return h;
}

uint64_t field_hash(const struct field *f, const struct subject *s)
{
	return hash_field(0xcbf29ce484222325, f, s);
}
