/* SPDX-License-Identifier: MIT */
/* What the facts say of a setting, without regard to what was tried already. */
#include <errno.h>
#include <inttypes.h>

#include "plan-internal.h"

/* What a setting is of, as far as it is there. */
struct target {
	const struct device *device;
	const struct port *port;
	const struct netdev *netdev;
};

/* What is found, if that is known. */
struct found {
	bool known;
	bool stale; /* as the helper read it last */
	char value[STEP_VALUE_MAX];
};

void step_device_name(const struct step *s, char name[STEP_NAME_MAX])
{
	snprintf(name, STEP_NAME_MAX, "%.*s",
		(int)MIN(strcspn(s->object, "/"), (size_t)STEP_NAME_MAX - 1), s->object);
}

struct memory_setting step_memory(const struct step *s)
{
	struct memory_setting e = { .kind = s->kind, .index = s->index, .port = s->port };

	if (setting_get(s->kind)->of == SETTING_OF_PARENT)
		step_device_name(s, e.name);
	STRSCPY(e.value, s->value);
	return e;
}

static struct target find_target(const struct step *s, const struct model *m)
{
	struct target t = { 0 };

	switch (setting_get(s->kind)->of) {
	case SETTING_OF_HOST:
		break;
	case SETTING_OF_PORT:
	case SETTING_OF_DEVICE:
		t.device = model_device_by_index(m, s->index);
		t.port = t.device && s->port ? device_port(t.device, s->port) : NULL;
		break;
	case SETTING_OF_NETDEV:
	case SETTING_OF_PARENT: /* of a child: the child itself */
		t.netdev = model_netdev_by_name(m, s->object);
		break;
	}
	return t;
}

/* ---- what is found ---- */

static void note_word(struct found *f, const char *word)
{
	f->known = word[0] != '\0';
	STRSCPY(f->value, word);
}

static void note_number(struct found *f, int64_t value)
{
	f->known = value >= 0;
	if (f->known)
		snprintf(f->value, sizeof(f->value), "%" PRId64, value);
}

static void read_netdev(const struct step *s, const struct netdev *n, struct found *f)
{
	const struct netdev_facts *nf = &n->facts;

	if (s->kind == STEP_NETDEV_MTU && nf->mtu)
		note_number(f, nf->mtu);
	else if (s->kind == STEP_IPOIB_UMCAST)
		note_word(f, setting_switch(nf->ipoib_umcast));
	else if (s->kind == STEP_IPOIB_MODE && nf->ipoib_connected >= 0)
		note_word(f, nf->ipoib_connected ? "connected" : "datagram");
	else if (s->kind == STEP_ADD_IPOIB && nf->is_ipoib) {
		f->known = true;
		snprintf(f->value, sizeof(f->value), "0x%04x", nf->pkey);
	}
}

static void read_port(const struct step *s, const struct port *p, struct found *f)
{
	if (!p->have_settings)
		return;
	if (s->kind == STEP_ROCE_MODE)
		note_word(f, setting_roce_mode(p->settings.roce_mode));
	else if (s->kind == STEP_ROCE_TOS)
		note_number(f, p->settings.roce_tos);
	else if (s->kind == STEP_OPTIONAL_COUNTERS && !p->settings.optional_error) {
		f->known = true;
		STRSCPY(f->value, p->settings.optional_on);
	}
}

static void read_device(const struct step *s, const struct device *d, struct found *f)
{
	if (s->kind == STEP_DEVICE_NAME)
		note_word(f, d->facts.name);
	else if (s->kind == STEP_NODE_DESCRIPTION && d->have_settings)
		note_word(f, d->settings.node_desc);
	else if (s->kind == STEP_ADAPTIVE_MODERATION && d->have_settings)
		note_word(f, setting_switch(d->settings.adaptive_moderation));
}

/* What the model knows, else what the helper said last. */
static struct found read_found(const struct step *s, const struct model *m, const struct target *t)
{
	struct found f = { 0 };

	if (t->netdev)
		read_netdev(s, t->netdev, &f);
	else if (t->port)
		read_port(s, t->port, &f);
	else if (t->device)
		read_device(s, t->device, &f);
	else if (s->kind == STEP_NETNS_MODE && m->system.netns_exclusive >= 0)
		note_word(&f, m->system.netns_exclusive ? "exclusive" : "shared");
	else if (s->kind == STEP_PRIVILEGED_QKEY)
		note_word(&f, setting_switch(m->system.privileged_qkey));
	if (!f.known && s->read_back[0]) {
		note_word(&f, s->read_back);
		f.stale = true;
	}
	return f;
}

