/* SPDX-License-Identifier: MIT */
/*
 * The plan: what the configuration wants of this host, what is there, and the steps from the one to
 * the other. PURE. plan_update() is called whenever something relevant may have changed (devices,
 * netdevs, modules, configuration) and when plan_recheck() says so; the steps that it finds due go
 * to the setup helper one at a time (apply.h), in order: the host, modules, links, devices, IPoIB.
 */
#pragma once

#include "config.h"
#include "memory.h"
#include "model.h"
#include "protocol.h"

enum module_state {
	MODULE_STATE_NONE,
	MODULE_STATE_CHANGING, /* its initialisation or removal is running */
	MODULE_STATE_LIVE,
	MODULE_STATE_BUILT_IN,
};

struct plan_input {
	const struct config *config;
	const struct model *model;
	/* Asked for a few names per update; look.h has the real one. */
	enum module_state (*module_state)(const char *module, void *user);
	void *user;
	const char *hostname; /* that node descriptions say */
	const char *rival;    /* who is at the drivers now: nothing is begun; NULL nobody */
	bool reading;         /* facts are being read anew for plan_order(): orders stand */
	usec_t now;           /* monotonic */
};

/* How it went with one step so far; lives as long as the step is planned. */
struct step_run {
	unsigned attempts; /* since something relevant changed */
	usec_t last_try;
	usec_t next_try;      /* USEC_INFINITY: only when something relevant changes */
	uint64_t fingerprint; /* of what was relevant at the last attempt */
	/* Of the last attempt; shown until the next one ends, so that retries do not flicker.
	 * PENDING: there was none. */
	enum step_result result;
	char detail[REASON_TEXT_MAX];
	char remedy[REASON_TEXT_MAX];
};

#define STEP_OBJECT_MAX  (STEP_NAME_MAX + 8)
#define STEP_SUBJECT_MAX 64 /* as in struct reason */

struct step {
	enum step_kind kind;
	/* Module, link, device ("mlx5_0"), port ("mlx5_0/1"), netdev, or SETTING_HOST. */
	char object[STEP_OBJECT_MAX];
	enum link_type link_type;
	char netdev[IFNAMSIZ]; /* of a link: what it is on; of an IPoIB child: its parent */
	/* Of a setting, as setting.h has them: */
	uint32_t index; /* of the device, or of the netdev; STEP_INDEX_NONE it is not there */
	uint32_t port;
	char value[STEP_VALUE_MAX];
	const char *asked_by; /* of a module: the settings that ask for it; else NULL */

	/* What is shown. */
	enum step_result result;
	char found[REASON_TEXT_MAX];
	char wanted[REASON_TEXT_MAX];
	char detail[REASON_TEXT_MAX]; /* why, when there is something to say */
	char remedy[REASON_TEXT_MAX];
	bool hidden;      /* Drift=ignore: not to be shown */
	bool after_mode;  /* an MTU: the mode of its netdev comes first */
	bool awaits_pkey; /* the port's table is to be read again now and then: no event may tell */
	bool disruptive;  /* it disturbs whoever uses the object */
	bool has_condition;
	enum reason_id condition;       /* with has_condition */
	char subject[STEP_SUBJECT_MAX]; /* of the condition: "rxe0", "mlx5_0/1 roce-mode" */

	/* The plan's own. */
	bool wanted_run; /* differs from the configuration, and may be mended */
	bool repairs;    /* running it would undo what somebody did */
	uint64_t fingerprint;
	uint32_t ifindex;                 /* of the netdev that is there, 0 none */
	bool ordered, ordered_disruptive; /* by plan_order(), and not carried out yet */
	char interim[STEP_VALUE_MAX];     /* a value to set first, to make way; "" none */
	/* Why the last order could not be carried out, and what to do; "" it could, or there was none. */
	char refused[REASON_TEXT_MAX], refused_remedy[REASON_TEXT_MAX];
	char read_back[STEP_VALUE_MAX]; /* what the helper found; "" nothing */
	struct step_run run;
	usec_t absent_since; /* when its link or child was first missed, 0: it is there */
	usec_t made_at;      /* made or set, and not yet seen in the model; 0 otherwise */
	bool wants_look;     /* it is in force as far as is known: read it again */
	bool by_helper;      /* what is found is what the helper read */
	usec_t looked_at;    /* when it was last asked to, 0: at once */
	usec_t read_at;      /* when it read what there is in read_back */
	usec_t settles_at;   /* when time alone changes the result, 0: never */
	bool changed_untold;
	enum step_result told_result;
	char told_detail[REASON_TEXT_MAX];
};

