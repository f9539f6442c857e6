/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <systemd/sd-id128.h>

#include "file.h"
#include "macros.h"
#include "publish.h"
#include "text.h"

#define VERSION 1

/* ---- whose it is ---- */

/* Ours alone: what machine-id(5) wants of ids that leave the machine. */
static const sd_id128_t app_id =
	SD_ID128_MAKE(b0, fa, 0f, 32, 32, f5, 46, af, b2, f3, 5b, 94, f7, 75, e4, 83);

static void read_board(char *board, size_t size)
{
	const char *dir = secure_getenv("CREDENTIALS_DIRECTORY");
	_cleanup_(fclosep) FILE *f = NULL;
	char path[4096];

	if (!dir || snprintf(path, sizeof(path), "%s/board-uuid", dir) >= (int)sizeof(path))
		return;
	f = fopen(path, "re");
	if (!f || !fgets(board, (int)size, f)) {
		board[0] = '\0';
		return;
	}
	board[strcspn(board, "\n")] = '\0';
	if (streq(board, "unknown")) /* the unit's default, where there is no DMI */
		board[0] = '\0';
}

void picture_origin_read(struct picture_origin *ret)
{
	sd_id128_t id;

	*ret = (struct picture_origin){ 0 };
	if (sd_id128_get_machine_app_specific(app_id, &id) >= 0)
		sd_id128_to_string(id, ret->machine);
	if (sd_id128_get_boot(&id) >= 0)
		sd_id128_to_string(id, ret->boot);
	read_board(ret->board, sizeof(ret->board));
}

/* ---- to JSON ---- */

/* As in describe.c: what could not be stored is noted here and asked for once at the end. */
struct builder {
	bool failed;
};

static void put(struct builder *b, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		b->failed = true;
}

static void put_text(struct builder *b, json_t *o, const char *key, const char *s)
{
	char buf[TEXT_MAX];

	put(b, o, key, s[0] ? json_string(text_clean(s, buf)) : json_null());
}

/* 0 is not known. */
static void put_number(struct builder *b, json_t *o, const char *key, uint64_t number)
{
	put(b, o, key,
		number ? json_integer((json_int_t)MIN(number, (uint64_t)INT64_MAX)) : json_null());
}

static void put_guid(struct builder *b, json_t *o, const char *key, uint64_t guid)
{
	char buf[GUID_STRING_MAX];

	put_text(b, o, key, guid_format(buf, guid));
}

static json_t *port_to_json(struct builder *b, const struct inventory_port *p)
{
	json_t *o = json_object();

	put_number(b, o, "Number", p->number);
	put_text(b, o, "LinkLayer",
		p->link_layer == LINK_LAYER_UNKNOWN ? "" : link_layer_to_string(p->link_layer));
	put_text(b, o, "NetDevice", p->netdev);
	put_number(b, o, "BestRate", p->best_rate_mbps);
	put_text(b, o, "BestWidth", p->best_width);
	put_text(b, o, "BestSpeed", p->best_speed);
	put(b, o, "Learned", json_boolean(p->learned));
	put_number(b, o, "LearnedSince", p->learned_since);
	return o;
}

static json_t *entry_to_json(struct builder *b, const struct inventory_entry *e)
{
	json_t *o = json_object(), *ports = json_array();

	put_guid(b, o, "NodeGuid", e->node_guid);
	put_guid(b, o, "SysImageGuid", e->sys_image_guid);
	put_text(b, o, "PciAddress", e->pci_address);
	put_text(b, o, "Name", e->name);
	put_text(b, o, "Driver", e->driver);
	put_text(b, o, "FirmwareVersion", e->firmware_version);
	put_text(b, o, "BoardId", e->board_id);
	put_number(b, o, "FirstSeen", e->first_seen);
	put_number(b, o, "LastSeen", e->last_seen);
	put(b, o, "Gone", json_boolean(e->gone_told));
	for (size_t i = 0; i < e->n_ports; i++)
		if (json_array_append_new(ports, port_to_json(b, &e->ports[i])) < 0)
			b->failed = true;
	put(b, o, "Ports", ports);
	return o;
}

