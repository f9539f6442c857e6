/* SPDX-License-Identifier: MIT */
/*
 * What a physical function lets the port of a virtual one do: its link state policy, as it is shown
 * to whoever has the physical function ("ip link show" of its netdev; of InfiniBand, its IPoIB
 * interface's). In a guest that was only given the virtual function nothing of this is known. The
 * kernel may ask the firmware about every virtual function of the adapter: only workers call this,
 * and seldom.
 */
#pragma once

#include "details.h"

struct nlmsghdr;

/*
 * Reads the policy of the RDMA device of that name, which is a virtual function: by rtnetlink
 * (IFLA_VFINFO_LIST), else as the vendor's driver has it, in "sriov/N/policy" of the physical one.
 * Always fills in *ret. Returns 0, or why it is not known: -ENOENT nobody says.
 */
int vf_policy_read(uint32_t device_index, const char *device, struct vf_policy *ret);

/* What RTM_NEWLINK of the physical function's netdev says of f->vf. False: nothing. */
bool vf_policy_parse(struct nlmsghdr *h, struct vf_policy *f);

/* The words in "sriov/N/policy": Down, Up, Follow. */
enum vf_link vf_policy_from_word(const char *word);
