/* SPDX-License-Identifier: MIT */
#include "event-journal.h"

#include <errno.h>
#include <pwd.h>

#include "build-config.h"
#include "event-text.h"
#include "macros.h"
#include "output.h"

/* No field that is shown is longer than that (daemon/publish/journal.c). */
#define FIELD_MAX 8192

static int add_match(sd_journal *j, const char *field, const char *value)
{
	_cleanup_(freep) char *match = NULL;

	if (asprintf(&match, "%s=%s", field, value) < 0) {
		match = NULL;
		return -ENOMEM;
	}
	return sd_journal_add_match(j, match, 0);
}

/* Matches of one field are alternatives, those of different fields must all hold. */
static int match_kinds(sd_journal *j, unsigned kinds)
{
	enum event_kind kind;
	const char *id;
	int r = 0;

	for (size_t i = 0; r >= 0 && (id = event_message_id(i, &kind)) != NULL; i++)
		if (kinds & (1u << kind))
			r = add_match(j, "MESSAGE_ID", id);
	return r;
}

static int match_writers(sd_journal *j)
{
	const struct passwd *user = getpwnam(RDMAD_USER);
	char uid[16];
	int r = add_match(j, "_UID", "0");

	if (r < 0 || !user)
		return r;
	snprintf(uid, sizeof(uid), "%u", (unsigned)user->pw_uid);
	return add_match(j, "_UID", uid);
}

static int cannot_read(int error)
{
	if (error == 0 && geteuid() != 0)
		error = -EACCES;
	if (error == -EACCES || error == -EPERM)
		output_error("The journal cannot be read: one must be root, or in group "
			     "systemd-journal or adm.");
	else if (error == 0)
		output_error("There is no journal here.");
	else
		output_error("The journal cannot be read: %s", strerror(-error));
	return EXIT_FAILED;
}

int event_journal_open(unsigned kinds, sd_journal **ret)
{
	const char *directory = getenv("RDMAD_JOURNAL_DIRECTORY");
	_cleanup_(sd_journal_closep) sd_journal *j = NULL;
	bool ours = !directory || !*directory;
	int r;

	r = ours ? sd_journal_open(&j, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM)
		 : sd_journal_open_directory(&j, directory, 0);
	if (r < 0)
		return cannot_read(r);
	/* It opens well when none of its files may be read. */
	if (sd_journal_has_runtime_files(j) <= 0 && sd_journal_has_persistent_files(j) <= 0 && ours)
		return cannot_read(0);
	r = sd_journal_set_data_threshold(j, FIELD_MAX);
	if (r >= 0)
		r = match_kinds(j, kinds);
	/* The numbers of another host's users are not known here. */
	if (r >= 0 && ours)
		r = match_writers(j);
	if (r < 0)
		return cannot_read(r);
	*ret = TAKE_PTR(j);
	return 0;
}

static char *get_field(void *user, const char *field)
{
	size_t size, prefix = strlen(field) + 1;
	const void *data;

	if (sd_journal_get_data(user, field, &data, &size) < 0 || size < prefix)
		return NULL;
	return strndup((const char *)data + prefix, size - prefix);
}

static int read_current(sd_journal *j, struct event *ret)
{
	usec_t when;
	int r = sd_journal_get_realtime_usec(j, &when);

	if (r < 0)
		return r;
	event_read(ret, when, get_field, j);
	return 0;
}

int event_journal_seek(
	sd_journal *j, const struct options *o, usec_t since, uint64_t max, size_t *ret_width)
{
	_cleanup_(freep) char *first = NULL;
	uint64_t n = 0;
	int r = sd_journal_seek_tail(j);

	*ret_width = 0;
	while (r >= 0 && n < max && (r = sd_journal_previous(j)) > 0) {
		struct event e;
		bool wanted;

		r = read_current(j, &e);
		if (r < 0)
			continue;
		if (e.when < since) {
			event_done(&e);
			break;
		}
		wanted = event_selected(o, &e);
		if (wanted)
			*ret_width = event_text_width(*ret_width, &e);
		event_done(&e);
		if (!wanted)
			continue;
		n++;
		free(TAKE_PTR(first));
		r = sd_journal_get_cursor(j, &first);
	}
	if (r < 0)
		return r;
	/* Not the tail for "nothing yet": from there systemd 252 never comes to what is written later. */
	r = first ? sd_journal_seek_cursor(j, first) : sd_journal_seek_realtime_usec(j, since);
	return r < 0 ? r : first != NULL;
}

int event_journal_next(sd_journal *j, const struct options *o, struct event *ret)
{
	int r;

	while ((r = sd_journal_next(j)) > 0) {
		r = read_current(j, ret);
		if (r < 0)
			return r;
		if (event_selected(o, ret))
			return 1;
		event_done(ret);
	}
	return r;
}
