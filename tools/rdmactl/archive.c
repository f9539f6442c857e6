/* SPDX-License-Identifier: MIT */
#include "archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "macros.h"

#define TAR_TIMEOUT (2 * USEC_PER_MINUTE)

/* No file of a captured tree is larger: what tar would make of a few bytes can be. */
#define UNPACKED_FILE_MAX (64U * 1024 * 1024)

/* What the smallest archive is below. */
#define ROOM_SIZE (1024 * 1024)

DEFINE_CLEANUP(DIR *, closedir)

int private_directory(char **ret)
{
	_cleanup_(freep) char *path = NULL;
	const char *top = getenv("TMPDIR");

	if (asprintf(&path, "%s/rdmactl.XXXXXX", top && top[0] == '/' ? top : "/tmp") < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(path))
		return -errno;
	*ret = TAKE_PTR(path);
	return 0;
}

/* Deeper is nothing that we make, and an archive that is gets its files left behind. */
#define DEPTH_MAX 64

static void empty_directory(int at, const char *name, unsigned depth)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *de;
	struct stat st;
	int fd;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode))
		return;
	if ((st.st_mode & 0700) != 0700 && fchmodat(at, name, 0700, 0) < 0)
		return;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((de = readdir(dir))) {
		if (streq(de->d_name, ".") || streq(de->d_name, ".."))
			continue;
		if (unlinkat(fd, de->d_name, 0) == 0 || depth == 0)
			continue;
		empty_directory(fd, de->d_name, depth - 1);
		(void)unlinkat(fd, de->d_name, AT_REMOVEDIR);
	}
}

void remove_tree(const char *path)
{
	empty_directory(AT_FDCWD, path, DEPTH_MAX);
	(void)rmdir(path);
}

void private_directoryp(char **path)
{
	if (*path)
		remove_tree(*path);
	free(*path);
}

/* Waits for a child so long. Returns as run_program(). */
static int wait_for(pid_t pid, usec_t timeout)
{
	_cleanup_(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int status, r;

	r = fd < 0 ? -1 : poll(&p, 1, (int)(timeout / USEC_PER_MSEC));
	if (r <= 0) {
		/* One that sits in the kernel dies when it comes back; nobody waits for it. */
		kill(pid, SIGKILL);
		return fd < 0 ? -ENOSYS : -ETIMEDOUT;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int run_program(const char *const argv[], int output, usec_t timeout)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0 && output >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	else if (r == 0)
		r = posix_spawn_file_actions_addopen(
			&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	/* What it has to say is told in our own words. */
	if (r == 0)
		r = posix_spawn_file_actions_addopen(
			&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (r == 0)
		r = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r != 0 ? -r : wait_for(pid, timeout);
}

static int run_tar(const char *const argv[], int output)
{
	int r = run_program(argv, output, TAR_TIMEOUT);

	return r > 0 ? -EBADMSG : r;
}

int archive_unpack(const char *file, const char *directory)
{
	const char *const argv[] = { "tar", "--extract", "--gzip", "--force-local",
		"--no-same-owner", "--no-same-permissions", "--no-overwrite-dir", "--directory",
		directory, "--file", file, NULL };
	struct rlimit before, limit;
	int r;

	if (getrlimit(RLIMIT_FSIZE, &before) < 0)
		return -errno;
	limit = before;
	limit.rlim_cur = MIN(before.rlim_max, (rlim_t)UNPACKED_FILE_MAX);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return -errno;
	r = run_tar(argv, -1);
	(void)setrlimit(RLIMIT_FSIZE, &before);
	return r;
}

/* tar says in words only what it died of: whether there is no room for more is asked here. */
static int find_no_room(int output)
{
	int r = posix_fallocate(output, 0, ROOM_SIZE);

	return r == ENOSPC || r == EDQUOT || r == EFBIG ? -r : -EBADMSG;
}

int archive_pack(const char *directory, int output)
{
	const char *const argv[] = { "tar", "--create", "--gzip", "--sort=name", "--owner=root:0",
		"--group=root:0", "--directory", directory, "--file=-", ".", NULL };
	int r = run_tar(argv, output);

	return r == -EBADMSG ? find_no_room(output) : r;
}
