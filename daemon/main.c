/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <signal.h>

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
	       "  -h --help      show this help\n"
	       "     --version   show the version\n");
}

/* Returns 0 to go on, 1 to end well, negative to end badly. */
static int parse_arguments(int argc, char *argv[], struct manager_options *o)
{
	enum { ARG_ROOT = 256, ARG_VERSION };
	static const struct option options[] = {
		{ "debug", no_argument, NULL, 'd' },
		{ "root", required_argument, NULL, ARG_ROOT },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, ARG_VERSION },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "dh", options, NULL)) >= 0)
		switch (c) {
		case 'd':
			log_set_max_level(LOG_DEBUG);
			break;
		case ARG_ROOT:
			o->config_root = optarg;
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

int main(int argc, char *argv[])
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(manager_freep) struct manager *m = NULL;
	struct manager_options o = {
		.config_root = "",
		.worker_path = environment_or("RDMAD_PROBE", RDMAD_LIBEXECDIR "/rdmad-probe"),
		.runtime_dir = environment_or("RUNTIME_DIRECTORY", "/run/rdmad"),
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
	notify_stopping();
	if (r < 0) {
		log_error("rdmad ends: %s", strerror(-r));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
