/* SPDX-License-Identifier: MIT */
/*
 * The configuration as the program uses it. Loading reads files (load.c); everything else is PURE.
 * DESIGN section 6 is the contract; only the keys that this version acts on exist here, the reader
 * names any other as unknown with its file and line.
 */
#pragma once

#include "details.h"
#include "names.h"
#include "timespan.h"

enum setup_mode {
	SETUP_MODE_APPLY,
	SETUP_MODE_REPORT,
	SETUP_MODE_OFF,
	_SETUP_MODE_MAX,
};
DECLARE_STRING_TABLE(setup_mode, enum setup_mode);

enum drift_mode {
	DRIFT_REPORT,
	DRIFT_REPAIR,
	DRIFT_IGNORE,
	_DRIFT_MODE_MAX,
};
DECLARE_STRING_TABLE(drift_mode, enum drift_mode);

enum monitor_mode {
	MONITOR_AUTO,
	MONITOR_EVENTS, /* hold a verbs context even where that pins the driver's module */
	MONITOR_READS,  /* netlink and reads only, never a verbs context */
	MONITOR_NO,     /* the device is not opened and not read at all */
	_MONITOR_MODE_MAX,
};
DECLARE_STRING_TABLE(monitor_mode, enum monitor_mode);

/* For devices: auto, yes (UP), no (ANY). For ports: auto, up, down, any. */
enum expect {
	EXPECT_AUTO,
	EXPECT_UP,
	EXPECT_DOWN,
	EXPECT_ANY,
	_EXPECT_MAX,
};
DECLARE_STRING_TABLE(expect, enum expect); /* the port words */

/* What it is when a counter rises too fast. */
enum counter_alarm {
	ALARM_NONE, /* information only */
	ALARM_NOTICE,
	ALARM_DEGRADED,
	ALARM_FAILED,
	_COUNTER_ALARM_MAX,
	ALARM_DEFAULT = -1,
};
DECLARE_STRING_TABLE(counter_alarm, enum counter_alarm); /* "none" "notice" "degraded" "failed" */

/* Where something was written. */
struct config_origin {
	char *file; /* owned; NULL: a default */
	unsigned line;
};

/* A selector of [Device SEL] and [Port SEL]: all parts that are set must match. */
struct selector {
	char *text;      /* as written, for messages */
	char *name_glob; /* "*" and "?" only; NULL any */
	uint32_t port;   /* 0 any */
	uint64_t guid;   /* 0 any */
	char *pci;
	char *netdev;
	char *driver;
	char *board;
	enum link_layer link_layer;
	bool has_link_layer;
};

struct config_link {
	char *name;
	enum link_type type;
	char *netdev;
	struct config_origin origin;
};

struct config_device {
	struct selector selector;
	struct config_origin origin;
	bool has_monitor, has_expect, has_name, has_node_description, has_adaptive_moderation;
	enum monitor_mode monitor;
	enum expect expect;
	char *name;              /* NULL: as it is */
	char *node_description;  /* template, see device_settings; NULL: as it is */
	int adaptive_moderation; /* 1, 0, -1: as it is */
	/* Where these stand; ->file is borrowed from origin. */
	struct config_origin name_at, node_description_at, adaptive_moderation_at;
};

struct config_port {
	struct selector selector;
	struct config_origin origin;
	bool has_expect, has_min_rate, has_link_layer, has_group, has_roce_mode, has_roce_tos;
	enum expect expect;
	uint64_t min_rate_mbps;     /* 0: none */
	enum link_layer link_layer; /* Unknown: any */
	char *group;                /* NULL: none */
	enum gid_type roce_mode;    /* GID_TYPE_UNKNOWN: as it is */
	int roce_tos;               /* -1: as it is */
	char *optional_counters;    /* names with a space between them; NULL: none */
	bool optional_reset;        /* the names of sections before this one do not count */
	/* Where these stand; ->file is borrowed from origin. */
	struct config_origin min_rate_at, link_layer_at;
	struct config_origin roce_mode_at, roce_tos_at, optional_counters_at;
};

