/* SPDX-License-Identifier: MIT */
#include "doctor.h"

static const struct advice_of catalog[] = {
	{ "no-module-directory",
		"No module can be loaded: neither the drivers of adapters nor rxe and siw. "
		"Mostly the kernel was updated and the host not booted since.",
		"Boot the installed kernel, or install the modules of the running one." },
	{ "module-not-loaded", "Programs that need it fail although the device is there.",
		"Load it by [Modules] Load= in a file in /etc/rdmad/rdmad.conf.d, then: rdmactl "
		"reload" },
	{ "module-denied", "rdmad loads nothing that Deny= lists, whatever else asks for it.",
		"Nothing, if that is meant. Else take it out of Deny=, then: rdmactl reload" },
	{ "module-on-demand",
		"The kernel loads it when the first program asks for it, which newer versions of "
		"rdma-core do; with an older one that program fails.",
		"Nothing, or load it by [Modules] Load= in a file in /etc/rdmad/rdmad.conf.d, "
		"then: rdmactl reload" },
	{ "module-absent", "Nothing that needs it can work.",
		"Install the package with the further modules of this kernel, if there is one." },
	{ "module-blacklisted", "It is not loaded, neither by udev nor by rdmad.",
		"Remove that line if RDMA is wanted." },
	{ "out-of-tree-modules",
		"They are taken instead of those that belong to the kernel, and have to be built "
		"anew for each new kernel.",
		"Nothing, if that is meant (MLNX_OFED, DOCA). Else remove the package that they "
		"are from, then: depmod -a" },
	{ "stale-modules",
		"They are found first and cannot be loaded: the device stays without a driver.",
		"Build them for this kernel (dkms autoinstall), or remove them, then: depmod -a" },
	{ "mixed-modules",
		"A module of the kernel does not fit to an RDMA core that is not the kernel's: "
		"loading it fails with \"Unknown symbol\" or \"disagrees about version of "
		"symbol\".",
		"Take all of them from one source; without the out-of-tree ones: remove them, "
		"then: depmod -a" },
	{ "loaded-not-installed",
		"What runs now is not what the next boot or reload of the driver brings.",
		"Boot, or reload the drivers, when it suits." },
	{ "no-node", "Programs cannot open the device.",
		"udevadm trigger --subsystem-match=infiniband_verbs "
		"--subsystem-match=infiniband_mad --action=add" },
	{ "node-mode",
		"Users who are not root cannot open it: verbs need no privilege, and MPI, NCCL "
		"and storage clients run as users.",
		"Install rdma-core, whose udev rules make it 0666, or remove the rule that does "
		"otherwise." },
	{ "stale-name", "Programs that go by this name open another device, or none.",
		"udevadm trigger --subsystem-match=infiniband_verbs "
		"--subsystem-match=infiniband_mad --action=add" },
	{ "zero-guid",
		"A GUID of zeros identifies nothing: subnet managers refuse such a port, and "
		"rdmad cannot tell the device from another one.",
		"Of a virtual function: set it on the host by \"ip link set PF vf N node_guid "
		"GUID\" and port_guid, then bind the function anew. Of an adapter: its firmware "
		"has lost it." },
	{ "no-configfs", "RoCEMode= and RoCEToS= cannot be set.",
		"systemctl start sys-kernel-config.mount" },
	{ "no-rdma-cm-config", "RoCEMode= and RoCEToS= cannot be set.",
		"Use a kernel that is built with INFINIBAND_ADDR_TRANS_CONFIGFS." },
	{ "rdma-cgroup-limit",
		"Processes in that group fail to open devices or to make objects on them when "
		"the limit is reached. rdmad itself holds one hca_handle for each device that it "
		"watches.",
		"Raise it: echo \"DEVICE hca_handle=max hca_object=max\" >.../rdma.max" },
	{ "rdma-cgroup-unused",
		"systemd does not know this controller: no unit can be limited or counted by it, "
		"but for groups that were made by hand.",
		"Nothing, unless a container runtime is to limit RDMA: then enable it in each "
		"parent's cgroup.subtree_control." },
	{ "memlock-units",
		"Logins may pin memory that services may not: RDMA programs work in a shell and "
		"fail with ENOMEM as a service or as a job of a batch system.",
		"LimitMEMLOCK=infinity in a drop-in of the units that need it (slurmd.service, "
		"for example), or DefaultLimitMEMLOCK=infinity in a file in "
		"/etc/systemd/system.conf.d" },
	{ "memlock-logins",
		"Services may pin memory that logins may not: RDMA programs that users start "
		"fail with ENOMEM.",
		"\"* hard memlock unlimited\" and \"* soft memlock unlimited\" in a file in "
		"/etc/security/limits.d" },
	{ "memlock-small",
		"Registering memory pins it: programs that are not root's fail with ENOMEM "
		"beyond that.",
		"LimitMEMLOCK=infinity in the units that need it, and \"* - memlock unlimited\" "
		"in a file in /etc/security/limits.d for logins." },
	{ "rival-openibd",
		"It loads and unloads the whole RDMA stack by itself; while it does, devices "
		"vanish and come back.",
		"systemctl disable openibd, unless MLNX_OFED is in use; then rdmad stands still "
		"while it works." },
	{ "rival-driver-container",
		"A container brings the drivers: it unloads those of the host, and loads its own. "
		"Devices vanish and come back when it starts, is updated or ends.",
		"Nothing: rdmad stands still while it works." },
	{ "rival-ndd",
		"It writes the node description, and so does rdmad where NodeDescription= is "
		"configured: what one writes the other takes for drift.",
		"Leave it to one: remove NodeDescription=, or: systemctl mask rdma-ndd" },
	{ "rival-rename",
		"udev renames RDMA devices, and so does rdmad where Name= is configured: the "
		"name depends on who comes last.",
		"Leave it to one: remove Name=, or: ln -s /dev/null "
		"/etc/udev/rules.d/60-rdma-persistent-naming.rules" },
	{ "rival-networkmanager",
		"It sets mode and MTU of that interface, as the configuration wants rdmad to.",
		"Leave it to one: remove the section [IPoIB], or the connection of "
		"NetworkManager." },
	{ "rival-networkd",
		"It sets mode and MTU of that interface, as the configuration wants rdmad to.",
		"Leave it to one: remove the section [IPoIB], or the file of systemd-networkd." },
	{ "rival-rdma-service",
		"rdma.service is rdmad's alias for the many units that are ordered after it; "
		"this one takes its place, and loads modules by /etc/rdma/rdma.conf.",
		"rdmactl import-rdma-conf, then remove the package that it is from." },
	{ "rival-interface-manager",
		"It takes network interfaces down and up again when drivers are loaded.",
		"Nothing, unless links flap when a driver is loaded." },
	{ "opensm-here",
		"This host is a subnet manager: while it is stopped no port of its subnet comes "
		"up, unless another one takes over.",
		"Know it before you reboot." },
	{ "old-rdma-conf", "What it asks for is not loaded any more: nothing reads it.",
		"rdmactl import-rdma-conf, then remove it." },
	{ "rdmad-user", "rdmad.service cannot start: systemd knows no such user.",
		"systemd-sysusers" },
	{ "rdmad-not-enabled", "Nothing is set up or watched after the next boot.",
		"systemctl enable --now rdmad" },
	{ "config-invalid", "A start leaves these lines out, a reload is refused.",
		"rdmactl verify" },
	{ "how-to-stop",
		"A monitor that stops by accident watches nothing: systemctl stop and restart "
		"are refused.",
		"systemctl disable rdmad; systemctl kill rdmad" },
};

const struct advice_of *doctor_advice(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(catalog); i++)
		if (streq(catalog[i].id, id))
			return &catalog[i];
	return NULL;
}
