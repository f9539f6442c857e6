/* SPDX-License-Identifier: MIT */
/* What a physical function lets a virtual one do: rtnetlink messages as the kernel writes them, and the vendor's files. */
#include "test.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/stat.h>

#include "sysfs.h"
#include "vf-policy.h"

/* ---- rtnetlink ---- */

static struct nl_msg *link_message(int type)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = 4 };
	struct nl_msg *m = nlmsg_alloc_simple(type, 0);

	assert_non_null(m);
	assert_int_equal(nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO), 0);
	nla_put_string(m, IFLA_IFNAME, "eth4");
	return m;
}

/* As rtnl_fill_vfinfo() does; no state: a driver that has none. */
static void put_vf(struct nl_msg *m, uint32_t vf, const uint32_t *state)
{
	struct nlattr *info = nla_nest_start(m, IFLA_VF_INFO);
	struct ifla_vf_spoofchk spoof = { .vf = vf };
	struct ifla_vf_link_state link = { .vf = vf, .link_state = state ? *state : 0 };

	nla_put(m, IFLA_VF_SPOOFCHK, sizeof(spoof), &spoof);
	if (state)
		nla_put(m, IFLA_VF_LINK_STATE, sizeof(link), &link);
	nla_nest_end(m, info);
}

static bool parse(struct nl_msg *m, int32_t vf, struct vf_policy *f)
{
	bool ok;

	*f = vf_policy_unknown(1);
	f->vf = vf;
	ok = vf_policy_parse(nlmsg_hdr(m), f);
	nlmsg_free(m);
	return ok;
}

static void test_link_state(void **state)
{
	static const struct {
		uint32_t state;
		enum vf_link link;
	} t[] = {
		{ IFLA_VF_LINK_STATE_AUTO, VF_LINK_AUTO },
		{ IFLA_VF_LINK_STATE_ENABLE, VF_LINK_ENABLE },
		{ IFLA_VF_LINK_STATE_DISABLE, VF_LINK_DISABLE },
		{ 77, VF_LINK_UNKNOWN },
	};
	static const uint32_t other = IFLA_VF_LINK_STATE_ENABLE;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct nl_msg *m = link_message(RTM_NEWLINK);
		struct nlattr *list = nla_nest_start(m, IFLA_VFINFO_LIST);
		struct vf_policy f;

		put_vf(m, 0, &other);
		put_vf(m, 1, NULL);
		put_vf(m, 3, &t[i].state);
		put_vf(m, 4, &other);
		nla_nest_end(m, list);
		assert_int_equal(parse(m, 3, &f), t[i].link != VF_LINK_UNKNOWN);
		assert_int_equal(f.link, t[i].link);
		assert_int_equal(f.vf, 3);
	}
}

static void test_no_link_state(void **state)
{
	static const uint32_t down = IFLA_VF_LINK_STATE_DISABLE;
	struct nl_msg *m = link_message(RTM_NEWLINK);
	struct nlattr *list, *info;
	struct vf_policy f;

	(void)state;
	assert_false(parse(m, 0, &f)); /* not of a physical function, or an old kernel */

	m = link_message(RTM_NEWLINK);
	list = nla_nest_start(m, IFLA_VFINFO_LIST);
	put_vf(m, 0, NULL);
	put_vf(m, 1, &down);
	/* one that is cut */
	info = nla_nest_start(m, IFLA_VF_INFO);
	nla_put_u32(m, IFLA_VF_LINK_STATE, 2);
	nla_nest_end(m, info);
	nla_nest_end(m, list);
	assert_false(parse(m, 0, &f));

	/* others, and a number that is not known */
	m = link_message(RTM_NEWLINK);
	list = nla_nest_start(m, IFLA_VFINFO_LIST);
	put_vf(m, 0, &down);
	nla_nest_end(m, list);
	nlmsg_get(m);
	assert_false(parse(m, 2, &f));
	assert_false(parse(m, -1, &f));
	assert_int_equal(f.link, VF_LINK_UNKNOWN);

	m = link_message(RTM_DELLINK);
	list = nla_nest_start(m, IFLA_VFINFO_LIST);
	put_vf(m, 0, &down);
	nla_nest_end(m, list);
	assert_false(parse(m, 0, &f));
}

