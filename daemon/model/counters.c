/* SPDX-License-Identifier: MIT */
#include "counters.h"

#include <errno.h>
#include <inttypes.h>

#include "counter-width.h"
#include "macros.h"

/*
 * A 64-bit counter that falls from near its end to near 0 has wrapped, if it rose by less than this
 * meanwhile: nothing counts 2^56 of anything between two readings.
 */
#define WRAP_MAX (UINT64_C(1) << 56)

static void counters_free(struct counter *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(c[i].name);
		free(c[i].safe_name);
		free(c[i].history);
	}
	free(c);
}

struct counter_table *counter_table_free(struct counter_table *t)
{
	if (t) {
		counters_free(t->counters, t->n);
		counters_free(t->next, t->next_have);
		free(t);
	}
	return NULL;
}

/* ---- names ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static bool is_word(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!is_word_char(*p))
			return false;
	return name[0] && !is_digit(name[0]);
}

void counter_safe_name(char ret[COUNTER_NAME_MAX], const char *name)
{
	snprintf(ret, COUNTER_NAME_MAX, "%s%s", is_digit(name[0]) || !name[0] ? "_" : "", name);
	for (char *p = ret; *p; p++)
		if (!is_word_char(*p))
			*p = '_';
}

/* FNV-1a, as a suffix. */
static void mark_name(char word[COUNTER_NAME_MAX], const char *name, uint32_t salt)
{
	enum { SUFFIX = 9 }; /* "_0123abcd" */
	size_t n = MIN(strlen(word), (size_t)COUNTER_NAME_MAX - 1 - SUFFIX);
	uint32_t h = 2166136261u + salt;

	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	snprintf(word + n, COUNTER_NAME_MAX - n, "_%08" PRIx32, h);
}

const char *counter_safe(const struct counter *c)
{
	return c->safe_name ?: c->name;
}

static bool word_is_taken(const struct counter *c, size_t n, size_t self, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (i != self && (streq(c[i].name, word) || streq_ptr(c[i].safe_name, word)))
			return true;
	return false;
}

/* Whether another name becomes this word, too. */
static bool word_is_of_two(const struct counter *c, size_t n, size_t self, const char *word)
{
	char other[COUNTER_NAME_MAX];

	for (size_t i = 0; i < n; i++) {
		counter_safe_name(other, c[i].name);
		if (i != self && streq(other, word))
			return true;
	}
	return false;
}

/* Most names are words already and cost nothing. */
static int make_safe_names(struct counter *c, size_t n)
{
	char word[COUNTER_NAME_MAX];

	for (size_t i = 0; i < n; i++) {
		bool twice = false;

		for (size_t k = 0; k < i && !twice; k++)
			twice = streq(c[k].name, c[i].name);
		if (is_word(c[i].name) && !twice)
			continue;
		counter_safe_name(word, c[i].name);
		if (word_is_of_two(c, n, i, word))
			mark_name(word, c[i].name, 0);
		for (uint32_t salt = 1; word_is_taken(c, n, i, word); salt++) {
			counter_safe_name(word, c[i].name);
			mark_name(word, c[i].name, salt);
		}
		c[i].safe_name = strdup(word);
		if (!c[i].safe_name)
			return -ENOMEM;
	}
	return 0;
}

static struct counter *find_counter(const struct counter_table *t, const char *name)
{
	for (size_t i = 0; t && i < t->n; i++)
		if (streq(t->counters[i].name, name))
			return &t->counters[i];
	return NULL;
}

const struct counter *counter_table_find(const struct counter_table *t, const char *name)
{
	return find_counter(t, name);
}

static void forget_next(struct counter_table *t)
{
	counters_free(t->next, t->next_have);
	t->next = NULL;
	t->next_set = 0;
	t->next_n = t->next_have = 0;
}

static void set_width(struct counter *c)
{
	if (c->width_refuted)
		c->width = 0;
}

/* The next set is complete: it takes over the history of the names that stay. */
static int replace_set(struct counter_table *t)
{
	int r;

	r = make_safe_names(t->next, t->next_n);
	if (r < 0) {
		forget_next(t);
		return r;
	}
	for (size_t i = 0; i < t->next_n; i++) {
		struct counter *old = find_counter(t, t->next[i].name);
		struct counter fresh = t->next[i];

		if (!old)
			continue;
		t->next[i] = *old;
		old->history = NULL;
		t->next[i].name = fresh.name;
		t->next[i].safe_name = fresh.safe_name;
		t->next[i].width = fresh.width;
		t->next[i].flags = fresh.flags;
		set_width(&t->next[i]);
	}
	counters_free(t->counters, t->n);
	t->counters = TAKE_PTR(t->next);
	t->n = t->next_n;
	t->set = t->next_set;
	t->next_have = 0;
	forget_next(t);
	return 0;
}

static int begin_set(struct counter_table *t, const struct counter_name *f)
{
	forget_next(t);
	t->next = calloc(f->n, sizeof(*t->next));
	if (!t->next)
		return -ENOMEM;
	t->next_set = f->set;
	t->next_n = f->n;
	return 0;
}

