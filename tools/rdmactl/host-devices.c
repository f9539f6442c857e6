/* SPDX-License-Identifier: MIT */
#include "host-devices.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "facts.h"
#include "macros.h"
#include "source.h"
#include "sysfs-attr.h"
#include "sysfs-root.h"
#include "sysfs.h"

/* For all of sysfs; a device that hangs answers never. */
#define SYSFS_TIMEOUT (5 * USEC_PER_SEC)
#define ANSWER_MAX    (4U * 1024 * 1024)

/* ---- from sysfs, in a child ---- */

static json_t *text_or_null(const char *s)
{
	json_t *v = s[0] ? json_string(s) : NULL;

	return v ? v : json_null();
}

static json_t *read_port(const struct device_facts *f, uint32_t number)
{
	struct port_facts p;

	if (sysfs_read_port(f->index, f->name, number, &p) < 0) {
		p = port_facts_unknown(f->index, number);
		/* No driver is asked for the link layer. */
		(void)sysfs_complete_port(f->name, &p);
	}
	return json_pack("{s:I, s:o, s:o}", "Number", (json_int_t)number, "LinkLayer",
		p.link_layer == LINK_LAYER_UNKNOWN
			? json_null()
			: json_string(link_layer_to_string(p.link_layer)),
		"NetDevice", text_or_null(p.netdev));
}

static int on_device(const struct device_facts *listed, void *user)
{
	struct device_facts f = *listed;
	json_t *ports = json_array(), *device;
	_cleanup_(closep) int dir = sysfs_open_directory("/sys/class/infiniband/%s", f.name);
	char guid[GUID_STRING_MAX], board[64] = "";

	sysfs_complete_device(&f);
	(void)attr_read_text(dir, "board_id", board, sizeof(board));
	for (uint32_t i = 1; i <= f.port_count; i++)
		json_array_append_new(ports, read_port(&f, i));
	device = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "Name", text_or_null(f.name),
		"NodeGuid", f.node_guid ? json_string(guid_format(guid, f.node_guid)) : json_null(),
		"PciAddress", text_or_null(f.pci_address), "Driver", text_or_null(f.driver),
		"BoardId", text_or_null(board), "Ports", ports);
	return json_array_append_new(user, device) < 0 ? -ENOMEM : 0;
}

static void write_devices(const struct host_root *h, int fd)
{
	json_t *list = json_array();

	if (sysfs_set_root(h->live ? NULL : h->prefix) == 0 &&
		sysfs_list_devices(on_device, list) == 0)
		json_dumpfd(list, fd, JSON_COMPACT);
	_exit(EXIT_SUCCESS);
}

/* Until the other end is closed, or time is up. 0 or negative errno. */
static int read_answer(int fd, char *buf, size_t size)
{
	usec_t deadline = usec_add(timepoint_now().mono, SYSFS_TIMEOUT);
	size_t n = 0;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		usec_t left = usec_sub(deadline, timepoint_now().mono);
		ssize_t k;

		if (poll(&p, 1, (int)(left / USEC_PER_MSEC)) <= 0)
			return -ETIMEDOUT;
		k = read(fd, buf + n, size - 1 - n);
		if (k < 0)
			return -errno;
		n += (size_t)k;
		if (k == 0 || n == size - 1)
			break;
	}
	buf[n] = '\0';
	return 0;
}

static json_t *devices_of_sysfs(const struct host_root *h)
{
	_cleanup_(freep) char *text = malloc(ANSWER_MAX);
	int pipe_fd[2], r;
	pid_t pid;

	if (!text || !host_exists(h, "/sys/class") || pipe(pipe_fd) < 0)
		return NULL;
	pid = fork();
	if (pid == 0) {
		close(pipe_fd[0]);
		write_devices(h, pipe_fd[1]);
	}
	close(pipe_fd[1]);
	r = pid < 0 ? -errno : read_answer(pipe_fd[0], text, ANSWER_MAX);
	close(pipe_fd[0]);
	if (pid > 0) {
		/* In the kernel it cannot die yet: it is not waited for. */
		if (r < 0)
			kill(pid, SIGKILL);
		else
			waitpid(pid, NULL, 0);
	}
	return r < 0 ? NULL : json_loads(text, 0, NULL);
}

/* ---- both ---- */

void host_devices_find(struct host_devices *d, const struct options *o, const struct host_root *h)
{
	_cleanup_(source_done) struct source s = { 0 };
	json_t *list;

	*d = (struct host_devices){ 0 };
	if (h->live && source_fetch(o, false, source_timeout(o), &s) == 0 && s.running &&
		!s.silent) {
		list = json_object_get(s.root, "Devices");
		d->running = true;
		if (json_is_array(list)) {
			d->list = json_incref(list);
			d->source = "rdmad";
			return;
		}
	}
	d->list = devices_of_sysfs(h);
	d->source = d->list ? "sysfs" : NULL;
}

void host_devices_done(struct host_devices *d)
{
	json_decref(d->list);
	*d = (struct host_devices){ 0 };
}