/* ---- names ---- */

static const char *wanted_name(const struct plan_input *in, const struct device *d)
{
	return config_device_settings(in->config, &d->facts).name;
}

/* The device that has to go before d can have its name; NULL none. */
static const struct device *in_the_way(const struct plan_input *in, const struct device *d)
{
	const char *name = wanted_name(in, d);
	const struct device *other = name ? model_device_by_name(in->model, name) : NULL;

	return other == d ? NULL : other;
}

/* Whether d waits for others that in the end wait for d, and is the one to make way. */
static bool breaks_ring(const struct plan_input *in, const struct device *d)
{
	const struct device *x = in_the_way(in, d);

	/* A chain that never comes back to d ends, or turns without it: each turn has higher indexes. */
	for (unsigned n = 0; x && x != d && n < 256; n++) {
		if (x->facts.index < d->facts.index)
			return false;
		x = in_the_way(in, x);
	}
	return x == d;
}

/* The names of the devices that are all to have this one. Returns how many there are. */
static unsigned find_rivals(
	const struct plan_input *in, const char *name, char ret[REASON_TEXT_MAX / 2])
{
	unsigned n = 0;

	ret[0] = '\0';
	for (const struct device *d = in->model->devices; d; d = d->next) {
		const char *wanted = wanted_name(in, d);
		size_t used = strlen(ret);

		if (!wanted || !streq(wanted, name))
			continue;
		if (used + strlen(d->facts.name) + 2 < REASON_TEXT_MAX / 2)
			snprintf(ret + used, REASON_TEXT_MAX / 2 - used, " %s", d->facts.name);
		n++;
	}
	return n;
}

static bool keeps_its_name(const struct plan_input *in, const struct device *d)
{
	const char *wanted = wanted_name(in, d);

	return !wanted || streq(wanted, d->facts.name);
}

bool step_name_is_due(const struct plan_input *in, const struct device *d)
{
	const char *name = wanted_name(in, d);
	const struct device *other = in_the_way(in, d);
	char rivals[REASON_TEXT_MAX / 2];

	if (!name || find_rivals(in, name, rivals) > 1)
		return false;
	return !other || !keeps_its_name(in, other);
}

/* Whether the name can be given now; else the step is concluded. */
static bool name_is_free(struct step *s, const struct plan_input *in, const struct device *d)
{
	const struct device *other = in_the_way(in, d);
	char rivals[REASON_TEXT_MAX / 2];

	if (find_rivals(in, s->value, rivals) > 1) {
		step_say(s->detail, "[Device] Name=%.24s matches more than one device:%s", s->value,
			rivals);
		step_say(s->remedy, "select the one by guid= or pci=");
		step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
		return false;
	}
	if (!other)
		return true;
	if (keeps_its_name(in, other)) {
		step_say(s->detail, "another device has the name %s", s->value);
		step_say(s->remedy, "give that one another name: rdma dev set %s name NAME",
			s->value);
		step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
		return false;
	}
	if (breaks_ring(in, d)) {
		snprintf(s->interim, sizeof(s->interim), "rdmad%u", d->facts.index);
		return true;
	}
	step_say(s->detail, "%s is to be renamed first", other->facts.name);
	s->result = STEP_WAITING;
	return false;
}

/* ---- IPoIB children ---- */

/* Whether what has the name of a child is that child; else the step is concluded. */
static bool is_the_child(struct step *s, const struct netdev *n)
{
	if (!n->facts.is_ipoib) {
		step_say(s->found, "%s is no IPoIB interface", s->object);
	} else if (n->facts.link && n->facts.link != s->index) {
		step_say(s->found, "%s belongs to another parent", s->object);
	} else if (!setting_satisfied(s->kind, s->found, s->value)) {
		step_say(s->detail, "%s exists with P_Key %s", s->object, s->found);
		step_say(s->remedy, "ip link delete %s, or set PKey=%s", s->object, s->found);
		step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
		return false;
	} else {
		return true;
	}
	step_say(s->detail, "another interface has this name");
	step_say(s->remedy, "rename the section, or that interface");
	step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
	return false;
}

