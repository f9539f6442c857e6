/* SPDX-License-Identifier: MIT */
/* What the files of the plan share. PURE. */
#pragma once

#include "macros.h"
#include "plan.h"
#include "setting.h"

/* A setting that somebody undoes again and again is theirs: it is reported and left alone. */
#define REPAIRS_MAX 2

/*
 * The end of a netdev and that of what is on it (a link, an IPoIB child) reach us in any order. Only
 * what is missed for this long while its netdev is still there was deleted by somebody.
 */
#define SETTLE_USEC (1 * USEC_PER_SEC)

/* A link that is missed so soon after its module was unloaded went with it. */
#define UNLOADED_USEC (5 * USEC_PER_SEC)

/* What we made or set is in the model by then, or somebody undid it at once. */
#define MADE_USEC (15 * USEC_PER_SEC)

/* RoCE mode and ToS are set in its directory of configfs (drivers/infiniband/core/cma_configfs.c). */
#define ROCE_MODULE "rdma_cm"

#define IPOIB_MODULE "ib_ipoib"

/* ---- collect.c ---- */

/*
 * Lists the steps that the configuration asks for on this host as it is, in the order in which they
 * run, with what is known of those that were there before. 0 or -ENOMEM.
 */
int plan_collect(
	const struct plan *p, const struct plan_input *in, struct step **ret, size_t *ret_n);

/* ---- evaluate.c ---- */

/* What the facts say of one step: fills in what is shown and wanted_run. 0 or -ENOMEM. */
int step_evaluate(struct step *s, struct setup_memory *memory, const struct plan_input *in);

/* Writes one of the texts of a step. */
void step_say(char buf[REASON_TEXT_MAX], const char *fmt, ...) _printf_(2, 3);

/* It waits for a netdev: found, detail and remedy. */
void step_say_no_netdev(struct step *s, const struct model *m, const char *netdev);

void step_conclude(struct step *s, enum step_result result, enum reason_id condition);

/* For Drift=: somebody undid what was in force. The texts are in place but for the result. */
void step_conclude_drift(struct step *s, const struct config *c);

/* Adds to the fingerprint of what is relevant to a step (FNV-1a). */
void step_mix(struct step *s, const void *data, size_t size);

/* ---- evaluate-setting.c ---- */

int evaluate_setting(struct step *s, struct setup_memory *memory, const struct plan_input *in);

/* Whether nothing that is known already keeps the device from getting the name that it is to have. */
bool step_name_is_due(const struct plan_input *in, const struct device *d);

/* As what the memory has it. */
struct memory_setting step_memory(const struct step *s);

/* The name of the device that a setting is of, which its port's number follows in ->object. */
void step_device_name(const struct step *s, char name[STEP_NAME_MAX]);
