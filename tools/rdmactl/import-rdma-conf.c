/* SPDX-License-Identifier: MIT */
/*
 * rdmactl import-rdma-conf: from the *_LOAD= keys of RHEL's /etc/rdma/rdma.conf and OFED's
 * /etc/infiniband/openib.conf to a drop-in for rdmad that means the same. Those files were sourced by
 * a shell; here they are read, and nothing in them is carried out. What there is nothing for is said.
 */
#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

#include "build-config.h"
#include "file.h"
#include "macros.h"
#include "names.h"
#include "output.h"
#include "parse.h"
#include "put-file.h"

#define INPUT_DEFAULT  "/etc/rdma/rdma.conf"
#define OUTPUT_DEFAULT "/etc/rdmad/rdmad.conf.d/50-rdma-conf.conf"
#define INPUT_MAX      (1024U * 1024U)

/* What the init scripts did for a key that was "yes". */
struct old_key {
	const char *name;
	const char *modules; /* with a space between them; NULL none */
	const char *
		instead; /* what there is in its place, or why there is nothing; NULL nothing to say */
};

#define BY_UDEV    "udev loads drivers when their hardware is found"
#define SRP_DAEMON "enable srp_daemon.service of rdma-core instead"

static const struct old_key old_keys[] = {
	{ "IPOIB_LOAD", "ib_ipoib", NULL },
	{ "SRP_LOAD", "ib_srp", NULL },
	{ "SRPT_LOAD", "ib_srpt", NULL },
	{ "ISER_LOAD", "ib_iser", NULL },
	{ "ISERT_LOAD", "ib_isert", NULL },
	/* RDS found its peers by IPoIB addresses: the scripts loaded that, too. */
	{ "RDS_LOAD", "ib_ipoib rds rds_rdma", NULL },
	/* One module since Linux 3.18; the old names are its aliases. */
	{ "XPRTRDMA_LOAD", "rpcrdma", NULL },
	{ "SVCRDMA_LOAD", "rpcrdma", NULL },
	{ "NFSoRDMA_LOAD", "rpcrdma",
		"that nfsd listens is to be set in /etc/nfs.conf, [nfsd] rdma=y" },
	{ "TECH_PREVIEW_LOAD", NULL, BY_UDEV },
	{ "FIXUP_MTRR_REGS", NULL, "the kernel and its drivers set write combining by themselves" },
	/* OFED's openib.conf. */
	{ "UVERBS_LOAD", "ib_uverbs", NULL },
	{ "UMAD_LOAD", "ib_umad", NULL },
	{ "RDMA_CM_LOAD", "rdma_cm", NULL },
	{ "RDMA_UCM_LOAD", "rdma_ucm", NULL },
	{ "UCM_LOAD", NULL, "the module ib_ucm is no longer in the kernel" },
	{ "SDP_LOAD", NULL, "the module ib_sdp never was in the kernel" },
	{ "E_IPOIB_LOAD", NULL, "the module eth_ipoib never was in the kernel" },
	{ "QLGC_VNIC_LOAD", NULL, "the module qlgc_vnic never was in the kernel" },
	{ "MTHCA_LOAD", NULL, BY_UDEV },
	{ "MLX4_LOAD", NULL, BY_UDEV },
	{ "MLX4_EN_LOAD", NULL, BY_UDEV },
	{ "MLX4_VNIC_LOAD", NULL, "the module mlx4_vnic never was in the kernel" },
	{ "MLX5_LOAD", NULL, BY_UDEV },
	{ "CXGB3_LOAD", NULL, BY_UDEV },
	{ "CXGB4_LOAD", NULL, BY_UDEV },
	{ "NES_LOAD", NULL, BY_UDEV },
	{ "QIB_LOAD", NULL, BY_UDEV },
	{ "IPATH_LOAD", NULL, BY_UDEV },
	{ "HFI1_LOAD", NULL, BY_UDEV },
	{ "SRPHA_ENABLE", NULL, SRP_DAEMON },
	{ "SRP_DAEMON_ENABLE", NULL, SRP_DAEMON },
	{ "RENICE_IB_MAD", NULL, "the kernel handles MADs in work queues" },
	{ "RUN_SYSCTL", NULL, "put the settings into /etc/sysctl.d" },
	{ "RUN_AFFINITY_TUNER", NULL, "rdmad does not tune interrupts" },
	{ "RUN_MLNX_TUNE", NULL, "rdmad does not tune the system" },
	{ "ONBOOT", NULL, "systemctl enable rdmad" },
};

/* Keys that are no switch, which "no" would leave without a meaning. */
static const struct old_key old_values[] = {
	{ "NFSoRDMA_PORT", NULL, "set it in /etc/nfs.conf, [nfsd] rdma-port=" },
	/* "yes", "no", and "auto" for what the driver has. */
	{ "SET_IPOIB_CM", NULL, "connected or not: see [IPoIB NAME] Mode=" },
	{ "IPOIB_MTU", NULL, "see [IPoIB NAME] MTU=" },
	{ "NODE_DESC", NULL, "see [Device *] NodeDescription=" },
	{ "NODE_DESC_TIME_BEFORE_UPDATE", NULL, "rdmad follows the host name by itself" },
	{ "NODE_DESC_UPDATE_TIMEOUT", NULL, "rdmad follows the host name by itself" },
	{ "POST_START_DELAY", NULL, "units wait for ports, not for time" },
};

