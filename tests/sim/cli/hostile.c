/* SPDX-License-Identifier: MIT */
/*
 * A user without any privilege who means harm to rdmad, on the system bus and elsewhere. It writes its messages itself, since a
 * library would not send such ones, and is nobody, whoever starts it. OBJECT is the index of a device.
 *
 *   hostile list              the methods that it knows, as INTERFACE.MEMBER
 *   hostile each OBJECT       calls each once; prints what came: "METHOD ok" or "METHOD ERROR"
 *   hostile flood OBJECT N    N calls, all methods in turn, and reads the answers; prints how many came, and how many refused
 *   hostile deaf OBJECT N     N calls whose answers nobody wants; returns when the bus has taken them
 *   hostile crowd N           N connections that listen to everything; prints how many the bus granted, leaves four, and stays
 *   hostile socket PATH       connects to a socket, both kinds; prints the errors
 *   hostile notify TEXT       says TEXT to systemd
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NOBODY       65534
#define BUS_SOCKET   "/run/dbus/system_bus_socket"
#define RDMAD        "org.rdmad1"
#define MANAGER      "org.rdmad1.Manager"
#define PROPERTIES   "org.freedesktop.DBus.Properties"
#define LOGCONTROL   "org.freedesktop.LogControl1"
#define ROOT         "/org/rdmad1"
#define NO_REPLY     1  /* a flag of a message */
#define WINDOW       64 /* the bus lets 128 answers be outstanding */
#define MESSAGE_SIZE 4096
#define METHOD_CALL  1
#define ERROR        3
#define SIGNAL       4

struct call {
	const char *path; /* %s: the index of a device */
	const char *interface, *member, *signature;
	const char *args[6]; /* as busctl takes them */
};

static const struct call calls[] = {
	{ ROOT, MANAGER, "Describe", "", { 0 } },
	{ ROOT, MANAGER, "DescribeBrief", "", { 0 } },
	{ ROOT, MANAGER, "DescribeCounters", "", { 0 } },
	{ ROOT, MANAGER, "Explain", "s", { "host" } },
	{ ROOT, MANAGER, "Reload", "t", { "0" } },
	{ ROOT, MANAGER, "Restart", "t", { "0" } },
	{ ROOT, MANAGER, "Release", "astt", { "1", "*", "60000000", "0" } },
	{ ROOT, MANAGER, "Apply", "t", { "1" } },
	{ ROOT, MANAGER, "ApplyObjects", "ast", { "1", "m0", "1" } },
	{ ROOT, MANAGER, "DescribeBaseline", "", { 0 } },
	{ ROOT, MANAGER, "SaveBaseline", "ast", { "0", "0" } },
	{ ROOT, MANAGER, "DropBaseline", "ast", { "0", "0" } },
	{ ROOT, MANAGER, "Ack", "ssst", { "host", "port-down", "none of yours", "0" } },
	{ ROOT, PROPERTIES, "Get", "ss", { MANAGER, "HealthState" } },
	{ ROOT, PROPERTIES, "GetAll", "s", { MANAGER } },
	{ ROOT, PROPERTIES, "Set", "ssv", { MANAGER, "HealthState", "ok" } },
	{ ROOT "/device/d%s", PROPERTIES, "GetAll", "s", { "org.rdmad1.Device" } },
	{ ROOT "/device/d%s", PROPERTIES, "Set", "ssv", { "org.rdmad1.Device", "Name", "mine" } },
	{ ROOT "/port/d%sp1", PROPERTIES, "GetAll", "s", { "org.rdmad1.Port" } },
	{ ROOT "/port/d%sp1", PROPERTIES, "Set", "ssv", { "org.rdmad1.Port", "Required", "no" } },
	{ ROOT "/port/d%sp999", PROPERTIES, "GetAll", "s", { "org.rdmad1.Port" } },
	{ ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "", { 0 } },
	{ ROOT, "org.freedesktop.DBus.Introspectable", "Introspect", "", { 0 } },
	{ ROOT, "org.freedesktop.DBus.Peer", "Ping", "", { 0 } },
	{ ROOT, "org.freedesktop.DBus.Peer", "GetMachineId", "", { 0 } },
	{ "/org/freedesktop/LogControl1", PROPERTIES, "GetAll", "s", { LOGCONTROL } },
	{ "/org/freedesktop/LogControl1", PROPERTIES, "Set", "ssv",
		{ LOGCONTROL, "LogLevel", "debug" } },
	{ "/org/freedesktop/LogControl1", PROPERTIES, "Set", "ssv",
		{ LOGCONTROL, "LogTarget", "null" } },
	/* What there is not, and what is not meant so. */
	{ ROOT, MANAGER, "Stop", "", { 0 } },
	{ ROOT, MANAGER, "Reload", "s", { "now" } },
	{ ROOT, MANAGER, "Release", "astt",
		{ "3", "", "../../etc", "%s%n", "18446744073709551615", "0" } },
	{ "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", "", { 0 } },
};
#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "hostile: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- messages ---- */

