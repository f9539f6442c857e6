/* SPDX-License-Identifier: MIT */
/*
 * A worker without devices, for test-pool.c: its adapter's name says how it behaves. Like the real one
 * it answers each lane in order and ends at the end of its socket.
 */
#include <errno.h>
#include <poll.h>

#include "macros.h"
#include "protocol.h"

static const char *behaviour;

static bool behaves(const char *how)
{
	return streq(behaviour, how);
}

static void answer(enum wire_type type, const struct wire_message *request)
{
	struct wire_message m = { .type = type, .id = request->id };

	if (type == WIRE_PORT)
		m.port = port_facts_unknown(request->ref.device_index, request->ref.port);
	else if (type == WIRE_DETAILS)
		m.details = device_details_unknown(request->ref.device_index);
	else if (type == WIRE_SETTINGS)
		m.settings = setting_facts_unknown(request->ref.device_index, request->ref.port);
	else if (type == WIRE_WATCHED)
		m.result.device_index = request->ref.device_index;
	if (wire_send(WORKER_FD, &m, 0) < 0)
		_exit(0);
}

static void flood(void)
{
	struct wire_message m = { .type = WIRE_EVENT,
		.event = { .port = 1, .events = { .errs = 1, .err_first = true } } };

	for (int i = 0; i < 5000; i++)
		if (wire_send(WORKER_FD, &m, 0) < 0)
			_exit(0);
}

static void on_query(const struct wire_message *request)
{
	static struct wire_message held[3];
	static size_t n;

	if (behaves("hangs"))
		return;
	if (behaves("dies"))
		_exit(7);
	if (behaves("garbage")) {
		(void)!write(WORKER_FD, "what?", 5);
		return;
	}
	if (behaves("30ms"))
		usleep(30000);
	else if (behaves("600ms"))
		usleep(600000);
	else if (behaves("1200ms"))
		usleep(1200000);
	if (behaves("floods"))
		flood();
	if (!behaves("backwards")) {
		answer(request->type == WIRE_WATCH ? WIRE_WATCHED : WIRE_PORT, request);
		return;
	}
	held[n++] = *request;
	if (n == ARRAY_SIZE(held))
		while (n > 0)
			answer(WIRE_PORT, &held[--n]);
}

/* The ports, then the device; "halfway" never comes to it. */
static void answer_settings(const struct wire_message *request)
{
	struct wire_message m = *request;

	for (m.ref.port = 1; m.ref.port <= request->ref.port; m.ref.port++)
		answer(WIRE_SETTINGS, &m);
	m.ref.port = 0;
	if (!behaves("halfway"))
		answer(WIRE_SETTINGS, &m);
}

/* "slow": the slow lane holds everything back until it is told to forget device 99. */
static void on_slow(const struct wire_message *request)
{
	static struct wire_message held[16];
	static size_t n;

	if (request->type == WIRE_READ_SETTINGS) {
		answer_settings(request);
		return;
	}
	if (request->type != WIRE_FORGET) {
		if (!behaves("slow"))
			answer(WIRE_DETAILS, request);
		else if (n < ARRAY_SIZE(held))
			held[n++] = *request;
		return;
	}
	if (request->ref.device_index == 99)
		for (size_t i = 0; i < n; i++)
			answer(WIRE_DETAILS, &held[i]);
}

int main(int argc, char **argv)
{
	struct wire_message m;

	behaviour = argc > 1 ? argv[1] : "";
	if (behaves("deaf")) { /* reads nothing for a while */
		poll(NULL, 0, 1000);
		behaviour = "good";
	}
	while (wire_receive(WORKER_FD, &m, 0) > 0)
		switch ((int)m.type) {
		case WIRE_READ_PORT:
		case WIRE_WATCH:
			on_query(&m);
			break;
		case WIRE_UNWATCH: {
			/* no answer in truth; here an event says that it came */
			struct wire_message e = { .type = WIRE_EVENT };

			e.event.device_index = m.ref.device_index;
			if (wire_send(WORKER_FD, &e, 0) < 0)
				return 0;
			break;
		}
		case WIRE_READ_DETAILS:
		case WIRE_READ_SETTINGS:
		case WIRE_FORGET:
			on_slow(&m);
			break;
		}
	return 0;
}
