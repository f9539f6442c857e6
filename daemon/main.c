/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include "build-config.h"
#include "log.h"
#include "macros.h"
#include "manager.h"
#include "publish.h"

DEFINE_CLEANUP(struct manager *, manager_free)

static void usage(void)
{
	printf("rdmad [OPTIONS]\n\n"
	       "Sets up RDMA devices and watches their health. Run by systemd: see rdmad(8).\n\n"
	       "  -d --debug     log every raw event\n"
	       "     --root=DIR  read the configuration below DIR\n"
	       "     --check-state\n"
	       "                 say whether this binary could go on where the running one is\n"
	       "  -h --help      show this help\n"
	       "     --version   show the version\n");
}

/* Returns 0 to go on, 1 to end well, negative to end badly. */
static int parse_arguments(int argc, char *argv[], struct manager_options *o)
{
	enum { ARG_ROOT = 256, ARG_VERSION, ARG_CHECK_STATE };
	static const struct option options[] = {
		{ "debug", no_argument, NULL, 'd' },
		{ "check-state", no_argument, NULL, ARG_CHECK_STATE },
		{ "root", required_argument, NULL, ARG_ROOT },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, ARG_VERSION },
		{ 0 },
	};
	bool check = false;
	int c;

	while ((c = getopt_long(argc, argv, "dh", options, NULL)) >= 0)
		switch (c) {
		case 'd':
			log_set_max_level(LOG_DEBUG);
			break;
		case ARG_ROOT:
			o->config_root = optarg;
			break;
		case ARG_CHECK_STATE:
			check = true;
			break;
		case 'h':
			usage();
			return 1;
		case ARG_VERSION:
			printf("rdmad %s\n", RDMAD_VERSION);
			return 1;
		default:
			return -EINVAL;
		}
	if (optind < argc) {
		log_error("rdmad takes no arguments, found '%s'", argv[optind]);
		return -EINVAL;
	}
	if (check)
		return manager_check_state(o) < 0 ? -EINVAL : 1;
	return 0;
}

/* RuntimeDirectory= tells where; tests and a run by hand tell it themselves. */
static const char *environment_or(const char *name, const char *otherwise)
{
	const char *e = secure_getenv(name);

	return e && e[0] ? e : otherwise;
}

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : 0;
}

static int new_loop(sd_event **ret)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r;

	r = sd_event_new(&event);
	if (r < 0)
		return r;
	r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r < 0)
		return r;
	r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
	if (r < 0)
		return r;
	/* The watchdog proves that the loop turns, and nothing else (DESIGN rule 5). */
	r = sd_event_set_watchdog(event, true);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(event);
	return 0;
}

/* The path that systemd was told, or else that of this very file. */
static const char *own_path(const char *name)
{
	static char path[4096];
	ssize_t n;

	if (strchr(name, '/'))
		return name;
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[MAX(n, (ssize_t)0)] = '\0';
	return path;
}

/* Workers that were killed are ours: the new binary does not know them. One may hang in the kernel. */
static void reap_children(void)
{
	const struct timespec pause = { .tv_nsec = 5 * 1000 * 1000 };
	int r = 0;

	for (int i = 0; i < 100 && r >= 0; i++) {
		r = waitpid(-1, NULL, WNOHANG);
		if (r == 0)
			nanosleep(&pause, NULL);
	}
}

/* This process becomes the new binary. When that fails systemd starts it. */
static int become(const char *binary, char *argv[])
{
	reap_children();
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	execv(binary, argv);
	log_error("%s cannot be run: %s", binary, strerror(errno));
	return MANAGER_EXIT_ANEW;
}

int main(int argc, char *argv[])
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(manager_freep) struct manager *m = NULL;
	struct manager_options o = {
		.config_root = "",
		.worker_path = environment_or("RDMAD_PROBE", RDMAD_LIBEXECDIR "/rdmad-probe"),
		.runtime_dir = environment_or("RUNTIME_DIRECTORY", "/run/rdmad"),
		.binary = own_path(argv[0]),
	};
	int r;

	log_open();
	r = parse_arguments(argc, argv, &o);
	if (r != 0)
		return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	r = block_signals();
	if (r >= 0)
		r = new_loop(&event);
	if (r >= 0)
		r = manager_new(event, &o, &m);
	if (r >= 0)
		r = manager_start(m);
	if (r >= 0)
		r = sd_event_loop(event);
	if (r == MANAGER_EXIT_IN_PLACE)
		notify_reloading();
	else
		notify_stopping();
	m = manager_free(m);
	event = sd_event_unref(event);
	if (r == MANAGER_EXIT_IN_PLACE)
		r = become(o.binary, argv);
	if (r < 0) {
		log_error("rdmad ends: %s", strerror(-r));
		return EXIT_FAILURE;
	}
	return r;
}