/* ---- the vendor's files ---- */

static char top[PATH_MAX];

#define PCI "/sys/devices/pci0000:3a/"
#define PF  PCI "0000:3b:00.0"

static void make_directory(const char *path)
{
	char full[2 * PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", top, path);
	for (char *p = full + strlen(top) + 1;; p++)
		if (*p == '/' || *p == '\0') {
			char c = *p;

			*p = '\0';
			assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
			*p = c;
			if (!c)
				return;
		}
}

static void make_link(const char *path, const char *target)
{
	char full[2 * PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", top, path);
	assert_int_equal(symlink(target, full), 0);
}

static void make_file(const char *path, const char *text)
{
	char full[2 * PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", top, path);
	f = fopen(full, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int make_tree(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(top, sizeof(top), "%s/test-vf.XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(top));
	make_directory("/sys/class/infiniband/mlx5_0");
	make_directory("/sys/class/infiniband/mlx5_2");
	make_directory("/sys/class/infiniband/mlx5_3");
	make_directory(PF "/sriov/0");
	make_directory(PF "/sriov/1");
	make_directory(PCI "0000:3b:00.2");
	make_directory(PCI "0000:3b:00.3");
	make_directory(PCI "0000:3b:00.4");
	make_link(
		"/sys/class/infiniband/mlx5_0/device", "../../../devices/pci0000:3a/0000:3b:00.0");
	make_link(
		"/sys/class/infiniband/mlx5_2/device", "../../../devices/pci0000:3a/0000:3b:00.3");
	make_link(
		"/sys/class/infiniband/mlx5_3/device", "../../../devices/pci0000:3a/0000:3b:00.4");
	make_link(PF "/virtfn0", "../0000:3b:00.2");
	make_link(PF "/virtfn1", "../0000:3b:00.3");
	make_link(PF "/virtfnX", "../0000:3b:00.4");
	make_link(PCI "0000:3b:00.3/physfn", "../0000:3b:00.0");
	make_link(PCI "0000:3b:00.4/physfn", "../0000:3b:00.0");
	return sysfs_set_root(top);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int remove_tree(void **state)
{
	(void)state;
	return nftw(top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void test_policy_file(void **state)
{
	static const struct {
		const char *text;
		enum vf_link link;
	} t[] = {
		{ "Down\n", VF_LINK_DISABLE },
		{ "Up\n", VF_LINK_ENABLE },
		{ "Follow\n", VF_LINK_AUTO },
		{ "Invalid policy\n", VF_LINK_UNKNOWN },
		{ "", VF_LINK_UNKNOWN },
	};
	struct vf_policy f;

	(void)state;
	make_file(PF "/sriov/0/policy", "Up\n");
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		int r;

		make_file(PF "/sriov/1/policy", t[i].text);
		r = vf_policy_read(9, "mlx5_2", &f);
		assert_true(t[i].link == VF_LINK_UNKNOWN ? r < 0 : r == 0);
		assert_int_equal(f.link, t[i].link);
		assert_int_equal(f.vf, 1);
		assert_int_equal(f.device_index, 9);
		assert_string_equal(f.netdev, "");
	}
	/* Its number is not known; it is no virtual function; it is not there. */
	assert_int_equal(vf_policy_read(9, "mlx5_3", &f), -ENOENT);
	assert_int_equal(f.vf, -1);
	assert_true(vf_policy_read(9, "mlx5_0", &f) < 0);
	assert_true(vf_policy_read(9, "mlx5_9", &f) < 0);
	assert_true(vf_policy_read(9, "../infiniband/mlx5_2", &f) < 0);
	assert_int_equal(f.link, VF_LINK_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_state),
		cmocka_unit_test(test_no_link_state),
		cmocka_unit_test(test_policy_file),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
