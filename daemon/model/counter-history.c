/* SPDX-License-Identifier: MIT */
#include "counter-history.h"

#include "macros.h"

struct counter_history *counter_history_new(const usec_t *windows, size_t n)
{
	struct counter_history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->n_spans = MIN(n, (size_t)COUNTER_SPANS_MAX);
	for (size_t i = 0; i < h->n_spans; i++)
		h->spans[i].window = windows[i];
	return h;
}

bool counter_history_is_for(const struct counter_history *h, const usec_t *windows, size_t n)
{
	if (h->n_spans != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (h->spans[i].window != windows[i])
			return false;
	return true;
}

static void drop_first(struct counter_span *s, size_t n)
{
	s->n -= n;
	memmove(s->samples, s->samples + n, s->n * sizeof(s->samples[0]));
}

/* The sample that a window ending at that moment begins with: the last one before it, if any. */
static size_t window_begin(const struct counter_span *s, usec_t at)
{
	usec_t begin = usec_sub(at, s->window);
	size_t i = 0;

	while (i + 1 < s->n && s->samples[i + 1].at <= begin)
		i++;
	return i;
}

/* The newest reading is always there; it gives way to the next one while that is in the same step. */
static void span_add(struct counter_span *s, usec_t at, uint64_t value)
{
	usec_t step = s->window / COUNTER_WINDOW_STEPS;

	if (s->n >= 2 && at < usec_add(s->samples[s->n - 2].at, step))
		s->n--;
	drop_first(s, s->n ? window_begin(s, at) : 0);
	if (s->n == ARRAY_SIZE(s->samples))
		drop_first(s, 1);
	s->samples[s->n++] = (struct counter_sample){ .at = at, .value = value };
}

void counter_history_add(struct counter_history *h, usec_t at, uint64_t value)
{
	for (size_t i = 0; i < h->n_spans; i++)
		span_add(&h->spans[i], at, value);
}

void counter_history_drop(struct counter_history *h, usec_t before)
{
	for (size_t i = 0; i < h->n_spans; i++) {
		struct counter_span *s = &h->spans[i];
		size_t n = 0;

		while (n < s->n && s->samples[n].at < before)
			n++;
		drop_first(s, n);
	}
}

bool counter_history_rise(const struct counter_history *h, size_t span, usec_t at, uint64_t value,
	struct counter_rise *ret)
{
	const struct counter_span *s = &h->spans[span];
	const struct counter_sample *from;

	if (s->n == 0)
		return false;
	from = &s->samples[window_begin(s, at)];
	if (from->at >= at)
		return false;
	/* Also right after a wrap. */
	*ret = (struct counter_rise){ .by = value - from->value, .during = at - from->at };
	return true;
}
