/* SPDX-License-Identifier: MIT */
/* What the facts say of one step, without regard to what was tried already. */
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>

#include "plan-internal.h"

void step_say(char buf[REASON_TEXT_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, REASON_TEXT_MAX, fmt, ap);
	va_end(ap);
	utf8_trim(buf);
}

void step_conclude(struct step *s, enum step_result result, enum reason_id condition)
{
	s->result = result;
	s->has_condition = true;
	s->condition = condition;
}

void step_conclude_drift(struct step *s, const struct config *c)
{
	step_conclude(s, STEP_DRIFTED, REASON_SETUP_DRIFTED);
	if (c->drift == DRIFT_IGNORE) {
		s->hidden = true;
		s->has_condition = false;
	}
}

void step_mix(struct step *s, const void *data, size_t size)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < size; i++)
		s->fingerprint = (s->fingerprint ^ p[i]) * 0x100000001b3ULL;
}

void step_say_no_netdev(struct step *s, const struct model *m, const char *netdev)
{
	step_say(s->found, "no netdev %s", netdev);
	step_say(s->detail,
		model_device_by_name(m, netdev)
			? "%s is the name of an RDMA device, not of a network interface"
			: "netdev %s is not there yet",
		netdev);
	step_say(s->remedy,
		"ip link shows what there is: correct the name, or it is done when %s comes",
		netdev);
}

/* How soon a module that is changing is looked at again: there may be no event at the end of it. */
#define CHANGING_RECHECK (USEC_PER_SEC / 2)

/*
 * A module that is there is remembered. Modules can be unloaded by people only, so that one which
 * is remembered and not there any more was.
 */
static int note_module(struct step *s, struct setup_memory *memory, const struct plan_input *in,
	const char *name, enum module_state *ret_state, bool *ret_unloaded)
{
	const struct memory_module *known = setup_memory_module(memory, name);
	enum module_state state = in->module_state(known ? known->real : name, in->user);
	int r = 0;

	*ret_unloaded = false;
	switch (state) {
	case MODULE_STATE_LIVE:
		if (!known)
			r = setup_memory_note_module(memory, name, name, false);
		break;
	case MODULE_STATE_BUILT_IN:
		/*
		 * A module on its way out looks like this too: its attributes go first, its
		 * directory last, and the uevent comes in between. Once loadable, always so.
		 */
		if (known && !known->built_in)
			state = MODULE_STATE_CHANGING;
		else
			r = setup_memory_note_module(
				memory, name, known ? known->real : name, true);
		break;
	case MODULE_STATE_NONE:
		if (known && known->built_in)
			state = MODULE_STATE_BUILT_IN; /* not every one has an entry in sysfs */
		*ret_unloaded = known && !known->built_in;
		break;
	case MODULE_STATE_CHANGING:
		break;
	}
	if (state == MODULE_STATE_CHANGING)
		s->settles_at = usec_add(in->now, CHANGING_RECHECK);
	*ret_state = state;
	return r == -E2BIG ? 0 : r;
}

static int evaluate_module(struct step *s, struct setup_memory *memory, const struct plan_input *in)
{
	const struct config *c = in->config;
	const struct memory_module *known;
	enum module_state state;
	bool unloaded, denied;
	int r;

	r = note_module(s, memory, in, s->object, &state, &unloaded);
	if (r < 0)
		return r;
	known = setup_memory_module(memory, s->object);
	denied = config_module_denied(c, s->object) ||
		 (known && config_module_denied(c, known->real));
	step_mix(s, &state, sizeof(state));

	step_say(s->wanted, denied ? "not loaded by rdmad" : "loaded");
	switch (state) {
	case MODULE_STATE_LIVE:
	case MODULE_STATE_BUILT_IN:
		step_say(s->found, state == MODULE_STATE_LIVE ? "loaded" : "built in");
		s->result = STEP_OK;
		return 0;
	case MODULE_STATE_CHANGING:
		step_say(s->found, "being loaded or unloaded");
		s->result = STEP_WAITING;
		return 0;
	case MODULE_STATE_NONE:
		break;
	}
	step_say(s->found, "not loaded");
	if (denied) {
		step_say(s->detail, "%s asks for it, [Modules] Deny= forbids it, and that wins",
			s->asked_by);
		s->result = STEP_OK;
		return 0;
	}
	if (unloaded && !s->ordered) {
		step_say(s->found, "unloaded by hand");
		step_say(s->detail, "unloaded by hand: rdmad does not load it again in this boot");
		step_say(s->remedy, "modprobe %s, or take %s out", s->object, s->asked_by);
		step_conclude_drift(s, c);
		if (c->drift == DRIFT_REPAIR)
			/* Asked to repair, and this is the one thing that it must not. */
			step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
		return 0;
	}
	s->wanted_run = true;
	return 0;
}

