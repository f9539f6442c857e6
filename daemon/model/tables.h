/* SPDX-License-Identifier: MIT */
/*
 * The GID and P_Key tables of a port. A reading comes in pieces and counts once it is complete, so
 * that a half-read table is never shown. PURE.
 */
#pragma once

#include "details.h"

struct port_tables {
	bool known;      /* at least one reading was complete */
	bool gids_known; /* and had this table: what no reading had is unknown, not empty */
	bool pkeys_known;
	uint64_t readings; /* how many were */
	struct table_facts facts;
	struct gid_facts *gids; /* entries in use, in order of index */
	size_t n_gids;
	uint64_t gid_changes;       /* counts those of ->gids */
	struct gid_facts *departed; /* GIDs that there were, the last ones first */
	size_t n_departed;
	uint16_t *pkeys; /* the whole table by index; 0: not in use */
	size_t n_pkeys;
	/* the reading that is on its way */
	struct {
		struct gid_facts *gids;
		size_t n_gids;
		uint16_t *pkeys;
		size_t n_pkeys;
	} incoming;
};

/* Tables longer than that are cut; mlx5 has 255 GIDs and 128 P_Keys, the kernel allows more. */
#define GIDS_MAX  1024
#define PKEYS_MAX 4096

/* An interface that is configured anew loses its addresses first: their indexes are remembered. */
#define GIDS_DEPARTED_MAX 64

void port_tables_done(struct port_tables *t);

/* A reading starts: what an unfinished one left is dropped. */
void port_tables_begin(struct port_tables *t);

/* A piece of the reading. 0, -ENOMEM, or -E2BIG for what is beyond the maximum. */
int port_tables_add_gid(struct port_tables *t, const struct gid_facts *f);
int port_tables_add_pkeys(struct port_tables *t, const struct pkey_facts *f);

/*
 * One and the same GID (also of the same type and netdev) that is now at another index, be it that a
 * reading in between did not have it.
 */
struct gid_move {
	struct gid_facts gid; /* as it is now */
	uint32_t old_index;
};

#define GID_MOVES_MAX 8

struct tables_update {
	bool first; /* nothing was known before */
	bool gids_changed;
	bool pkeys_changed;
	size_t n_moves; /* all; the first GID_MOVES_MAX are in moves[] */
	struct gid_move moves[GID_MOVES_MAX];
};

/*
 * The reading is complete. A table that could not be read keeps its last known entries, with the
 * error in ->facts.
 */
void port_tables_finish(
	struct port_tables *t, const struct table_facts *f, struct tables_update *ret);
