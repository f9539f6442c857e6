/* SPDX-License-Identifier: MIT */
/*
 * The picture: the inventory as a file, for the next run of rdmad and for the next boot. Versioned,
 * bounded, replaced atomically, and bound to the machine that it is of: on a cloned image it is
 * another machine's, and nobody misses that one's adapters here.
 */
#pragma once

#include "inventory.h"

#define PICTURE_NAME "inventory.json"
#define PICTURE_MAX  (4u * 1024 * 1024) /* bytes; 512 adapters with 16 ports each need 1.5 MB */

/*
 * Who this machine is. machine is derived from /etc/machine-id and says nothing of it
 * (machine-id(5)). board is the UUID of the board (DMI): the kernel shows it to root only, so that
 * systemd hands it to us as the credential "board-uuid" (LoadCredential= in rdmad.service). "" is
 * not known, for instance where there is no DMI, or without systemd: then the other has to do.
 */
struct picture_origin {
	char machine[40];
	char board[64];
	char boot[40]; /* recorded only */
};

void picture_origin_read(struct picture_origin *ret);

/* Makes the text; *ret is malloc'ed. 0 or -ENOMEM. */
int picture_format(
	const struct inventory *inv, const struct picture_origin *o, usec_t now_real, char **ret);

/*
 * Reads a text into an empty inventory. -EBADMSG: it is no picture, or one of another version;
 * -EXDEV: it is another machine's; -ENOMEM. The inventory is empty after an error.
 */
int picture_parse(const char *text, const struct picture_origin *o, struct inventory *inv);

/* Reads dir's file whole; *ret is malloc'ed. Negative errno; -ENOENT: none; -EFBIG: not ours. */
int picture_read(const char *dir, char **ret);
/* Replaces dir's file. */
int picture_write(const char *dir, const char *text);
/* Keeps dir's file as inventory.json.bad, for whoever wants to know what was in it. */
int picture_set_aside(const char *dir);
