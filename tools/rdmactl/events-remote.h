/* SPDX-License-Identifier: MIT */
/*
 * The events of another host: the bus of one can be reached over ssh, its journal cannot, so that
 * rdmactl is run there.
 */
#pragma once

#include "rdmactl.h"

/* Runs the same over ssh on o->host. Returns the exit status. */
int events_remote(const struct options *o);

/* The command line for the shell there; to be freed, NULL when memory is out. */
char *events_remote_command(const struct options *o, size_t columns);
