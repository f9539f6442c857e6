/* SPDX-License-Identifier: MIT */
/* Properties that are lists: what a row of each has. */
#include "fields.h"
#include "macros.h"
#include "rules.h"

/* ---- reasons: of whatever verdict the value has ---- */

static bool reason_row(
	const struct subject *s, const struct value *v, size_t i, struct subject *ret)
{
	if (i >= v->verdict->n_reasons)
		return false;
	ret->reason = &v->verdict->reasons[i];
	return true;
}

static void get_id(const struct subject *s, struct value *v)
{
	value_set_string(v, rule_get(s->reason->id)->name);
}

static void get_severity(const struct subject *s, struct value *v)
{
	value_set_string(v, severity_to_string(s->reason->severity));
}

static void get_class(const struct subject *s, struct value *v)
{
	value_set_string(v, reason_class_to_string(rule_get(s->reason->id)->class));
}

static void get_subject(const struct subject *s, struct value *v)
{
	value_set_string(v, s->reason->subject);
}

static void get_since(const struct subject *s, struct value *v)
{
	value_set_time(v, s->reason->since);
}

static void get_reason_found(const struct subject *s, struct value *v)
{
	value_set_string(v, s->reason->found);
}

static void get_reason_wanted(const struct subject *s, struct value *v)
{
	value_set_string(v, s->reason->wanted);
}

static void get_remedy(const struct subject *s, struct value *v)
{
	value_set_string(v, s->reason->remedy);
}

static void get_acknowledged(const struct subject *s, struct value *v)
{
	value_set_flag(v, s->reason->ack.when.mono > 0);
}

static void get_acknowledged_at(const struct subject *s, struct value *v)
{
	value_set_time(v, s->reason->ack.when);
}

static void get_acknowledged_by(const struct subject *s, struct value *v)
{
	value_set_string(v, s->reason->ack.by);
}

static void get_acknowledged_comment(const struct subject *s, struct value *v)
{
	value_set_string(v, s->reason->ack.comment);
}

static const struct field reason_fields[] = {
	{ "Id", FIELD_STRING, FIELD_EVERYWHERE, get_id },
	{ "Severity", FIELD_STRING, FIELD_EVERYWHERE, get_severity },
	{ "Class", FIELD_STRING, FIELD_EVERYWHERE, get_class },
	{ "Subject", FIELD_STRING, FIELD_EVERYWHERE, get_subject },
	{ "Since", FIELD_U64, FIELD_EVERYWHERE, get_since },
	{ "Found", FIELD_STRING, FIELD_EVERYWHERE, get_reason_found },
	{ "Wanted", FIELD_STRING, FIELD_EVERYWHERE, get_reason_wanted },
	{ "Remedy", FIELD_STRING, FIELD_EVERYWHERE, get_remedy },
	{ "Acknowledged", FIELD_BOOL, FIELD_EVERYWHERE, get_acknowledged },
	{ "AcknowledgedAt", FIELD_U64, FIELD_EVERYWHERE, get_acknowledged_at },
	{ "AcknowledgedBy", FIELD_STRING, FIELD_EVERYWHERE, get_acknowledged_by },
	{ "AcknowledgedComment", FIELD_STRING, FIELD_EVERYWHERE, get_acknowledged_comment },
	{ NULL },
};

const struct list reason_list = { reason_fields, reason_row };

/* ---- GIDs of a port ---- */

static bool gid_row(const struct subject *s, const struct value *v, size_t i, struct subject *ret)
{
	const struct port_tables *t = &s->port->tables;

	if (i >= t->n_gids)
		return false;
	ret->gid = &t->gids[i];
	return true;
}

/* A table can be long, and is compared whenever anything else is. */
static uint64_t gid_version(const struct subject *s)
{
	return s->port->tables.gid_changes;
}

static void get_gid_index(const struct subject *s, struct value *v)
{
	value_set_number(v, s->gid->index, true);
}

static void get_gid_type(const struct subject *s, struct value *v)
{
	value_set_string(v, gid_type_to_string(s->gid->type));
}

static void get_gid(const struct subject *s, struct value *v)
{
	value_set_string(v, gid_format(v->text, s->gid->gid));
}

/* An InfiniBand GID is a subnet prefix and a GUID, no address of IP. */
static void get_gid_address(const struct subject *s, struct value *v)
{
	if (s->gid->type == GID_TYPE_ROCE_V1 || s->gid->type == GID_TYPE_ROCE_V2)
		value_set_string(v, gid_address_format(v->text, s->gid->gid));
}