/* ---- what has to be there first ---- */

/* Without the module there is nothing to set: whether it is said why, and the step is concluded. */
static bool lacks_roce_module(
	struct step *s, const struct setup_memory *memory, const struct plan_input *in)
{
	const struct memory_module *known = setup_memory_module(memory, ROCE_MODULE);
	enum module_state state;

	if (s->kind != STEP_ROCE_MODE && s->kind != STEP_ROCE_TOS)
		return false;
	state = in->module_state(ROCE_MODULE, in->user);
	step_mix(s, &state, sizeof(state));
	if (state == MODULE_STATE_LIVE || state == MODULE_STATE_BUILT_IN ||
		(known && known->built_in))
		return false;
	/* What was read is gone with it. */
	s->read_back[0] = '\0';
	s->made_at = 0;
	if (state == MODULE_STATE_CHANGING) {
		step_say(s->detail, "%s is being loaded or unloaded", ROCE_MODULE);
		s->result = STEP_WAITING;
		return true;
	}
	if (config_module_denied(in->config, ROCE_MODULE)) {
		step_say(s->detail, "it needs %s, which [Modules] Deny= forbids", ROCE_MODULE);
		step_say(s->remedy, "take %s out of Deny=, or RoCEMode= and RoCEToS= out",
			ROCE_MODULE);
	} else if (known && !s->ordered) {
		step_say(s->detail, "%s was unloaded by hand", ROCE_MODULE);
		step_say(s->remedy, "modprobe %s: it is set then", ROCE_MODULE);
	} else {
		return false;
	}
	step_say(s->found, "no %s", ROCE_MODULE);
	step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
	return true;
}

/* The netdev is not there: whether the module that makes it is forbidden, and the step concluded. */
static bool lacks_ipoib_module(struct step *s, const struct plan_input *in)
{
	if (in->module_state(IPOIB_MODULE, in->user) != MODULE_STATE_NONE ||
		!config_module_denied(in->config, IPOIB_MODULE))
		return false;
	step_say(s->detail, "it needs %s, which [Modules] Deny= forbids", IPOIB_MODULE);
	step_say(s->remedy, "take %s out of Deny=, or [IPoIB %s] out", IPOIB_MODULE, s->object);
	step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
	return true;
}

/* An IPoIB address is the QP's number and the port's GID (RFC 4391, 9.1.1). */
static bool has_gid_of(const struct port_tables *t, const struct netdev_facts *n)
{
	/* The prefix is the subnet manager's to change: the interface's own part tells. */
	for (size_t i = 0; n->address_length == 20 && i < t->n_gids; i++)
		if (memcmp(t->gids[i].gid + 8, n->address + 12, 8) == 0)
			return true;
	return false;
}

/* Whether its P_Keys are on their way. */
static bool tables_are_due(const struct plan_input *in, const struct port *p)
{
	const struct device *d = p->device;

	return !p->tables.known && p->facts.link_layer != LINK_LAYER_ETHERNET &&
	       d->probe_state != PROBE_SILENT && !d->release.until.mono &&
	       config_device_settings(in->config, &d->facts).monitor != MONITOR_NO;
}

/* The port that an IPoIB interface is of; NULL: not known, *ret_due tells whether it is not yet. */
static const struct port *port_of_ipoib(
	const struct plan_input *in, const struct netdev *n, bool *ret_due)
{
	*ret_due = false;
	for (const struct device *d = in->model->devices; d; d = d->next)
		for (size_t i = 0; i < d->n_ports; i++) {
			const struct port *p = &d->ports[i];

			if (has_gid_of(&p->tables, &n->facts))
				return p;
			*ret_due = *ret_due || tables_are_due(in, p);
		}
	return NULL;
}

static bool has_pkey(const struct port_tables *t, uint16_t pkey)
{
	for (size_t i = 0; i < t->n_pkeys; i++)
		if (((t->pkeys[i] ^ pkey) & 0x7fff) == 0)
			return true;
	return false;
}

