/* SPDX-License-Identifier: MIT */
/*
 * How much memory may be pinned: by units (systemd), and by logins (pam_limits), which are two things
 * that do not know of each other.
 */
#include "doctor.h"

#include <errno.h>
#include <sys/mman.h>

#include "archive.h"
#include "parse.h"
#include "text.h"
#include "timespan.h"

#define SYSTEMCTL_TIMEOUT (5 * USEC_PER_SEC)

#define UNLIMITED UINT64_MAX
#define KIB       UINT64_C(1024)
/* Of systemd since 239, where nobody sets it; kernels have the same since 5.16. */
#define DEFAULT_UNIT_LIMIT (8 * KIB * KIB)

struct limit {
	bool known;
	uint64_t bytes;
	char where[160]; /* file or unit; "" the default */
};

static const char *format_limit(char buf[32], uint64_t bytes)
{
	if (bytes == UNLIMITED)
		snprintf(buf, 32, "unlimited");
	else if (bytes >= KIB * KIB && bytes % (KIB * KIB) == 0)
		snprintf(buf, 32, "%llu MiB", (unsigned long long)(bytes / KIB / KIB));
	else
		snprintf(buf, 32, "%llu KiB", (unsigned long long)(bytes / KIB));
	return buf;
}

/* ---- of units ---- */

/* "infinity", "8M", "65536", "SOFT:HARD": the soft one is what a process gets. */
static bool parse_unit_limit(const char *s, uint64_t *ret)
{
	static const char units[] = "KMGT";
	char *end;
	const char *unit;
	unsigned long long n;

	if (strncmp(s, "infinity", 8) == 0) {
		*ret = UNLIMITED;
		return true;
	}
	errno = 0;
	n = strtoull(s, &end, 10);
	if (end == s || errno)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	for (const char *u = units; unit && u <= unit; u++)
		n *= KIB;
	*ret = n;
	return true;
}

static void take_unit_limit(struct limit *l, const char *value, const char *where)
{
	if (!parse_unit_limit(value, &l->bytes))
		return;
	l->known = true;
	STRSCPY(l->where, where);
}

