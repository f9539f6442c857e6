/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/stat.h>

#include "counters.h"
#include "file.h"
#include "macros.h"
#include "output.h"
#include "put-file.h"
#include "view.h"

#define FORMAT "rdmactl-counters"
/* 256 ports with 1024 counters each are below that. */
#define FILE_SIZE_MAX (256 << 20)

const char *counters_boot_id(const struct options *o, char buf[BOOT_ID_MAX])
{
	_cleanup_(fclosep) FILE *f = NULL;

	buf[0] = '\0';
	if (o->host)
		return buf;
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (!f || !fgets(buf, BOOT_ID_MAX, f))
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

static json_t *picture(const struct options *o, const json_t *counters)
{
	char boot_id[BOOT_ID_MAX];

	counters_boot_id(o, boot_id);
	return json_pack("{s:s, s:i, s:I, s:s?, s:O}", "Format", FORMAT, "Version", 1, "Saved",
		(json_int_t)timepoint_now().real, "BootId", *boot_id ? boot_id : NULL, "Counters",
		counters);
}

/* Not json_dumpfd(): that makes a system call of each word. */
static int write_json(int fd, const void *user)
{
	_cleanup_(closep) int copy = dup(fd);
	_cleanup_(fclosep) FILE *f = copy >= 0 ? fdopen(copy, "we") : NULL;

	if (!f)
		return -errno;
	TAKE_FD(copy);
	errno = 0;
	if (json_dumpf(user, f, JSON_INDENT(1)) < 0 || fflush(f) == EOF)
		return errno ? -errno : -EIO;
	return 0;
}

/* As the shell's ">" would make it. */
static mode_t new_file_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

int counters_save(const struct options *o, const char *path, const json_t *counters)
{
	json_t *v = picture(o, counters);
	struct stat st;
	int r;

	/* What is renamed to takes the place of what was there: never that of a device node. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		r = -EINVAL;
	else
		r = v ? put_file(path, (int)new_file_mode(), true, write_json, v) : -ENOMEM;
	json_decref(v);
	if (r == 0)
		return 0;
	output_error("Cannot write %s: %s", path, r == -EINVAL ? "not a file" : strerror(-r));
	return EXIT_FAILED;
}

static int load(const char *path, json_t **ret)
{
	_cleanup_(freep) char *text = NULL;
	json_error_t error;
	size_t size;
	int r;

	r = file_read(path, 0, FILE_SIZE_MAX, &text, &size);
	if (r < 0)
		return r;
	*ret = json_loadb(text, size, 0, &error);
	return *ret ? 0 : -EBADMSG;
}

int counters_load(const char *path, struct counters_file *ret)
{
	struct counters_file f = { 0 };
	const char *format;
	uint64_t saved;
	int r = load(path, &f.root);

	if (r < 0 && r != -EBADMSG && r != -EINVAL) {
		output_error("Cannot read %s: %s", path, strerror(-r));
		return EXIT_FAILED;
	}
	format = json_text(f.root, "Format");
	f.ports = json_object_get(json_object_get(f.root, "Counters"), "Ports");
	if (!format || !streq(format, FORMAT) || !json_is_array(f.ports) ||
		!json_number(f.root, "Saved", &saved)) {
		output_error("%s is not a file that 'rdmactl counters --save' wrote", path);
		counters_file_done(&f);
		return EXIT_FAILED;
	}
	f.saved = saved;
	f.boot_id = json_text(f.root, "BootId");
	*ret = f;
	return 0;
}

void counters_file_done(struct counters_file *f)
{
	json_decref(f->root);
	*f = (struct counters_file){ 0 };
}
