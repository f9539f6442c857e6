/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>

#include "macros.h"
#include "sysfs.h"

struct async_context {
	struct ibv_context *ibv;
};

DEFINE_CLEANUP(struct ibv_device **, ibv_free_device_list)

struct async_context *async_close(struct async_context *c)
{
	if (c) {
		ibv_close_device(c->ibv);
		free(c);
	}
	return NULL;
}

/* A device that is renamed while libibverbs looks is left out of its list; for the next look: */
#define LOOKS      3
#define LOOK_SLEEP 20000 /* us */

static struct ibv_device *find_device(struct ibv_device **list, uint32_t index, const char *name)
{
	for (; *list; list++) {
		int i = device_index_is_made_up(index) ? -1 : ibv_get_device_index(*list);

		if (i >= 0 ? (uint32_t)i == index : streq(ibv_get_device_name(*list), name))
			return *list;
	}
	return NULL;
}

static int open_now(uint32_t index, const char *name, struct async_context **ret)
{
	_cleanup_(ibv_free_device_listp) struct ibv_device **list = ibv_get_device_list(NULL);
	struct async_context *c;
	struct ibv_device *d;
	int flags;

	if (!list)
		return errno ? -errno : -ENOMEM;
	d = find_device(list, index, name);
	if (!d)
		return -ENODEV;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	errno = 0;
	c->ibv = ibv_open_device(d);
	if (!c->ibv) {
		int r = errno ? -errno : -EIO;

		free(c);
		return r;
	}
	flags = fcntl(c->ibv->async_fd, F_GETFL);
	if (flags < 0 || fcntl(c->ibv->async_fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		int r = -errno;

		async_close(c);
		return r;
	}
	*ret = c;
	return 0;
}

int async_open(uint32_t index, const char *name, struct async_context **ret)
{
	int r = open_now(index, name, ret);

	for (int i = 1; r == -ENODEV && i < LOOKS; i++) {
		usleep(LOOK_SLEEP);
		r = open_now(index, name, ret);
	}
	return r;
}

int async_event_fd(const struct async_context *c)
{
	return c->ibv->async_fd;
}

static enum verbs_event_kind event_kind(enum ibv_event_type type)
{
	/* The kernel's enum grows: what is not known here is no concern of a monitor. */
	switch ((int)type) {
	case IBV_EVENT_DEVICE_FATAL:
		return VERBS_EVENT_DEVICE_FATAL;
	case IBV_EVENT_PORT_ERR:
		return VERBS_EVENT_PORT_ERR;
	case IBV_EVENT_PORT_ACTIVE:
		return VERBS_EVENT_PORT_ACTIVE;
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		return VERBS_EVENT_PORT_CHANGE;
	default:
		return VERBS_EVENT_OTHER;
	}
}

int async_next_event(struct async_context *c, struct verbs_event *ret)
{
	struct ibv_async_event e;

	if (ibv_get_async_event(c->ibv, &e) < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	ret->kind = event_kind(e.event_type);
	ret->name = ibv_event_type_str(e.event_type);
	switch (ret->kind) {
	case VERBS_EVENT_PORT_ERR:
	case VERBS_EVENT_PORT_ACTIVE:
	case VERBS_EVENT_PORT_CHANGE:
		ret->port = e.element.port_num > 0 ? (uint32_t)e.element.port_num : 0;
		break;
	case VERBS_EVENT_DEVICE_FATAL:
	case VERBS_EVENT_OTHER:
		ret->port = 0;
		break;
	}
	/* Without own queue pairs there is nothing to acknowledge but what came: a no-op in the
	 * kernel, bookkeeping in the library. */
	ibv_ack_async_event(&e);
	return 1;
}

int async_measure_pin(uint32_t index, const char *name)
{
	/* Twice: somebody else's close in the same moment can hide one rise, hardly two. */
	for (int i = 0; i < 2; i++) {
		struct async_context *c;
		uint64_t before, during;
		int r;

		if (sysfs_driver_refcounts(&before) < 0)
			return 1;
		r = async_open(index, name, &c);
		if (r < 0)
			return r;
		r = sysfs_driver_refcounts(&during);
		async_close(c);
		if (r < 0 || during > before)
			return 1;
	}
	return 0;
}
