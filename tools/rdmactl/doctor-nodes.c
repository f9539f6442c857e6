/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include "text.h"

#define NODES "/dev/infiniband"

/* ---- device nodes ---- */

static void look_at_node(struct doctor *d, const char *node, mode_t wanted, const char *of)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), NODES "/%s", node);
	if (host_stat(&d->host, path, &st) < 0)
		doctor_find(d, FINDING_WARNING, "no-node", "there is no %s%s%s", path,
			of ? " of " : "", or_text(of, ""));
	else if ((st.st_mode & wanted) != wanted)
		doctor_find(d, FINDING_WARNING, "node-mode", "%s%s%s has mode %04o, not %04o", path,
			of ? " of " : "", or_text(of, ""), (unsigned)(st.st_mode & 07777),
			(unsigned)wanted);
}

/* The nodes of a class in /sys, "infiniband_verbs", each with the device that it is of. */
static size_t look_at_class(struct doctor *d, const char *class, const char *prefix, mode_t wanted)
{
	char path[128], device[64];
	_cleanup_(strv_freep) char **nodes = NULL;
	size_t n = 0;

	snprintf(path, sizeof(path), "/sys/class/%s", class);
	nodes = host_list(&d->host, path);
	for (char **node = nodes; node && *node; node++) {
		if (strncmp(*node, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(path, sizeof(path), "/sys/class/%s/%s/ibdev", class, *node);
		if (host_read_line(&d->host, path, device, sizeof(device)) < 0)
			continue;
		look_at_node(d, *node, wanted, device);
		n++;
	}
	return n;
}

/* "by-ibdev/uverbs-mlx5_0": a link that udev made when the device had that name. */
static void look_at_links(struct doctor *d)
{
	_cleanup_(strv_freep) char **links = host_list(&d->host, NODES "/by-ibdev");

	for (char **link = links; link && *link; link++) {
		const char *device = strchr(*link, '-');
		char path[160];

		if (!device)
			continue;
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s", device + 1);
		if (!host_exists(&d->host, path))
			doctor_find(d, FINDING_WARNING, "stale-name",
				NODES
				"/by-ibdev/%s is of a device that has another name now or is gone",
				*link);
	}
}

void doctor_nodes(struct doctor *d)
{
	size_t before = json_array_size(d->findings), n;

	if (!host_exists(&d->host, "/dev") || !d->devices) {
		doctor_find(d, FINDING_UNKNOWN, "node-mode", "device nodes were not looked at");
		return;
	}
	n = look_at_class(d, "infiniband_verbs", "uverbs", 0666);
	n += look_at_class(d, "infiniband_mad", "umad", 0600);
	if (module_loaded(&d->host, "rdma_ucm"))
		look_at_node(d, "rdma_cm", 0666, NULL);
	look_at_links(d);
	if (n > 0 && json_array_size(d->findings) == before)
		doctor_find(d, FINDING_OK, "node-mode",
			"%zu device nodes are there and can be opened", n);
}

/* ---- GUIDs ---- */

static bool is_zero(const char *guid)
{
	return guid[0] && guid[strspn(guid, "0:x")] == '\0';
}

void doctor_identity(struct doctor *d)
{
	size_t n = 0, zero = 0;
	char guid[64];

	for (char **device = d->devices; device && *device; device++) {
		if (!doctor_attribute(d, *device, "node_guid", guid, sizeof(guid)))
			continue;
		n++;
		if (!is_zero(guid))
			continue;
		zero++;
		doctor_find(
			d, FINDING_WARNING, "zero-guid", "%s has the node GUID %s", *device, guid);
	}
	if (n > 0 && zero == 0)
		doctor_find(d, FINDING_OK, "zero-guid", "every device has a node GUID");
}

/* ---- configfs, cgroups ---- */

static void look_at_configfs(struct doctor *d)
{
	_cleanup_(freep) char *mounts = NULL;

	if (host_read(&d->host, "/proc/mounts", 1 << 20, &mounts) < 0) {
		doctor_find(d, FINDING_UNKNOWN, "no-configfs", "what is mounted is not known");
		return;
	}
	if (!strstr(mounts, " /sys/kernel/config configfs "))
		doctor_find(d,
			doctor_configured(d, "Port", "RoCEMode") ||
					doctor_configured(d, "Port", "RoCEToS")
				? FINDING_WARNING
				: FINDING_NOTE,
			"no-configfs", "configfs is not mounted on /sys/kernel/config");
	else if (host_exists(&d->host, "/sys/kernel/config/rdma_cm"))
		doctor_find(d, FINDING_OK, "no-configfs", "rdma_cm is in configfs");
	else if (module_loaded(&d->host, "rdma_cm"))
		doctor_find(d,
			doctor_configured(d, "Port", "RoCEMode") ? FINDING_WARNING : FINDING_NOTE,
			"no-rdma-cm-config", "rdma_cm is loaded, and not in configfs");
}

/* "mlx5_0 hca_handle=2 hca_object=max": a limit that is one. */
static void look_at_limits(struct doctor *d, const char *group)
{
	_cleanup_(freep) char *text = NULL;
	char path[160], *save = NULL;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/rdma.max", group);
	if (host_read(&d->host, path, 1 << 20, &text) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *handle = strstr(line, "hca_handle="),
			   *object = strstr(line, "hca_object=");

		if ((handle && strncmp(handle + 11, "max", 3) != 0) ||
			(object && strncmp(object + 11, "max", 3) != 0))
			doctor_find(d, FINDING_WARNING, "rdma-cgroup-limit", "%s: %s", path, line);
	}
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += n)
		if ((p == text || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
			return true;
	return false;
}

static void look_at_cgroup(struct doctor *d)
{
	static const char *const groups[] = { "/system.slice", "/user.slice", "/machine.slice",
		"/system.slice/rdmad.service" };
	char text[512];

	if (host_read_line(&d->host, "/sys/fs/cgroup/cgroup.controllers", text, sizeof(text)) < 0)
		return;
	if (!has_word(text, "rdma"))
		return;
	if (host_read_line(&d->host, "/sys/fs/cgroup/cgroup.subtree_control", text, sizeof(text)) ==
			0 &&
		!has_word(text, "rdma")) {
		doctor_find(d, FINDING_NOTE, "rdma-cgroup-unused",
			"the cgroup controller rdma is there, and enabled for no group");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		look_at_limits(d, groups[i]);
}

void doctor_kernel(struct doctor *d)
{
	look_at_configfs(d);
	look_at_cgroup(d);
}
