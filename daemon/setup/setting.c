/* SPDX-License-Identifier: MIT */
#include "setting.h"

#include <errno.h>

#include "macros.h"
#include "names.h"
#include "parse.h"

static const struct setting settings[_STEP_KIND_MAX] = {
	[STEP_NETNS_MODE] = { "netns mode", SETTING_OF_HOST },
	[STEP_PRIVILEGED_QKEY] = { "privileged QKEY", SETTING_OF_HOST },
	[STEP_DEVICE_NAME] = { "device name", SETTING_OF_DEVICE, .disruptive = true },
	[STEP_NODE_DESCRIPTION] = { "node description", SETTING_OF_DEVICE },
	[STEP_ADAPTIVE_MODERATION] = { "adaptive moderation", SETTING_OF_DEVICE },
	[STEP_ROCE_MODE] = { "RoCE mode", SETTING_OF_PORT, .helper_reads = true },
	[STEP_ROCE_TOS] = { "RoCE ToS", SETTING_OF_PORT, .helper_reads = true },
	[STEP_OPTIONAL_COUNTERS] = { "optional counters", SETTING_OF_PORT },
	[STEP_ADD_IPOIB] = { "IPoIB child", SETTING_OF_PARENT },
	/* Both flush all paths and, the first, change the MTU: RTM_NEWLINK, ipoib_set_mode(). */
	[STEP_IPOIB_MODE] = { "IPoIB mode", SETTING_OF_NETDEV, .disruptive = true },
	[STEP_IPOIB_UMCAST] = { "IPoIB umcast", SETTING_OF_NETDEV },
	[STEP_NETDEV_MTU] = { "MTU", SETTING_OF_NETDEV },
};

const struct setting *setting_get(enum step_kind kind)
{
	return step_kind_is_setting(kind) ? &settings[kind] : NULL;
}

const char *setting_switch(int value)
{
	return value < 0 ? "" : value ? "on" : "off";
}

const char *setting_roce_mode(enum gid_type type)
{
	return type == GID_TYPE_ROCE_V1 ? "v1" : type == GID_TYPE_ROCE_V2 ? "v2" : "";
}

uint16_t setting_pkey(const char *value)
{
	char *end;
	unsigned long v = strtoul(value, &end, 16);

	return *end || v > UINT16_MAX ? 0 : (uint16_t)v;
}

static bool is_number(const char *value, uint32_t min, uint32_t max)
{
	uint32_t v;

	return parse_u32(value, &v) == 0 && v >= min && v <= max;
}

static bool is_switch(const char *value)
{
	return streq(value, "on") || streq(value, "off");
}

/* Words of printable characters with one space between them. */
static bool is_word_list(const char *value)
{
	char before = ' ';

	for (; *value; before = *value++)
		if (*value == ' ' ? before == ' ' : *value < '!' || *value > '~')
			return false;
	return before != ' ';
}

static bool is_pkey(const char *value)
{
	if (!*value)
		return true;
	return strlen(value) == 6 && strncmp(value, "0x", 2) == 0 &&
	       strspn(value + 2, "0123456789abcdef") == 4 && (setting_pkey(value) & 0x7fff) != 0;
}

bool setting_value_valid(enum step_kind kind, const char *value)
{
	switch (kind) {
	case STEP_NETNS_MODE:
		return streq(value, "shared") || streq(value, "exclusive");
	case STEP_PRIVILEGED_QKEY:
	case STEP_ADAPTIVE_MODERATION:
	case STEP_IPOIB_UMCAST:
		return is_switch(value);
	case STEP_DEVICE_NAME:
		return rdma_name_valid(value);
	case STEP_NODE_DESCRIPTION:
		return *value && strlen(value) <= NODE_DESC_MAX;
	case STEP_ROCE_MODE:
		return streq(value, "v1") || streq(value, "v2");
	case STEP_ROCE_TOS:
		return is_number(value, 0, 255);
	case STEP_OPTIONAL_COUNTERS:
		return is_word_list(value);
	case STEP_ADD_IPOIB:
		return is_pkey(value);
	case STEP_IPOIB_MODE:
		return streq(value, "datagram") || streq(value, "connected");
	case STEP_NETDEV_MTU:
		return is_number(value, 68, 65520); /* IPOIB_CM_MTU, drivers/infiniband/ulp/ipoib */
	case STEP_LOAD_MODULE:
	case STEP_ADD_LINK:
	case _STEP_KIND_MAX:
		break;
	}
	return false;
}

static bool has_word(const char *list, const char *word, size_t n)
{
	for (const char *at = list; *at;) {
		size_t length = strcspn(at, " ");

		if (length == n && strncmp(at, word, n) == 0)
			return true;
		at += length + (at[length] == ' ');
	}
	return false;
}

static bool has_words(const char *list, const char *words)
{
	for (const char *at = words; *at;) {
		size_t n = strcspn(at, " ");

		if (!has_word(list, at, n))
			return false;
		at += n + (at[n] == ' ');
	}
	return true;
}

bool setting_satisfied(enum step_kind kind, const char *found, const char *wanted)
{
	if (kind == STEP_OPTIONAL_COUNTERS)
		return has_words(found, wanted);
	if (kind == STEP_ADD_IPOIB && *wanted)
		return ((setting_pkey(found) ^ setting_pkey(wanted)) & 0x7fff) == 0;
	return kind == STEP_ADD_IPOIB ? *found != '\0' : streq(found, wanted);
}

/*
 * A host's name may hold any byte (sethostname(2)); this text goes to the bus, into JSON and into a file of
 * lines, and what is no text would never read back as it was set.
 */
static void host_as_text(char buf[NODE_DESC_MAX + 1], const char *hostname)
{
	bool text = utf8_valid(hostname, strlen(hostname));
	size_t n = 0;

	/* U+0080 to U+009F are control characters, too. */
	for (const char *c = hostname; *c; c++)
		text = text && !((unsigned char)c[0] == 0xc2 && (unsigned char)c[1] < 0xa0);
	for (; hostname[n] && n < NODE_DESC_MAX; n++) {
		unsigned char c = (unsigned char)hostname[n];

		buf[n] = c < ' ' || c == 0x7f || (c > 0x7f && !text) ? '?' : hostname[n];
	}
	buf[n] = '\0';
}

const char *node_description(
	char buf[NODE_DESC_MAX + 1], const char *template, const char *hostname, const char *device)
{
	char host[NODE_DESC_MAX + 1];
	const char *stripped;
	size_t n = 0;

	host_as_text(host, hostname);
	for (const char *t = template; *t && n < NODE_DESC_MAX; t++) {
		char self[2] = { *t, '\0' };
		const char *text = self;

		if (*t == '%' && t[1]) {
			t++;
			text = *t == 'H' ? host : *t == 'd' ? device : "%";
		}
		n += (size_t)snprintf(buf + n, NODE_DESC_MAX + 1 - n, "%s", text);
	}
	buf[MIN(n, (size_t)NODE_DESC_MAX)] = '\0';
	utf8_trim(buf);
	/* What is cut behind a word would end in a blank, which is not read back. */
	stripped = strstrip(buf);
	memmove(buf, stripped, strlen(stripped) + 1);
	return buf;
}
