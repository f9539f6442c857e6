/* SPDX-License-Identifier: MIT */
/* What the parts of the model need of each other. */
#pragma once

#include "model.h"

/* Frees what a port holds, but not the port itself: it is part of its device. */
void port_done(struct port *p);
void netdev_free(struct netdev *n);
