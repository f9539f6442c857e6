/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <strings.h>

#include "config.h"
#include "macros.h"
#include "names.h"
#include "parse.h"
#include "selector.h"

#define WORD_MAX 64

static int refuse(char *why, size_t why_size, const char *fmt, ...) _printf_(3, 4);

static int refuse(char *why, size_t why_size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, why_size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* "0a7f:bc12:45ef:d23b", "0a7fbc1245efd23b", either with 0x before it. */
static int parse_guid(const char *s, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned digits = 0;

	if (strncasecmp(s, "0x", 2) == 0)
		s += 2;
	for (; *s; s++) {
		if (*s == ':' && digits > 0 && digits % 4 == 0 && s[1])
			continue;
		if (!isxdigit((unsigned char)*s) || ++digits > 16)
			return -EINVAL;
		v = v << 4 |
		    (uint64_t)(isdigit((unsigned char)*s) ? *s - '0'
							  : tolower((unsigned char)*s) - 'a' + 10);
	}
	if (digits != 16)
		return -EINVAL;
	*ret = v;
	return 0;
}

/* "0000:3b:00.0" or "3b:00.0" (domain 0), to the form that sysfs has. */
static int parse_pci(const char *s, char **ret)
{
	unsigned domain = 0, bus, slot, function;
	size_t colons = 0;
	int n = -1;
	char *t;

	for (const char *p = s; *p; p++) {
		/* sscanf() would take signs, spaces and prefixes. */
		if (!isxdigit((unsigned char)*p) && *p != ':' && *p != '.')
			return -EINVAL;
		if (*p == ':')
			colons++;
	}
	if (colons == 2) {
		if (sscanf(s, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &n) != 4)
			return -EINVAL;
	} else if (sscanf(s, "%2x:%2x.%1x%n", &bus, &slot, &function, &n) != 3) {
		return -EINVAL;
	}
	if (n < 0 || s[n] || slot > 0x1f || function > 7)
		return -EINVAL;
	if (asprintf(&t, "%04x:%02x:%02x.%x", domain, bus, slot, function) < 0)
		return -ENOMEM;
	*ret = t;
	return 0;
}

static int set_string(char **field, const char *value)
{
	char *t = strdup(value);

	if (!t)
		return -ENOMEM;
	free(*field);
	*field = t;
	return 0;
}

/* "NAMEGLOB" or, for ports, "NAMEGLOB/N". */
static int parse_glob(struct selector *s, char *word, bool with_port, char *why, size_t why_size)
{
	char *slash = strchr(word, '/');

	if (s->name_glob)
		return refuse(why, why_size, "two names, \"%s\" and \"%s\"", s->name_glob, word);
	if (slash && !with_port)
		return refuse(why, why_size, "\"%s\" names a port, write a [Port] section", word);
	if (slash) {
		if (parse_u32(slash + 1, &s->port) < 0 || s->port == 0 || s->port > RDMA_PORTS_MAX)
			return refuse(why, why_size, "\"%s\" is not a port number", slash + 1);
		*slash = '\0';
	}
	if (!rdma_name_valid(word) || strpbrk(word, "[]\\"))
		return refuse(why, why_size, "\"%s\" is not a device name or pattern", word);
	return set_string(&s->name_glob, word);
}

/* "key=value"; -EINVAL with why for a key that does not exist or a value that is none. */
static int parse_part(
	struct selector *s, const char *word, const char *value, char *why, size_t why_size)
{
	size_t key = (size_t)(value - word);
	int r = -EINVAL;

	if (!*value)
		return refuse(why, why_size, "\"%s\" needs a value", word);
	if (strncmp(word, "guid=", key) == 0) {
		r = parse_guid(value, &s->guid);
		if (r == 0 && s->guid == 0)
			return refuse(why, why_size, "a zero GUID identifies nothing");
	} else if (strncmp(word, "pci=", key) == 0) {
		free(s->pci);
		s->pci = NULL;
		r = parse_pci(value, &s->pci);
	} else if (strncmp(word, "netdev=", key) == 0) {
		if (netdev_name_valid(value))
			r = set_string(&s->netdev, value);
	} else if (strncmp(word, "driver=", key) == 0) {
		r = set_string(&s->driver, value);
	} else if (strncmp(word, "board=", key) == 0) {
		r = set_string(&s->board, value);
	} else if (strncmp(word, "linklayer=", key) == 0) {
		for (int i = LINK_LAYER_INFINIBAND; i < _LINK_LAYER_MAX; i++)
			if (strcasecmp(value, link_layer_to_string((enum link_layer)i)) == 0) {
				s->link_layer = (enum link_layer)i;
				s->has_link_layer = true;
				r = 0;
			}
	} else {
		return refuse(why, why_size,
			"\"%s\": a selector knows guid= pci= netdev= driver= board= linklayer=",
			word);
	}
	if (r == -EINVAL)
		return refuse(why, why_size, "\"%s\" is not understood", word);
	return r;
}

void selector_done(struct selector *s)
{
	free(s->text);
	free(s->name_glob);
	free(s->pci);
	free(s->netdev);
	free(s->driver);
	free(s->board);
	*s = (struct selector){ 0 };
}

int selector_parse(
	const char *text, bool with_port, struct selector *ret, char *why, size_t why_size)
{
	struct selector s = { 0 };
	char word[WORD_MAX];
	const char *at = text;
	unsigned n = 0;
	int r;

	r = set_string(&s.text, text);
	if (r < 0)
		goto fail;
	for (;; n++) {
		char *value;

		r = next_word(&at, word, sizeof(word));
		if (r == -ENAMETOOLONG)
			r = refuse(why, why_size, "a word of the selector is too long");
		if (r < 0)
			goto fail;
		if (r == 0)
			break;
		value = strchr(word, '=');
		r = value ? parse_part(&s, word, value + 1, why, why_size)
			  : parse_glob(&s, word, with_port, why, why_size);
		if (r < 0)
			goto fail;
	}
	if (n == 0) {
		r = refuse(why, why_size, "no selector; \"*\" stands for every device");
		goto fail;
	}
	*ret = s;
	return 0;
fail:
	selector_done(&s);
	return r;
}

bool glob_match(const char *glob, const char *s)
{
	const char *star = NULL, *back = NULL;

	while (*s) {
		if (*glob == '*') {
			star = glob++;
			back = s;
		} else if (*glob && (*glob == '?' || *glob == *s)) {
			glob++;
			s++;
		} else if (star) {
			glob = star + 1;
			s = ++back;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

/* The port knows best; without one the protocol tells, where it is known. */
static enum link_layer effective_link_layer(
	const struct device_facts *d, const struct port_facts *p)
{
	if (p && p->link_layer != LINK_LAYER_UNKNOWN)
		return p->link_layer;
	if (streq(d->protocol, "ib") || streq(d->protocol, "opa"))
		return LINK_LAYER_INFINIBAND;
	if (streq(d->protocol, "roce") || streq(d->protocol, "iw"))
		return LINK_LAYER_ETHERNET;
	return LINK_LAYER_UNKNOWN;
}

bool selector_match(
	const struct selector *s, const struct device_facts *d, const struct port_facts *p)
{
	if (s->name_glob && !glob_match(s->name_glob, d->name))
		return false;
	if (s->port && (!p || p->number != s->port))
		return false;
	if (s->guid && s->guid != d->node_guid)
		return false;
	if (s->pci && strcasecmp(s->pci, d->pci_address) != 0)
		return false;
	if (s->netdev && !streq(s->netdev, d->parent_netdev) && !(p && streq(s->netdev, p->netdev)))
		return false;
	if (s->driver && !streq(s->driver, d->driver))
		return false;
	if (s->board && !streq(s->board, d->board_id))
		return false;
	return !s->has_link_layer || effective_link_layer(d, p) == s->link_layer;
}
