/* SPDX-License-Identifier: MIT */
#include "events-remote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "follow.h"
#include "macros.h"
#include "output.h"
#include "text.h"

#define LINE_MAX_SIZE 65536

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = 1;
}

/* One word for a shell, whatever is in it. */
static void quote(FILE *f, const char *word)
{
	fputs(" '", f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

static void quote_option(FILE *f, const char *option, const char *value)
{
	_cleanup_(freep) char *word = NULL;

	if (value && asprintf(&word, "%s=%s", option, value) >= 0)
		quote(f, word);
}

char *events_remote_command(const struct options *o, size_t columns)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (columns > 0)
		fprintf(f, "COLUMNS=%zu ", columns);
	fputs("rdmactl events --no-pager", f);
	if (o->format != OUTPUT_TEXT)
		fprintf(f, " --json=%s", o->format == OUTPUT_JSON_SHORT ? "short" : "pretty");
	fprintf(f, "%s%s%s", o->legend ? "" : " --no-legend", o->full ? " --full" : "",
		o->follow ? " --follow" : "");
	if (o->lines != UINT64_MAX)
		fprintf(f, " --lines=%" PRIu64, o->lines);
	quote_option(f, "--since", o->since);
	quote_option(f, "--kind", o->kinds);
	if (o->n_patterns > 0)
		fputs(" --", f);
	for (size_t i = 0; i < o->n_patterns; i++)
		quote(f, o->patterns[i]);
	return fclose(f) == 0 ? text : NULL;
}

/* Starts it with its output into a pipe. Returns 0 or a negative errno. */
static int start(const char *host, const char *command, pid_t *ret_pid, FILE **ret_output)
{
	const char *const args[] = { "ssh", "-xT", "--", host, command, NULL };
	posix_spawn_file_actions_t actions;
	int fd[2], r;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd[1], STDOUT_FILENO);
	r = posix_spawnp(ret_pid, "ssh", &actions, NULL, (char *const *)args, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[1]);
	*ret_output = r == 0 ? fdopen(fd[0], "re") : NULL;
	if (*ret_output)
		return 0;
	close(fd[0]);
	return r > 0 ? -r : -ENOMEM;
}

/* Lines as they come, made harmless: the other host is trusted with no more than its own events. */
static void copy_lines(FILE *from, bool follow)
{
	static char line[LINE_MAX_SIZE];

	while (fgets(line, sizeof(line), from)) {
		_cleanup_(freep) char *clean = text_sanitise(line, true);

		fputs(or_text(clean, ""), stdout);
		if (follow && !follow_flush())
			break;
	}
}

int events_remote(const struct options *o)
{
	_cleanup_(freep) char *command = NULL;
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
	FILE *output = NULL;
	int status = 0, r;
	pid_t pid = 0;

	output_open(o);
	command = events_remote_command(o, output_width());
	r = command ? start(o->host, command, &pid, &output) : -ENOMEM;
	if (r < 0) {
		output_error("Cannot run ssh: %s", strerror(-r));
		return output_close(EXIT_FAILED);
	}
	/* ^C ends ssh, whose end ends this. */
	if (o->follow) {
		sigaction(SIGINT, &action, NULL);
		signal(SIGPIPE, SIG_IGN);
	}
	copy_lines(output, o->follow);
	fclose(output);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (interrupted)
		return EXIT_SUCCESS;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) /* the shell's word for it */
		output_error("There is no rdmactl on %s, or no shell that finds it", o->host);
	/* 255 is ssh's own word for having failed; what the other rdmactl says is passed on. */
	if (!WIFEXITED(status) || WEXITSTATUS(status) > EXIT_NOT_RUNNING)
		return output_close(EXIT_FAILED);
	return o->follow ? WEXITSTATUS(status) : output_close(WEXITSTATUS(status));
}
