/* SPDX-License-Identifier: MIT */
/* Rules on adapters as hardware. For judge_device() and judge_host() only. */
#pragma once

#include "making.h"

/* pcie-degraded; not of an ignored device */
void judge_pcie(struct making *mk, const struct device *d);

/* devlink-reporter-error: one reason for each reporter; not of an ignored device */
void judge_devlink(struct making *mk, const struct device *d);

/* device-nodes-missing (uverbs); not of an ignored device */
void judge_uverbs(struct making *mk, const struct device *d);

/* device-not-probed: one reason for each function, its PCI address the subject */
void judge_not_probed(struct making *mk, struct model *m, const struct config *c);
