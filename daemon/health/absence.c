/* SPDX-License-Identifier: MIT */
#include "absence.h"

#include "macros.h"

static bool was_required(const struct device *d, const struct config *c)
{
	if (config_device_settings(c, &d->facts).expect == EXPECT_UP)
		return true;
	for (size_t i = 0; i < d->n_ports; i++)
		if (d->ports[i].required)
			return true;
	return false;
}

void absence_note(
	struct model *m, const struct device *d, const struct config *c, struct timepoint since)
{
	struct missing *x;

	if (d->facts.link_type != LINK_TYPE_NONE || model_find_missing(m, &d->facts))
		return;
	x = model_add_missing(m, d->facts.name, d->facts.node_guid, d->facts.pci_address, since);
	if (!x)
		return;
	x->seen = true;
	x->required = was_required(d, c);
	x->release = d->release;
}

void absence_expect_configured(struct model *m, const struct config *c, struct timepoint now)
{
	for (size_t i = 0; i < c->n_devices; i++) {
		const struct config_device *cd = &c->devices[i];
		const char *name = cd->selector.name_glob;
		struct device_facts f = { 0 };
		struct missing *x;

		if (!cd->has_expect || cd->expect != EXPECT_UP || !name || strpbrk(name, "*?"))
			continue;
		if (model_device_by_name(m, name))
			continue;
		STRSCPY(f.name, name);
		f.node_guid = cd->selector.guid;
		STRSCPY(f.pci_address, cd->selector.pci ? cd->selector.pci : "");
		if (model_find_missing(m, &f) || model_missing_by_name(m, name))
			continue;
		x = model_add_missing(m, f.name, f.node_guid, f.pci_address, now);
		if (x)
			x->required = true;
	}
}
