/* SPDX-License-Identifier: MIT */
/* What the setup helper does with a setting: look, set, and look again (DESIGN rule 10). */
#pragma once

#include "setting.h"

/* a->name and so on are filled in already (setup_answer_make()). */
void execute_setting(const struct setup_request *req, struct setup_answer *a);
