/* SPDX-License-Identifier: MIT */
/* Who else wants to set this host up, and rdmad itself. */
#include "doctor.h"

#include "build-config.h"
#include "text.h"

static const char *const unit_directories[] = { "/etc/systemd/system", "/run/systemd/system",
	"/usr/lib/systemd/system", "/lib/systemd/system" };

/* ---- units ---- */

/* Where a unit's file is; false: there is none, or it is masked. */
static bool find_unit(const struct doctor *d, const char *name, char *path, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(unit_directories); i++) {
		struct stat st;

		snprintf(path, size, "%s/%s", unit_directories[i], name);
		if (host_is_mask(&d->host, path))
			return false;
		if (host_stat(&d->host, path, &st) == 0)
			return S_ISREG(st.st_mode) && st.st_size > 0;
	}
	return false;
}

/* Whether a target or unit wants it: an entry in one of the directories "*.wants". */
static bool is_enabled(const struct doctor *d, const char *name)
{
	_cleanup_(strv_freep) char **entries = host_list(&d->host, "/etc/systemd/system");

	for (char **e = entries; e && *e; e++) {
		_cleanup_(strv_freep) char **wanted = NULL;
		const char *dot = strrchr(*e, '.');
		char path[320];

		if (!dot || (!streq(dot, ".wants") && !streq(dot, ".requires")))
			continue;
		snprintf(path, sizeof(path), "/etc/systemd/system/%s", *e);
		wanted = host_list(&d->host, path);
		for (char **w = wanted; w && *w; w++)
			if (streq(*w, name))
				return true;
	}
	return false;
}

static void look_at_openibd(struct doctor *d)
{
	char path[160];

	if (find_unit(d, "openibd.service", path, sizeof(path)) && is_enabled(d, "openibd.service"))
		doctor_find(d, FINDING_WARNING, "rival-openibd", "openibd.service is enabled");
	else if (host_exists(&d->host, "/etc/init.d/openibd") &&
		 !find_unit(d, "openibd.service", path, sizeof(path)))
		doctor_find(d, FINDING_WARNING, "rival-openibd", "there is /etc/init.d/openibd");
}

/* rdmad's alias is a link to rdmad.service; what is not is the old service of RHEL. */
static void look_at_rdma_service(struct doctor *d)
{
	_cleanup_(freep) char *text = NULL;
	char path[160];

	if (find_unit(d, "rdma.service", path, sizeof(path)) &&
		host_read(&d->host, path, 1 << 20, &text) == 0 && !strstr(text, "rdmad"))
		doctor_find(d, FINDING_WARNING, "rival-rdma-service", "%s is not rdmad's", path);
	else if (host_exists(&d->host, "/etc/rdma/rdma.conf"))
		doctor_find(d, FINDING_NOTE, "old-rdma-conf", "there is /etc/rdma/rdma.conf");
}

static void look_at_opensm(struct doctor *d)
{
	static const char *const names[] = { "opensm.service", "opensmd.service" };
	char path[160];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (find_unit(d, names[i], path, sizeof(path)) && is_enabled(d, names[i])) {
			doctor_find(d, FINDING_NOTE, "opensm-here", "%s is enabled", names[i]);
			return;
		}
}

/* ---- those that write a setting that may be configured here, too ---- */

/* udev's rule of rdma-core, unless a file of that name in /etc takes its place. */
static void look_at_rename(struct doctor *d)
{
	static const char name[] = "60-rdma-persistent-naming.rules";
	static const char *const directories[] = { "/etc/udev/rules.d", "/run/udev/rules.d",
		"/usr/lib/udev/rules.d", "/lib/udev/rules.d" };
	const char *configured = doctor_configured(d, "Device", "Name");
	_cleanup_(freep) char *text = NULL;
	char path[128];
	int r = -1;

	for (size_t i = 0; i < ARRAY_SIZE(directories) && r < 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", directories[i], name);
		if (host_is_mask(&d->host, path))
			return;
		r = host_read(&d->host, path, 1 << 20, &text);
	}
	if (!text)
		return;
	/* A comment is none. */
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += strspn(line, "\n");
		if (*line && *line != '#' && memmem(line, strcspn(line, "\n"), "rdma_rename", 11)) {
			doctor_find(d, configured ? FINDING_WARNING : FINDING_NOTE, "rival-rename",
				"%s renames RDMA devices%s%s", path,
				configured ? ", and so does Name=" : "", or_text(configured, ""));
			return;
		}
	}
}

