/* SPDX-License-Identifier: MIT */
/*
 * Takes rdmad's name on the bus and answers as told, for tests/rdmactl/run.py:
 *
 *   mock-daemon FILE [COUNTERS]   Describe() is what FILE holds, DescribeCounters() what COUNTERS
 *                                 and DescribeBaseline() hold whenever they are asked, Reload() and Release() work, but for
 *                                 an object "nosuch"
 *                                 Explain() is what FILE.explain holds, if that is about the object
 *                                 after Apply() Describe() is what FILE.applied holds; when there is
 *                                 FILE.late it is late
 *                                 when there is FILE.brief, that is DescribeBrief(); else it has no such method,
 *                                 as older ones have none
 *   mock-daemon -r [TEXT]         all are refused with an error; with TEXT: as for one who has no right
 *   mock-daemon -m                none is ever answered
 *
 * Says "ready" on stdout when it has the name, and for each Release(), Ack() and Apply() what it was told.
 * For each line on stdin it reads FILE again and sends a signal: HealthChanged for an empty one, else Event
 * with what the line holds, "KEY=VALUE<TAB>KEY=VALUE...".
 */
#include <errno.h>
#include <sys/epoll.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "bus-names.h"
#include "macros.h"
#include "timespan.h"

enum mode {
	MODE_ANSWER,
	MODE_REFUSE,
	MODE_MUTE,
};

static enum mode mode;
static char text[1 << 20];
static const char *state_file, *counters_file, *denial;

static int read_file(const char *path, char *buf, size_t size)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	size_t n = f ? fread(buf, 1, size - 1, f) : 0;

	buf[n] = '\0';
	return n > 0 ? 0 : -ENOENT;
}

static int answer(sd_bus_message *m, const char *signature, const char *s, sd_bus_error *error)
{
	switch (mode) {
	case MODE_ANSWER:
		return signature ? sd_bus_reply_method_return(m, signature, s)
				 : sd_bus_reply_method_return(m, NULL);
	case MODE_REFUSE:
		if (denial)
			return sd_bus_error_set(error, BUS_ERROR_ACCESS_DENIED, denial);
		return sd_bus_error_set(error, BUS_ERROR_CONFIG_INVALID,
			"/etc/rdmad/rdmad.conf:3: Mode=aply: must be apply, report or off");
	case MODE_MUTE:
		break;
	}
	return 1;
}

static int method_describe(sd_bus_message *m, void *user, sd_bus_error *error)
{
	return answer(m, "s", text, error);
}

static int method_describe_brief(sd_bus_message *m, void *user, sd_bus_error *error)
{
	static char brief[1 << 20];
	char path[4096];

	if (mode != MODE_ANSWER)
		return answer(m, "s", "", error);
	snprintf(path, sizeof(path), "%s.brief", state_file);
	if (read_file(path, brief, sizeof(brief)) < 0)
		return sd_bus_error_set(error, SD_BUS_ERROR_UNKNOWN_METHOD, "Unknown method");
	return answer(m, "s", brief, error);
}

static int method_reload(sd_bus_message *m, void *user, sd_bus_error *error)
{
	uint64_t flags;

	if (sd_bus_message_read(m, "t", &flags) < 0 || flags != 0)
		return -EINVAL;
	return answer(m, NULL, NULL, error);
}