static int add_name(struct counter_table *t, const struct counter_name *f)
{
	struct counter *c = &t->next[f->at];

	c->name = strndup(f->name, sizeof(f->name) - 1);
	if (!c->name) {
		forget_next(t);
		return -ENOMEM;
	}
	t->next_have++;
	c->width = f->width;
	c->flags = f->flags;
	return t->next_have == t->next_n ? replace_set(t) : 0;
}

int counter_table_name(struct counter_table **table, const struct counter_name *f)
{
	struct counter_table *t = *table;
	int r;

	if (f->set == 0 || f->n == 0 || f->n > COUNTERS_MAX || f->at >= f->n || f->width > 64)
		return -EINVAL;
	if (!t)
		t = *table = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	if (f->set == t->set)
		return 0; /* told again */
	if (f->at == 0) {
		r = begin_set(t, f);
		if (r < 0)
			return r;
	}
	if (f->set != t->next_set || f->n != t->next_n || f->at != t->next_have)
		return -EINVAL;
	return add_name(t, f);
}

bool counter_table_has_names(const struct counter_table *t)
{
	return t && t->set != 0;
}

/* ---- values ---- */

bool counter_is_saturated(const struct counter *c)
{
	return c->known && c->width > 0 && c->value == counter_width_max(c->width);
}

static void rebase(struct counter *c, uint64_t value, struct timepoint now)
{
	c->base = value;
	c->base_at = now;
	c->previous_at = 0;
}

static void see_value(struct counter *c, uint64_t value, struct timepoint now)
{
	bool backwards = c->known && value < c->value && !(c->flags & COUNTER_GAUGE);

	if (c->width > 0 && value > counter_width_max(c->width)) {
		c->width_refuted = true;
		set_width(c);
	}
	/* What is narrower sticks and never wraps; what may be does not tell at how many bits. */
	if (backwards && (c->width == 0 || c->width == 64) && value - c->value < WRAP_MAX)
		backwards = false;
	if (!c->known || backwards) {
		c->resets += backwards;
		rebase(c, value, now);
		if (c->history)
			counter_history_drop(c->history, USEC_INFINITY);
	} else {
		c->previous = c->value;
		c->previous_at = c->read_at.mono;
	}
	c->value = value;
	c->read_at = now;
	c->known = true;
	c->stale = false;
	if (c->history)
		counter_history_add(c->history, now.mono, value);
}

int counter_watch(struct counter *c, const usec_t *windows, size_t n)
{
	if (c->history && counter_history_is_for(c->history, windows, n))
		return 0;
	free(c->history);
	c->history = NULL;
	if (n == 0)
		return 0;
	c->history = counter_history_new(windows, n);
	if (!c->history)
		return -ENOMEM;
	if (c->known)
		counter_history_add(c->history, c->read_at.mono, c->value);
	return 0;
}

void counter_table_restart(struct counter_table *t, usec_t now)
{
	for (size_t i = 0; t && i < t->n; i++)
		if (t->counters[i].history)
			counter_history_drop(t->counters[i].history, now);
}

int counter_table_values(
	struct counter_table *t, const struct counter_values *f, struct timepoint now)
{
	if (f->n > COUNTERS_PER_PIECE)
		return -EINVAL;
	if (f->set != t->set)
		return 0;
	if (f->first > t->n || f->n > t->n - f->first)
		return -EINVAL;
	for (size_t i = 0; i < f->n; i++) {
		struct counter *c = &t->counters[f->first + i];

		if (f->known >> i & 1)
			see_value(c, f->values[i], now);
		else
			c->stale = c->known;
	}
	return 0;
}

int counter_table_finish(
	struct counter_table **table, const struct counters_done *f, struct timepoint now)
{
	struct counter_table *t = *table;

	if (!t)
		t = *table = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->done_at = now;
	t->error = f->error;
	t->n_all = f->n;
	t->unreadable = f->unreadable;
	if (f->error == 0)
		return 0;
	if (f->error == -ENOENT && f->n == 0) {
		/* The driver has none any more: an empty set, which has no names to tell. */
		counters_free(t->counters, t->n);
		t->counters = NULL;
		t->n = 0;
		t->set = 0;
	}
	for (size_t i = 0; i < t->n; i++)
		t->counters[i].stale = t->counters[i].known;
	return 0;
}

bool counter_delta(const struct counter *c, uint64_t *ret)
{
	if (!c->known || (c->flags & COUNTER_GAUGE))
		return false;
	*ret = c->value - c->base; /* also right after a wrap */
	return true;
}

bool counter_rate(const struct counter *c, double *ret)
{
	if (!c->known || c->stale || (c->flags & COUNTER_GAUGE) || c->previous_at == 0 ||
		c->read_at.mono <= c->previous_at)
		return false;
	if (counter_is_saturated(c) && c->previous == c->value)
		return false;
	*ret = (double)(c->value - c->previous) * (double)USEC_PER_SEC /
	       (double)(c->read_at.mono - c->previous_at);
	return true;
}

bool counter_is_words(enum counter_source source, const char *name)
{
	return source == COUNTER_PMA &&
	       (streq(name, "port_xmit_data") || streq(name, "port_rcv_data"));
}
