/* SPDX-License-Identifier: MIT */
/* PCI functions as sysfs shows them: where one is plugged in, and what is near to it. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "details.h"

#define PCI_ADDRESS_MAX 16
#define PCI_DEVICES     "/sys/bus/pci/devices"

/* "0000:3b:00.1"; behind a VMD controller the domain has more digits. */
bool pci_is_address(const char *s);

/* The PCI function nearest to the end of a path; ret_length: how much of the path leads to it. */
bool pci_nearest(const char *path, char address[PCI_ADDRESS_MAX], size_t *ret_length);

/*
 * The PCI function behind an RDMA device, and the path of its directory without links (of PATH_MAX;
 * "" when only the address is known). -ENODEV: none, or unknown.
 */
int pci_of_device(const char *device, char address[PCI_ADDRESS_MAX], char *path);

/* The PCI address of the physical function; -ENOENT for what is not a virtual one. */
int pci_physfn(int dirfd, char address[PCI_ADDRESS_MAX]);

/* The driver that a device is bound to. -ENOENT: none. Another error: unknown. */
int pci_driver(int dirfd, char *buf, size_t size);

/* Fills in pcie, n_pcie, is_vf, physfn, gpu and gpu_hops. */
void pci_read_details(const char *address, const char *path, struct device_details *d);
