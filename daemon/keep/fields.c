/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include "keep.h"
#include "rules.h"

/* The words of an enum, for a table. */
#define WORDS(name)                                        \
	static const char *name##_word(int value)          \
	{                                                  \
		return name##_to_string((enum name)value); \
	}
#define WORD_FIELD(type, member, name)                                   \
	RECORD_FIELD(type, member, RECORD_WORD), .to_word = name##_word, \
						 .from_word = name##_from_string

WORDS(health)
WORDS(severity)
WORDS(link_layer)
WORDS(link_type)
WORDS(probe_state)

static const char *reason_id_word(int id)
{
	return rule_get((enum reason_id)id)->name;
}

static const char *const elsewhere_kind_words[_ELSEWHERE_KIND_MAX] = {
	[ELSEWHERE_NETNS] = "netns",
	[ELSEWHERE_VFIO] = "vfio",
	[ELSEWHERE_UNBOUND] = "unbound",
	[ELSEWHERE_NOT_PROBED] = "not-probed",
};

static const char *elsewhere_kind_word(int kind)
{
	return strtab_to_string(elsewhere_kind_words, _ELSEWHERE_KIND_MAX, kind);
}

static int elsewhere_kind_from_string(const char *word)
{
	return strtab_from_string(elsewhere_kind_words, _ELSEWHERE_KIND_MAX, word);
}