/* The netdev that a software device runs on, by what is known best; NULL: not known. */
static const char *device_netdev(
	const struct model *m, const struct device *d, uint32_t *ret_ifindex)
{
	const struct port *p = device_port(d, 1);
	const struct netdev *n;

	*ret_ifindex = p && p->have_facts ? p->facts.netdev_index : 0;
	if (*ret_ifindex) {
		n = model_netdev_by_index(m, *ret_ifindex);
		if (n)
			return n->facts.name;
	}
	if (d->facts.parent_netdev[0])
		return d->facts.parent_netdev;
	return p && p->have_facts && p->facts.netdev[0] ? p->facts.netdev : NULL;
}

/* A listing knows the name of a device before a worker has looked at it. */
static bool is_unread(const struct device *d)
{
	return d->facts.link_type == LINK_TYPE_NONE && !d->facts.driver[0] &&
	       !d->facts.pci_address[0];
}

/* The device that carries this netdev already, under whatever name. */
static const struct device *carrier_of(
	const struct model *m, enum link_type type, const char *netdev)
{
	for (const struct device *d = m->devices; d; d = d->next) {
		uint32_t ifindex;
		const char *on;

		if (d->facts.link_type != type)
			continue;
		on = device_netdev(m, d, &ifindex);
		if (on && streq(on, netdev))
			return d;
	}
	return NULL;
}

/* What evaluating a link needs to hand around. */
struct link_view {
	struct setup_memory *memory;
	const struct plan_input *in;
	const struct netdev *netdev;     /* NULL: not there */
	const struct memory_link *known; /* NULL: never was, or was another one */
	enum module_state module_state;
	bool module_unloaded;
};

/* Whether a section asks for this name; by the old one that it may select by it is not found any more. */
static bool is_configured_name(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_devices; i++)
		if (c->devices[i].name && streq(c->devices[i].name, name))
			return true;
	return false;
}

static int adopt(struct step *s, struct link_view *v, const struct device *d)
{
	struct memory_link l = {
		.type = s->link_type,
		.ifindex = v->netdev->facts.ifindex,
		.device_index = d->facts.index,
		.repairs = v->known ? v->known->repairs : 0,
	};
	int r;

	STRSCPY(l.name, s->object);
	STRSCPY(l.netdev, s->netdev);
	s->absent_since = s->made_at = 0;
	if (streq(d->facts.name, s->object)) {
		step_say(s->found, "%s on %s", link_type_to_string(s->link_type), s->netdev);
	} else {
		step_say(s->found, "%s on %s, named %s", link_type_to_string(s->link_type),
			s->netdev, d->facts.name);
		step_say(s->detail, is_configured_name(v->in->config, d->facts.name)
					    ? "renamed, as [Device] Name= says"
					    : "renamed by hand");
	}
	s->result = STEP_OK;
	r = setup_memory_note_link(v->memory, &l);
	return r == -E2BIG ? 0 : r;
}

/*
 * A device has the wanted name, or is the one that had it. Returns 1 when that settles the step, 0
 * when the device is about to go together with its netdev, or a negative errno.
 */
static int evaluate_present(struct step *s, struct link_view *v, const struct device *d)
{
	const char *type = link_type_to_string(d->facts.link_type);
	uint32_t ifindex;
	const char *on = device_netdev(v->in->model, d, &ifindex);
	int r;

	if (is_unread(d) || (d->facts.link_type == s->link_type && !on)) {
		step_say(s->found, "%s, not looked at", d->facts.name);
		step_say(s->detail, "what this device is has not been read");
		s->result = STEP_WAITING;
		return 1;
	}
	if (d->facts.link_type != s->link_type) {
		if (type)
			step_say(s->found, "%s is an %s link", s->object, type);
		else
			step_say(s->found, "%s is an adapter (%s)", s->object,
				d->facts.driver[0] ? d->facts.driver : d->facts.pci_address);
		step_say(s->detail, "another device has this name");
		step_say(s->remedy, "give one of the two another name");
		step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
		return 1;
	}
	if (!streq(on, s->netdev)) {
		step_say(s->found, "%s on %s", type, on);
		step_say(s->detail, "%s exists on %s, not on %s", d->facts.name, on, s->netdev);
		step_say(s->remedy, "rdma link delete %s, or set NetDevice=%s", d->facts.name, on);
		step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
		return 1;
	}
	/* What was read of it is of a netdev of that name which is not this one any more. */
	if (!v->netdev || (ifindex && ifindex != v->netdev->facts.ifindex) ||
		(v->known && v->known->device_index == d->facts.index &&
			v->known->ifindex != v->netdev->facts.ifindex))
		return 0;
	r = adopt(s, v, d);
	return r < 0 ? r : 1;
}

