/* SPDX-License-Identifier: MIT */
#include "slow-read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "macros.h"

#define PIECE (64U * 1024)

/* Shared with the child, which writes to what is below the path. */
struct slow_answer {
	char path[PATH_MAX];
	size_t max;
	int error;
	size_t size;
	char data[SLOW_READ_MAX];
};

static int read_whole(struct slow_answer *a)
{
	_cleanup_(closep) int fd = -1;
	struct stat st;
	size_t n = 0;

	/* Opening a device node may do things, and a FIFO waits. */
	if (lstat(a->path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(a->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	for (;;) {
		char beyond;
		/* In pieces: for /proc/sys the kernel allocates as much as it is asked for. */
		ssize_t k = n < a->max ? read(fd, a->data + n, MIN(a->max - n, (size_t)PIECE))
				       : read(fd, &beyond, sizeof(beyond));

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (k == 0)
			break;
		if (n == a->max)
			return -EFBIG;
		n += (size_t)k;
	}
	a->size = n;
	return 0;
}

_Noreturn static void serve(int fd, struct slow_answer *a)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char c;

	/* One that hangs must not keep a pipe open, the other end of which waits for us. */
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (null < 0 || dup2(null, i) < 0)
			close(i);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, &c, 1) == 1) {
		a->error = read_whole(a);
		if (send(fd, &c, 1, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

void slow_reader_done(struct slow_reader *r)
{
	if (r->pid <= 0)
		return;
	kill(r->pid, SIGKILL);
	/* One that hangs in the kernel is not waited for. */
	(void)waitpid(r->pid, NULL, WNOHANG);
	close(r->fd);
	munmap(r->answer, sizeof(*r->answer));
	*r = (struct slow_reader){ 0 };
}

static int begin(struct slow_reader *r)
{
	int fds[2], error;

	if (r->pid > 0)
		return 0;
	r->answer = mmap(NULL, sizeof(*r->answer), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->answer == MAP_FAILED)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		error = errno;
		munmap(r->answer, sizeof(*r->answer));
		return -error;
	}
	fflush(NULL);
	r->pid = fork();
	if (r->pid == 0) {
		close(fds[0]);
		serve(fds[1], r->answer);
	}
	error = errno;
	close(fds[1]);
	if (r->pid < 0) {
		close(fds[0]);
		munmap(r->answer, sizeof(*r->answer));
		*r = (struct slow_reader){ 0 };
		return -error;
	}
	r->fd = fds[0];
	return 0;
}

int slow_read(struct slow_reader *r, const char *path, size_t max, usec_t timeout, const char **ret,
	size_t *ret_size)
{
	struct pollfd p = { .events = POLLIN };
	char c = 0;
	int n;

	n = begin(r);
	if (n < 0)
		return n;
	STRSCPY(r->answer->path, path);
	r->answer->max = MIN(max, (size_t)SLOW_READ_MAX);
	p.fd = r->fd;
	n = send(r->fd, &c, 1, MSG_NOSIGNAL) == 1 ? poll(&p, 1, (int)(timeout / USEC_PER_MSEC))
						  : -1;
	if (n <= 0 || read(r->fd, &c, 1) != 1) {
		slow_reader_done(r);
		return n == 0 ? -ETIMEDOUT : -EIO;
	}
	*ret = r->answer->data;
	*ret_size = MIN(r->answer->size, r->answer->max);
	return r->answer->error;
}
