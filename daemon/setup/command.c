/* SPDX-License-Identifier: MIT */
/* What a step is in the words of the ordinary tools, for who wants to do it by hand. */
#include "plan-internal.h"

#define CONFIGFS "/sys/kernel/config/rdma_cm"

static void roce_command(const struct step *s, const char *device, char *buf)
{
	if (s->kind == STEP_ROCE_TOS)
		snprintf(buf, STEP_COMMAND_MAX,
			"mkdir -p " CONFIGFS "/%s; echo %s >" CONFIGFS
			"/%s/ports/%u/default_roce_tos",
			device, s->value, device, s->port);
	else
		snprintf(buf, STEP_COMMAND_MAX,
			"mkdir -p " CONFIGFS "/%s; echo '%sRoCE %s' >" CONFIGFS
			"/%s/ports/%u/default_roce_mode",
			device, streq(s->value, "v1") ? "IB/" : "", s->value, device, s->port);
}

/* A text may have quotes of its own. */
static void description_command(const struct step *s, const char *device, char *buf)
{
	FILE *f = fmemopen(buf, STEP_COMMAND_MAX, "w");

	buf[0] = '\0';
	if (!f)
		return;
	fputs("echo -n '", f);
	for (const char *c = s->value; *c; c++)
		if (*c == '\'')
			fputs("'\\''", f);
		else
			fputc(*c, f);
	fprintf(f, "' >/sys/class/infiniband/%s/node_desc", device);
	fclose(f);
}

static void optional_counters_command(const struct step *s, char *buf)
{
	int n = snprintf(buf, STEP_COMMAND_MAX, "rdma statistic set link %s optional-counters %s",
		s->object, s->value);

	for (char *c = buf + n - strlen(s->value); *c; c++)
		if (*c == ' ')
			*c = ',';
}

static void ipoib_command(const struct step *s, char *buf)
{
	if (s->kind == STEP_ADD_IPOIB)
		snprintf(buf, STEP_COMMAND_MAX, "ip link add link %s name %s type ipoib%s%s",
			s->netdev, s->object, s->value[0] ? " pkey " : "", s->value);
	else if (s->kind == STEP_IPOIB_MODE)
		snprintf(buf, STEP_COMMAND_MAX, "ip link set dev %s type ipoib mode %s", s->object,
			s->value);
	else if (s->kind == STEP_IPOIB_UMCAST)
		snprintf(buf, STEP_COMMAND_MAX, "ip link set dev %s type ipoib umcast %d",
			s->object, streq(s->value, "on"));
	else
		snprintf(buf, STEP_COMMAND_MAX, "ip link set dev %s mtu %s", s->object, s->value);
}

const char *step_command(const struct step *s, char buf[STEP_COMMAND_MAX])
{
	char device[STEP_NAME_MAX];

	step_device_name(s, device);
	switch (s->kind) {
	case STEP_LOAD_MODULE:
		snprintf(buf, STEP_COMMAND_MAX, "modprobe %s", s->object);
		break;
	case STEP_ADD_LINK:
		snprintf(buf, STEP_COMMAND_MAX, "rdma link add %s type %s netdev %s", s->object,
			link_type_to_string(s->link_type), s->netdev);
		break;
	case STEP_NETNS_MODE:
		snprintf(buf, STEP_COMMAND_MAX, "rdma system set netns %s", s->value);
		break;
	case STEP_PRIVILEGED_QKEY:
		snprintf(buf, STEP_COMMAND_MAX, "rdma system set privileged-qkey %s", s->value);
		break;
	case STEP_DEVICE_NAME:
		snprintf(buf, STEP_COMMAND_MAX, "rdma dev set %s name %s", device, s->value);
		break;
	case STEP_NODE_DESCRIPTION:
		description_command(s, device, buf);
		break;
	case STEP_ADAPTIVE_MODERATION:
		snprintf(buf, STEP_COMMAND_MAX, "rdma dev set %s adaptive-moderation %s", device,
			s->value);
		break;
	case STEP_ROCE_MODE:
	case STEP_ROCE_TOS:
		roce_command(s, device, buf);
		break;
	case STEP_OPTIONAL_COUNTERS:
		optional_counters_command(s, buf);
		break;
	case STEP_ADD_IPOIB:
	case STEP_IPOIB_MODE:
	case STEP_IPOIB_UMCAST:
	case STEP_NETDEV_MTU:
		ipoib_command(s, buf);
		break;
	case _STEP_KIND_MAX:
		buf[0] = '\0';
		break;
	}
	return buf;
}
