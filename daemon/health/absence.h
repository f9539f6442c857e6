/* SPDX-License-Identifier: MIT */
/* Which devices are missed when they are not there, and how much that matters (DESIGN rule 6). PURE. */
#pragma once

#include "config.h"
#include "inventory.h"
#include "model.h"

/*
 * A device is gone, and about to be removed from the model: notes it as missing since then. Not so a
 * software link, which is setup's to explain, and one that is missed already.
 */
void absence_note(
	struct model *m, const struct device *d, const struct config *c, struct timepoint since);

/*
 * [Device NAME] Expect=yes with a plain name: it is missed even if it was never seen. To be called
 * after a listing and after the configuration changed.
 */
void absence_expect_configured(struct model *m, const struct config *c, struct timepoint now);

/*
 * What an earlier life of rdmad has learned is missed, too, when nothing has its GUID and nothing sits
 * in its slot. To be called when a listing is complete.
 */
void absence_expect_learned(
	struct model *m, const struct inventory *inv, const struct config *c, struct timepoint now);

/* What is known of x, for selectors. */
struct device_facts absence_facts(const struct missing *x);

/*
 * The configuration, or what was learned, has changed: tells anew how much x matters. Returns whether
 * x is still to be missed; if not, nothing covers it any more and the caller removes it.
 */
bool absence_reconsider(struct missing *x, const struct config *c);
