/* SPDX-License-Identifier: MIT */
/* The inventory as a file: what is written is read again, and what is not ours does no harm. */
#include "test.h"

#include <errno.h>
#include <sys/stat.h>

#include "picture.h"

static char dir[] = "/tmp/test-picture.XXXXXX";
static const struct picture_origin here = { .machine = "aaaa", .board = "b-1", .boot = "cccc" };

static int set_up(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void fill(struct inventory *inv)
{
	struct inventory_entry *e = inventory_add(inv);
	struct inventory_port *p;

	assert_non_null(e);
	e->node_guid = UINT64_C(0x0002c90300aa0010);
	e->sys_image_guid = UINT64_C(0xffffffffffffffff);
	STRSCPY(e->pci_address, "0000:3b:00.0");
	STRSCPY(e->name, "mlx5_\"\xff");
	STRSCPY(e->driver, "mlx5_core");
	STRSCPY(e->firmware_version, "28.41.1000");
	STRSCPY(e->board_id, "SIM_1");
	e->first_seen = 1000000;
	e->last_seen = 2000000;
	e->gone_told = true;
	p = inventory_entry_port(e, 1);
	assert_non_null(p);
	p->link_layer = LINK_LAYER_ETHERNET;
	STRSCPY(p->netdev, "ens1");
	p->best_rate_mbps = 400000;
	STRSCPY(p->best_width, "4X");
	STRSCPY(p->best_speed, "NDR");
	p->learned = true;
	p->learned_since = 1500000;
	assert_non_null(inventory_entry_port(e, 2));

	e = inventory_add(inv); /* one of which only the slot is known */
	assert_non_null(e);
	STRSCPY(e->pci_address, "0000:5e:00.0");
}

static char *text_of(const struct picture_origin *o)
{
	struct inventory inv = { 0 };
	char *text = NULL;

	fill(&inv);
	assert_int_equal(picture_format(&inv, o, 3000000, &text), 0);
	inventory_done(&inv);
	return text;
}

static void test_round_trip(void **state)
{
	_cleanup_(freep) char *text = text_of(&here), *again = NULL;
	struct inventory inv = { 0 };
	const struct inventory_entry *e;

	assert_int_equal(picture_parse(text, &here, &inv), 0);
	assert_int_equal(inv.n, 2);
	assert_int_equal(inv.as_of, 3000000);
	assert_false(inv.changed);
	e = &inv.entries[0];
	assert_true(e->node_guid == UINT64_C(0x0002c90300aa0010));
	assert_true(e->sys_image_guid == UINT64_MAX);
	assert_string_equal(e->pci_address, "0000:3b:00.0");
	assert_string_equal(e->name, "mlx5_\"\xef\xbf\xbd");
	assert_string_equal(e->driver, "mlx5_core");
	assert_string_equal(e->firmware_version, "28.41.1000");
	assert_string_equal(e->board_id, "SIM_1");
	assert_int_equal(e->first_seen, 1000000);
	assert_int_equal(e->last_seen, 2000000);
	assert_true(e->gone_told);
	assert_false(e->present || e->compared);
	assert_int_equal(e->n_ports, 2);
	assert_int_equal(e->ports[0].link_layer, LINK_LAYER_ETHERNET);
	assert_string_equal(e->ports[0].netdev, "ens1");
	assert_int_equal(e->ports[0].best_rate_mbps, 400000);
	assert_string_equal(e->ports[0].best_width, "4X");
	assert_string_equal(e->ports[0].best_speed, "NDR");
	assert_true(e->ports[0].learned);
	assert_int_equal(e->ports[0].learned_since, 1500000);
	assert_int_equal(e->ports[1].learned_since, 0);
	assert_int_equal(e->ports[1].link_layer, LINK_LAYER_UNKNOWN);
	assert_false(inv.entries[1].gone_told);
	assert_true(inv.entries[1].node_guid == 0);

	assert_int_equal(picture_format(&inv, &here, 3000000, &again), 0);
	assert_string_equal(again, text);
	inventory_done(&inv);
}

static void test_biggest(void **state)
{
	_cleanup_(freep) char *text = NULL;
	struct inventory inv = { 0 };

	for (size_t i = 0; i < INVENTORY_MAX; i++) {
		struct inventory_entry *e = inventory_add(&inv);

		e->node_guid = i + 1;
		e->present = true;
		memset(e->name, '\xff', sizeof(e->name) - 1);
		memset(e->firmware_version, '\xff', sizeof(e->firmware_version) - 1);
		memset(e->board_id, '\xff', sizeof(e->board_id) - 1);
		for (uint32_t k = 1; k <= INVENTORY_PORTS_MAX; k++)
			inventory_entry_port(e, k)->best_rate_mbps = UINT64_MAX;
	}
	assert_null(inventory_add(&inv));
	assert_int_equal(picture_format(&inv, &here, 1, &text), 0);
	assert_true(strlen(text) < PICTURE_MAX);
	inventory_done(&inv);
	assert_int_equal(picture_parse(text, &here, &inv), 0);
	assert_int_equal(inv.n, INVENTORY_MAX);
	inventory_done(&inv);
}

static void test_origin(void **state)
{
	struct picture_origin other = here, unknown = { 0 };
	_cleanup_(freep) char *ours = text_of(&here), *nobodys = text_of(&unknown);
	struct inventory inv = { 0 };

	STRSCPY(other.boot, "dddd"); /* another boot is not another machine */
	assert_int_equal(picture_parse(ours, &other, &inv), 0);
	inventory_done(&inv);
	STRSCPY(other.machine, "eeee");
	assert_int_equal(picture_parse(ours, &other, &inv), -EXDEV);
	assert_int_equal(inv.n, 0);
	other = here;
	STRSCPY(other.board, "b-2"); /* cloned, machine-id and all */
	assert_int_equal(picture_parse(ours, &other, &inv), -EXDEV);

	/* What is not known does not speak against it. */
	assert_int_equal(picture_parse(ours, &unknown, &inv), 0);
	inventory_done(&inv);
	assert_int_equal(picture_parse(nobodys, &here, &inv), 0);
	inventory_done(&inv);
}

static void assert_bad(const char *text)
{
	struct inventory inv = { 0 };
	int r = picture_parse(text, &here, &inv);

	if (r != -EBADMSG)
		print_error("%d for %s", r, text);
	assert_int_equal(r, -EBADMSG);
	assert_int_equal(inv.n, 0);
	assert_null(inv.entries);
}

static void test_garbage(void **state)
{
	static const char *const entries[] = {
		"7",
		"{}",
		"{\"NodeGuid\":7}",
		"{\"NodeGuid\":\"x\"}",
		"{\"NodeGuid\":\"1:2:3:4:5\"}",
		"{\"NodeGuid\":\"1:2:3:4\",\"Name\":[]}",
		"{\"NodeGuid\":\"1:2:3:4\",\"LastSeen\":\"x\"}",
		"{\"NodeGuid\":\"1:2:3:4\",\"LastSeen\":-1}",
		"{\"NodeGuid\":\"1:2:3:4\",\"Gone\":1}",
		"{\"NodeGuid\":\"1:2:3:4\",\"Ports\":{}}",
		"{\"NodeGuid\":\"1:2:3:4\",\"Ports\":[7]}",
		"{\"NodeGuid\":\"1:2:3:4\",\"Ports\":[{\"Number\":0}]}",
		"{\"NodeGuid\":\"1:2:3:4\",\"Ports\":[{\"Number\":256}]}",
		"{\"NodeGuid\":\"1:2:3:4\",\"Ports\":[{\"Number\":1,\"LinkLayer\":\"Wet\"}]}",
		"{\"NodeGuid\":\"1:2:3:4\",\"Ports\":[{\"Number\":1,\"BestRate\":true}]}",
	};
	_cleanup_(freep) char *text = text_of(&here);
	struct inventory inv = { 0 };
	char buf[512];

	assert_bad("");
	assert_bad("null");
	assert_bad("[]");
	assert_bad("{}");
	assert_bad("{\"Version\":2,\"Adapters\":[]}");
	assert_bad("{\"Version\":\"1\",\"Adapters\":[]}");
	assert_bad("{\"Version\":1}");
	assert_bad("{\"Version\":1,\"Adapters\":{}}");
	assert_bad("{\"Version\":1,\"Machine\":7,\"Adapters\":[]}");
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		snprintf(buf, sizeof(buf), "{\"Version\":1,\"Adapters\":[%s]}", entries[i]);
		assert_bad(buf);
	}
	/* Cut anywhere. */
	for (size_t n = strlen(text) - 1; n > 0; n--) {
		text[n] = '\0';
		assert_bad(text);
	}

	/* Later versions of us may add keys; what is not there is not known. */
	assert_int_equal(picture_parse("{\"Version\":1,\"New\":[1],\"Adapters\":[{\"NodeGuid\":"
				       "\"1:2:3:4\",\"New\":{}}]}",
				 &here, &inv),
		0);
	assert_int_equal(inv.n, 1);
	inventory_done(&inv);
}

