/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <errno.h>
#include <sys/socket.h>

#include "macros.h"
#include "pool-internal.h"

/* Requests that may wait for one worker; beyond that something is wrong with it. */
#define REQUESTS_MAX 4096

struct pool *pool_free(struct pool *p)
{
	if (!p)
		return NULL;
	while (p->workers)
		worker_free(p->workers);
	sd_event_unref(p->event);
	free(p->worker_path);
	free(p);
	return NULL;
}

DEFINE_CLEANUP(struct pool *, pool_free)

int pool_new(sd_event *event, const char *worker_path, const struct pool_callbacks *cb, void *user,
	struct pool **ret)
{
	_cleanup_(pool_freep) struct pool *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->event = sd_event_ref(event);
	p->cb = *cb;
	p->user = user;
	p->timeout = 5 * USEC_PER_SEC;
	p->worker_path = strdup(worker_path);
	if (!p->worker_path)
		return -ENOMEM;
	*ret = TAKE_PTR(p);
	return 0;
}

void pool_set_timeout(struct pool *p, usec_t timeout)
{
	p->timeout = timeout;
}

static struct worker *find_worker(struct pool *p, const char *adapter)
{
	for (struct worker *w = p->workers; w; w = w->next)
		if (streq(w->adapter, adapter))
			return w;
	return NULL;
}

static struct worker *need_worker(struct pool *p, const char *adapter)
{
	struct worker *w = find_worker(p, adapter);

	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return NULL;
		w->pool = p;
		w->fd = -1;
		w->unsent_end = &w->unsent;
		for (size_t i = 0; i < _LANE_MAX; i++) {
			w->lanes[i].worker = w;
			w->lanes[i].last = &w->lanes[i].first;
		}
		STRSCPY(w->adapter, adapter);
		w->next = p->workers;
		p->workers = w;
	}
	w->dropped = false;
	return w;
}

/* Sends a request that is answered. */
static int request(struct pool *p, const char *adapter, enum lane_id id, struct wire_message *m)
{
	struct worker *w = need_worker(p, adapter);
	struct request *q;
	struct lane *l;
	int r;

	if (!w)
		return -ENOMEM;
	r = worker_start(w);
	if (r < 0)
		return r;
	l = &w->lanes[id];
	if (l->n >= REQUESTS_MAX || w->unsent)
		return -EBUSY;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	m->id = q->id = ++p->next_id;
	q->sent = pool_now(p);
	q->of_device = wire_is_of_device(m->type);
	q->device_index = m->ref.device_index;
	/* A worker whose socket is full is not reading: its deadline is running already. */
	r = wire_send(w->fd, m, MSG_DONTWAIT);
	if (r < 0) {
		free(q);
		return r == -EAGAIN ? -EBUSY : r;
	}
	*l->last = q;
	l->last = &q->next;
	l->n++;
	return lane_arm(l);
}

static struct wire_message device_message(
	enum wire_type type, const struct device_facts *d, uint32_t port)
{
	struct wire_message m = { .type = type };

	m.ref.device_index = d->index;
	m.ref.port = port;
	STRSCPY(m.ref.device, d->name);
	return m;
}

int pool_list(struct pool *p)
{
	struct wire_message m = { .type = WIRE_LIST };

	return request(p, POOL_SCOUT, LANE_QUERY, &m);
}

int pool_read_port(struct pool *p, const struct device_facts *d, uint32_t port)
{
	struct wire_message m = device_message(WIRE_READ_PORT, d, port);

	return request(p, d->adapter, LANE_QUERY, &m);
}

int pool_watch(struct pool *p, const struct device_facts *d, bool measure)
{
	struct wire_message m = device_message(WIRE_WATCH, d, d->port_count);

	m.ref.measure = measure;
	return request(p, d->adapter, LANE_QUERY, &m);
}

int pool_read_details(struct pool *p, const struct device_facts *d)
{
	struct wire_message m = device_message(WIRE_READ_DETAILS, d, 0);

	return request(p, d->adapter, LANE_SLOW, &m);
}