static void note_lost(struct link_view *v)
{
	struct memory_link l = *v->known;

	l.lost = true;
	(void)setup_memory_note_link(v->memory, &l); /* it is known, so that this finds it */
}

/* The netdev is not there. */
static int evaluate_no_netdev(struct step *s, struct link_view *v)
{
	s->absent_since = s->made_at = 0;
	s->result = STEP_WAITING;
	step_say_no_netdev(s, v->in->model, s->netdev);
	if (!v->known)
		return 0;
	step_say(s->detail, "netdev %s is gone, and the link with it", s->netdev);
	step_say(s->remedy, "bring %s back: the link is made again then", s->netdev);
	step_conclude(s, STEP_WAITING, REASON_NETDEV_MISSING);
	note_lost(v);
	return 0;
}

/* It should be made: may it? */
static void evaluate_make(struct step *s, struct link_view *v)
{
	const char *module = link_type_module(s->link_type);

	if (v->module_state == MODULE_STATE_CHANGING) {
		step_say(s->detail, "%s is being loaded or unloaded", module);
		s->result = STEP_WAITING;
	} else if (v->module_unloaded && !s->ordered) {
		step_say(s->detail, "%s was unloaded by hand", module);
		step_say(s->remedy, "modprobe %s: the link is made then", module);
		step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
	} else if (v->module_state == MODULE_STATE_NONE &&
		   config_module_denied(v->in->config, module)) {
		step_say(s->detail, "it needs %s, which [Modules] Deny= forbids", module);
		step_say(s->remedy, "take %s out of Deny=, or [Link %s] out", module, s->object);
		step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
	} else {
		s->wanted_run = true;
	}
}

/* It did not go by itself, but with its module: it is owed when that is back. */
static bool went_with_module(const struct step *s, struct link_view *v)
{
	usec_t unloaded = v->memory->unloaded[s->link_type];

	return v->module_unloaded ||
	       (unloaded && usec_add(unloaded, UNLOADED_USEC) >= s->absent_since);
}

/* It was there, its netdev never went, and it is gone. */
static void evaluate_deleted(struct step *s, struct link_view *v)
{
	const struct config *c = v->in->config;
	usec_t due;

	if (s->made_at) {
		due = usec_add(s->made_at, MADE_USEC);
		if (v->in->now < due) {
			s->settles_at = due;
			step_say(s->detail, "made, not yet seen");
			s->result = STEP_CHANGED;
			return;
		}
		s->made_at = 0;
	}
	if (!s->absent_since)
		s->absent_since = MAX(v->in->now, (usec_t)1);
	due = usec_add(s->absent_since, SETTLE_USEC);
	if (v->in->now < due) {
		s->settles_at = due;
		step_say(s->detail, "gone; looking again");
		s->result = STEP_PENDING;
		return;
	}

	step_say(s->found, "deleted by hand");
	if (went_with_module(s, v)) {
		note_lost(v);
		if (!v->module_unloaded) {
			step_say(s->found, "gone with its module");
			evaluate_make(s, v);
			return;
		}
	}
	if (v->module_unloaded)
		step_say(s->found, "gone: %s was unloaded by hand", link_type_module(s->link_type));
	if (s->ordered || (c->drift == DRIFT_REPAIR && v->known->repairs < REPAIRS_MAX)) {
		s->repairs = !s->ordered;
		evaluate_make(s, v);
		return;
	}
	if (c->drift == DRIFT_REPAIR)
		step_say(s->detail, "made again %u times and deleted each time: left alone",
			v->known->repairs);
	step_say(s->remedy, "rdma link add %s type %s netdev %s", s->object,
		link_type_to_string(s->link_type), s->netdev);
	step_conclude_drift(s, c);
}