static void get_gid_netdev(const struct subject *s, struct value *v)
{
	value_set_string(v, s->gid->netdev);
}

static const struct field gid_fields[] = {
	{ "Index", FIELD_U32, FIELD_EVERYWHERE, get_gid_index },
	{ "Type", FIELD_STRING, FIELD_EVERYWHERE, get_gid_type },
	{ "Gid", FIELD_STRING, FIELD_EVERYWHERE, get_gid },
	{ "Address", FIELD_STRING, FIELD_EVERYWHERE, get_gid_address },
	{ "NetDevice", FIELD_STRING, FIELD_EVERYWHERE, get_gid_netdev },
	{ NULL },
};

const struct list gid_list = { gid_fields, gid_row, gid_version };

/* ---- what is not there ---- */

static bool missing_row(
	const struct subject *s, const struct value *v, size_t i, struct subject *ret)
{
	const struct missing *x = s->ctx->model->missing;

	while (x && i-- > 0)
		x = x->next;
	ret->missing = x;
	return x;
}

static void get_missing_name(const struct subject *s, struct value *v)
{
	value_set_string(v, s->missing->name);
}

static void get_missing_guid(const struct subject *s, struct value *v)
{
	value_set_string(v, guid_format(v->text, s->missing->node_guid));
}

static void get_missing_pci(const struct subject *s, struct value *v)
{
	value_set_string(v, s->missing->pci_address);
}

static void get_missing_health(const struct subject *s, struct value *v)
{
	value_set_string(v, health_to_string(s->missing->verdict.health));
}

static void get_missing_ignored(const struct subject *s, struct value *v)
{
	value_set_string(v, s->missing->verdict.ignored_because);
}

static void get_missing_reasons(const struct subject *s, struct value *v)
{
	value_set_reasons(v, &s->missing->verdict);
}

static const struct field missing_fields[] = {
	{ "Name", FIELD_STRING, FIELD_EVERYWHERE, get_missing_name },
	{ "NodeGuid", FIELD_STRING, FIELD_EVERYWHERE, get_missing_guid },
	{ "PciAddress", FIELD_STRING, FIELD_EVERYWHERE, get_missing_pci },
	{ "HealthState", FIELD_STRING, FIELD_EVERYWHERE, get_missing_health },
	{ "IgnoredBecause", FIELD_STRING, FIELD_EVERYWHERE, get_missing_ignored },
	{ "Reasons", FIELD_LIST, FIELD_EVERYWHERE, get_missing_reasons, &reason_list },
	{ NULL },
};

const struct list missing_list = { missing_fields, missing_row };

/* ---- what was set up ---- */

static bool setup_row_at(
	const struct subject *s, const struct value *v, size_t i, struct subject *ret)
{
	if (i >= s->ctx->n_setup)
		return false;
	ret->setup = &s->ctx->setup[i];
	return true;
}

#define SETUP_TEXT(function, member)                                   \
	static void function(const struct subject *s, struct value *v) \
	{                                                              \
		value_set_string(v, s->setup->member);                 \
	}

SETUP_TEXT(get_step, step)
SETUP_TEXT(get_object, object)
SETUP_TEXT(get_setup_found, found)
SETUP_TEXT(get_setup_wanted, wanted)
SETUP_TEXT(get_detail, detail)
SETUP_TEXT(get_setup_remedy, remedy)
SETUP_TEXT(get_call, call)

static void get_result(const struct subject *s, struct value *v)
{
	value_set_string(v, step_result_to_string(s->setup->result));
}

static void get_disruptive(const struct subject *s, struct value *v)
{
	value_set_flag(v, s->setup->disruptive);
}

static const struct field setup_fields[] = {
	{ "Step", FIELD_STRING, FIELD_EVERYWHERE, get_step },
	{ "Object", FIELD_STRING, FIELD_EVERYWHERE, get_object },
	{ "Found", FIELD_STRING, FIELD_EVERYWHERE, get_setup_found },
	{ "Wanted", FIELD_STRING, FIELD_EVERYWHERE, get_setup_wanted },
	{ "Result", FIELD_STRING, FIELD_EVERYWHERE, get_result },
	{ "Detail", FIELD_STRING, FIELD_EVERYWHERE, get_detail },
	{ "Disruptive", FIELD_BOOL, FIELD_EVERYWHERE, get_disruptive },
	{ "Remedy", FIELD_STRING, FIELD_EVERYWHERE, get_setup_remedy },
	{ "Call", FIELD_STRING, FIELD_EVERYWHERE, get_call },
	{ NULL },
};

const struct list setup_list = { setup_fields, setup_row_at };
