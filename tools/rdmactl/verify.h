/* SPDX-License-Identifier: MIT */
/* Inside of "verify": what it has in hand, and the parts that look for something each. */
#pragma once

#include <jansson.h>

#include "host-devices.h"
#include "host-root.h"
#include "notes.h"
#include "rdmactl.h"

struct verification {
	const struct options *o;
	struct host_root host;
	struct host_devices devices;
	struct config *config;
	struct config_notes notes;
	const char *where; /* "on this host now", for messages */
};

/* {"File", "Line"} and more, as json_pack(); Line is null for a file as a whole. */
json_t *verify_place(const struct config_origin *at);

/* The later note that overrides an assignment, NULL: it holds. */
const struct config_note *verify_overridden(
	const struct config_notes *notes, const struct config_note *note);

/* Sections that match nothing: [{Section, File, Line, Text}]. NULL: that cannot be told. */
json_t *verify_unmatched(const struct verification *v);

/* What a selector asks for, out of the description of a device, and of its port, which is the nr-th. */
struct device_facts verify_device(const json_t *device);
struct port_facts verify_port(const json_t *port, size_t nr);

/* What is valid, and hardly meant so: [{Section, File, Line, Text}]. */
json_t *verify_doubtful(const struct verification *v);

/* Keys that this kernel cannot do: [{Section, Key, File, Line, Text}]. */
json_t *verify_unsupported(const struct verification *v);
