/* SPDX-License-Identifier: MIT */
/* What was learned of the ports of this host, as JSON for "rdmactl baseline". */
#include <errno.h>

#include "describe-internal.h"

static json_t *json_calendar(usec_t real)
{
	return real ? json_number(real) : json_null();
}

static json_t *json_learned(struct builder *b, const struct inventory_entry *e,
	const struct inventory_port *p, usec_t last_seen)
{
	char object[OBJECT_NAME_MAX], guid[GUID_STRING_MAX];
	json_t *o = json_object();

	snprintf(object, sizeof(object), "%s/%u", e->name, p->number);
	put(b, o, "Object", json_text(object));
	put(b, o, "Device", json_text(e->name));
	put(b, o, "Number", json_number(p->number));
	put(b, o, "NodeGuid", json_text(guid_format(guid, e->node_guid)));
	put(b, o, "PciAddress", json_text(e->pci_address));
	put(b, o, "LinkLayer",
		p->link_layer == LINK_LAYER_UNKNOWN
			? json_null()
			: json_text(link_layer_to_string(p->link_layer)));
	put(b, o, "NetDevice", json_text(p->netdev));
	put(b, o, "BestRate", p->best_rate_mbps ? json_number(p->best_rate_mbps) : json_null());
	put(b, o, "BestWidth", json_text(p->best_width));
	put(b, o, "BestSpeed", json_text(p->best_speed));
	put(b, o, "LearnedSince", json_calendar(p->learned_since));
	put(b, o, "Present", json_boolean(e->present));
	put(b, o, "LastSeen", json_calendar(last_seen));
	return o;
}

int describe_baseline_text(const struct publish_context *ctx, struct timepoint now, char **ret)
{
	json_t *root = json_object(), *array = json_array();
	const struct inventory *inv = ctx->inventory;
	struct builder b = { .failed = false };
	char *text;

	for (size_t i = 0; inv && i < inv->n; i++) {
		const struct inventory_entry *e = &inv->entries[i];

		for (size_t k = 0; k < e->n_ports; k++)
			if (e->ports[k].learned)
				append(&b, array,
					json_learned(&b, e, &e->ports[k],
						e->present ? now.real : e->last_seen));
	}
	put(&b, root, "Daemon", describe_daemon(&b, ctx, now));
	put(&b, root, "Baseline", array);
	text = b.failed ? NULL : json_dumps(root, JSON_COMPACT);
	json_decref(root);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}