int picture_format(
	const struct inventory *inv, const struct picture_origin *o, usec_t now_real, char **ret)
{
	_cleanup_(json_decrefp) json_t *root = json_object();
	json_t *adapters = json_array();
	struct builder b = { 0 };
	char *text;

	put(&b, root, "Version", json_integer(VERSION));
	put_text(&b, root, "Machine", o->machine);
	put_text(&b, root, "Board", o->board);
	put_text(&b, root, "BootId", o->boot);
	put_number(&b, root, "Written", now_real);
	for (size_t i = 0; i < inv->n; i++)
		if (json_array_append_new(adapters, entry_to_json(&b, &inv->entries[i])) < 0)
			b.failed = true;
	put(&b, root, "Adapters", adapters);
	if (b.failed)
		return -ENOMEM;
	text = json_dumps(root, JSON_INDENT(1));
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

/* ---- from JSON ---- */

/* A key that is not there is not known; one of a wrong type makes the whole a text of others. */
struct reader {
	bool bad;
};

static const json_t *get(struct reader *r, const json_t *o, const char *key, json_type type)
{
	const json_t *j = json_object_get(o, key);

	if (!j || json_is_null(j))
		return NULL;
	if (json_typeof(j) != type) {
		r->bad = true;
		return NULL;
	}
	return j;
}

static void get_text(struct reader *r, const json_t *o, const char *key, char *buf, size_t size)
{
	const json_t *j = get(r, o, key, JSON_STRING);

	snprintf(buf, size, "%s", j ? json_string_value(j) : "");
}

static uint64_t get_number(struct reader *r, const json_t *o, const char *key)
{
	const json_t *j = get(r, o, key, JSON_INTEGER);

	if (!j)
		return 0;
	if (json_integer_value(j) < 0)
		r->bad = true;
	return (uint64_t)MAX(json_integer_value(j), (json_int_t)0);
}

static bool get_bool(struct reader *r, const json_t *o, const char *key)
{
	const json_t *j = json_object_get(o, key);

	if (j && !json_is_null(j) && !json_is_boolean(j))
		r->bad = true;
	return json_is_true(j);
}

static uint64_t get_guid(struct reader *r, const json_t *o, const char *key)
{
	unsigned a, b, c, d;
	char text[32], end;

	get_text(r, o, key, text, sizeof(text));
	if (!text[0])
		return 0;
	if (sscanf(text, "%4x:%4x:%4x:%4x%c", &a, &b, &c, &d, &end) != 4) {
		r->bad = true;
		return 0;
	}
	return (uint64_t)a << 48 | (uint64_t)b << 32 | (uint64_t)c << 16 | d;
}

static int port_from_json(struct reader *r, const json_t *o, struct inventory_entry *e)
{
	uint64_t number = get_number(r, o, "Number");
	struct inventory_port *p;
	char word[16];
	int layer;

	if (number < 1 || number > RDMA_PORTS_MAX) {
		r->bad = true;
		return 0;
	}
	if (e->n_ports >= INVENTORY_PORTS_MAX)
		return 0;
	p = inventory_entry_port(e, (uint32_t)number);
	if (!p)
		return -ENOMEM;
	get_text(r, o, "LinkLayer", word, sizeof(word));
	layer = word[0] ? link_layer_from_string(word) : LINK_LAYER_UNKNOWN;
	if (layer < 0)
		r->bad = true;
	else
		p->link_layer = (enum link_layer)layer;
	get_text(r, o, "NetDevice", p->netdev, sizeof(p->netdev));
	p->best_rate_mbps = get_number(r, o, "BestRate");
	get_text(r, o, "BestWidth", p->best_width, sizeof(p->best_width));
	get_text(r, o, "BestSpeed", p->best_speed, sizeof(p->best_speed));
	p->learned = get_bool(r, o, "Learned");
	p->learned_since = get_number(r, o, "LearnedSince");
	return 0;
}

static int entry_from_json(struct reader *r, const json_t *o, struct inventory *inv)
{
	struct inventory_entry *e;
	const json_t *ports, *port;
	size_t i;
	int k;

	if (inv->n >= INVENTORY_MAX)
		return 0;
	e = inventory_add(inv);
	if (!e)
		return -ENOMEM;
	e->node_guid = get_guid(r, o, "NodeGuid");
	e->sys_image_guid = get_guid(r, o, "SysImageGuid");
	get_text(r, o, "PciAddress", e->pci_address, sizeof(e->pci_address));
	get_text(r, o, "Name", e->name, sizeof(e->name));
	get_text(r, o, "Driver", e->driver, sizeof(e->driver));
	get_text(r, o, "FirmwareVersion", e->firmware_version, sizeof(e->firmware_version));
	get_text(r, o, "BoardId", e->board_id, sizeof(e->board_id));
	e->first_seen = get_number(r, o, "FirstSeen");
	e->last_seen = get_number(r, o, "LastSeen");
	e->gone_told = get_bool(r, o, "Gone");
	ports = get(r, o, "Ports", JSON_ARRAY);
	json_array_foreach(ports, i, port)
	{
		k = port_from_json(r, port, e);
		if (k < 0)
			return k;
	}
	/* Nothing could ever be recognised as this. */
	if (!e->node_guid && !e->pci_address[0])
		r->bad = true;
	return 0;
}

/* Two origins differ where both are known and not the same. */
static bool is_of(struct reader *r, const json_t *root, const char *key, const char *ours)
{
	char theirs[64];

	get_text(r, root, key, theirs, sizeof(theirs));
	return !theirs[0] || !ours[0] || streq(theirs, ours);
}

static int read_root(const json_t *root, const struct picture_origin *o, struct inventory *inv)
{
	const json_t *adapters, *adapter;
	struct reader r = { 0 };
	bool ours;
	size_t i;
	int k;

	if (!json_is_object(root) || get_number(&r, root, "Version") != VERSION || r.bad)
		return -EBADMSG;
	ours = is_of(&r, root, "Machine", o->machine);
	ours = is_of(&r, root, "Board", o->board) && ours;
	inv->as_of = get_number(&r, root, "Written");
	adapters = get(&r, root, "Adapters", JSON_ARRAY);
	if (!adapters || r.bad)
		return -EBADMSG;
	if (!ours)
		return -EXDEV;
	json_array_foreach(adapters, i, adapter)
	{
		k = entry_from_json(&r, adapter, inv);
		if (k < 0)
			return k;
	}
	return r.bad ? -EBADMSG : 0;
}

int picture_parse(const char *text, const struct picture_origin *o, struct inventory *inv)
{
	_cleanup_(json_decrefp) json_t *root = json_loads(text, 0, NULL);
	int r;

	if (!root)
		return -EBADMSG;
	r = read_root(root, o, inv);
	if (r < 0)
		inventory_done(inv);
	return r;
}

/* ---- files ---- */

int picture_read(const char *dir, char **ret)
{
	char path[4096];
	int r;

	if (snprintf(path, sizeof(path), "%s/%s", dir, PICTURE_NAME) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = file_read(path, O_NOFOLLOW, PICTURE_MAX, ret, NULL);
	return r == -EINVAL ? -EFBIG : r; /* neither is a picture */
}

int picture_write(const char *dir, const char *text)
{
	return state_file_write(dir, PICTURE_NAME, text);
}

int picture_set_aside(const char *dir)
{
	return state_file_set_aside(dir, PICTURE_NAME);
}
