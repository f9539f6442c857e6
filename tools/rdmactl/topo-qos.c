/* SPDX-License-Identifier: MIT */
/* Flow control and quality of service of a port's network interface, in words. What is not known is left out. */
#include <inttypes.h>
#include <stdarg.h>

#include "macros.h"
#include "text.h"
#include "topo.h"

#define TSA_ETS 2 /* IEEE 802.1Qaz, linux/dcbnl.h */

/* A list of parts with commas between them. */
struct words {
	char *text;
	size_t size;
	FILE *f;
	bool any;
};

static void say(struct words *w, const char *fmt, ...) _printf_(2, 3);
static void say(struct words *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->f)
		return;
	fputs(w->any ? ", " : "", w->f);
	w->any = true;
	va_start(ap, fmt);
	vfprintf(w->f, fmt, ap);
	va_end(ap);
}

static void begin(struct words *w)
{
	*w = (struct words){ 0 };
	w->f = open_memstream(&w->text, &w->size);
}

/* To be freed; "" when there is nothing to say, NULL when memory is out. */
static char *end(struct words *w)
{
	if (!w->f)
		return NULL;
	if (fclose(w->f) == 0)
		return w->text;
	free(w->text);
	return NULL;
}

static void say_pfc(struct words *w, const json_t *pfc)
{
	size_t n = json_array_size(pfc);

	if (!json_is_array(pfc))
		return;
	if (n == 0) {
		say(w, "no PFC");
		return;
	}
	say(w, "PFC on priorit%s", n == 1 ? "y" : "ies");
	for (size_t i = 0; w->f && i < n; i++)
		if (json_is_integer(json_array_get(pfc, i)))
			fprintf(w->f, " %" JSON_INTEGER_FORMAT,
				json_integer_value(json_array_get(pfc, i)));
}

static void say_pause(struct words *w, const json_t *qos)
{
	const json_t *rx = json_object_get(qos, "PauseRx"), *tx = json_object_get(qos, "PauseTx");

	if (!json_is_boolean(rx) || !json_is_boolean(tx))
		return;
	say(w, "%s",
		json_is_true(rx) && json_is_true(tx) ? "global pause both ways"
		: json_is_true(rx)                   ? "global pause received"
		: json_is_true(tx)                   ? "global pause sent"
						     : "no global pause");
}

char *topo_qos_flow(const json_t *qos)
{
	struct words w;

	begin(&w);
	say_pfc(&w, json_object_get(qos, "Pfc"));
	say_pause(&w, qos);
	return end(&w);
}

char *topo_qos_trust(const json_t *qos)
{
	const char *trust = json_text(qos, "Trust"), *owner = json_text(qos, "DcbxOwner");
	struct words w;

	begin(&w);
	if (trust)
		say(&w, "by %s", trust);
	if (owner && streq(owner, "none"))
		say(&w, "no DCBX");
	else if (owner)
		say(&w, "DCBX by %s", owner);
	return end(&w);
}

char *topo_qos_class(const json_t *qos, size_t class)
{
	const json_t *share = json_array_get(json_object_get(qos, "ClassBandwidth"), class);
	const json_t *algorithm = json_array_get(json_object_get(qos, "ClassAlgorithm"), class);
	const json_t *classes = json_object_get(qos, "PriorityClass");
	bool any = false;
	struct words w;

	begin(&w);
	/* Without a share it is a class that nobody has set up. */
	if (!json_is_integer(algorithm) || json_integer_value(algorithm) != TSA_ETS ||
		!json_is_integer(share) || json_integer_value(share) == 0)
		return end(&w);
	say(&w, "%" JSON_INTEGER_FORMAT " %%", json_integer_value(share));
	for (size_t i = 0; w.f && i < json_array_size(classes); i++) {
		const json_t *c = json_array_get(classes, i);

		if (!json_is_integer(c) || json_integer_value(c) != (json_int_t) class)
			continue;
		fprintf(w.f, "%s%zu", any ? " " : ", priority ", i);
		any = true;
	}
	return end(&w);
}