/*
 * What has to be looked at for a link: the one that was made for it, whatever it is called by now and
 * whoever has got its name, else what has its name. NULL: neither.
 */
static const struct device *device_of_link(const struct step *s, const struct link_view *v)
{
	const struct model *m = v->in->model;
	const struct device *named = model_device_by_name(m, s->object), *made = NULL;
	uint32_t ifindex;
	const char *on;

	if (v->known && v->known->device_index != UINT32_MAX)
		made = model_device_by_index(m, v->known->device_index);
	if (!made || made->facts.link_type != s->link_type)
		return named;
	on = device_netdev(m, made, &ifindex);
	return !named || (on && streq(on, s->netdev)) ? made : named;
}

static int evaluate_link(struct step *s, struct setup_memory *memory, const struct plan_input *in)
{
	const struct model *m = in->model;
	struct link_view v = {
		.memory = memory,
		.in = in,
		.netdev = model_netdev_by_name(m, s->netdev),
		.known = setup_memory_link(memory, s->object),
	};
	const struct device *d, *other;
	int r;

	step_say(s->wanted, "%s on %s", link_type_to_string(s->link_type), s->netdev);
	step_say(s->found, "no link");
	r = note_module(
		s, memory, in, link_type_module(s->link_type), &v.module_state, &v.module_unloaded);
	if (r < 0)
		return r;
	if (!m->listed) {
		step_say(s->found, "not known yet");
		s->result = STEP_PENDING;
		return 0;
	}
	step_mix(s, &v.module_state, sizeof(v.module_state));
	if (v.netdev) {
		uint32_t up = v.netdev->facts.flags & IFF_UP;

		s->ifindex = v.netdev->facts.ifindex;
		step_mix(s, &v.netdev->facts.ifindex, sizeof(uint32_t));
		step_mix(s, &up, sizeof(up));
	}

	if (v.known && (v.known->type != s->link_type || !streq(v.known->netdev, s->netdev)))
		v.known = NULL;
	d = device_of_link(s, &v);
	if (d) {
		r = evaluate_present(s, &v, d);
		if (r != 0)
			return MIN(r, 0);
	}
	if (!v.netdev)
		return evaluate_no_netdev(s, &v);

	if (d) {
		step_say(s->detail, "the old %s on %s is going away", d->facts.name, s->netdev);
		s->result = STEP_WAITING;
		return 0;
	}
	other = carrier_of(m, s->link_type, s->netdev);
	if (other) {
		step_say(s->found, "%s carries the %s link %s", s->netdev,
			link_type_to_string(s->link_type), other->facts.name);
		step_say(s->detail,
			"netdev %s already carries an %s link, and there is one per netdev",
			s->netdev, link_type_to_string(s->link_type));
		step_say(s->remedy, "rdma dev set %s name %s, or rename the section to [Link %s]",
			other->facts.name, s->object, other->facts.name);
		step_conclude(s, STEP_BLOCKED, REASON_SETUP_BLOCKED);
		return 0;
	}
	if (v.known && (!v.known->lost || v.module_unloaded) &&
		v.known->ifindex == v.netdev->facts.ifindex) {
		evaluate_deleted(s, &v);
		return 0;
	}
	s->absent_since = s->made_at = 0;
	evaluate_make(s, &v);
	return 0;
}

int step_evaluate(struct step *s, struct setup_memory *memory, const struct plan_input *in)
{
	s->result = STEP_PENDING;
	s->found[0] = s->wanted[0] = s->detail[0] = s->remedy[0] = '\0';
	s->hidden = s->has_condition = s->wanted_run = s->repairs = s->disruptive = false;
	s->awaits_pkey = s->after_mode = s->wants_look = false;
	s->interim[0] = '\0';
	/* An object may have several settings. */
	if (step_kind_is_setting(s->kind))
		snprintf(s->subject, sizeof(s->subject), "%s %s", s->object,
			step_kind_to_string(s->kind));
	else
		STRSCPY(s->subject, s->object);
	s->settles_at = 0;
	s->ifindex = 0;
	s->fingerprint = 0xcbf29ce484222325ULL;

	if (s->kind == STEP_LOAD_MODULE)
		return evaluate_module(s, memory, in);
	if (s->kind == STEP_ADD_LINK)
		return evaluate_link(s, memory, in);
	return evaluate_setting(s, memory, in);
}