static int method_apply(sd_bus_message *m, void *user, sd_bus_error *error)
{
	_cleanup_(strv_freep) char **objects = NULL;
	char path[4096];
	uint64_t flags;

	if (sd_bus_message_has_signature(m, "ast") && sd_bus_message_read_strv(m, &objects) < 0)
		return -EINVAL;
	if (sd_bus_message_read(m, "t", &flags) < 0)
		return -EINVAL;
	printf("apply %llu", (unsigned long long)flags);
	for (char **o = objects; o && *o; o++)
		printf(" %s", *o);
	putchar('\n');
	fflush(stdout);
	snprintf(path, sizeof(path), "%s.applied", state_file);
	if (mode == MODE_ANSWER && read_file(path, text, sizeof(text)) < 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s.late", state_file);
	if (mode == MODE_ANSWER && access(path, F_OK) == 0)
		return sd_bus_error_set(error, BUS_ERROR_TIMED_OUT, "Setup goes on");
	return answer(m, NULL, NULL, error);
}

static int method_describe_counters(sd_bus_message *m, void *user, sd_bus_error *error)
{
	static char counters[64 << 20];

	if (mode == MODE_ANSWER &&
		(!counters_file || read_file(counters_file, counters, sizeof(counters)) < 0))
		return -ENOENT;
	return answer(m, "s", counters, error);
}

static int method_explain(sd_bus_message *m, void *user, sd_bus_error *error)
{
	static char explanation[1 << 16];
	char path[4096], about[256];
	const char *object;

	if (sd_bus_message_read(m, "s", &object) < 0)
		return -EINVAL;
	if (mode != MODE_ANSWER)
		return answer(m, "s", "", error);
	snprintf(path, sizeof(path), "%s.explain", state_file);
	snprintf(about, sizeof(about), "\"Object\": \"%s\"", object);
	if (read_file(path, explanation, sizeof(explanation)) < 0 || !strstr(explanation, about))
		return sd_bus_error_set(
			error, BUS_ERROR_NO_SUCH_OBJECT, "There is no object of that name");
	return answer(m, "s", explanation, error);
}

static int method_ack(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *object, *reason, *comment;
	uint64_t flags;

	if (sd_bus_message_read(m, "ssst", &object, &reason, &comment, &flags) < 0)
		return -EINVAL;
	printf("ack %s %s '%s' %llu\n", object, reason, comment, (unsigned long long)flags);
	fflush(stdout);
	if (streq(object, "nosuch") && mode == MODE_ANSWER)
		return sd_bus_error_setf(
			error, BUS_ERROR_NO_SUCH_OBJECT, "%s: no %s stands", object, reason);
	return answer(m, NULL, NULL, error);
}

static int method_release(sd_bus_message *m, void *user, sd_bus_error *error)
{
	uint64_t duration, flags;
	const char *object;
	bool strange = false;
	int r;

	printf("release");
	r = sd_bus_message_enter_container(m, 'a', "s");
	while (r >= 0 && (r = sd_bus_message_read(m, "s", &object)) > 0) {
		printf(" %s", object);
		strange = strange || streq(object, "nosuch");
	}
	if (r < 0 || sd_bus_message_exit_container(m) < 0 ||
		sd_bus_message_read(m, "tt", &duration, &flags) < 0 || flags != 0)
		return -EINVAL;
	printf(" %llu%s\n", (unsigned long long)duration,
		sd_bus_message_get_allow_interactive_authorization(m) > 0 ? " may ask" : "");
	fflush(stdout);
	if (strange && mode == MODE_ANSWER)
		return sd_bus_error_set(
			error, "org.rdmad1.Error.NoSuchObject", "There is no device 'nosuch'");
	return answer(m, NULL, NULL, error);
}

static int method_describe_baseline(sd_bus_message *m, void *user, sd_bus_error *error)
{
	static char baseline[1 << 20];

	if (mode == MODE_ANSWER &&
		(!counters_file || read_file(counters_file, baseline, sizeof(baseline)) < 0))
		return -ENOENT;
	return answer(m, "s", baseline, error);
}

static int method_baseline(sd_bus_message *m, void *user, sd_bus_error *error)
{
	const char *object;
	uint64_t flags;
	uint32_t n = 0;
	int r;

	printf("%s", sd_bus_message_get_member(m));
	r = sd_bus_message_enter_container(m, 'a', "s");
	while (r >= 0 && (r = sd_bus_message_read(m, "s", &object)) > 0) {
		printf(" %s", object);
		n++;
	}
	if (r < 0 || sd_bus_message_exit_container(m) < 0 ||
		sd_bus_message_read(m, "t", &flags) < 0 || flags != 0)
		return -EINVAL;
	putchar('\n');
	fflush(stdout);
	if (mode != MODE_ANSWER)
		return answer(m, NULL, NULL, error);
	return sd_bus_reply_method_return(m, "u", n);
}

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD("Describe", NULL, "s", method_describe, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD(
		"DescribeBrief", NULL, "s", method_describe_brief, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("DescribeCounters", NULL, "s", method_describe_counters,
		SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Explain", "s", "s", method_explain, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("DescribeBaseline", NULL, "s", method_describe_baseline,
		SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("SaveBaseline", "ast", "u", method_baseline, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("DropBaseline", "ast", "u", method_baseline, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Ack", "ssst", NULL, method_ack, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Release", "astt", NULL, method_release, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Apply", "t", NULL, method_apply, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("ApplyObjects", "ast", NULL, method_apply, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Reload", "t", NULL, method_reload, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

static int send_health(sd_bus *bus)
{
	return sd_bus_emit_signal(bus, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "HealthChanged",
		"ossas", BUS_ROOT_PATH, "ok", "failed", 0);
}

static int send_event(sd_bus *bus, char *line)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	char *save = NULL;
	int r;

	r = sd_bus_message_new_signal(bus, &m, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, "Event");
	if (r >= 0)
		r = sd_bus_message_append(m, "t", timepoint_now().real);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{ss}");
	for (char *f = strtok_r(line, "\t", &save); r >= 0 && f; f = strtok_r(NULL, "\t", &save)) {
		char *value = strchr(f, '=');

		if (!value)
			return -EINVAL;
		*value++ = '\0';
		r = sd_bus_message_append(m, "{ss}", f, value);
	}
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_send(bus, m, NULL);
}

/* The lines come one by one. */
static int on_stdin(sd_event_source *s, int fd, uint32_t revents, void *user)
{
	char line[4096];
	ssize_t n = read(fd, line, sizeof(line) - 1);
	int r = 0;

	if (n <= 0 || line[n - 1] != '\n')
		return sd_event_source_set_enabled(s, SD_EVENT_OFF);
	line[n - 1] = '\0';
	if (mode == MODE_ANSWER)
		r = read_file(state_file, text, sizeof(text));
	if (r >= 0)
		r = line[0] ? send_event(user, line) : send_health(user);
	return r;
}

int main(int argc, char **argv)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;

	if (argc < 2 || argc > 3)
		return EXIT_FAILURE;
	state_file = argv[1];
	counters_file = argv[2];
	if (streq(argv[1], "-r")) {
		mode = MODE_REFUSE;
		denial = argv[2];
	} else if (streq(argv[1], "-m"))
		mode = MODE_MUTE;
	else if (read_file(argv[1], text, sizeof(text)) < 0)
		return EXIT_FAILURE;

	if (sd_event_default(&event) < 0 || sd_bus_open_system(&bus) < 0 ||
		sd_bus_attach_event(bus, event, 0) < 0 ||
		sd_bus_add_object_vtable(
			bus, NULL, BUS_ROOT_PATH, BUS_MANAGER_INTERFACE, vtable, NULL) < 0 ||
		sd_bus_request_name(bus, BUS_NAME, 0) < 0)
		return EXIT_FAILURE;
	/* Of a file there are no events: it says nothing. */
	(void)sd_event_add_io(event, NULL, STDIN_FILENO, EPOLLIN, on_stdin, bus);
	puts("ready");
	fflush(stdout);
	return sd_event_loop(event) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