/* What a program prints, within time; NULL: nothing. */
static char *output_of(const char *const argv[])
{
	_cleanup_(closep) int fd = memfd_create("output", MFD_CLOEXEC);
	char *text;
	ssize_t n;

	if (fd < 0 || run_program(argv, fd, SYSTEMCTL_TIMEOUT) != 0)
		return NULL;
	text = calloc(1, 65536);
	n = text ? pread(fd, text, 65535, 0) : -1;
	if (n < 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* The line "LimitMEMLOCK=…" of a unit, the least of several. */
static void ask_systemd(struct limit *l, const char *property, const char *unit, const char *where)
{
	const char *const argv[] = { "systemctl", "show", "--property", property, unit, NULL };
	_cleanup_(freep) char *text = output_of(argv);
	char *save = NULL;

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
		line = strtok_r(NULL, "\n", &save)) {
		struct limit one = { 0 };
		const char *value = strchr(line, '=');

		if (value)
			take_unit_limit(&one, value + 1, where);
		if (one.known && (!l->known || one.bytes < l->bytes))
			*l = one;
	}
}

struct unit_reading {
	struct limit *limit;
	const char *key;
};

static void look_at_setting(struct doctor *d, const char *path, const char *line, void *user)
{
	struct unit_reading *r = user;
	size_t n = strlen(r->key);

	if (strncmp(line, r->key, n) == 0 && line[n] == '=')
		take_unit_limit(r->limit, line + n + 1, path);
}

static struct limit limit_of_units(struct doctor *d)
{
	struct limit l = { .known = true, .bytes = DEFAULT_UNIT_LIMIT }, asked = { 0 };
	struct unit_reading r = { &l, "DefaultLimitMEMLOCK" };
	static const char *const directories[] = { "/usr/lib/systemd/system.conf.d",
		"/etc/systemd/system.conf.d" };

	doctor_lines(d, "/etc/systemd/system.conf", look_at_setting, &r);
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		doctor_lines_in(d, directories[i], ".conf", look_at_setting, &r);
	/* What is in force; the files tell where it is from. */
	if (d->host.live)
		ask_systemd(&asked, "DefaultLimitMEMLOCK", NULL, l.where);
	return asked.known ? asked : l;
}

/* Of what "systemd --user" starts; where nobody says so it is that of units. */
static struct limit limit_of_user_units(struct doctor *d)
{
	struct limit l = { 0 };
	struct unit_reading r = { &l, "LimitMEMLOCK" };

	if (d->host.live)
		ask_systemd(&l, "LimitMEMLOCK", "user@*.service", "user@.service");
	else
		doctor_lines_in(
			d, "/etc/systemd/system/user@.service.d", ".conf", look_at_setting, &r);
	return l;
}

/* ---- of logins ---- */

/* "* hard memlock unlimited": the number is in KiB; "-" is both. The last line for everybody wins. */
static void look_at_login(struct doctor *d, const char *path, const char *line, void *user)
{
	struct limit *l = user;
	char domain[64], type[16], item[32], value[32];
	uint64_t kib;

	if (sscanf(line, "%63s %15s %31s %31s", domain, type, item, value) != 4 ||
		!streq(item, "memlock") || !streq(domain, "*") ||
		(!streq(type, "-") && !streq(type, "soft")))
		return;
	if (streq(value, "unlimited") || streq(value, "infinity") || streq(value, "-1"))
		l->bytes = UNLIMITED;
	else if (parse_u64(value, &kib) == 0 && kib < UNLIMITED / KIB)
		l->bytes = kib * KIB;
	else
		return;
	l->known = true;
	STRSCPY(l->where, path);
}

static struct limit limit_of_logins(struct doctor *d)
{
	struct limit l = { 0 };

	doctor_lines(d, "/etc/security/limits.conf", look_at_login, &l);
	doctor_lines_in(d, "/etc/security/limits.d", ".conf", look_at_login, &l);
	return l;
}

/* ---- both ---- */

static void compare(
	struct doctor *d, const struct limit *units, const char *whose, const struct limit *logins)
{
	char a[32], b[32];

	format_limit(a, units->bytes);
	format_limit(b, logins->bytes);
	if (!logins->known)
		doctor_find(d,
			units->bytes > DEFAULT_UNIT_LIMIT ? FINDING_OK
			: d->devices && d->devices[0]     ? FINDING_NOTE
							  : FINDING_OK,
			"memlock-small", "%s may pin %s%s%s%s, and nothing is said for logins",
			whose, a, units->where[0] ? " (" : "", units->where,
			units->where[0] ? ")" : "");
	else if (units->bytes < logins->bytes)
		doctor_find(d, FINDING_WARNING, "memlock-units",
			"%s may pin %s%s%s%s, logins %s (%s)", whose, a,
			units->where[0] ? " (" : "", units->where, units->where[0] ? ")" : "", b,
			logins->where);
	else if (units->bytes > logins->bytes)
		doctor_find(d, FINDING_WARNING, "memlock-logins",
			"%s may pin %s (%s), logins %s (%s)", whose, a,
			units->where[0] ? units->where : "systemd's default", b, logins->where);
	else
		doctor_find(d, FINDING_OK, "memlock-units", "%s and logins may pin %s", whose, a);
}

void doctor_memlock(struct doctor *d)
{
	struct limit units, user, logins;

	if (!d->host.live && !host_exists(&d->host, "/etc/systemd") &&
		!host_exists(&d->host, "/etc/security")) {
		doctor_find(d, FINDING_UNKNOWN, "memlock-units",
			"what may be pinned is not in this tree");
		return;
	}
	units = limit_of_units(d);
	user = limit_of_user_units(d);
	logins = limit_of_logins(d);
	compare(d, &units, "units", &logins);
	if (user.known && user.bytes != units.bytes)
		compare(d, &user, "units of users", &logins);
}