static void test_files(void **state)
{
	char path[64], *text = NULL;
	struct stat st;

	assert_int_equal(picture_read(dir, &text), -ENOENT);
	assert_int_equal(picture_write(dir, "one"), 0);
	assert_int_equal(picture_read(dir, &text), 0);
	assert_string_equal(text, "one");
	free(text);
	assert_int_equal(picture_write(dir, "two"), 0);
	assert_int_equal(picture_set_aside(dir), 0);
	assert_int_equal(picture_read(dir, &text), -ENOENT);
	snprintf(path, sizeof(path), "%s/inventory.json.bad", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 3);

	/* Neither waits for a FIFO nor swallows a disk. */
	snprintf(path, sizeof(path), "%s/inventory.json", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(picture_read(dir, &text), -EFBIG);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(picture_write(dir, "x"), 0);
	assert_int_equal(truncate(path, (off_t)PICTURE_MAX + 1), 0);
	assert_int_equal(picture_read(dir, &text), -EFBIG);
}

static void test_origin_read(void **state)
{
	char path[64];
	struct picture_origin o;
	FILE *f;

	unsetenv("CREDENTIALS_DIRECTORY");
	picture_origin_read(&o);
	assert_string_equal(o.board, "");
	snprintf(path, sizeof(path), "%s/board-uuid", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("0a623a77-2f6e-11e9-b210-d663bd873d93\n", f);
	fclose(f);
	setenv("CREDENTIALS_DIRECTORY", dir, 1);
	picture_origin_read(&o);
	assert_string_equal(o.board, "0a623a77-2f6e-11e9-b210-d663bd873d93");
	f = fopen(path, "we"); /* no DMI: the unit's default */
	assert_non_null(f);
	fputs("unknown", f);
	fclose(f);
	picture_origin_read(&o);
	assert_string_equal(o.board, "");
	assert_int_equal(truncate(path, 0), 0);
	picture_origin_read(&o);
	assert_string_equal(o.board, "");
	unsetenv("CREDENTIALS_DIRECTORY");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_biggest),
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_origin_read),
	};

	return cmocka_run_group_tests_name("picture", tests, set_up, tear_down);
}
