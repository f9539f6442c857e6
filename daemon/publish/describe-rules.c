/* SPDX-License-Identifier: MIT */
/* The rules that were looked at for an object, as JSON for "rdmactl explain". */
#include <errno.h>

#include "describe-internal.h"
#include "rules.h"

struct rule_list {
	struct builder b;
	json_t *array;
};

struct rule_list *rule_list_new(void)
{
	struct rule_list *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->array = json_array();
	l->b.failed = !l->array;
	return l;
}

struct rule_list *rule_list_free(struct rule_list *l)
{
	if (l) {
		json_decref(l->array);
		free(l);
	}
	return NULL;
}

void rule_list_note(const struct rule_note *n, void *user)
{
	const struct rule *rule = rule_get(n->id);
	struct rule_list *l = user;
	json_t *o = json_object();
	char origin[TEXT_MAX] = "";

	if (n->origin && n->origin->file)
		snprintf(origin, sizeof(origin), "%s:%u", n->origin->file, n->origin->line);
	put(&l->b, o, "Rule", json_text(rule->name));
	put(&l->b, o, "Severity", json_text(severity_to_string(rule->severity)));
	put(&l->b, o, "Class", json_text(reason_class_to_string(rule->class)));
	put(&l->b, o, "Subject", json_text(n->subject));
	put(&l->b, o, "Outcome", json_text(rule_outcome_to_string(n->outcome)));
	put(&l->b, o, "Text", json_text(n->text));
	put(&l->b, o, "Origin", json_text(origin)); /* null: the default, or no threshold at all */
	append(&l->b, l->array, o);
}

int describe_rules_text(
	const char *object, const struct verdict *v, struct rule_list *l, char **ret)
{
	json_t *root = json_object();
	char *text;

	put(&l->b, root, "Object", json_text(object));
	put(&l->b, root, "HealthState", json_text(health_to_string(v->health)));
	put(&l->b, root, "IgnoredBecause", json_text(v->ignored_because));
	put(&l->b, root, "Rules", json_incref(l->array));
	put(&l->b, root, "Reasons", describe_reasons(&l->b, v));
	text = l->b.failed ? NULL : json_dumps(root, JSON_COMPACT);
	json_decref(root);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}
