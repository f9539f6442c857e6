/* SPDX-License-Identifier: MIT */
#include "health-world.h"

#include "rules.h"

static struct config *load(const char *text)
{
	char path[] = "/tmp/rdmad-test-XXXXXX", problem[512];
	_cleanup_(closep) int fd = mkstemp(path);
	struct config *c;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(config_load_file(path, &c), 0);
	unlink(path);
	if (c->n_problems)
		fail_msg("%s", config_problem_format(&c->problems[0], problem, sizeof(problem)));
	return c;
}

void world_begin(struct world *w, const char *config)
{
	*w = (struct world){ .now = 1000 * USEC_PER_SEC };
	w->config = load(config);
	w->model.listed = true;
}

void world_end(struct world *w)
{
	model_done(&w->model);
	config_free(w->config);
}

void world_configure(struct world *w, const char *config)
{
	config_free(w->config);
	w->config = load(config);
}

struct timepoint world_now(const struct world *w)
{
	return (struct timepoint){ .mono = w->now, .real = 1000000 * USEC_PER_SEC + w->now };
}

struct device *world_device(struct world *w, const char *name, const struct device_facts *facts,
	uint32_t index, uint32_t ports)
{
	struct device_facts f = facts ? *facts : (struct device_facts){ .numa_node = -1 };
	struct device *d;

	f.index = index;
	f.port_count = ports;
	STRSCPY(f.name, name);
	assert_true(model_see_device(&w->model, &f, world_now(w), &d) >= 0);
	return d;
}

static void see(struct world *w, struct port *p, struct port_facts *f)
{
	f->netdev_index = p->facts.netdev_index;
	port_see(p, f, true, world_now(w));
}

void world_read(struct world *w, struct port *p, int state, int phys, enum link_layer layer)
{
	struct port_facts f = port_facts_unknown(p->device->facts.index, p->number);

	f.state = state;
	f.phys_state = phys;
	f.link_layer = layer;
	see(w, p, &f);
}

void world_read_rate(struct world *w, struct port *p, enum link_layer layer, uint64_t gbps,
	const char *width, const char *speed)
{
	struct port_facts f = port_facts_unknown(p->device->facts.index, p->number);

	f.state = PORT_STATE_ACTIVE;
	f.phys_state = PHYS_STATE_LINKUP;
	f.link_layer = layer;
	f.rate_mbps = gbps * 1000;
	STRSCPY(f.width, width);
	STRSCPY(f.speed, speed);
	see(w, p, &f);
}

void world_netdev(struct world *w, const struct netdev_facts *f)
{
	uint32_t downs;

	assert_true(model_see_netdev(&w->model, f, &downs) >= 0);
}

void world_judge(struct world *w)
{
	w->recheck = USEC_INFINITY;
	for (struct device *d = w->model.devices; d; d = d->next) {
		for (size_t i = 0; i < d->n_ports; i++)
			judge_port(&w->model, &d->ports[i], w->config, world_now(w), NULL,
				&w->recheck);
		judge_device(d, w->config, world_now(w), NULL, &w->recheck);
	}
}

void world_pass(struct world *w, usec_t span)
{
	w->now += span;
	world_judge(w);
}

const struct reason *port_reason(const struct port *p, enum reason_id id)
{
	return verdict_find(&p->verdict, id, "");
}

const struct reason *device_reason(const struct device *d, enum reason_id id)
{
	return verdict_find(&d->verdict, id, "");
}

struct heard {
	enum reason_id id;
	enum rule_outcome outcome;
	char *text;
	unsigned n;
};

static void hear(const struct rule_note *n, void *user)
{
	struct heard *h = user;

	if (n->id != h->id)
		return;
	h->n++;
	h->outcome = n->outcome;
	snprintf(h->text, 2 * REASON_TEXT_MAX, "%s", n->text);
}

enum rule_outcome world_outcome(
	struct world *w, struct port *p, enum reason_id id, char text[2 * REASON_TEXT_MAX])
{
	struct heard h = { .id = id, .outcome = _OUTCOME_MAX, .text = text };
	struct rule_listener l = { .note = hear, .user = &h };

	judge_set_listener(&l);
	judge_port(&w->model, p, w->config, world_now(w), NULL, NULL);
	judge_device(p->device, w->config, world_now(w), NULL, NULL);
	judge_set_listener(NULL);
	if (h.n != 1)
		fail_msg("%s was noted %u times", rule_get(id)->name, h.n);
	return h.outcome;
}