struct message {
	size_t n;
	unsigned char data[MESSAGE_SIZE];
};

static void put(struct message *m, const void *data, size_t n)
{
	if (m->n + n > sizeof(m->data))
		die("a message is too long");
	memcpy(m->data + m->n, data, n);
	m->n += n;
}

static void align(struct message *m, size_t to)
{
	static const char zero[8];

	put(m, zero, (to - m->n % to) % to);
}

static void put_u32(struct message *m, uint32_t v)
{
	align(m, 4);
	put(m, &v, sizeof(v));
}

static void put_string(struct message *m, const char *s)
{
	put_u32(m, (uint32_t)strlen(s));
	put(m, s, strlen(s) + 1);
}

static void put_signature(struct message *m, const char *s)
{
	unsigned char n = (unsigned char)strlen(s);

	put(m, &n, 1);
	put(m, s, n + 1u);
}

/* An array of strings: their number, then they themselves. */
static const char *const *put_strings(struct message *m, const char *const *args)
{
	uint32_t n = (uint32_t)atoi(*args++), size;
	size_t at, from;

	align(m, 4);
	at = m->n;
	put_u32(m, 0);
	from = m->n;
	while (n-- > 0)
		put_string(m, *args++);
	size = (uint32_t)(m->n - from);
	memcpy(m->data + at, &size, sizeof(size));
	return args;
}

static void put_body(struct message *m, const char *signature, const char *const *args)
{
	for (const char *s = signature; *s; s++) {
		uint64_t v;

		switch (*s) {
		case 's':
			put_string(m, *args++);
			break;
		case 't':
			v = strtoull(*args++, NULL, 10);
			align(m, 8);
			put(m, &v, sizeof(v));
			break;
		case 'v':
			put_signature(m, "s");
			put_string(m, *args++);
			break;
		case 'a':
			args = put_strings(m, args);
			s++;
			break;
		default:
			die("a signature");
		}
	}
}

static void put_field(struct message *m, unsigned char code, const char *type, const char *value)
{
	align(m, 8);
	put(m, &code, 1);
	put_signature(m, type);
	if (type[0] == 'g')
		put_signature(m, value);
	else
		put_string(m, value);
}

static void make_call(struct message *m, uint32_t serial, unsigned char flags, const char *to,
	const char *path, const struct call *c)
{
	const unsigned char start[] = { 'l', METHOD_CALL, flags, 1 };
	struct message body = { 0 };
	uint32_t size;

	put_body(&body, c->signature, c->args);
	m->n = 0;
	put(m, start, sizeof(start));
	put_u32(m, (uint32_t)body.n);
	put_u32(m, serial);
	put_u32(m, 0);
	put_field(m, 1, "o", path);
	put_field(m, 2, "s", c->interface);
	put_field(m, 3, "s", c->member);
	put_field(m, 6, "s", to);
	if (c->signature[0])
		put_field(m, 8, "g", c->signature);
	size = (uint32_t)m->n - 16;
	memcpy(m->data + 12, &size, sizeof(size));
	align(m, 8);
	put(m, body.data, body.n);
}

