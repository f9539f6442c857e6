/* SPDX-License-Identifier: MIT */
/*
 * rdmasim: drives the simulated RDMA adapters of the kernel module of that name.
 *
 * A thin hand on /dev/rdmasim: joins its arguments to a command line, prints what it did, and on failure the
 * errno together with the module's reason. The language is the module's; see README.md.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE         "/dev/rdmasim"
#define LINE_MAX_BYTES 8192

enum { EXIT_REFUSED = 1, EXIT_USAGE = 2, EXIT_NO_MODULE = 3 };

static bool quiet;

static const char help[] =
	"Usage: rdmasim [-q] COMMAND [ARGUMENT...]\n"
	"       rdmasim [-q] -               commands from standard input, one a line\n"
	"\n"
	"Devices\n"
	"  create NAME [KEY=VALUE...]       ports= link_layer=InfiniBand|Ethernet|Unknown netdev= "
	"node_guid= sys_image_guid=\n"
	"                                   fw= board= hca_type= hw_rev= vendor_id= part_id= "
	"node_desc= set_node_desc=0|1\n"
	"                                   adapter=[BRIDGE/...]CARD vf_of=CARD pci= uverbs=0|1 "
	"disassociate=0|1 gids= pkeys=\n"
	"                                   and the keys of \"port\"\n"
	"                                   counters=ext|noietf|basic|none|sysfs "
	"hw_counters=A,B|none hw_on_device=0|1\n"
	"  set NAME [KEY=VALUE...]          fw= board= hca_type= hw_rev= of a living device\n"
	"  destroy NAME|all                 waits, as the kernel does, for contexts without "
	"disassociate\n"
	"  pcie CARD [KEY=TEXT...]          speed= width= max_speed= max_width= of the PCIe link "
	"above a card or bridge\n"
	"  netdev NAME [card=CARD] [KEY=VALUE...]   an interface of a card: carrier=0|1, why it "
	"has "
	"none: ext= sub= delay=MS\n"
	"Ports (no event is sent)\n"
	"  port NAME[/PORT] KEY=VALUE...    state= phys= width= speed= lid= lmc= sm_lid= sm_sl= "
	"cap_mask= max_mtu= active_mtu=\n"
	"                                   subnet_prefix= follow=0|1 netdev=IF|none\n"
	"  gid NAME/PORT INDEX GID          pkey NAME/PORT INDEX VALUE\n"
	"Counters\n"
	"  counter NAME[/PORT] COUNTER [VALUE|+N|-N] [per_sec=N] [error=ERRNO|none|no-pma]\n"
	"  reporter NAME REPORTER error|healthy\n"
	"  hw_counter NAME[/PORT] COUNTER [VALUE|+N|-N] [per_sec=N] [error=ERRNO|none]\n"
	"  reset NAME[/PORT]                all to zero\n"
	"Events\n"
	"  event NAME[/PORT] EVENT[,EVENT...] [count=N] [rate=PER_SECOND] [apply=1]\n"
	"                                   PORT_ERR PORT_ACTIVE LID_CHANGE PKEY_CHANGE SM_CHANGE "
	"CLIENT_REREGISTER GID_CHANGE\n"
	"                                   DEVICE_FATAL; apply=1 changes the port's state too\n"
	"Trouble\n"
	"  fault NAME[/PORT] POINT [delay=MS] [block=1] [errno=NAME] [times=N] [killable=1]\n"
	"                                   POINT: query_port counters hw_counters open node_desc "
	"board_id\n"
	"  release NAME[/PORT]|all [POINT]  ends faults and frees who sleeps in them\n"
	"Looking\n"
	"  list [NAME]                      devices and ports, KEY=VALUE\n"
	"  get NAME[/PORT] KEY              one of these values, or \"name\": what it is called "
	"now\n"
	"The module\n"
	"  load, unload                     any other command loads it too\n"
	"\n"
	"A space in a value is passed on; a comma in a name of hw_counters= is written %2C.\n"
	"Exit status: 0 done, 1 refused, 2 usage, 3 the module is not there.\n";

static int run(const char *const argv[])
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (pid == 0) {
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int open_device(int flags)
{
	int fd = open(DEVICE, flags | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT) {
		run((const char *const[]){ "modprobe", "rdmasim", NULL });
		fd = open(DEVICE, flags | O_CLOEXEC);
	}
	if (fd < 0) {
		fprintf(stderr, "rdmasim: cannot open " DEVICE ": %s%s\n", strerror(errno),
			errno == ENOENT ? " (is the module rdmasim installed for this kernel?)"
					: "");
		exit(EXIT_NO_MODULE);
	}
	return fd;
}

/* Sends one line; 0 or EXIT_REFUSED, with the reason printed. */
static int command(const char *line)
{
	int fd = open_device(O_RDWR), error;
	char reason[512] = "";
	ssize_t n;

	if (write(fd, line, strlen(line)) >= 0) {
		close(fd);
		if (!quiet)
			printf("rdmasim: %s\n", line);
		return 0;
	}
	error = errno;
	n = read(fd, reason, sizeof(reason) - 1);
	reason[n > 0 ? n : 0] = '\0';
	close(fd);
	fprintf(stderr, "rdmasim: %s: %s (%s)%s%s\n", line, strerror(error),
		strerrorname_np(error) ?: "?", *reason ? ": " : "", reason);
	return EXIT_REFUSED;
}