/* So many ports like this, for images that go to many hosts. */
struct config_expect {
	char *name;
	struct selector match;  /* of ports; ->text NULL: not given */
	uint32_t count;         /* 0: not given */
	bool any_state;         /* State=any: being there is enough */
	uint64_t min_rate_mbps; /* 0: any rate */
	struct config_origin origin;
};

/*
 * An IPoIB network interface: without parent one that is there already, whose mode, MTU and umcast
 * are set; with a parent one to be made on it.
 */
struct config_ipoib {
	char *name;
	char *parent;  /* NULL: it is there already */
	uint16_t pkey; /* as written, with or without the membership bit; 0: the parent's */
	int connected; /* 1, 0: datagram, -1 as it is */
	uint32_t mtu;  /* 0: as it is */
	int umcast;    /* 1, 0, -1 as it is */
	struct config_origin origin;
	struct config_origin pkey_at; /* where PKey= stands; file owned, too */
};

/* A [Counter NAME] section; what it comes to for one counter tells counter-rule.h. */
struct config_counter {
	char *glob;
	struct config_origin origin;
	bool has_threshold, has_window, has_alarm;
	bool threshold_reset; /* empty: the default again */
	uint64_t threshold;
	usec_t threshold_per; /* 0: a count in the window */
	usec_t window;        /* 0: the default again */
	enum counter_alarm alarm;
	unsigned threshold_line, window_line, alarm_line;
};

/* A line that was left out, and why: "FILE:LINE: text". */
struct config_problem {
	struct config_origin origin;
	char *text;
};

/* Where a key of [Daemon], [Health] or [System] was set, by its place in struct config. */
struct config_set {
	size_t offset;
	struct config_origin origin;
};

/* What the protocol of the ports that are there decides on: modules for InfiniBand and so on. */
enum modules_for {
	MODULES_FOR_INFINIBAND,
	MODULES_FOR_ROCE,
	MODULES_FOR_IWARP,
	_MODULES_FOR_MAX,
};

struct config_modules {
	char **names;
	size_t n;
};

struct config_words; /* words.h */

struct config {
	uint64_t serial; /* no other one that this process has made has the same; never 0 */

	/* [Daemon] */
	usec_t probe_usec;
	usec_t counter_usec;
	usec_t slow_counter_usec;
	usec_t probe_timeout_usec;
	usec_t grace_usec;
	usec_t start_budget_usec;

	/* [Setup] */
	enum setup_mode setup_mode;
	enum drift_mode drift;

	/* [Modules], in the order written */
	char **load;
	size_t n_load;
	char **deny;
	size_t n_deny;
	struct config_modules load_for[_MODULES_FOR_MAX];

	/* [System] */
	int netns_exclusive; /* 1, 0: shared, -1 as it is */
	int privileged_qkey; /* 1, 0, -1 as it is */

	struct config_link *links;
	size_t n_links;
	struct config_device *devices;
	size_t n_devices;
	struct config_port *ports;
	size_t n_ports;
	struct config_expect *expects;
	size_t n_expects;
	struct config_ipoib *ipoibs;
	size_t n_ipoibs;
	struct config_counter *counters;
	size_t n_counters;

	/* [Health] */
	unsigned flap_count; /* 0: flapping is not judged */
	usec_t flap_window_usec;
	usec_t stable_usec;
	usec_t down_delay_usec;
	usec_t degraded_delay_usec;
	usec_t missing_delay_usec;
	usec_t unresponsive_usec;

	struct config_set *set;
	size_t n_set;

	struct config_problem *problems;
	size_t n_problems;

	struct config_words *words; /* made as settings are asked for */
};

/* Where the key behind such a field was set; NULL: it has its default. */
const struct config_origin *config_origin_at(const struct config *c, size_t offset);
#define CONFIG_ORIGIN(c, field) config_origin_at((c), offsetof(struct config, field))

/* A configuration of defaults only, NULL when memory is out. */
struct config *config_new(void);
struct config *config_free(struct config *c);
void config_freep(struct config **c);

