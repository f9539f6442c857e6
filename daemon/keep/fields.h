/* SPDX-License-Identifier: MIT */
/* Which fields of the model are kept, and under which keys. For keep.c and keep-counters.c alone. */
#pragma once

#include "record.h"

extern const struct record_field kept_fields[];
extern const struct record_field kept_device_facts[], kept_device[], kept_details[],
	kept_pcie_hop[];
extern const struct record_field kept_port_facts[], kept_port[], kept_best[], kept_ledger[];
extern const struct record_field kept_edges[], kept_storm[];
extern const struct record_field kept_verdict[], kept_reason[], kept_ack[], kept_release[];
extern const struct record_field kept_netdev[];
extern const struct record_field kept_missing[], kept_missing_port[];
extern const struct record_field kept_elsewhere[], kept_unprobed[];
extern const struct record_field kept_event[];
extern const struct record_field kept_counter[], kept_history[];
