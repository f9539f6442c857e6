/* SPDX-License-Identifier: MIT */
#include "sysfs-nodes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "facts.h"
#include "macros.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"

struct node {
	char name[16];
	char device[RDMA_NAME_MAX];
	uint32_t port; /* 0: of the device */
};

struct node_map {
	const char *directory;
	const char *prefix;
	bool per_port;
	struct node *list; /* in order of device and port */
	size_t n;
	bool partial; /* there are nodes that do not say whose they are */
};

static struct {
	pthread_mutex_t lock;
	struct node_map uverbs, umad;
} nodes = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.uverbs = { "/sys/class/infiniband_verbs", "uverbs", false, NULL, 0, false },
	.umad = { "/sys/class/infiniband_mad", "umad", true, NULL, 0, false },
};

static int compare(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	int r = strcmp(x->device, y->device);

	return r ? r : (x->port > y->port) - (x->port < y->port);
}

static int ask(const struct node_map *m, const char *name, struct node *ret)
{
	_cleanup_(closep) int dir = sysfs_open_directory("%s/%s", m->directory, name);
	struct node node = { .port = 0 };
	int r;

	if (dir < 0)
		return dir;
	if (strlen(name) >= sizeof(node.name))
		return -ENAMETOOLONG;
	STRSCPY(node.name, name);
	r = attr_read(dir, "ibdev", node.device, sizeof(node.device));
	if (r >= 0 && m->per_port)
		r = attr_read_u32(dir, "port", &node.port);
	if (r >= 0)
		*ret = node;
	return r;
}

static void map_forget(struct node_map *m)
{
	free(m->list);
	m->list = NULL;
	m->n = 0;
}

static int map_build(struct node_map *m)
{
	_cleanup_(closedirp) DIR *dir = sysfs_read_directory("%s", m->directory);
	struct dirent *de;
	size_t room = 0;

	map_forget(m);
	m->partial = false;
	/* A tree may well be without what its host has. */
	if (!dir)
		return errno == ENOENT && !sysfs_is_live() ? -ENODATA : -errno;
	while ((de = readdir(dir))) {
		if (strncmp(de->d_name, m->prefix, strlen(m->prefix)) != 0)
			continue;
		if (m->n == room) {
			struct node *list;

			room = MAX(2 * room, 16u);
			list = reallocarray(m->list, room, sizeof(*list));
			if (!list)
				return -ENOMEM;
			m->list = list;
		}
		if (ask(m, de->d_name, &m->list[m->n]) >= 0)
			m->n++;
		else
			m->partial = true;
	}
	if (m->n)
		qsort(m->list, m->n, sizeof(m->list[0]), compare);
	return 0;
}

/* A node that is remembered and still says the same. */
static const struct node *map_look(const struct node_map *m, const struct node *key)
{
	const struct node *found;
	struct node now;

	if (!m->n)
		return NULL;
	found = bsearch(key, m->list, m->n, sizeof(m->list[0]), compare);
	if (!found || ask(m, found->name, &now) < 0 || compare(&now, key) != 0)
		return NULL;
	return found;
}

static int find(struct node_map *m, const char *device, uint32_t port, char *buf, size_t size)
{
	struct node key = { .port = port };
	const struct node *found;
	int r = 0;

	STRSCPY(key.device, device);
	pthread_mutex_lock(&nodes.lock);
	found = map_look(m, &key);
	if (!found) {
		r = map_build(m);
		if (r >= 0)
			found = map_look(m, &key);
	}
	if (found)
		snprintf(buf, size, "%s", found->name);
	else if (r >= 0)
		r = m->partial ? -ENODATA : -ENOENT;
	pthread_mutex_unlock(&nodes.lock);
	return r;
}

int sysfs_find_uverbs(const char *device, char *buf, size_t size)
{
	return find(&nodes.uverbs, device, 0, buf, size);
}

int sysfs_find_umad(const char *device, uint32_t port, char *buf, size_t size)
{
	return find(&nodes.umad, device, port, buf, size);
}

void sysfs_nodes_forget(void)
{
	pthread_mutex_lock(&nodes.lock);
	map_forget(&nodes.uverbs);
	map_forget(&nodes.umad);
	pthread_mutex_unlock(&nodes.lock);
}
