/* SPDX-License-Identifier: MIT */
/*
 * Stands in front of a program ("NAME.real" beside it) and, while /run/refuse-netlink exists, has the
 * kernel refuse RDMA netlink sockets to it, with EACCES as an SELinux policy would: by a seccomp
 * filter, which no library in the program gets around.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGUMENT(n)         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skip))

static int refuse(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		UNLESS(SYS_socket, 5),
		ARGUMENT(0),
		UNLESS(AF_NETLINK, 3),
		ARGUMENT(2),
		UNLESS(NETLINK_RDMA, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	char path[4096], real[4102];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)argc;
	if (n < 0 || (access("/run/refuse-netlink", F_OK) == 0 && refuse() < 0)) {
		perror("refuse-netlink");
		return 1;
	}
	snprintf(real, sizeof(real), "%.*s.real", (int)n, path);
	execv(real, argv);
	perror(real);
	return 1;
}
