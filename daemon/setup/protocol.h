/* SPDX-License-Identifier: MIT */
/*
 * What rdmad and its setup helper say to each other: one SOCK_SEQPACKET message per step, one per
 * answer, fixed size, nothing free-form. Both ends check everything. PURE.
 */
#pragma once

#include "details.h"
#include "facts.h"
#include "model.h"

#define SETUP_SOCKET_PATH "/run/rdmad-setup.socket"
#define SETUP_MAGIC       0x7364726dU
#define SETUP_VERSION     2

enum step_kind {
	STEP_LOAD_MODULE,
	STEP_ADD_LINK,
	/* Settings: one value of the host, a device, a port or a netdev (setting.h) */
	STEP_NETNS_MODE,
	STEP_PRIVILEGED_QKEY,
	STEP_DEVICE_NAME,
	STEP_NODE_DESCRIPTION,
	STEP_ADAPTIVE_MODERATION,
	STEP_ROCE_MODE,
	STEP_ROCE_TOS,
	STEP_OPTIONAL_COUNTERS,
	STEP_ADD_IPOIB, /* makes a child; its value is the P_Key */
	STEP_IPOIB_MODE,
	STEP_IPOIB_UMCAST,
	STEP_NETDEV_MTU,
	_STEP_KIND_MAX,
};
DECLARE_STRING_TABLE(step_kind, enum step_kind); /* "load-module" "add-link" "netns-mode"... */

#define STEP_NAME_MAX   RDMA_NAME_MAX
#define STEP_VALUE_MAX  256
#define STEP_INDEX_NONE UINT32_MAX

struct setup_request {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;              /* enum step_kind */
	uint64_t id;                /* comes back with the answer */
	uint32_t link_type;         /* enum link_type; 0 but for links */
	uint32_t flags;             /* SETUP_DISRUPTIVE, SETUP_LOOK */
	uint32_t index;             /* of the device or netdev that is set; STEP_INDEX_NONE else */
	uint32_t port;              /* from 1; 0: not of a port */
	char name[STEP_NAME_MAX];   /* module name or alias, link, device or netdev */
	char netdev[IFNAMSIZ];      /* of a link: what it runs on; of an IPoIB child: its parent */
	char value[STEP_VALUE_MAX]; /* of a setting: as wanted (setting.h) */
};

#define SETUP_DISRUPTIVE (1u << 0) /* also where it disturbs traffic */
#define SETUP_LOOK       (1u << 1) /* of a setting: only read what it is */

enum setup_answer_flags {
	SETUP_BUILT_IN = 1 << 0, /* the module is part of the kernel */
	/* Not from the helper: the client says why there is no answer from it. */
	SETUP_UNREACHABLE = 1 << 1,
	SETUP_DIED = 1 << 2,
	SETUP_IN_USE = 1 << 3, /* STEP_WAITING: it would disturb whoever uses it */
};

struct setup_answer {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint64_t id;
	uint32_t result;       /* enum step_result */
	int32_t error;         /* 0 or a negative errno */
	uint32_t ifindex;      /* of the netdev, 0 unknown */
	uint32_t device_index; /* of the link that is there now, UINT32_MAX unknown */
	uint32_t flags;
	uint32_t reserved;
	char name[STEP_NAME_MAX];   /* as in the request */
	char module[STEP_NAME_MAX]; /* the real module behind a name or alias, "" unknown */
	char value[STEP_VALUE_MAX]; /* of a setting: as read back; "" unknown */
	char detail[REASON_TEXT_MAX];
	char remedy[REASON_TEXT_MAX];
};

/* Whether it sets a value, rather than making or loading something. */
bool step_kind_is_setting(enum step_kind kind);

/* A request for a module or a link, with everything but the id in place. */
struct setup_request setup_request_make(
	enum step_kind kind, const char *name, enum link_type type, const char *netdev);

/* An answer to it with that result and the sentence. */
struct setup_answer setup_answer_make(
	const struct setup_request *req, enum step_result result, int error);

/*
 * Check what came from the other process. size is that of the message. 0, -EBADMSG, or
 * -EPROTONOSUPPORT for another version of this protocol.
 */
int setup_request_check(const struct setup_request *req, size_t size);
int setup_answer_check(const struct setup_answer *a, size_t size, const struct setup_request *req);
