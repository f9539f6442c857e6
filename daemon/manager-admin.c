/* SPDX-License-Identifier: MIT */
/*
 * What somebody told the daemon to do leaves a record of who it was; and acknowledging, which does
 * little more than that: who looks at the condition sees that it is known, and nobody is reminded of
 * it any more.
 */
#include <errno.h>

#include "macros.h"
#include "manager-internal.h"
#include "rules.h"
#include "text.h"

const char *manager_caller(uint32_t uid, char buf[CALLER_MAX])
{
	if (uid == 0)
		snprintf(buf, CALLER_MAX, "root");
	else if (uid == getuid())
		snprintf(buf, CALLER_MAX, "rdmad"); /* ExecReload= */
	else
		snprintf(buf, CALLER_MAX, "uid %u", uid);
	return buf;
}

void manager_tell_admin(struct manager *m, const struct admin_record *a)
{
	struct event e = { .when = manager_now(m), .reason = "admin" };

	journal_admin(a);
	STRSCPY(e.object, a->object);
	STRSCPY(e.message, a->message);
	model_add_event(&m->model, &e);
	m->state_dirty = true;
}

/* The verdict of what is called so, and its port if it is one; NULL when there is nothing. */
static struct verdict *find_verdict(struct manager *m, const char *object, struct port **ret_port)
{
	struct missing *x = model_missing_by_name(&m->model, object);
	struct device *d = model_device_by_name(&m->model, object);
	struct port *p = model_port_by_object(&m->model, object);

	*ret_port = p;
	if (p)
		return &p->verdict;
	if (d)
		return &d->verdict;
	if (x)
		return &x->verdict;
	return streq(object, "host") ? &m->model.verdict : NULL;
}

static void tell_ack(struct manager *m, const struct acknowledge_call *c,
	const struct acknowledgement *ack, const char *reason)
{
	struct admin_record a = {
		.action = c->undo ? "unack" : "ack",
		.object = c->object,
		.by = ack->by,
		.reason = reason,
		.comment = ack->comment,
	};
	char message[640];

	snprintf(message, sizeof(message), "%s: %s%s by %s%s%s", c->object, c->reason,
		c->undo ? ": acknowledgement taken back" : " acknowledged", ack->by,
		ack->comment[0] ? ": " : "", ack->comment);
	a.message = message;
	manager_tell_admin(m, &a);
}

int manager_acknowledge(
	void *user, const struct acknowledge_call *c, uint32_t uid, char *why, size_t why_size)
{
	const char *subject = strchr(c->reason, ':');
	struct acknowledgement ack = { .when = manager_now(user) };
	struct manager *m = user;
	struct verdict *v;
	struct port *port;
	char word[64];
	int id;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(c->reason, ":"), c->reason);
	id = rule_by_name(word);
	v = find_verdict(m, c->object, &port);
	if (id < 0) {
		snprintf(why, why_size, "%s: there is no such reason", word);
		return -EINVAL;
	}
	if (!v) {
		snprintf(why, why_size, "%s: there is no such object", c->object);
		return -ENODEV;
	}
	manager_caller(uid, ack.by);
	text_one_line(c->comment, ack.comment, sizeof(ack.comment));
	if (!verdict_acknowledge(
		    v, (enum reason_id)id, subject ? subject + 1 : NULL, c->undo ? NULL : &ack)) {
		snprintf(why, why_size, "%s: no %s stands", c->object, c->reason);
		return -ESRCH;
	}
	tell_ack(m, c, &ack, word);
	/* link-flapping ends by it. */
	if (port)
		port_judge(m, port);
	return 0;
}