struct assignment {
	char *key, *value; /* NULL: the line is none */
	unsigned line;
};

struct import {
	const char *input;
	struct assignment *items; /* the last of each key, in the order of the file */
	size_t n;
	FILE *out;
};

/* ---- reading ---- */

static void import_done(struct import *im)
{
	for (size_t i = 0; i < im->n; i++) {
		free(im->items[i].key);
		free(im->items[i].value);
	}
	free(im->items);
	if (im->out)
		fclose(im->out);
}

static struct assignment *find_assignment(const struct import *im, const char *key)
{
	for (size_t i = 0; i < im->n; i++)
		if (streq_ptr(im->items[i].key, key))
			return &im->items[i];
	return NULL;
}

static void forget(struct import *im, const char *key)
{
	struct assignment *a = find_assignment(im, key);

	if (!a)
		return;
	free(a->key);
	free(a->value);
	memmove(a, a + 1, (size_t)(&im->items[--im->n] - a) * sizeof(*a));
}

static int add(struct import *im, const char *key, const char *value, unsigned line)
{
	struct assignment *items;

	if (key)
		forget(im, key);
	items = reallocarray(im->items, im->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	im->items = items;
	items[im->n] = (struct assignment){ .line = line };
	if (key) {
		items[im->n].key = strdup(key);
		items[im->n].value = strdup(value);
	}
	if (key && (!items[im->n].key || !items[im->n].value)) {
		free(items[im->n].key);
		free(items[im->n].value);
		return -ENOMEM;
	}
	im->n++;
	return 0;
}

/*
 * What a shell would make of the right side of an assignment, as far as it is a plain word, in quotes
 * or not. False: it is more than that.
 */
static bool plain_value(char *s, char **ret)
{
	char quote = *s == '"' || *s == '\'' ? *s : '\0';
	char *end, *rest;

	if (quote)
		s++;
	end = quote ? strchr(s, quote) : s + strcspn(s, " \t;&|<>()\"'");
	if (!end)
		return false;
	rest = quote ? end + 1 : end;
	rest += strspn(rest, " \t");
	if (*rest && *rest != '#')
		return false;
	*end = '\0';
	*ret = s;
	return quote == '\'' || !strpbrk(s, "$`\\");
}

/* What is not fit for a terminal is no value that somebody meant. */
static bool printable(const char *s)
{
	for (const char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' && *p != '\t')
			return false;
	return utf8_valid(s, strlen(s)) && !strchr(s, 0x7f);
}

static size_t key_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return isdigit((unsigned char)s[0]) ? 0 : n;
}

static int read_line(struct import *im, char *s, unsigned line)
{
	char *value;
	size_t n;

	s = strstrip(s);
	if (!*s || *s == '#')
		return 0;
	if (strncmp(s, "export ", 7) == 0)
		s = strstrip(s + 7);
	n = key_length(s);
	if (!printable(s) || n == 0 || s[n] != '=' || !plain_value(s + n + 1, &value)) {
		output_error("%s:%u: not a plain KEY=value: left out", im->input, line);
		return add(im, NULL, NULL, line);
	}
	s[n] = '\0';
	return add(im, s, value, line);
}

static int read_input(struct import *im)
{
	_cleanup_(freep) char *text = NULL;
	unsigned line = 0;
	size_t size;
	int r;

	r = file_read(im->input, 0, INPUT_MAX, &text, &size);
	/* What is behind it would be lost without a word. */
	if (r >= 0 && memchr(text, '\0', size))
		return -EBADMSG;
	for (char *s = text, *end; r >= 0 && s; s = end) {
		end = strchr(s, '\n');
		if (end)
			*end++ = '\0';
		r = read_line(im, s, ++line);
	}
	return r;
}

/* ---- writing ---- */

static const struct old_key *find_key(const char *name, const struct old_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (streq(keys[i].name, name))
			return &keys[i];
	return NULL;
}

/* In the drop-in and on stderr. */
static void say(struct import *im, const struct assignment *a, const char *text)
{
	fprintf(im->out, "# %s\n", text);
	output_error("%s:%u: %s=%s: %s", im->input, a->line, a->key, a->value, text);
}

/*
 * Of what rdmad loads by itself: whether the old file had it not loaded. Without a word IPoIB was not;
 * ib_umad was, by RHEL's script, whose file has no key for it.
 */
static bool had_umad(const struct import *im)
{
	const struct assignment *a = find_assignment(im, "UMAD_LOAD");

	return !a || streq(a->value, "yes");
}

static bool had_ipoib(const struct import *im)
{
	const struct assignment *a = find_assignment(im, "IPOIB_LOAD");

	return a && streq(a->value, "yes");
}

static void write_defaults(struct import *im)
{
	fputs("LoadInfiniBand=\n", im->out);
	if (had_umad(im))
		fputs("LoadInfiniBand=ib_umad\n", im->out);
	if (had_ipoib(im))
		fputs("LoadInfiniBand=ib_ipoib\n", im->out);
}

/* The file may be from a host that never needed the key: that its lack matters is said. */
static void write_lacking_ipoib(struct import *im)
{
	static const char text[] = "IPOIB_LOAD= is not in it: ib_ipoib was not loaded then";

	if (find_assignment(im, "IPOIB_LOAD"))
		return;
	fprintf(im->out, "\n# %s\n", text);
	output_error("%s: %s", im->input, text);
	if (had_umad(im)) /* else that is written */
		write_defaults(im);
}

static void write_no(struct import *im, const struct assignment *a)
{
	bool yes;

	/* The scripts compared with "yes" and nothing else. */
	if (parse_bool(a->value, &yes) < 0)
		say(im, a, "neither \"yes\" nor \"no\": it counted as no");
	else if (yes)
		say(im, a, "not \"yes\" in small letters: it never had an effect");
	if (streq(a->key, "IPOIB_LOAD") || streq(a->key, "UMAD_LOAD"))
		write_defaults(im);
}

static void write_assignment(struct import *im, const struct assignment *a)
{
	const struct old_key *k;

	if (!a->key) {
		fprintf(im->out, "\n# line %u: not a plain KEY=value: left out\n", a->line);
		return;
	}
	k = find_key(a->key, old_values, ARRAY_SIZE(old_values));
	fprintf(im->out, "\n# %s=%s (line %u)\n", a->key, a->value, a->line);
	if (k) {
		say(im, a, k->instead);
		return;
	}
	k = find_key(a->key, old_keys, ARRAY_SIZE(old_keys));
	if (!k) {
		say(im, a, "not known: nothing was made of it");
	} else if (!streq(a->value, "yes")) {
		write_no(im, a);
	} else {
		if (k->modules)
			fprintf(im->out, "Load=%s\n", k->modules);
		if (k->instead)
			say(im, a, k->instead);
	}
}

/* Something stands in the file, and nothing that the old services knew: it is another file. */
static bool is_other_file(const struct import *im)
{
	for (size_t i = 0; i < im->n; i++) {
		const char *key = im->items[i].key;

		if (key && (find_key(key, old_keys, ARRAY_SIZE(old_keys)) ||
				   find_key(key, old_values, ARRAY_SIZE(old_values))))
			return false;
	}
	return im->n > 0;
}

static void write_all(struct import *im)
{
	fprintf(im->out,
		"# Made of %s by rdmactl %s: the modules that the old service loaded at boot.\n"
		"# What is \"no\" there needs no line here, but for what rdmad loads by itself.\n"
		"\n[Modules]\n",
		im->input, RDMAD_VERSION);
	for (size_t i = 0; i < im->n; i++)
		write_assignment(im, &im->items[i]);
	write_lacking_ipoib(im);
}

/* ---- the verb ---- */

static int fail(const char *file, int error)
{
	const char *why = error == -EBADMSG  ? "no text file: there is a NUL byte in it"
			  : error == -EINVAL ? "not a file"
					     : strerror(-error);

	output_error("%s: %s%s", file, why, error == -EEXIST ? " (--force writes over it)" : "");
	return EXIT_FAILED;
}

static int write_output(const char *file, const char *text, bool force)
{
	int r;

	if (streq(file, "-")) {
		fputs(text, stdout);
		return EXIT_SUCCESS;
	}
	if (streq(file, OUTPUT_DEFAULT))
		(void)mkdir("/etc/rdmad/rdmad.conf.d", 0755);
	r = put_text(file, text, force);
	if (r < 0)
		return fail(file, r);
	printf("%s: written. Look at it, then: rdmactl verify && systemctl reload rdmad\n", file);
	return EXIT_SUCCESS;
}

int verb_import_rdma_conf(const struct options *o)
{
	const char *output = o->output ? o->output : OUTPUT_DEFAULT;
	_cleanup_(import_done) struct import im = {
		.input = o->n_patterns > 0 ? o->patterns[0] : INPUT_DEFAULT,
	};
	_cleanup_(freep) char *text = NULL;
	size_t size;
	int r;

	if (o->host || o->n_patterns > 1) {
		output_error(o->host ? "'import-rdma-conf' is of this host: run it there"
				     : "'import-rdma-conf' takes one FILE");
		return EXIT_USAGE;
	}
	r = read_input(&im);
	if (r == -ENOENT && o->n_patterns == 0)
		output_error("there is nothing to import, unless you name the FILE: OFED's is "
			     "/etc/infiniband/openib.conf");
	if (r < 0)
		return fail(im.input, r);
	if (is_other_file(&im)) {
		output_error(
			"%s: no key of the old services is in it: nothing is written", im.input);
		return EXIT_FAILED;
	}
	im.out = open_memstream(&text, &size);
	if (!im.out)
		return fail(im.input, -ENOMEM);
	write_all(&im);
	r = fclose(im.out);
	im.out = NULL;
	if (r != 0)
		return fail(im.input, -ENOMEM);
	return output_close(write_output(output, text, o->force));
}