/* A child of a partition that its port is not in yet would only stand there without a carrier. */
static bool awaits_partition(struct step *s, const struct plan_input *in)
{
	uint16_t pkey = setting_pkey(s->value);
	const struct netdev *parent;
	const struct port *p;
	bool due;

	if (s->kind != STEP_ADD_IPOIB || !pkey)
		return false;
	parent = model_netdev_by_index(in->model, s->index);
	p = parent ? port_of_ipoib(in, parent, &due) : NULL;
	if (parent && !p && due) {
		step_say(s->detail, "the P_Keys of its port are not read yet");
		s->result = STEP_PENDING;
		return true;
	}
	/* Where they never could be read, the kernel takes it, and the child comes up when it can. A
	 * reading that failed, as while the device is renamed, says nothing against the one before. */
	if (!p || (p->tables.facts.pkey_error && p->tables.n_pkeys == 0) ||
		has_pkey(&p->tables, pkey))
		return false;
	step_say(s->detail, "%s/%u is not in the partition: it has no P_Key 0x%04x",
		p->device->facts.name, p->number, pkey);
	step_say(s->remedy, "the subnet manager's partition configuration gives it to the port");
	s->result = STEP_WAITING;
	s->awaits_pkey = true;
	return true;
}

/* ---- a setting as a whole ---- */

/* What keeps it from being looked at; true when the step is concluded by that. */
static bool is_out_of_reach(struct step *s, const struct target *t, const struct plan_input *in)
{
	const struct setting *k = setting_get(s->kind);
	const char *netdev = k->of == SETTING_OF_PARENT ? s->netdev : s->object;
	bool of_netdev = k->of == SETTING_OF_PARENT || k->of == SETTING_OF_NETDEV;

	if (of_netdev && s->index == STEP_INDEX_NONE) {
		step_say_no_netdev(s, in->model, netdev);
		if (lacks_ipoib_module(s, in))
			return true;
	} else if (t->device && t->device->release.until.mono) {
		step_say(s->detail, "released by %s", t->device->release.by);
	} else if (t->device && t->device->probe_state == PROBE_SILENT) {
		step_say(s->detail, "the device does not answer");
	} else {
		return false;
	}
	s->result = STEP_WAITING;
	s->made_at = s->absent_since = 0;
	return true;
}

/* It is as wanted: that is what somebody's change is told by. */
static int note_in_force(struct step *s, struct setup_memory *memory)
{
	struct memory_setting e = step_memory(s);
	const struct memory_setting *known = setup_memory_setting(memory, &e);
	int r;

	s->made_at = s->absent_since = 0;
	s->refused[0] = '\0';
	s->result = STEP_OK;
	e.repairs = known && streq(known->value, e.value) ? known->repairs : 0;
	r = setup_memory_note_setting(memory, &e);
	return r == -E2BIG ? 0 : r;
}

/* Facts of before it was set are still about. */
static bool is_settling(struct step *s, const struct plan_input *in)
{
	usec_t due = usec_add(s->made_at, MADE_USEC);

	if (!s->made_at || in->now >= due) {
		s->made_at = 0;
		return false;
	}
	s->settles_at = due;
	step_say(s->detail, "set, not yet seen");
	s->result = STEP_CHANGED;
	return true;
}

/* A child that was there and is not, while its parent still is: it may be about to go, too. */
static bool is_going(
	struct step *s, const struct memory_setting *known, const struct plan_input *in)
{
	usec_t due;

	if (s->kind != STEP_ADD_IPOIB || !known || s->ordered)
		return false;
	if (!s->absent_since)
		s->absent_since = MAX(in->now, (usec_t)1);
	due = usec_add(s->absent_since, SETTLE_USEC);
	if (in->now >= due)
		return false;
	s->settles_at = due;
	step_say(s->detail, "gone; looking again");
	return true;
}

/* How it is mended; half a command would be worse than none. */
static void say_how_to_mend(struct step *s)
{
	char command[STEP_COMMAND_MAX], text[STEP_COMMAND_MAX + 32];
	int n = snprintf(
		text, sizeof(text), "rdmactl apply, or by hand: %s", step_command(s, command));

	step_say(s->remedy, "%s",
		n < REASON_TEXT_MAX ? text : "rdmactl apply, or by hand what rdmactl plan shows");
}

