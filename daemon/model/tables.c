/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <errno.h>

#include "macros.h"

void port_tables_begin(struct port_tables *t)
{
	free(t->incoming.gids);
	free(t->incoming.pkeys);
	memset(&t->incoming, 0, sizeof(t->incoming));
}

void port_tables_done(struct port_tables *t)
{
	port_tables_begin(t);
	free(t->gids);
	free(t->departed);
	free(t->pkeys);
	memset(t, 0, sizeof(*t));
}

/* Makes room for that many more elements behind the first n. */
static bool grow(void **array, size_t n, size_t more, size_t size)
{
	size_t room = 8, want;
	void *bigger;

	while (room < n)
		room *= 2;
	for (want = room; want < n + more;)
		want *= 2;
	if (n > 0 && want == room)
		return true;
	bigger = realloc(*array, want * size);
	if (!bigger)
		return false;
	*array = bigger;
	return true;
}

int port_tables_add_gid(struct port_tables *t, const struct gid_facts *f)
{
	void *array = t->incoming.gids;

	if (t->incoming.n_gids >= GIDS_MAX)
		return -E2BIG;
	if (!grow(&array, t->incoming.n_gids, 1, sizeof(*f)))
		return -ENOMEM;
	t->incoming.gids = array;
	t->incoming.gids[t->incoming.n_gids++] = *f;
	return 0;
}

int port_tables_add_pkeys(struct port_tables *t, const struct pkey_facts *f)
{
	size_t n = MIN(f->n, (uint32_t)PKEYS_PER_PIECE);
	void *array = t->incoming.pkeys;

	/* Pieces come in order; one that does not fit on the last is from a worker gone mad. */
	if (f->first != t->incoming.n_pkeys || t->incoming.n_pkeys + n > PKEYS_MAX)
		return -E2BIG;
	if (!grow(&array, t->incoming.n_pkeys, n, sizeof(f->pkeys[0])))
		return -ENOMEM;
	t->incoming.pkeys = array;
	memcpy(t->incoming.pkeys + t->incoming.n_pkeys, f->pkeys, n * sizeof(f->pkeys[0]));
	t->incoming.n_pkeys += n;
	return 0;
}

static bool same_gid(const struct gid_facts *a, const struct gid_facts *b)
{
	return memcmp(a->gid, b->gid, sizeof(a->gid)) == 0 && a->type == b->type &&
	       streq(a->netdev, b->netdev);
}

/* Whether the table has this very GID at this very index. */
static bool has_gid_at(const struct gid_facts *gids, size_t n, const struct gid_facts *f)
{
	for (size_t i = 0; i < n; i++)
		if (gids[i].index == f->index)
			return same_gid(&gids[i], f);
	return false;
}

static const struct gid_facts *find_gid(
	const struct gid_facts *gids, size_t n, const struct gid_facts *f)
{
	for (size_t i = 0; i < n; i++)
		if (same_gid(&gids[i], f))
			return &gids[i];
	return NULL;
}

/* Where this GID was and is no longer; NULL: nowhere. */
static const struct gid_facts *find_former(const struct port_tables *t, const struct gid_facts *now)
{
	for (size_t i = 0; i < t->n_gids; i++)
		if (same_gid(&t->gids[i], now) &&
			!has_gid_at(t->incoming.gids, t->incoming.n_gids, &t->gids[i]))
			return &t->gids[i];
	if (find_gid(t->gids, t->n_gids, now))
		return NULL; /* at one more index */
	return find_gid(t->departed, t->n_departed, now);
}

/*
 * A GID moved when it is where it was not, and no longer where it was: whoever was told its index
 * (NCCL_IB_GID_INDEX and the like) now uses another address.
 */
static void find_moves(const struct port_tables *t, struct tables_update *u)
{
	for (size_t i = 0; i < t->incoming.n_gids; i++) {
		const struct gid_facts *now = &t->incoming.gids[i], *old;

		if (has_gid_at(t->gids, t->n_gids, now))
			continue;
		old = find_former(t, now);
		if (!old || old->index == now->index)
			continue;
		if (u->n_moves < GID_MOVES_MAX)
			u->moves[u->n_moves] =
				(struct gid_move){ .gid = *now, .old_index = old->index };
		u->n_moves++;
	}
}

static size_t add_departed(const struct port_tables *t, struct gid_facts *to, size_t n,
	const struct gid_facts *gids, size_t n_gids)
{
	for (size_t i = 0; i < n_gids && n < GIDS_DEPARTED_MAX; i++)
		if (!find_gid(t->incoming.gids, t->incoming.n_gids, &gids[i]))
			to[n++] = gids[i];
	return n;
}

/* Those that the reading lacks go before those that were gone already; who is back is none. */
static void note_departed(struct port_tables *t)
{
	struct gid_facts list[GIDS_DEPARTED_MAX], *bigger;
	size_t n;

	n = add_departed(t, list, 0, t->gids, t->n_gids);
	n = add_departed(t, list, n, t->departed, t->n_departed);
	bigger = n > t->n_departed ? realloc(t->departed, n * sizeof(*list)) : t->departed;
	if (n > 0 && !bigger)
		return; /* out of memory: what was remembered is enough */
	t->departed = bigger;
	t->n_departed = n;
	if (n > 0)
		memcpy(t->departed, list, n * sizeof(*list));
}

static bool same_bytes(const void *a, size_t n_a, const void *b, size_t n_b, size_t size)
{
	return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * size) == 0);
}

void port_tables_finish(
	struct port_tables *t, const struct table_facts *f, struct tables_update *ret)
{
	struct tables_update u = { .first = !t->known };

	if (f->gid_error == 0) {
		u.gids_changed = !same_bytes(
			t->gids, t->n_gids, t->incoming.gids, t->incoming.n_gids, sizeof(*t->gids));
		if (u.gids_changed) {
			t->gid_changes++;
			find_moves(t, &u);
			note_departed(t);
		}
		free(t->gids);
		t->gids = TAKE_PTR(t->incoming.gids);
		t->n_gids = t->incoming.n_gids;
		t->gids_known = true;
	}
	if (f->pkey_error == 0) {
		u.pkeys_changed = !same_bytes(t->pkeys, t->n_pkeys, t->incoming.pkeys,
			t->incoming.n_pkeys, sizeof(*t->pkeys));
		free(t->pkeys);
		t->pkeys = TAKE_PTR(t->incoming.pkeys);
		t->n_pkeys = t->incoming.n_pkeys;
		t->pkeys_known = true;
	}
	t->facts = *f;
	t->known = true;
	t->readings++;
	port_tables_begin(t);
	*ret = u;
}
