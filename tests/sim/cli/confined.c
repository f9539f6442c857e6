/* SPDX-License-Identifier: MIT */
/*
 * Tries what a service's sandbox forbids or must leave, in place of the service's program: one line for each, "NAME ok",
 * "NAME ERROR", or "NAME TEXT" for what is read. What it makes it takes away again; what would change the machine is tried in a
 * way that does nothing where it is allowed.
 *
 *   confined [NAME...]    NAMEs: these only
 *
 * It reads /root/rdmad-probe, /tmp/rdmad-probe and the like, which the scenario has made.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char text[512]; /* what a test has read */

static int done(int r)
{
	return r < 0 ? -errno : 0;
}

static int opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int makes(const char *path)
{
	int r = opens(path, O_WRONLY | O_CREAT | O_EXCL);

	if (r == 0)
		unlink(path);
	return r;
}

static int speaks(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int reads(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

static int connects(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return -errno;
	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	r = done(connect(fd, (struct sockaddr *)&to, sizeof(to)));
	close(fd);
	return r;
}

static int write_etc(void)
{
	return makes("/etc/rdmad-probe");
}
static int write_usr(void)
{
	return makes("/usr/lib/rdmad-probe");
}
static int write_run(void)
{
	return makes("/run/rdmad-probe");
}
static int write_var(void)
{
	return makes("/var/lib/rdmad-probe");
}
static int write_units(void)
{
	return makes("/run/systemd/system/rdmad-probe");
}
static int write_own_run(void)
{
	return makes("/run/rdmad/probe");
}
static int write_own_var(void)
{
	return makes("/var/lib/rdmad/probe");
}
static int read_etc(void)
{
	return opens("/etc/hostname", O_RDONLY);
}
static int read_root(void)
{
	return opens("/root/rdmad-probe", O_RDONLY);
}
static int read_home(void)
{
	return opens("/home/rdmad-probe", O_RDONLY);
}
static int read_tmp(void)
{
	return opens("/tmp/rdmad-probe", O_RDONLY);
}
static int read_var_tmp(void)
{
	return opens("/var/tmp/rdmad-probe", O_RDONLY);
}
static int read_modules(void)
{
	struct utsname u;
	char path[256];

	uname(&u);
	snprintf(path, sizeof(path), "/usr/lib/modules/%s/modules.dep", u.release);
	return opens(path, O_RDONLY);
}
static int read_kmsg(void)
{
	return opens("/dev/kmsg", O_RDONLY);
}
static int read_block(void)
{
	return opens("/dev/vda", O_RDONLY);
}
static int read_char(void)
{
	return opens("/dev/ttyS3", O_RDONLY | O_NOCTTY);
}
static int read_uverbs(void)
{
	return opens("/dev/infiniband/uverbs0", O_RDWR);
}
static int read_pid1(void)
{
	return opens("/proc/1/comm", O_RDONLY);
}
static int read_sysctl(void)
{
	return opens("/proc/sys/kernel/hostname", O_RDONLY);
}
static int read_proc_modules(void)
{
	return opens("/proc/modules", O_RDONLY);
}
static int write_sysctl(void)
{
	return opens("/proc/sys/kernel/panic", O_WRONLY);
}
static int write_sys(void)
{
	return opens("/sys/class/infiniband/probe0/node_desc", O_WRONLY);
}
static int write_cgroup(void)
{
	return opens("/sys/fs/cgroup/cgroup.procs", O_WRONLY);
}
static int credential(void)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	char path[256];

	snprintf(path, sizeof(path), "%s/board-uuid", dir ? dir : "/nowhere");
	return reads(path);
}

static int socket_inet(void)
{
	return speaks(AF_INET, SOCK_DGRAM, 0);
}
static int socket_inet6(void)
{
	return speaks(AF_INET6, SOCK_DGRAM, 0);
}
static int socket_packet(void)
{
	return speaks(AF_PACKET, SOCK_DGRAM, 0);
}
static int socket_unix(void)
{
	return speaks(AF_UNIX, SOCK_STREAM, 0);
}
static int netlink_rdma(void)
{
	return speaks(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
}
static int netlink_route(void)
{
	return speaks(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}
static int netlink_uevent(void)
{
	return speaks(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

/* To this host itself; nobody has to listen. */
static int send_udp(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return -errno;
	r = done((int)sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)));
	close(fd);
	return r;
}

static int make_node(void)
{
	static const char *const dirs[] = { "/run/rdmad", "/dev/shm", "/run" };
	char path[64];
	int r = -ENOENT;

	for (size_t i = 0; i < 3 && r < 0 && r != -EPERM; i++) {
		snprintf(path, sizeof(path), "%s/probe-node", dirs[i]);
		r = done(mknod(path, S_IFBLK | 0600, makedev(254, 0)));
		if (r == 0)
			unlink(path);
	}
	return r;
}

static int make_suid(void)
{
	const char *path = "/dev/shm/rdmad-probe-suid";
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), r;

	if (fd < 0)
		return -errno;
	r = done(fchmod(fd, 04755));
	close(fd);
	unlink(path);
	return r;
}

/* Each with the value that there is. */
static int set_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return done(clock_settime(CLOCK_REALTIME, &now));
}
static int adjust_clock(void)
{
	struct timex t = { .modes = ADJ_TICK, .tick = 10000 };

	return done(adjtimex(&t));
}
static int set_hostname(void)
{
	char name[65];

	gethostname(name, sizeof(name));
	return done(sethostname(name, strlen(name)));
}
/* The kernel is asked for a module of no bytes, or to take out one that is not there: then it says so. */
static int load_module(void)
{
	int r = done((int)syscall(SYS_init_module, "", 0, ""));

	return r == -ENOEXEC ? 0 : r;
}
static int remove_module(void)
{
	int r = done((int)syscall(SYS_delete_module, "rdmad_probe_none", O_NONBLOCK));

	return r == -ENOENT ? 0 : r;
}
static int read_kernel_log(void)
{
	return done((int)syscall(SYS_syslog, 10, NULL, 0));
}
static int do_mount(void)
{
	int r = done(mount("none", "/dev/shm", "tmpfs", 0, NULL));

	if (r == 0)
		umount2("/dev/shm", MNT_DETACH);
	return r;
}
static int do_chroot(void)
{
	return done(chroot("/"));
}
static int do_ptrace(void)
{
	return done((int)ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}
static int do_personality(void)
{
	return done(personality(PER_LINUX32));
}
static int new_user_ns(void)
{
	return done(unshare(CLONE_NEWUSER));
}
static int new_net_ns(void)
{
	return done(unshare(CLONE_NEWNET));
}
static int realtime(void)
{
	struct sched_param p = { .sched_priority = 1 };

	return done(sched_setscheduler(0, SCHED_FIFO, &p));
}
static int more_priority(void)
{
	return done(setpriority(PRIO_PROCESS, 0, 1));
}
static int reboot_off(void)
{
	return done((int)syscall(SYS_reboot, 0xfee1dead, 672274793, 0, NULL));
} /* no Ctrl-Alt-Del */
static int change_user(void)
{
	return done((int)syscall(SYS_setuid, 1));
}
static int write_and_execute(void)
{
	void *p = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -errno : 0;
}
/* getpid, as a program of 32 bits asks for it. */
static int other_abi(void)
{
	long r = 20;

	__asm__ volatile("int $0x80" : "+a"(r) : : "memory");
	return r > 0 ? 0 : (int)r;
}
/* Left there: systemd takes them away when the service ends. */
static int leave_ipc(void)
{
	return done(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
}

/* More than MemoryMax= of the scenario; and time for systemd to hear of it. */
static int eat_memory(void)
{
	const size_t size = (size_t)160 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	memset(p, 1, size);
	return munmap(p, size);
}
static int after_that(void)
{
	return done(usleep(300000));
}

static int ask_systemd(void)
{
	return connects("/run/systemd/private");
}
static int ask_bus(void)
{
	return connects("/run/dbus/system_bus_socket");
}
static int ask_journal(void)
{
	return connects("/run/systemd/journal/stdout");
}

/* "Name" of /proc/self/status */
static int status(const char *name)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ':') {
			char *v = line + strlen(name) + 1;

			v += strspn(v, " \t0");
			v[strcspn(v, " \t\n")] = '\0';
			snprintf(text, sizeof(text), "=%s", *v ? v : "0");
		}
	fclose(f);
	return 0;
}
static int cap_bounding(void)
{
	return status("CapBnd");
}
static int cap_effective(void)
{
	return status("CapEff");
}
static int cap_ambient(void)
{
	return status("CapAmb");
}
static int no_new_privs(void)
{
	return status("NoNewPrivs");
}
static int seccomp(void)
{
	return status("Seccomp");
}
static int mask(void)
{
	return status("Umask");
}
static int uid(void)
{
	snprintf(text, sizeof(text), "=%s", getuid() == 0 ? "root" : "other");
	return 0;
}
static int namespaces(const char *which)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", which);
	n = readlink(path, text + 1, sizeof(text) - 2);
	if (n < 0)
		return -errno;
	text[0] = '=';
	text[n + 1] = '\0';
	return 0;
}
static int ns_mnt(void)
{
	return namespaces("mnt");
}
static int ns_net(void)
{
	return namespaces("net");
}

