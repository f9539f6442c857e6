/* SPDX-License-Identifier: MIT */
/* The JSON of DescribeCounters(). */
#include "test.h"

#include <errno.h>
#include <jansson.h>

#include "counters.h"
#include "publish.h"

static const struct timepoint now = { .mono = 5 * USEC_PER_SEC, .real = 1700000000 * USEC_PER_SEC };

static struct timepoint at(usec_t sec)
{
	return (struct timepoint){ .mono = sec * USEC_PER_SEC,
		.real = (1000 + sec) * USEC_PER_SEC };
}

static struct model model;
static struct device *device;

static int set_up(void **state)
{
	struct device_facts f = { .index = 3, .port_count = 2, .node_guid = 0x0002c90300aa0011 };

	(void)state;
	STRSCPY(f.name, "x0");
	model_listing_begin(&model);
	return model_see_device(&model, &f, at(1), &device) < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	model_done(&model);
	model = (struct model){ 0 };
	return 0;
}

static void name(struct counter_table **t, uint32_t position, uint32_t n, const char *text,
	uint32_t width, uint32_t flags)
{
	struct counter_name f = {
		.set = 7, .at = position, .n = n, .width = width, .flags = flags
	};

	STRSCPY(f.name, text);
	assert_int_equal(counter_table_name(t, &f), 0);
}

static void see(struct counter_table *t, uint64_t known, const uint64_t *values, uint32_t n,
	uint32_t n_all, usec_t sec)
{
	struct counter_values f = { .set = 7, .n = n, .known = known };
	struct counters_done done = { .n = n_all };

	memcpy(f.values, values, n * sizeof(*values));
	assert_int_equal(counter_table_values(t, &f, at(sec)), 0);
	counter_table_finish(&t, &done, at(sec));
}

static json_t *describe(const char *pattern)
{
	struct publish_context ctx = { .model = &model, .config_generation = 4 };
	char *text = NULL;
	json_error_t e;
	json_t *root;

	assert_int_equal(describe_counters_text(&ctx, now, pattern, &text), 0);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &e);
	if (!root)
		print_error("%s\n%s\n", e.text, text);
	assert_non_null(root);
	free(text);
	return root;
}

static const json_t *port_at(const json_t *root, size_t i)
{
	return json_array_get(json_object_get(root, "Ports"), i);
}

static const json_t *counter_at(const json_t *port, size_t i)
{
	return json_array_get(json_object_get(port, "Counters"), i);
}

static const char *text(const json_t *o, const char *key)
{
	assert_non_null(json_object_get(o, key));
	return json_string_value(json_object_get(o, key));
}

