/* SPDX-License-Identifier: MIT */
#include "macros.h"
#include "topo.h"

#define SEGMENTS_MAX 16

static uint32_t number(const json_t *hop, const char *key)
{
	uint64_t n;

	return json_number(hop, key, &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* The smaller of two, of which either may be unknown: then what both can is unknown. */
static uint32_t both(uint32_t a, uint32_t b)
{
	return a > 0 && b > 0 ? MIN(a, b) : 0;
}

static struct pcie_segment segment(const json_t *lower, const json_t *upper)
{
	struct pcie_segment s = {
		.lower = json_text(lower, "Address"),
		.upper = json_text(upper, "Address"),
		.speed_mtps = number(lower, "Speed"),
		.width = number(lower, "Width"),
		.ends_speed_mtps = { number(lower, "MaxSpeed"), number(upper, "MaxSpeed") },
		.ends_width = { number(lower, "MaxWidth"), number(upper, "MaxWidth") },
	};

	/* Both ends tell of the same link. */
	if (s.speed_mtps == 0)
		s.speed_mtps = number(upper, "Speed");
	if (s.width == 0)
		s.width = number(upper, "Width");
	s.can_speed_mtps = both(s.ends_speed_mtps[0], s.ends_speed_mtps[1]);
	s.can_width = both(s.ends_width[0], s.ends_width[1]);
	return s;
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
	bool speed_known = s->speed_mtps > 0 && s->can_speed_mtps > 0;
	bool width_known = s->width > 0 && s->can_width > 0;

	if ((speed_known && s->speed_mtps < s->can_speed_mtps) ||
		(width_known && s->width < s->can_width))
		return 1;
	return speed_known && width_known ? 0 : -1;
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
