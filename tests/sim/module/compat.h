/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * rdmasim: the differences between the kernels that it is built for, all of
 * them, so that no other file asks for a version.
 */
#ifndef RDMASIM_COMPAT_H
#define RDMASIM_COMPAT_H

#include <linux/version.h>
#include <rdma/ib_verbs.h>

/* 6.11 hands the whole attribute bundle to create_cq, not just the udata. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
typedef struct uverbs_attr_bundle rdmasim_cq_udata;
#else
typedef struct ib_udata rdmasim_cq_udata;
#endif

/* IB_SPEED_XDR came with 6.7; older kernels call the code SDR, as they should. */
#define RDMASIM_SPEED_XDR 256

#endif
