/* SPDX-License-Identifier: MIT */
#include "details.h"
#include "macros.h"
#include "topo.h"

#define SEGMENTS_MAX 16

static uint32_t number(const json_t *hop, const char *key)
{
	uint64_t n;

	return json_number(hop, key, &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static struct pcie_hop hop_of(const json_t *hop)
{
	return (struct pcie_hop){
		.speed_mtps = number(hop, "Speed"),
		.width = number(hop, "Width"),
		.max_speed_mtps = number(hop, "MaxSpeed"),
		.max_width = number(hop, "MaxWidth"),
	};
}

static struct pcie_segment segment(const json_t *lower, const json_t *upper)
{
	struct pcie_hop ends[2] = { hop_of(lower), hop_of(upper) };
	struct pcie_link link = pcie_link_between(&ends[0], &ends[1]);

	return (struct pcie_segment){
		.lower = json_text(lower, "Address"),
		.upper = json_text(upper, "Address"),
		.speed_mtps = link.speed_mtps,
		.width = link.width,
		.can_speed_mtps = link.max_speed_mtps,
		.can_width = link.max_width,
		.ends_speed_mtps = { ends[0].max_speed_mtps, ends[1].max_speed_mtps },
		.ends_width = { ends[0].max_width, ends[1].max_width },
	};
}

size_t pcie_segments(const json_t *device, struct pcie_segment *ret, size_t max)
{
	const json_t *hops = json_object_get(device, "PcieLinks");
	size_t n = json_array_size(hops), segments = 0;

	for (size_t i = 0; i < n; i += 2, segments++)
		if (segments < max)
			ret[segments] =
				segment(json_array_get(hops, i), json_array_get(hops, i + 1));
	return segments;
}

int pcie_segment_below(const struct pcie_segment *s)
{
	const struct pcie_link link = {
		.speed_mtps = s->speed_mtps,
		.width = s->width,
		.max_speed_mtps = s->can_speed_mtps,
		.max_width = s->can_width,
	};

	return pcie_link_is_slow(&link);
}

static json_t *known(uint32_t n)
{
	return n > 0 ? json_integer(n) : json_null();
}

json_t *pcie_segments_json(const json_t *device)
{
	struct pcie_segment segments[SEGMENTS_MAX];
	size_t n = MIN(pcie_segments(device, segments, SEGMENTS_MAX), (size_t)SEGMENTS_MAX);
	json_t *list = json_array();

	if (!json_is_array(json_object_get(device, "PcieLinks"))) {
		json_decref(list);
		return json_null();
	}
	for (size_t i = 0; i < n; i++) {
		const struct pcie_segment *s = &segments[i];
		int below = pcie_segment_below(s);

		json_array_append_new(
			list, json_pack("{s:s?, s:s?, s:o, s:o, s:o, s:o, s:o}", "Lower", s->lower,
				      "Upper", s->upper, "Speed", known(s->speed_mtps), "Width",
				      known(s->width), "MaxSpeed", known(s->can_speed_mtps),
				      "MaxWidth", known(s->can_width), "BelowMax",
				      below < 0 ? json_null() : json_boolean(below)));
	}
	return list;
}