static json_int_t number(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

#define assert_null_key(o, key)  assert_true(json_is_null(json_object_get(o, key)))
#define assert_true_key(o, key)  assert_true(json_is_true(json_object_get(o, key)))
#define assert_false_key(o, key) assert_true(json_is_false(json_object_get(o, key)))

static void test_not_read(void **state)
{
	json_t *root = describe(NULL);

	(void)state;
	assert_int_equal(number(json_object_get(root, "Daemon"), "ConfigGeneration"), 4);
	assert_int_equal(number(json_object_get(root, "Daemon"), "Timestamp"), now.real);
	assert_int_equal(json_array_size(json_object_get(root, "Ports")), 2);
	assert_string_equal(text(port_at(root, 1), "Object"), "x0/2");
	assert_string_equal(text(port_at(root, 1), "Device"), "x0");
	assert_int_equal(number(port_at(root, 1), "Number"), 2);
	assert_string_equal(text(port_at(root, 1), "NodeGuid"), "0002:c903:00aa:0011");
	assert_string_equal(text(port_at(root, 0), "HwError"), "none, or not read yet");
	assert_string_equal(text(port_at(root, 0), "PmaError"), "none, or not read yet");
	assert_int_equal(json_array_size(json_object_get(port_at(root, 0), "Counters")), 0);
	json_decref(root);
}

static void test_values(void **state)
{
	struct counter_table **pma = &device_port(device, 1)->counters[COUNTER_PMA];
	struct counter_table **hw = &device_port(device, 1)->counters[COUNTER_HW];
	const json_t *port, *c;
	json_t *root;

	(void)state;
	name(pma, 0, 3, "link_downed", 8, 0);
	name(pma, 1, 3, "port_rcv_data", 64, 0);
	name(pma, 2, 3, "symbol_error", 16, 0);
	see(*pma, 3, (const uint64_t[]){ 250, 1000, 0 }, 3, 3, 10);
	see(*pma, 2, (const uint64_t[]){ 0, 1100, 0 }, 3, 3, 20);
	name(hw, 0, 2, "RNR sent", 0, 0);
	name(hw, 1, 2, "active_qps", 0, COUNTER_GAUGE);
	see(*hw, 3, (const uint64_t[]){ UINT64_C(1) << 62, 9 }, 2, 5, 10);
	see(*hw, 3, (const uint64_t[]){ 2, UINT64_MAX }, 2, 5, 20);

	root = describe(NULL);
	port = port_at(root, 0);
	assert_string_equal(text(port, "HwError"), "3 more are not kept");
	assert_null_key(port, "PmaError");
	assert_int_equal(json_array_size(json_object_get(port, "Counters")), 5);

	c = counter_at(port, 0);
	assert_string_equal(text(c, "Name"), "RNR sent");
	assert_string_equal(text(c, "SafeName"), "RNR_sent");
	assert_string_equal(text(c, "Source"), "hw");
	assert_int_equal(number(c, "Value"), 2);
	assert_int_equal(number(c, "Resets"), 1);
	assert_int_equal(number(c, "Delta"), 0);
	assert_int_equal(number(c, "DeltaSince"), at(20).real);
	assert_null_key(c, "Rate");
	assert_null_key(c, "Width");
	assert_null_key(c, "Bytes");
	c = counter_at(port, 1);
	assert_true_key(c, "Gauge");
	assert_null_key(c, "Delta");
	assert_null_key(c, "DeltaSince");
	assert_true(json_real_value(json_object_get(c, "Value")) >= (double)UINT64_MAX);

	/* Not read the second time: what was known stays, and is called stale. */
	c = counter_at(port, 2);
	assert_string_equal(text(c, "Name"), "link_downed");
	assert_int_equal(number(c, "Value"), 250);
	assert_int_equal(number(c, "LastRead"), at(10).real);
	assert_true_key(c, "Stale");
	assert_int_equal(number(c, "Width"), 8);
	assert_false_key(c, "Saturated");
	c = counter_at(port, 3);
	assert_string_equal(text(c, "Source"), "pma");
	assert_int_equal(number(c, "Value"), 1100);
	assert_int_equal(number(c, "Bytes"), 4400);
	assert_int_equal(number(c, "Delta"), 100);
	assert_int_equal(number(c, "DeltaSince"), at(10).real);
	assert_float_equal(json_real_value(json_object_get(c, "Rate")), 10, 0.001);
	assert_false_key(c, "Stale");
	assert_false_key(c, "Gauge");
	/* Never read: not 0. */
	c = counter_at(port, 4);
	assert_string_equal(text(c, "Name"), "symbol_error");
	assert_null_key(c, "Value");
	assert_null_key(c, "LastRead");
	assert_null_key(c, "Delta");
	assert_null_key(c, "Rate");
	json_decref(root);

	see(*pma, 7, (const uint64_t[]){ 255, 1, 2 }, 3, 3, 30);
	root = describe(NULL);
	assert_true_key(counter_at(port_at(root, 0), 2), "Saturated");
	json_decref(root);
}

static void test_errors(void **state)
{
	struct counter_table **pma = &device_port(device, 1)->counters[COUNTER_PMA];
	struct counters_done failed = { .n = 1, .unreadable = 1, .error = -EIO };
	json_t *root;

	(void)state;
	name(pma, 0, 1, "link_downed", 8, 0);
	counter_table_finish(pma, &failed, at(10));
	root = describe(NULL);
	assert_string_equal(text(port_at(root, 0), "PmaError"), strerror(EIO));
	assert_int_equal(json_array_size(json_object_get(port_at(root, 0), "Counters")), 1);
	json_decref(root);
	failed = (struct counters_done){ .error = -ENOENT };
	counter_table_finish(pma, &failed, at(20));
	root = describe(NULL);
	assert_string_equal(text(port_at(root, 0), "PmaError"), "the driver has none");
	assert_int_equal(json_array_size(json_object_get(port_at(root, 0), "Counters")), 0);
	json_decref(root);
}

static void test_device_and_pattern(void **state)
{
	json_t *root;

	(void)state;
	name(&device->counters, 0, 1, "no_completion_cmds", 0, 0);
	see(device->counters, 1, (const uint64_t[]){ 4 }, 1, 1, 10);
	root = describe("x*");
	assert_int_equal(json_array_size(json_object_get(root, "Ports")), 3);
	assert_string_equal(text(port_at(root, 0), "Object"), "x0");
	assert_int_equal(number(port_at(root, 0), "Number"), 0);
	assert_null_key(port_at(root, 0), "HwError");
	assert_null_key(port_at(root, 0), "PmaError");
	assert_int_equal(number(counter_at(port_at(root, 0), 0), "Value"), 4);
	json_decref(root);
	root = describe("x0/2");
	assert_int_equal(json_array_size(json_object_get(root, "Ports")), 1);
	assert_string_equal(text(port_at(root, 0), "Object"), "x0/2");
	json_decref(root);
	root = describe("y*");
	assert_int_equal(json_array_size(json_object_get(root, "Ports")), 0);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_device_and_pattern, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
