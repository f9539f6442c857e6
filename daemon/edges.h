/* SPDX-License-Identifier: MIT */
/*
 * From two verdicts to what is told: which conditions appeared and went, which of them the journal
 * hears of now (health/storm.h), and one HealthChanged per change. Between the manager, which
 * judges, and publish/, which shows.
 */
#pragma once

#include "config.h"
#include "model.h"
#include "port-edges.h"
#include "publish.h"

/* Where edges go. Borrowed from the manager. */
struct edges {
	struct model *model; /* for its ring of last events */
	struct bus *bus;     /* NULL: none */
	/* Set while everything is judged anew for a cause of its own: conditions end by that. */
	const char *closing;
	struct storms storms;
};

/*
 * Tells what differs between the old verdict and the present one. port_edges_changed() may leave
 * something for later: then pe->storm.pending is set, and port_edges_timeout() is due at its
 * deadline.
 */
void port_edges_changed(struct edges *e, struct port *p, struct port_edges *pe,
	const struct verdict *old, const struct config *c, struct timepoint now);
void port_edges_timeout(struct edges *e, struct port *p, struct port_edges *pe,
	const struct config *c, struct timepoint now);

/*
 * The record of a fall may wait until pe->why_until for the reason why; then pe->held_until is set. To
 * be called whenever the port was judged, and at pe->held_until: tells the fall that was held back, or
 * in one more record why it was, if that came later.
 */
void port_edges_why(struct edges *e, struct port *p, struct port_edges *pe, struct timepoint now);

/*
 * Counts how often the port has fallen since the last call, for the summary of a storm. To be called
 * after port_edges_changed(); edges_storm_over() is due at storms_deadline().
 */
void port_edges_count(struct edges *e, const struct port *p, struct port_edges *pe,
	const struct config *c, struct timepoint now);
/* The summary, if a storm is over; returns whether there was one. */
bool edges_storm_over(struct edges *e, struct timepoint now);

/* n down edges happened that no reading showed; silent while a storm is on or a fall is told. */
void port_edges_blip(
	struct edges *e, struct port *p, struct port_edges *pe, unsigned n, struct timepoint now);

/*
 * The device is gone, and its ports with it: what was told of them ends. If it comes back and is no
 * better, that is told anew.
 */
void port_edges_gone(struct edges *e, struct port *p, struct port_edges *pe, struct timepoint now);
void device_edges_gone(struct edges *e, const struct device *d, struct timepoint now);

void device_edges_changed(
	struct edges *e, const struct device *d, const struct verdict *old, struct timepoint now);
void missing_edges_changed(
	struct edges *e, const struct missing *x, const struct verdict *old, struct timepoint now);
/*
 * Tells the journal of conditions that have stood for a while and that nobody acknowledged. Each
 * returns when (mono) it is to be called again at the latest.
 */
usec_t port_edges_remind(struct port *p, const struct port_edges *pe, struct timepoint now);
usec_t device_edges_remind(struct device *d, struct timepoint now);
usec_t missing_edges_remind(struct missing *x, struct timepoint now);
usec_t host_edges_remind(struct model *m, struct timepoint now);

/* A missing device is back, maybe under another name. */
void missing_edges_returned(
	struct edges *e, const struct missing *x, const struct device *d, struct timepoint now);
/* Nothing expects a missing device any more. */
void missing_edges_closed(
	struct edges *e, const struct missing *x, const char *why, struct timepoint now);
/* Another adapter is in the place of a missing one. */
void missing_edges_replaced(
	struct edges *e, const struct missing *x, const struct device *d, struct timepoint now);
void host_edges_changed(struct edges *e, const struct verdict *old, struct timepoint now);