static const struct {
	const char *name;
	int (*try)(void);
} tests[] = {
#define T(f)          \
	{             \
#f, f \
	}
	T(write_etc),
	T(write_usr),
	T(write_run),
	T(write_var),
	T(write_units),
	T(write_own_run),
	T(write_own_var),
	T(read_etc),
	T(read_root),
	T(read_home),
	T(read_tmp),
	T(read_var_tmp),
	T(read_modules),
	T(read_kmsg),
	T(read_block),
	T(read_char),
	T(read_uverbs),
	T(read_pid1),
	T(read_sysctl),
	T(read_proc_modules),
	T(write_sysctl),
	T(write_sys),
	T(write_cgroup),
	T(credential),
	T(socket_inet),
	T(socket_inet6),
	T(socket_packet),
	T(socket_unix),
	T(netlink_rdma),
	T(netlink_route),
	T(netlink_uevent),
	T(send_udp),
	T(make_node),
	T(make_suid),
	T(set_clock),
	T(adjust_clock),
	T(set_hostname),
	T(load_module),
	T(remove_module),
	T(read_kernel_log),
	T(do_mount),
	T(do_chroot),
	T(do_ptrace),
	T(do_personality),
	T(new_user_ns),
	T(new_net_ns),
	T(realtime),
	T(more_priority),
	T(reboot_off),
	T(change_user),
	T(write_and_execute),
	T(other_abi),
	T(leave_ipc),
	T(eat_memory),
	T(after_that),
	T(ask_systemd),
	T(ask_bus),
	T(ask_journal),
	T(cap_bounding),
	T(cap_effective),
	T(cap_ambient),
	T(no_new_privs),
	T(seccomp),
	T(mask),
	T(uid),
	T(ns_mnt),
	T(ns_net),
#undef T
};

static int wanted(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return 1;
	return argc == 1;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		int st = 0;
		pid_t pid;

		if (!wanted(argc, argv, tests[i].name))
			continue;
		fflush(stdout);
		/* Each in a process of its own, which may be killed for it. */
		pid = fork();
		if (pid == 0) {
			int r = tests[i].try();

			printf("%s %s%s\n", tests[i].name, r < 0 ? strerrorname_np(-r) : "ok",
				r < 0 ? "" : text);
			fflush(stdout);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &st, 0) < 0)
			return 1;
		if (WIFSIGNALED(st))
			printf("%s SIG%s\n", tests[i].name, sigabbrev_np(WTERMSIG(st)));
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
