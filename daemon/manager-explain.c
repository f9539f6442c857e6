/* SPDX-License-Identifier: MIT */
/*
 * "rdmactl explain OBJ": the object is judged once more, on a copy, and each rule says what it came
 * to. Nothing is changed and nothing told.
 */
#include <errno.h>

#include "macros.h"
#include "manager-internal.h"

DEFINE_CLEANUP(struct rule_list *, rule_list_free)

static int explain_port(struct manager *m, const struct port *p, struct rule_list *l, char **ret)
{
	char object[OBJECT_NAME_MAX];
	struct port copy = *p;

	judge_port(&m->model, &copy, m->config, manager_now(m), NULL, NULL);
	return describe_rules_text(port_object(object, p), &p->verdict, l, ret);
}

static int explain_device(
	struct manager *m, const struct device *d, struct rule_list *l, char **ret)
{
	struct device copy = *d;

	judge_device(&copy, m->config, manager_now(m), NULL, NULL);
	return describe_rules_text(d->facts.name, &d->verdict, l, ret);
}

static int explain_missing(
	struct manager *m, const struct missing *x, struct rule_list *l, char **ret)
{
	struct missing copy = *x;

	judge_missing(&m->model, &copy, m->config, manager_now(m), NULL, NULL);
	return describe_rules_text(x->name, &x->verdict, l, ret);
}

static int explain_host(struct manager *m, struct rule_list *l, char **ret)
{
	int r = manager_explain_host(m);

	return r < 0 ? r : describe_rules_text("host", &m->model.verdict, l, ret);
}

int manager_explain(void *user, const char *object, char **ret)
{
	_cleanup_(rule_list_freep) struct rule_list *l = rule_list_new();
	const struct rule_listener listener = { .note = rule_list_note, .user = l };
	struct manager *m = user;
	const struct missing *x;
	const struct device *d;
	const struct port *p;
	int r = -ENODEV;

	if (!l)
		return -ENOMEM;
	judge_set_listener(&listener);
	if ((p = model_port_by_object(&m->model, object)))
		r = explain_port(m, p, l, ret);
	else if ((d = model_device_by_name(&m->model, object)))
		r = explain_device(m, d, l, ret);
	else if ((x = model_missing_by_name(&m->model, object)))
		r = explain_missing(m, x, l, ret);
	else if (streq(object, "host"))
		r = explain_host(m, l, ret);
	judge_set_listener(NULL);
	return r;
}