/*
 * Reads rdmad.conf and the drop-ins from /etc, /run and /usr/lib below root ("" or "/" for the real
 * one; tests pass a directory). Lines that are wrong and files that cannot be read are left out and
 * listed in ->problems; the rest holds (DESIGN rule 9: whether that is accepted is the caller's to
 * decide). Returns 0 with *ret set, also when no file exists, or -ENOMEM.
 */
int config_load(const char *root, struct config **ret);

/* The same from one file and nothing else. What is wrong with the file itself is a problem, too. */
int config_load_file(const char *path, struct config **ret);

/* "FILE:LINE: TEXT" of a problem, "FILE: TEXT" when it is the whole file's; returns buf. */
const char *config_problem_format(const struct config_problem *p, char *buf, size_t size);

/* What the matching [Device] and [Port] sections come to, the later one winning key by key. */
struct device_settings {
	enum monitor_mode monitor;
	enum expect expect;
	const struct config_origin *monitor_origin,
		*expect_origin; /* of the section; NULL default */
	const char *name;       /* that it is to have; NULL not configured; borrowed, as the next */
	/* UTF-8 with %H for the host's name, %d for the device's, %% for %; may come out too long. */
	const char *node_description;
	int adaptive_moderation; /* 1, 0, -1 not configured */
	/* Where they stand; NULL: not configured. Borrowed. */
	const struct config_origin *name_at, *node_description_at, *adaptive_moderation_at;
};
struct device_settings config_device_settings(const struct config *c, const struct device_facts *f);

struct port_settings {
	enum expect expect;
	const struct config_origin *expect_origin; /* of the section; NULL default */
	uint64_t min_rate_mbps;                    /* 0: not configured */
	enum link_layer link_layer;                /* Unknown: not configured */
	const char *group;                         /* NULL: none; borrowed */
	enum gid_type roce_mode;                   /* v1 or v2; Unknown: not configured */
	int roce_tos;                              /* 0 to 255; -1: not configured */
	/*
	 * Names with a space between them, of all sections that match; NULL: not configured.
	 * Borrowed from the configuration, which keeps it as long as it lives.
	 */
	const char *optional_counters;
	/* Where they stand; NULL: not configured. Borrowed. */
	const struct config_origin *min_rate_at, *link_layer_at;
	const struct config_origin *roce_mode_at, *roce_tos_at;
	const struct config_origin *optional_counters_at; /* the last assignment that adds to it */
	const struct config_link *link;                   /* see config_link_of() */
};
/* port may be all unknown (port_facts_unknown()). */
struct port_settings config_port_settings(
	const struct config *c, const struct device_facts *f, const struct port_facts *port);

/* The [Link NAME] section, NULL when there is none. */
const struct config_link *config_link_by_name(const struct config *c, const char *name);

/*
 * The [Link] section that asks for this software device: of the same type and on the same netdev,
 * whatever the device is called by now (there is one device of a type per netdev, and a rename does
 * not make it another one). NULL when there is none.
 */
const struct config_link *config_link_of(const struct config *c, const struct device_facts *f);

/* The first [Expect] section that counts this port, NULL when none does. p as for selector_match(). */
const struct config_expect *config_expect_of(
	const struct config *c, const struct device_facts *f, const struct port_facts *p);

/* Whether anything here says what has to be there: links, Expect=, [Expect]. */
bool config_expects_anything(const struct config *c);

/* Whether [Modules] Deny= lists this module. */
bool config_module_denied(const struct config *c, const char *module);

/*
 * Parses a selector as written between "[Device " and "]". with_port allows "/N" behind the glob.
 * Returns 0, -ENOMEM, or -EINVAL with a sentence in why.
 */
int selector_parse(
	const char *text, bool with_port, struct selector *ret, char *why, size_t why_size);
void selector_done(struct selector *s);
/* p may be NULL: then "/N" does not match, and netdev= is the netdev of a software link only. */
bool selector_match(
	const struct selector *s, const struct device_facts *d, const struct port_facts *p);