/* A step that is with the helper. */
struct plan_run {
	bool active;
	struct setup_request request;
	uint32_t ifindex; /* the netdev that it was planned for */
	bool repairs;
	bool looks; /* it only reads */
	usec_t since;
};

/* Steps run one after the other; only those that hang are not waited for, and so many may hang. */
#define PLAN_RUNS_MAX 4

struct plan {
	struct step *steps; /* in the order in which they run */
	size_t n_steps;
	struct setup_memory memory;
	struct plan_run runs[PLAN_RUNS_MAX];
	uint64_t last_id;
	usec_t recheck;
};

/* Zero-initialise; ->memory may be filled by setup_memory_parse() before the first update. */
void plan_done(struct plan *p);

/*
 * Plans anew. Keeps what is known of steps that stay. Returns 0 or -ENOMEM (then the old plan
 * stands). Look at ->memory.dirty afterwards.
 */
int plan_update(struct plan *p, const struct plan_input *in);

/* The next step to run now; NULL: none is due, or one is running that may yet come to an end soon. */
struct step *plan_next(struct plan *p, usec_t now);

/* plan_next() is handed over: *ret is the request to send. */
void plan_started(struct plan *p, struct step *s, usec_t now, struct setup_request *ret);

/* Its answer is there. plan_update() must follow. 0 or -ENOMEM (of the memory). */
int plan_finished(struct plan *p, const struct setup_answer *answer, usec_t now);

/* The monotonic time at which to call plan_update() again, USEC_INFINITY: not by time. */
usec_t plan_recheck(const struct plan *p);

/* Whether no step is running or due: what is left waits for something or has failed. */
bool plan_settled(const struct plan *p);

/* A module was unloaded, maybe to be loaded again at once: its links went with it. */
void plan_module_removed(struct plan *p, const char *module, usec_t now);

/* Whether a step waits for a P_Key to come. */
bool plan_awaits_pkey(const struct plan *p);

/* The administrator asks (reload): failed steps are tried again, repairs count from 0. */
void plan_retry(struct plan *p);

/*
 * The administrator orders it ("rdmactl apply"): every step that is not in force is tried now, also
 * where somebody changed it, where [Setup] Mode=report, and, with disruptive, where it disturbs.
 * object: only the steps of that device (its ports' as well), port, link, netdev or module, or "host";
 * NULL all. Returns how many there are.
 */
size_t plan_order(struct plan *p, const char *object, bool disruptive);

/* A standing condition of the host; the strings belong to the plan. As health/judge.h has it. */
struct plan_condition {
	enum reason_id id;
	const char *subject, *found, *wanted, *remedy;
};

/* Fills in at most max of them, in the order of the steps; returns how many. */
size_t plan_conditions(const struct plan *p, struct plan_condition *ret, size_t max);

/*
 * The next step whose result is news since it was last returned here, NULL when there is none.
 * Pending steps and those that were in order from the beginning are no news.
 */
struct step *plan_next_news(struct plan *p);

/* A sentence about a step for the log, beginning with the object; returns buf. */
const char *step_message(const struct step *s, char *buf, size_t size);

/* What an administrator would type for it: "rdma dev set mlx5_0 name ib0"; returns buf. */
#define STEP_COMMAND_MAX 512
const char *step_command(const struct step *s, char buf[STEP_COMMAND_MAX]);