static int arguments(int argc, char *argv[])
{
	char line[LINE_MAX_BYTES], *to = line, *const end = line + sizeof(line) - 4;

	for (int i = 0; i < argc; i++) {
		if (i > 0)
			*to++ = ' ';
		for (const char *c = argv[i]; *c; c++) {
			if (to >= end) {
				fprintf(stderr, "rdmasim: the command is too long\n");
				return EXIT_USAGE;
			}
			/* The module cuts at these, so they travel encoded. */
			if (*c == ' ' || *c == '\t' || *c == '\n')
				to += sprintf(to, "%%%02X", (unsigned char)*c);
			else
				*to++ = *c;
		}
		if (to >= end) {
			fprintf(stderr, "rdmasim: the command is too long\n");
			return EXIT_USAGE;
		}
	}
	*to = '\0';
	return command(line);
}

/* All lines are tried, as a test may want to go on; the status tells whether one was refused. */
static int batch(void)
{
	char *line = NULL;
	size_t size = 0;
	int status = 0;

	while (getline(&line, &size, stdin) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '\0' || *line == '#')
			continue;
		if (command(line) != 0)
			status = EXIT_REFUSED;
	}
	free(line);
	return status;
}

/* Calls FUNCTION for each line that the module prints; stops when it returns true. */
static bool each_line(bool (*function)(char *line, void *data), void *data)
{
	FILE *f = fdopen(open_device(O_RDONLY), "r");
	char *line = NULL;
	size_t size = 0;
	bool stop = false;

	while (f && !stop && getline(&line, &size, f) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		stop = function(line, data);
	}
	free(line);
	if (f)
		fclose(f);
	return stop;
}

/* "device NAME ..." or "port NAME/N ...": is it OBJECT, or a port of it? */
static bool line_is(const char *line, const char *object, bool ports)
{
	const char *name = strchr(line, ' ');
	size_t n = strlen(object);

	if (!name++ || strncmp(name, object, n) != 0)
		return false;
	return name[n] == ' ' || (ports && name[n] == '/');
}

static bool print_line(char *line, void *data)
{
	if (!data || line_is(line, data, true))
		puts(line);
	return false;
}

struct question {
	const char *name; /* of the device, as asked */
	char now[128];    /* its present name */
};

/* Whose line is "device NOW created_as=THEN ..."? The present name wins, as it does in the module. */
static bool find_name(char *line, void *data)
{
	struct question *q = data;
	char now[128], then[128];

	if (sscanf(line, "device %127s created_as=%127s", now, then) != 2)
		return false;
	if (strcmp(now, q->name) == 0) {
		strcpy(q->now, now);
		return true;
	}
	if (strcmp(then, q->name) == 0 && !*q->now)
		strcpy(q->now, now);
	return false;
}

struct value {
	char object[160];
	const char *key;
	bool seen;
};

static bool print_value(char *line, void *data)
{
	struct value *v = data;
	size_t n = strlen(v->key);
	char *word;

	if (!line_is(line, v->object, false))
		return false;
	v->seen = true;
	while ((word = strsep(&line, " "))) {
		if (strncmp(word, v->key, n) == 0 && word[n] == '=') {
			puts(word + n + 1);
			return true;
		}
	}
	return false;
}

static int get(char *object, const char *key)
{
	char *port = strchr(object, '/');
	struct question q = { .name = object };
	struct value v = { .key = key };

	if (port)
		*port++ = '\0';
	each_line(find_name, &q);
	if (!*q.now) {
		fprintf(stderr, "rdmasim: no device is called '%s'\n", object);
		return EXIT_REFUSED;
	}
	if (strcmp(key, "name") == 0) {
		puts(q.now);
		return 0;
	}
	snprintf(v.object, sizeof(v.object), "%s%s%s", q.now, port ? "/" : "", port ? port : "");
	if (each_line(print_value, &v))
		return 0;
	if (v.seen)
		fprintf(stderr, "rdmasim: %s has no value '%s'\n", v.object, key);
	else
		fprintf(stderr, "rdmasim: %s has no port '%s'\n", q.now, port ? port : "");
	return EXIT_REFUSED;
}

static int usage(void)
{
	fprintf(stderr, "%s", help);
	return EXIT_USAGE;
}

int main(int argc, char *argv[])
{
	static const struct option options[] = { { "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' }, {} };
	int c;

	/* "+": what follows the command is the module's, also "-5" */
	while ((c = getopt_long(argc, argv, "+qh", options, NULL)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c != 'q')
			return usage();
		quiet = true;
	}
	argc -= optind;
	argv += optind;
	if (argc < 1)
		return usage();

	if (strcmp(argv[0], "-") == 0)
		return argc == 1 ? batch() : usage();
	if (strcmp(argv[0], "list") == 0) {
		if (argc > 2)
			return usage();
		each_line(print_line, argv[1]);
		return 0;
	}
	if (strcmp(argv[0], "get") == 0)
		return argc == 3 ? get(argv[1], argv[2]) : usage();
	if (strcmp(argv[0], "load") == 0) {
		close(open_device(O_RDONLY));
		return 0;
	}
	/* not modprobe -r, which wants to remove what the module had loaded before itself as well */
	if (strcmp(argv[0], "unload") == 0)
		return run((const char *const[]){ "rmmod", "rdmasim", NULL }) ? EXIT_REFUSED : 0;
	return arguments(argc, argv);
}