/* It was in force and is not: somebody changed it. True when that is all that there is to say. */
static bool is_left_changed(
	struct step *s, const struct memory_setting *known, const struct plan_input *in)
{
	if (!known || !streq(known->value, s->value) || s->ordered)
		return false;
	if (in->config->drift == DRIFT_REPAIR && known->repairs < REPAIRS_MAX) {
		s->repairs = true;
		return false;
	}
	if (in->config->drift == DRIFT_REPAIR)
		step_say(s->detail, "set again %u times and changed each time: left alone",
			known->repairs);
	else if (s->kind == STEP_NODE_DESCRIPTION)
		step_say(s->detail, "changed by somebody; rdma-ndd.service writes it, too");
	else
		step_say(s->detail, "changed by somebody");
	if (s->refused[0]) {
		/* Who ordered it wants to know that, and not that he may order it. */
		step_say(s->detail, "changed by somebody, and not mended: %s", s->refused);
		step_say(s->remedy, "%s", s->refused_remedy);
	} else if (s->kind == STEP_NODE_DESCRIPTION)
		step_say(s->remedy,
			"rdmactl apply; one writer only: systemctl mask --now rdma-ndd, or "
			"take NodeDescription= out");
	else
		say_how_to_mend(s);
	step_conclude_drift(s, in->config);
	return true;
}

/* ---- MTU of IPoIB ---- */

/* The mode that its netdev is to have is not in force yet; setting it sets the MTU, too. */
static bool mode_is_due(const struct step *s, const struct target *t, const struct config *c)
{
	if (s->kind != STEP_NETDEV_MTU || !t->netdev || !t->netdev->facts.is_ipoib)
		return false;
	for (size_t i = 0; i < c->n_ipoibs; i++)
		if (streq(c->ipoibs[i].name, s->object) && c->ipoibs[i].connected >= 0 &&
			c->ipoibs[i].connected != t->netdev->facts.ipoib_connected)
			return true;
	return false;
}

static bool is_other(const struct memory_setting *e, void *user)
{
	const struct memory_setting *key = user;

	return e->kind != key->kind || e->index != key->index;
}

int evaluate_setting(struct step *s, struct setup_memory *memory, const struct plan_input *in)
{
	struct target t = find_target(s, in->model);
	struct memory_setting key = step_memory(s);
	struct found f = read_found(s, in->model, &t);
	int r = 0;

	step_say(s->wanted, "%s", s->value[0] ? s->value : "the parent's P_Key");
	step_say(s->found, "%s", f.known ? f.value : "not known yet");
	s->disruptive = setting_get(s->kind)->disruptive;
	s->by_helper = f.stale;
	step_mix(s, s->object, strlen(s->object));
	step_mix(s, &s->index, sizeof(s->index));
	step_mix(s, f.value, strlen(f.value));

	if (!in->model->listed)
		return 0;
	if (is_out_of_reach(s, &t, in) || lacks_roce_module(s, memory, in))
		return 0;
	if (s->kind == STEP_ADD_IPOIB) {
		if (!t.netdev)
			step_say(s->found, "no %s", s->object);
		else if (is_the_child(s, t.netdev))
			return note_in_force(s, memory);
		else
			return 0;
	} else if (f.known && setting_satisfied(s->kind, f.value, s->value)) {
		r = note_in_force(s, memory);
		if (f.stale && in->now > usec_add(s->read_at, 3 * in->config->slow_counter_usec))
			step_say(s->detail, "as it was when it was read last, which is long ago");
	}
	if (mode_is_due(s, &t, in->config)) {
		/* What it is until then says nothing of what somebody did. */
		setup_memory_prune_settings(memory, is_other, &key);
		if (s->result != STEP_OK) {
			step_say(s->detail, "after the mode, which changes it");
			s->after_mode = true; /* plan_update() looks how long that takes */
			return MIN(r, 0);
		}
	}
	if (r < 0 || s->result == STEP_OK)
		return r;
	if (is_settling(s, in))
		return 0;
	if (is_going(s, setup_memory_setting(memory, &key), in))
		return 0;
	/* That a child is not there is known. */
	if ((f.known || s->kind == STEP_ADD_IPOIB) &&
		is_left_changed(s, setup_memory_setting(memory, &key), in))
		return 0;
	if (s->kind == STEP_DEVICE_NAME && !name_is_free(s, in, t.device))
		return 0;
	if (awaits_partition(s, in))
		return 0;
	s->wanted_run = true;
	return 0;
}
