/* SPDX-License-Identifier: MIT */
#include <stdarg.h>

#include "macros.h"
#include "module-files.h"
#include "nldev.h"
#include "parse.h"
#include "sysfs.h"
#include "text.h"
#include "verify.h"

/* As [Modules] Load= has them. */
#define WORD_MAX 64

struct ability {
	const struct verification *v;
	struct module_files modules;
	bool asked; /* what RDMA netlink says is known */
	struct system_facts system;
	json_t *found; /* what "verify_unsupported" returns */
};

static void cannot(struct ability *a, const struct config_note *note, const char *fmt, ...)
	_printf_(3, 4);

static void cannot(struct ability *a, const struct config_note *note, const char *fmt, ...)
{
	_cleanup_(freep) char *why = NULL, *text = NULL;
	json_t *o = verify_place(&note->origin);
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		why = NULL;
	va_end(ap);
	if (asprintf(&text, "[%s] %s=%s: %s", note->section, note->key, note->value,
		    or_text(why, "")) < 0)
		text = NULL;
	json_object_set_new(o, "Section", json_string(note->section));
	json_object_set_new(o, "Key", json_string(note->key));
	json_object_set_new(o, "Text", json_string(or_text(text, note->key)));
	json_array_append_new(a->found, o);
}

static void check_modules(struct ability *a, const struct config_note *note)
{
	const char *value = note->value;
	char word[WORD_MAX];

	while (next_word(&value, word, sizeof(word)) > 0) {
		struct module_found f = module_find(&a->modules, word);

		if (f.place == MODULE_ABSENT && !f.loaded)
			cannot(a, note, "the kernel %s has no module %s", a->v->host.release, word);
	}
}

static void check_link_type(struct ability *a, const struct config_note *note)
{
	const char *module = streq(note->value, "rxe") ? "rdma_rxe" : note->value;
	struct module_found f = module_find(&a->modules, module);

	if (*note->value && f.place == MODULE_ABSENT && !f.loaded)
		cannot(a, note, "the kernel %s has no module %s", a->v->host.release, module);
}

/* rxe refuses VLANs (rxe_newlink()): their GIDs come with the netdev below; siw takes them. */
static void check_link_netdev(struct ability *a, const struct config_note *note)
{
	const struct config_link *l =
		config_link_by_name(a->v->config, note->section + strlen("Link "));
	char path[64], line[64];

	if (!l || l->type != LINK_TYPE_RXE || !streq(l->netdev, note->value))
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/uevent", l->netdev);
	if (host_read_line(&a->v->host, path, line, sizeof(line)) >= 0 &&
		streq(line, "DEVTYPE=vlan"))
		cannot(a, note,
			"it is a VLAN, and rxe does not run on VLANs: write the interface below "
			"it");
}

/* It makes "rdma_cm" in a configfs that is mounted as soon as rdma_cm is loaded. */
static void check_rdma_cm(struct ability *a, const struct config_note *note)
{
	const struct host_root *h = &a->v->host;
	_cleanup_(strv_freep) char **config = host_list(h, "/sys/kernel/config");

	if (config && config[0] && module_loaded(h, "rdma_cm") &&
		!host_exists(h, "/sys/kernel/config/rdma_cm"))
		cannot(a, note,
			"the kernel %s is built without rdma_cm in configfs "
			"(INFINIBAND_ADDR_TRANS_CONFIGFS)",
			h->release);
}

/* The interface that is there already: itself, or what a child is made on. */
static const char *ipoib_netdev(const struct config *c, const char *section)
{
	const char *name = section + strlen("IPoIB ");

	for (size_t i = 0; i < c->n_ipoibs; i++)
		if (streq(c->ipoibs[i].name, name))
			return or_text(c->ipoibs[i].parent, name);
	return NULL;
}

/*
 * Every IPoIB interface of a port has "mode", unless IPoIB is built without connected mode; a child,
 * which links to another interface, has none in any case.
 */
static void check_ipoib_mode(struct ability *a, const struct config_note *note)
{
	const struct host_root *h = &a->v->host;
	const char *netdev = ipoib_netdev(a->v->config, note->section);
	char path[64], type[16], index[16], link[16];

	if (!streq(note->value, "connected") || !netdev)
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/type", netdev);
	/* ARPHRD_INFINIBAND. */
	if (host_read_line(h, path, type, sizeof(type)) < 0 || !streq(type, "32"))
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/ifindex", netdev);
	if (host_read_line(h, path, index, sizeof(index)) < 0)
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/iflink", netdev);
	if (host_read_line(h, path, link, sizeof(link)) < 0 || !streq(index, link))
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/mode", netdev);
	if (!host_exists(h, path))
		cannot(a, note,
			"IPoIB of the kernel %s has no connected mode (INFINIBAND_IPOIB_CM)",
			h->release);
}

static void check_netns_mode(struct ability *a, const struct config_note *note)
{
	if (*note->value && a->asked && a->system.netns_exclusive < 0)
		cannot(a, note, "the kernel %s has no such mode (those since 5.2 have)",
			a->v->host.release);
}

static void check_privileged_qkey(struct ability *a, const struct config_note *note)
{
	if (*note->value && a->asked && a->system.privileged_qkey < 0)
		cannot(a, note,
			"the kernel %s has no such setting (those since 6.7 have, and updates of "
			"older ones)",
			a->v->host.release);
}

static const struct {
	const char *section, *key;
	void (*check)(struct ability *a, const struct config_note *note);
} checks[] = {
	{ "Modules", "Load", check_modules },
	{ "Modules", "LoadInfiniBand", check_modules },
	{ "Modules", "LoadRoCE", check_modules },
	{ "Modules", "LoadIWARP", check_modules },
	{ "Link", "Type", check_link_type },
	{ "Link", "NetDevice", check_link_netdev },
	{ "IPoIB", "Mode", check_ipoib_mode },
	{ "System", "NetnsMode", check_netns_mode },
	{ "System", "PrivilegedQKey", check_privileged_qkey },
	{ "Port", "RoCEMode", check_rdma_cm },
	{ "Port", "RoCEToS", check_rdma_cm },
};

/* Only where RDMA is: the question would load ib_core. */
static void ask_kernel(struct ability *a)
{
	_cleanup_(nldev_closep) struct nldev *n = NULL;

	if (a->v->host.live && sysfs_have_rdma() && nldev_open(&n) == 0)
		a->asked = nldev_read_system(n, &a->system) == 0;
}

json_t *verify_unsupported(const struct verification *v)
{
	struct ability a = { .v = v, .found = json_array() };
	const struct config_notes *notes = &v->notes;

	module_files_open(&a.modules, &v->host);
	ask_kernel(&a);
	for (size_t i = 0; i < notes->n; i++) {
		const struct config_note *note = &notes->items[i];

		if (!note->key || verify_overridden(notes, note))
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(checks); j++)
			if (config_note_is_of(note, checks[j].section) &&
				streq(note->key, checks[j].key))
				checks[j].check(&a, note);
	}
	module_files_done(&a.modules);
	return a.found;
}