#define F(key_, member, kind_)                                            \
	{                                                                 \
		.key = (key_), RECORD_FIELD(TYPE, member, RECORD_##kind_) \
	}
#define W(key_, member, name)                                 \
	{                                                     \
		.key = (key_), WORD_FIELD(TYPE, member, name) \
	}

#define TYPE struct keep
const struct record_field kept_fields[] = {
	F("WrittenBy", version, TEXT),
	F("Why", why, TEXT),
	F("Saved", saved, TIME),
	F("Slept", slept, U64),
	{ NULL },
};
#undef TYPE

#define TYPE struct device_facts
const struct record_field kept_device_facts[] = {
	F("Index", index, U32),
	F("PortCount", port_count, U32),
	F("NodeGuid", node_guid, U64),
	F("SysImageGuid", sys_image_guid, U64),
	F("NumaNode", numa_node, I32),
	W("LinkType", link_type, link_type),
	F("NoUverbs", no_uverbs, U32),
	F("Name", name, TEXT),
	F("NodeType", node_type, TEXT),
	F("Protocol", protocol, TEXT),
	F("Driver", driver, TEXT),
	F("PciAddress", pci_address, TEXT),
	F("Adapter", adapter, TEXT),
	F("FirmwareVersion", firmware_version, TEXT),
	F("BoardId", board_id, TEXT),
	F("Uverbs", uverbs, TEXT),
	F("ParentNetDevice", parent_netdev, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct device
const struct record_field kept_device[] = {
	F("HaveDetails", have_details, BOOL),
	F("PcieSlowReads", pcie_slow_reads, U32),
	F("FirstSeen", first_seen, TIME),
	F("Fatal", fatal, BOOL),
	F("FatalAt", fatal_at, U64),
	F("EventsError", events_error, I32),
	W("ProbeState", probe_state, probe_state),
	F("SilentSince", silent_since, TIME),
	F("SlowSince", slow_since, TIME),
	{ NULL },
};
#undef TYPE

#define TYPE struct device_details
const struct record_field kept_details[] = {
	F("PcieHops", n_pcie, U32),
	F("IsVf", is_vf, I32),
	F("GpuHops", gpu_hops, I32),
	F("BoardId", board_id, TEXT),
	F("HcaType", hca_type, TEXT),
	F("HwRev", hw_rev, TEXT),
	F("NodeDesc", node_desc, TEXT),
	F("PhysFn", physfn, TEXT),
	F("Gpu", gpu, TEXT),
	F("LocalCpus", local_cpus, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct pcie_hop
const struct record_field kept_pcie_hop[] = {
	F("Address", address, TEXT),
	F("Speed", speed_mtps, U32),
	F("Width", width, U32),
	F("MaxSpeed", max_speed_mtps, U32),
	F("MaxWidth", max_width, U32),
	{ NULL },
};
#undef TYPE

#define TYPE struct port_facts
const struct record_field kept_port_facts[] = {
	F("Rate", rate_mbps, U64),
	F("State", state, I32),
	F("PhysState", phys_state, I32),
	W("LinkLayer", link_layer, link_layer),
	F("Lid", lid, U32),
	F("SmLid", sm_lid, U32),
	F("NetDeviceIndex", netdev_index, U32),
	F("ActiveMtu", active_mtu, U32),
	F("Lmc", lmc, U32),
	F("Width", width, TEXT),
	F("Speed", speed, TEXT),
	F("NetDevice", netdev, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct port
const struct record_field kept_port[] = {
	F("HaveFacts", have_facts, BOOL),
	F("LastError", last_error, I32),
	F("ReadAt", read_at, TIME),
	F("FirstSeen", first_seen, TIME),
	F("ActiveSince", active_since, TIME),
	F("DownSince", down_since, TIME),
	F("WasActive", was_active, BOOL),
	F("LastActiveFor", last_active_for, U64),
	F("Learned", learned, BOOL),
	F("LearnFrom", learn_from, U64),
	F("ExcusedDowns", excused_downs, U64),
	F("ExcusedUntil", excused_until, U64),
	F("SettleUntil", settle_until, U64),
	F("FlapCount", flap_count, U64),
	F("LastEdge", last_edge, U64),
	F("FlapFloor", flap_floor, U64),
	F("UnseenDowns", unseen_downs, I64),
	F("UnseenSince", unseen_since, U64),
	F("DownsAhead", downs_ahead, U32),
	F("DownsAheadSince", downs_ahead_since, U64),
	W("ProbeState", probe_state, probe_state),
	F("OddPhysReads", odd_phys_reads, U32),
	F("Group", group, TEXT),
	F("Required", required, BOOL),
	F("WidthLow", width_low.since, U64),
	F("SpeedLow", speed_low.since, U64),
	F("RateOdd", rate_odd.since, U64),
	F("NoGid", no_gid.hold.since, U64),
	F("NoGidReading", no_gid.reading, U64),
	F("NoGidAsked", no_gid.asked, U64),
	F("NoUmad", no_umad.hold.since, U64),
	F("NoUmadReading", no_umad.reading, U64),
	F("NoUmadAsked", no_umad.asked, U64),
	{ NULL },
};
#undef TYPE

#define TYPE struct best_rate
const struct record_field kept_best[] = {
	F("Rate", rate_mbps, U64),
	W("LinkLayer", link_layer, link_layer),
	F("Width", width, TEXT),
	F("Speed", speed, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct downs_ledger
const struct record_field kept_ledger[] = {
	F("Known", known, BOOL),
	F("Active", active, BOOL),
	F("Resets", resets, U32),
	F("Value", value, U64),
	F("Edges", edges, U64),
	F("Spare", spare, U64),
	{ NULL },
};
#undef TYPE

#define TYPE struct port_edges
const struct record_field kept_edges[] = {
	F("HeldUntil", held_until, U64),
	F("WhyTold", why_told, BOOL),
	F("WasActiveFor", was_active_for, U64),
	F("Closed", closed, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct storm
const struct record_field kept_storm[] = {
	F("ToldDown", told_down, BOOL),
	F("IsDown", is_down, BOOL),
	F("Flapping", flapping, BOOL),
	F("Pending", pending, BOOL),
	F("Deadline", deadline, U64),
	F("Hold", hold, U64),
	F("Absorbed", absorbed, U32),
	{ NULL },
};
#undef TYPE

#define TYPE struct verdict
const struct record_field kept_verdict[] = {
	W("HealthState", health, health),
	F("Since", since, TIME),
	F("IgnoredBecause", ignored_because, TEXT),
	{ NULL },
};
#undef TYPE

#define reason_id_from_string rule_by_name
#define TYPE                  struct reason
const struct record_field kept_reason[] = {
	W("Id", id, reason_id),
	W("Severity", severity, severity),
	F("Since", since, TIME),
	F("Subject", subject, TEXT),
	F("Found", found, TEXT),
	F("Wanted", wanted, TEXT),
	F("Remedy", remedy, TEXT),
	F("Reminders", reminders, U32),
	{ NULL },
};
#undef TYPE

#define TYPE struct acknowledgement
const struct record_field kept_ack[] = {
	F("When", when, TIME),
	F("By", by, TEXT),
	F("Comment", comment, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct release
const struct record_field kept_release[] = {
	F("Until", until, TIME),
	F("By", by, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct netdev_facts
const struct record_field kept_netdev[] = {
	F("Index", ifindex, U32),
	F("Flags", flags, U32),
	F("CarrierUps", carrier_up_count, U32),
	F("CarrierDowns", carrier_down_count, U32),
	F("Type", type, U32),
	F("Master", master, U32),
	F("Link", link, U32),
	F("Mtu", mtu, U32),
	F("Carrier", carrier, BOOL),
	F("HaveCarrierCounts", have_carrier_counts, BOOL),
	F("PermanentAddress", permanent_address, BOOL),
	F("OperState", operstate, U8),
	F("Leg", leg, U8),
	F("Mii", mii, U8),
	F("AddressLength", address_length, U8),
	F("Address", address, BYTES),
	F("Name", name, TEXT),
	F("Kind", kind, TEXT),
	F("PhysPortName", phys_port_name, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct missing
const struct record_field kept_missing[] = {
	F("Name", name, TEXT),
	F("NodeGuid", node_guid, U64),
	F("PciAddress", pci_address, TEXT),
	F("Required", required, BOOL),
	F("Seen", seen, BOOL),
	F("Remembered", remembered, BOOL),
	F("Driver", driver, TEXT),
	F("BoardId", board_id, TEXT),
	F("Placed", placed, BOOL),
	W("Elsewhere", elsewhere, elsewhere_kind),
	F("Since", since, TIME),
	{ NULL },
};
#undef TYPE

#define TYPE struct missing_port
const struct record_field kept_missing_port[] = {
	F("Number", number, U32),
	W("LinkLayer", link_layer, link_layer),
	F("NetDevice", netdev, TEXT),
	F("Learned", learned, BOOL),
	{ NULL },
};
#undef TYPE

#define TYPE struct elsewhere_facts
const struct record_field kept_elsewhere[] = {
	W("Kind", kind, elsewhere_kind),
	F("Name", name, TEXT),
	F("PciAddress", pci_address, TEXT),
	F("IsVf", is_vf, I32),
	F("Driver", driver, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct unprobed
const struct record_field kept_unprobed[] = {
	F("Since", hold.since, U64),
	{ NULL },
};
#undef TYPE

#define TYPE struct event
const struct record_field kept_event[] = {
	F("When", when, TIME),
	F("Object", object, TEXT),
	F("Reason", reason, TEXT),
	F("OldState", old_state, TEXT),
	F("NewState", new_state, TEXT),
	F("Message", message, TEXT),
	{ NULL },
};
#undef TYPE

#define TYPE struct counter
const struct record_field kept_counter[] = {
	F("Width", width, U32),
	F("Flags", flags, U32),
	F("Known", known, BOOL),
	F("WidthRefuted", width_refuted, BOOL),
	F("Resets", resets, U32),
	F("Value", value, U64),
	F("Base", base, U64),
	F("ReadAt", read_at, TIME),
	F("BaseAt", base_at, TIME),
	{ NULL },
};
#undef TYPE

#define TYPE struct counter_history
const struct record_field kept_history[] = {
	F("Standing", standing, BOOL),
	F("OverAt", over_at, U64),
	{ NULL },
};