int pool_read_settings(struct pool *p, const struct device_facts *d, bool watched)
{
	struct wire_message m = device_message(WIRE_READ_SETTINGS, d, d->port_count);

	return request(p, watched ? d->adapter : POOL_SCOUT, LANE_SLOW, &m);
}

int pool_read_tables(struct pool *p, const struct device_facts *d, uint32_t port)
{
	struct wire_message m = device_message(WIRE_READ_TABLES, d, port);

	return request(p, d->adapter, LANE_SLOW, &m);
}

int pool_read_counters(struct pool *p, const struct device_facts *d, uint32_t port,
	enum counter_source source, bool names)
{
	struct wire_message m = device_message(WIRE_READ_COUNTERS, d, port);

	m.ref.source = source;
	m.ref.names = names;
	return request(p, d->adapter, LANE_SLOW, &m);
}

static int read_netdev(struct pool *p, enum wire_type type, const struct device_facts *d,
	uint32_t ifindex, const char *netdev)
{
	struct wire_message m = { .type = type };

	m.ref.device_index = ifindex;
	STRSCPY(m.ref.device, netdev);
	return request(p, d->adapter, LANE_SLOW, &m);
}

int pool_read_qos(
	struct pool *p, const struct device_facts *d, uint32_t ifindex, const char *netdev)
{
	return read_netdev(p, WIRE_READ_QOS, d, ifindex, netdev);
}

int pool_read_link(
	struct pool *p, const struct device_facts *d, uint32_t ifindex, const char *netdev)
{
	return read_netdev(p, WIRE_READ_LINK, d, ifindex, netdev);
}

int pool_read_vf(struct pool *p, const struct device_facts *d)
{
	struct wire_message m = device_message(WIRE_READ_VF, d, 0);

	return request(p, d->adapter, LANE_SLOW, &m);
}

int pool_read_devlink(struct pool *p, const struct device_facts *d)
{
	struct wire_message m = device_message(WIRE_READ_DEVLINK, d, 0);

	return request(p, d->adapter, LANE_SLOW, &m);
}

int pool_read_switch(struct pool *p, const char *pci_address)
{
	struct wire_message m = { .type = WIRE_READ_SWITCH };

	STRSCPY(m.ref.device, pci_address);
	return request(p, POOL_SCOUT, LANE_SLOW, &m);
}

/* Sends what is not answered, or keeps it until the worker has read what is before it. */
static void command(struct worker *w, enum wire_type type, const struct device_facts *d)
{
	struct wire_message m = device_message(type, d, 0);
	struct command *c;

	if (!w->unsent && wire_send(w->fd, &m, MSG_DONTWAIT) >= 0)
		return;
	c = calloc(1, sizeof(*c));
	if (!c || sd_event_source_set_io_events(w->io, EPOLLIN | EPOLLOUT) < 0) {
		free(c);
		/* What cannot be told to let go must be made to. */
		worker_give_up(w);
		return;
	}
	c->message = m;
	*w->unsent_end = c;
	w->unsent_end = &c->next;
}

static struct worker *find_running(struct pool *p, const struct device_facts *d)
{
	struct worker *w = find_worker(p, d->adapter);

	return w && w->fd >= 0 ? w : NULL;
}

void pool_unwatch(struct pool *p, const struct device_facts *d)
{
	struct worker *w = find_running(p, d);

	if (w)
		command(w, WIRE_UNWATCH, d);
}

void pool_forget(struct pool *p, const struct device_facts *d)
{
	struct worker *w = find_running(p, d);

	if (!w)
		return;
	for (size_t i = 0; i < _LANE_MAX; i++)
		lane_forget_device(&w->lanes[i], d->index);
	command(w, WIRE_FORGET, d);
}

void pool_drop_adapter(struct pool *p, const char *adapter)
{
	struct worker *w = find_worker(p, adapter);

	if (!w)
		return;
	worker_disconnect(w); /* it ends by itself at the end of its socket */
	/* What was told of it was told of devices that are gone. */
	w->silence = POOL_ANSWERS;
	w->slow_late = false;
	if (w->pid > 0)
		w->dropped = true;
	else
		worker_free(w);
}