static void make_nth(
	struct message *m, uint32_t serial, unsigned char flags, unsigned n, const char *object)
{
	const struct call *c = &calls[n % N_CALLS];
	char path[128];

	/* Only an object's index can be in it. */
	snprintf(path, sizeof(path), "%.*s%s%s", (int)strcspn(c->path, "%"), c->path,
		strchr(c->path, '%') ? object : "",
		strchr(c->path, '%') ? strchr(c->path, '%') + 2 : "");
	make_call(m, serial, flags, RDMAD, path, c);
}

/* ---- a connection ---- */

static int connect_to(const char *path, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	strncpy(a.sun_path, path, sizeof(a.sun_path) - 1);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

/* False: the other side has gone. */
static bool write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t k = write(fd, p, n);

		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

static bool read_all(int fd, void *data, size_t n)
{
	char *p = data;

	while (n > 0) {
		ssize_t k = read(fd, p, n);

		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

struct answer {
	unsigned char type;
	char error[256]; /* the name, of an error */
};

/* The field ERROR_NAME out of the header's fields. */
static void find_error(const unsigned char *p, size_t n, char error[256])
{
	error[0] = '\0';
	for (size_t i = 0; i + 8 < n; i = (i + 7) & ~(size_t)7) {
		unsigned char code = p[i], type = p[i + 2];
		uint32_t size;

		i += 4;
		if (type == 'g') {
			i += p[i] + 2u;
			continue;
		}
		memcpy(&size, p + i, 4);
		i += 4;
		if (type == 'u')
			continue;
		if (code == 4 && i + size < n)
			snprintf(error, 256, "%s", (const char *)p + i);
		i += size + 1;
	}
}

static bool read_message(int fd, struct answer *a)
{
	static unsigned char data[4 * 1024 * 1024];
	uint32_t body, fields;
	size_t n;

	if (!read_all(fd, data, 16))
		return false;
	memcpy(&body, data + 4, 4);
	memcpy(&fields, data + 12, 4);
	n = ((size_t)fields + 7) / 8 * 8 + body;
	if (n > sizeof(data))
		die("an answer is too long");
	a->type = data[1];
	if (!read_all(fd, data, n))
		return false;
	find_error(data, fields, a->error);
	return true;
}

/* The next message that is no signal. */
static bool read_answer(int fd, struct answer *a)
{
	do {
		if (!read_message(fd, a))
			return false;
	} while (a->type == SIGNAL);
	return true;
}

/* -1: the bus does not want it. */
static int join_bus(void)
{
	static const struct call hello = { "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello",
		"", { 0 } };
	/* 65534 as text, in hexadecimal. */
	static const char auth[] = "\0AUTH EXTERNAL 3635353334\r\n", begin[] = "BEGIN\r\n";
	char line[256];
	struct message m;
	struct answer a;
	int fd = connect_to(BUS_SOCKET, SOCK_STREAM);

	if (fd < 0)
		return -1;
	make_call(&m, 1, 0, "org.freedesktop.DBus", hello.path, &hello);
	if (write_all(fd, auth, sizeof(auth) - 1) && read(fd, line, sizeof(line)) > 2 &&
		line[0] == 'O' && write_all(fd, begin, sizeof(begin) - 1) &&
		write_all(fd, m.data, m.n) && read_answer(fd, &a) && a.type != ERROR)
		return fd;
	close(fd);
	return -1;
}

static int must_join(void)
{
	int fd = join_bus();

	if (fd < 0)
		die("the bus");
	return fd;
}

/* ---- what it does ---- */

static int each(const char *object)
{
	int fd = must_join();
	uint32_t serial = 2;

	for (unsigned i = 0; i < N_CALLS; i++) {
		struct message m;
		struct answer a;

		/* It may be told to wait. */
		for (unsigned k = 0; k < 20; k++) {
			make_nth(&m, serial++, 0, i, object);
			if (!write_all(fd, m.data, m.n) || !read_answer(fd, &a))
				die("the bus has hung up");
			if (!strstr(a.error, "LimitsExceeded"))
				break;
			usleep(250000);
		}
		printf("%s.%s %s\n", calls[i].interface, calls[i].member,
			a.type == ERROR ? a.error : "ok");
	}
	return 0;
}

static int flood(const char *object, unsigned n)
{
	unsigned sent = 0, got = 0, good = 0, limited = 0;
	int fd = must_join();

	while (got < n) {
		struct message m;
		struct answer a;

		for (; sent < n && sent - got < WINDOW; sent++) {
			make_nth(&m, sent + 2, 0, sent, object);
			if (!write_all(fd, m.data, m.n))
				die("the bus has hung up");
		}
		if (!read_answer(fd, &a))
			die("the bus has hung up");
		got++;
		good += a.type != ERROR;
		limited += strstr(a.error, "LimitsExceeded") != NULL;
	}
	printf("%u answers, %u good, %u over a limit\n", got, good, limited);
	return 0;
}

static int deaf(const char *object, unsigned n)
{
	int fd = must_join();

	for (unsigned i = 0; i < n; i++) {
		struct message m;

		make_nth(&m, i + 2, NO_REPLY, i, object);
		if (!write_all(fd, m.data, m.n))
			die("the bus has hung up");
	}
	return 0;
}

static int crowd(unsigned n)
{
	static const struct call match = { "/org/freedesktop/DBus", "org.freedesktop.DBus",
		"AddMatch", "s", { "type='signal'" } };
	const struct rlimit files = { 4096, 4096 };
	unsigned granted = 0, refused = 0;
	int last[4] = { -1, -1, -1, -1 };

	(void)setrlimit(RLIMIT_NOFILE, &files);
	/* Where ten were refused the others would be, too. */
	while (granted < n && refused < 10) {
		struct message m;
		int fd = join_bus();

		make_call(&m, 2, NO_REPLY, "org.freedesktop.DBus", match.path, &match);
		if (fd >= 0 && write_all(fd, m.data, m.n))
			last[granted++ % 4] = fd;
		else
			refused++;
	}
	/* Room for others of its kind. */
	for (unsigned i = 0; i < 4; i++)
		close(last[i]);
	printf("%u of %u\n", granted, n);
	fflush(stdout);
	pause();
	return 0;
}

static int try_socket(const char *path)
{
	static const int types[] = { SOCK_SEQPACKET, SOCK_STREAM, SOCK_DGRAM };

	for (unsigned i = 0; i < 3; i++)
		printf("%s\n", connect_to(path, types[i]) < 0 ? strerror(errno) : "connected");
	return 0;
}

static int notify(const char *text)
{
	int fd = connect_to("/run/systemd/notify", SOCK_DGRAM);

	if (fd < 0 || !write_all(fd, text, strlen(text)))
		die("systemd");
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "", *a = argc > 2 ? argv[2] : "",
		   *b = argc > 3 ? argv[3] : "";

	signal(SIGPIPE, SIG_IGN);
	if (getuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
				     setresuid(NOBODY, NOBODY, NOBODY) < 0))
		die("becoming nobody");
	for (unsigned i = 0; i < N_CALLS && strcmp(verb, "list") == 0; i++)
		printf("%s.%s\n", calls[i].interface, calls[i].member);
	if (strcmp(verb, "list") == 0)
		return 0;
	if (strcmp(verb, "each") == 0)
		return each(a);
	if (strcmp(verb, "flood") == 0)
		return flood(a, (unsigned)atoi(b));
	if (strcmp(verb, "deaf") == 0)
		return deaf(a, (unsigned)atoi(b));
	if (strcmp(verb, "crowd") == 0)
		return crowd((unsigned)atoi(a));
	if (strcmp(verb, "socket") == 0)
		return try_socket(a);
	if (strcmp(verb, "notify") == 0)
		return notify(a);
	fprintf(stderr, "hostile: unknown verb: %s\n", verb);
	return 2;
}