static void look_at_ndd(struct doctor *d)
{
	const char *configured = doctor_configured(d, "Device", "NodeDescription");
	char path[160];

	if (find_unit(d, "rdma-ndd.service", path, sizeof(path)))
		doctor_find(d, configured ? FINDING_WARNING : FINDING_NOTE, "rival-ndd",
			"rdma-ndd.service is installed: udev starts it with the first device%s%s",
			configured ? ", and there is NodeDescription=" : "",
			or_text(configured, ""));
}

struct managed {
	const char *id, *word; /* the line that tells, "type=infiniband" */
	const char *also;      /* another one */
	char found[160];
};

static void look_at_connection(struct doctor *d, const char *path, const char *line, void *user)
{
	struct managed *m = user;

	if (!m->found[0] && (streq(line, m->word) || streq(line, m->also)))
		STRSCPY(m->found, path);
}

static void look_at_managers(struct doctor *d)
{
	struct managed nm = { "rival-networkmanager", "type=infiniband", "type=ipoib", "" };
	struct managed networkd = { "rival-networkd", "Kind=ipoib", "[IPoIB]", "" };
	struct managed *const all[] = { &nm, &networkd };
	bool configured = doctor_configured(d, "IPoIB", NULL) != NULL;

	doctor_lines_in(d, "/etc/NetworkManager/system-connections", "", look_at_connection, &nm);
	doctor_lines_in(d, "/etc/systemd/network", ".netdev", look_at_connection, &networkd);
	doctor_lines_in(d, "/etc/systemd/network", ".network", look_at_connection, &networkd);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i]->found[0])
			doctor_find(d, configured ? FINDING_WARNING : FINDING_NOTE, all[i]->id,
				"%s is about IPoIB%s", all[i]->found,
				configured ? ", and there is a section [IPoIB]" : "");
}

static void look_at_interface_manager(struct doctor *d)
{
	static const char *const paths[] = { "/bin/mlnx_interface_mgr.sh",
		"/usr/bin/mlnx_interface_mgr.sh", "/sbin/mlnx_interface_mgr.sh" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (host_exists(&d->host, paths[i])) {
			doctor_find(d, FINDING_NOTE, "rival-interface-manager", "there is %s",
				paths[i]);
			return;
		}
}

/* Where it has its root directory on the host; empty when it has ended. */
static void look_at_driver_container(struct doctor *d)
{
	static const char path[] = "/run/mellanox/drivers";
	_cleanup_(strv_freep) char **entries = host_list(&d->host, path);

	if ((entries && entries[0]) || host_exists(&d->host, "/run/mellanox/drivers/.driver-ready"))
		doctor_find(d, FINDING_NOTE, "rival-driver-container", "%s is a driver container's",
			path);
}

void doctor_rivals(struct doctor *d)
{
	size_t before = json_array_size(d->findings);

	look_at_openibd(d);
	look_at_driver_container(d);
	look_at_rdma_service(d);
	look_at_rename(d);
	look_at_ndd(d);
	look_at_managers(d);
	look_at_interface_manager(d);
	look_at_opensm(d);
	if (json_array_size(d->findings) == before)
		doctor_find(d, FINDING_OK, "rivals", "nobody else sets RDMA up");
}

/* ---- rdmad itself ---- */

static void look_for_user(struct doctor *d, const char *path, const char *line, void *user)
{
	static const char name[] = RDMAD_USER ":";

	if (strncmp(line, name, strlen(name)) == 0)
		*(bool *)user = true;
}

void doctor_rdmad(struct doctor *d)
{
	char path[160], problem[512];
	bool user = false;

	if (!find_unit(d, "rdmad.service", path, sizeof(path))) {
		doctor_find(d, FINDING_UNKNOWN, "rdmad-not-enabled", "there is no rdmad.service");
		return;
	}
	if (is_enabled(d, "rdmad.service"))
		doctor_find(d, FINDING_OK, "rdmad-not-enabled", "rdmad.service is enabled");
	else
		doctor_find(d, FINDING_NOTE, "rdmad-not-enabled", "rdmad.service is not enabled");
	doctor_lines(d, "/etc/passwd", look_for_user, &user);
	if (!user && host_exists(&d->host, "/etc/passwd"))
		doctor_find(
			d, FINDING_WARNING, "rdmad-user", "/etc/passwd has no user " RDMAD_USER);
	if (d->config && d->config->n_problems > 0)
		doctor_find(d, FINDING_WARNING, "config-invalid", "%s",
			config_problem_format(&d->config->problems[0], problem, sizeof(problem)));
	doctor_find(d, FINDING_NOTE, "how-to-stop", "systemctl stop rdmad is refused");
}
