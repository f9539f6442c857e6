// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * rdmasim: /dev/rdmasim. One write is one command line; its result is that of
 * the command, as an errno. A read from the same open file gives the reason in
 * words, if the command failed; a read from a fresh one lists the devices.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "rdmasim.h"

#define RDMASIM_MAX_LINE	8192
#define RDMASIM_MAX_WORDS	64

static const struct {
	const char *verb;
	int (*run)(struct rdmasim_cmd *cmd);
} rdmasim_verbs[] = {
	{ "create",	rdmasim_cmd_create },
	{ "destroy",	rdmasim_cmd_destroy },
	{ "set",	rdmasim_cmd_set },
	{ "pcie",	rdmasim_cmd_pcie },
	{ "netdev",	rdmasim_cmd_netdev },
	{ "port",	rdmasim_cmd_port },
	{ "gid",	rdmasim_cmd_gid },
	{ "pkey",	rdmasim_cmd_pkey },
	{ "counter",	rdmasim_cmd_counter },
	{ "hw_counter",	rdmasim_cmd_hw_counter },
	{ "reset",	rdmasim_cmd_reset },
	{ "reporter",	rdmasim_cmd_reporter },
	{ "event",	rdmasim_cmd_event },
	{ "fault",	rdmasim_cmd_fault },
	{ "release",	rdmasim_cmd_release },
};

static const struct {
	const char *name;
	int number;
} rdmasim_errnos[] = {
	{ "EPERM", EPERM }, { "ENOENT", ENOENT }, { "EINTR", EINTR },
	{ "EIO", EIO }, { "ENXIO", ENXIO }, { "EAGAIN", EAGAIN },
	{ "ENOMEM", ENOMEM }, { "EACCES", EACCES }, { "EBUSY", EBUSY },
	{ "ENODEV", ENODEV }, { "EINVAL", EINVAL }, { "ENOSPC", ENOSPC },
	{ "ERANGE", ERANGE }, { "ENOSYS", ENOSYS }, { "ENODATA", ENODATA },
	{ "EPROTO", EPROTO }, { "EOPNOTSUPP", EOPNOTSUPP },
	{ "ETIMEDOUT", ETIMEDOUT }, { "EREMOTEIO", EREMOTEIO },
};

/**
 * rdmasim_say - tell why a command is refused; the first reason stays
 * @cmd: the command
 * @fmt: as for printk
 */
void rdmasim_say(struct rdmasim_cmd *cmd, const char *fmt, ...)
{
	va_list args;

	if (*cmd->say)
		return;
	va_start(args, fmt);
	vscnprintf(cmd->say, sizeof(cmd->say), fmt, args);
	va_end(args);
}

/**
 * rdmasim_key - cut KEY=VALUE in two
 * @word: the word, which becomes KEY
 *
 * Return: VALUE, which follows the end of KEY; NULL if there is no '='.
 */
char *rdmasim_key(char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	return value;
}

/**
 * rdmasim_decode - replace %XX by the byte, in place
 * @text: a word, in which spaces and commas may be written so
 */
void rdmasim_decode(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '%' && isxdigit(text[1]) && isxdigit(text[2])) {
			*to++ = hex_to_bin(text[1]) << 4 | hex_to_bin(text[2]);
			text += 3;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/**
 * rdmasim_errno - read an errno
 * @text: its name, its number, or "none"
 *
 * Return: the positive number, 0 for none, negative if it is not an errno.
 */
int rdmasim_errno(const char *text)
{
	int i, number;

	if (!strcmp(text, "none"))
		return 0;
	for (i = 0; i < ARRAY_SIZE(rdmasim_errnos); i++)
		if (!strcmp(rdmasim_errnos[i].name, text))
			return rdmasim_errnos[i].number;
	if (kstrtoint(text, 0, &number) || number < 0 || number > MAX_ERRNO)
		return -EINVAL;
	return number;
}

/**
 * rdmasim_get_object - find what NAME or NAME/PORT means
 * @cmd: the command
 * @object: the word
 * @port: where the port goes, 0 if none was named
 *
 * Return: the device, to be given back by rdmasim_put(), or an ERR_PTR.
 */
struct rdmasim_dev *rdmasim_get_object(struct rdmasim_cmd *cmd,
				       const char *object, u32 *port)
{
	char name[IB_DEVICE_NAME_MAX];
	struct rdmasim_dev *sdev;
	const char *slash = strchrnul(object, '/');

	*port = 0;
	strscpy(name, object, min_t(size_t, sizeof(name), slash - object + 1));
	sdev = rdmasim_get(name);
	if (!sdev) {
		rdmasim_say(cmd, "no device is called '%s'", name);
		return ERR_PTR(-ENODEV);
	}
	if (*slash && (kstrtou32(slash + 1, 10, port) || !*port ||
		       *port > sdev->num_ports)) {
		rdmasim_say(cmd, "%s has ports 1 to %u, not '%s'", name,
			    sdev->num_ports, slash + 1);
		rdmasim_put(sdev);
		return ERR_PTR(-EINVAL);
	}
	return sdev;
}

static int rdmasim_run(struct rdmasim_cmd *cmd, char *line)
{
	char *words[RDMASIM_MAX_WORDS], *word;
	int n = 0, i;

	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		if (n == RDMASIM_MAX_WORDS) {
			rdmasim_say(cmd, "more than %d words", RDMASIM_MAX_WORDS);
			return -E2BIG;
		}
		words[n++] = word;
	}
	if (!n) {
		rdmasim_say(cmd, "an empty command");
		return -EINVAL;
	}
	cmd->argv = words + 1;
	cmd->argc = n - 1;
	for (i = 0; i < ARRAY_SIZE(rdmasim_verbs); i++)
		if (!strcmp(rdmasim_verbs[i].verb, words[0]))
			return rdmasim_verbs[i].run(cmd);
	rdmasim_say(cmd, "no command is called '%s'", words[0]);
	return -EINVAL;
}

/**
 * struct rdmasim_client - an open /dev/rdmasim
 * @lock: one command at a time on one file; others have their own
 * @cmd: the last command
 * @wrote: there was one, so that a read answers it
 * @text: what a read in progress gives
 * @len: its length
 */
struct rdmasim_client {
	struct mutex lock;
	struct rdmasim_cmd cmd;
	bool wrote;
	char *text;
	size_t len;
};

static int rdmasim_open(struct inode *inode, struct file *file)
{
	struct rdmasim_client *client = kzalloc(sizeof(*client), GFP_KERNEL);

	if (!client)
		return -ENOMEM;
	mutex_init(&client->lock);
	file->private_data = client;
	return 0;
}

static int rdmasim_close(struct inode *inode, struct file *file)
{
	struct rdmasim_client *client = file->private_data;

	kvfree(client->text);
	kfree(client);
	return 0;
}

static ssize_t rdmasim_write(struct file *file, const char __user *buf,
			     size_t len, loff_t *pos)
{
	struct rdmasim_client *client = file->private_data;
	char *line;
	int err;

	if (len > RDMASIM_MAX_LINE)
		return -E2BIG;
	line = memdup_user_nul(buf, len);
	if (IS_ERR(line))
		return PTR_ERR(line);

	mutex_lock(&client->lock);
	memset(&client->cmd, 0, sizeof(client->cmd));
	client->wrote = true;
	if (len && line[len - 1] == '\n')
		line[len - 1] = '\0';
	if (strchr(line, '\n')) {
		rdmasim_say(&client->cmd, "one write is one line");
		err = -EINVAL;
	} else {
		err = rdmasim_run(&client->cmd, line);
	}
	if (!err)
		client->cmd.say[0] = '\0';
	mutex_unlock(&client->lock);
	kfree(line);
	return err ?: len;
}

static size_t rdmasim_print_port(struct rdmasim_dev *sdev, u32 port, char *buf,
				 size_t size)
{
	static const char * const layers[] = {
		[IB_LINK_LAYER_UNSPECIFIED] = "Unknown",
		[IB_LINK_LAYER_INFINIBAND] = "InfiniBand",
		[IB_LINK_LAYER_ETHERNET] = "Ethernet",
	};
	struct rdmasim_port *p = &sdev->ports[port];
	u32 state, phys;
	size_t n;
	int i;

	spin_lock(&sdev->lock);
	state = rdmasim_port_state(p, &phys);
	n = scnprintf(buf, size,
		      "port %s/%u link_layer=%s netdev=%s state=%u phys=%u width=%u speed=%u lid=%u sm_lid=%u events=%llu",
		      sdev->ibdev.name, port, layers[p->link_layer],
		      p->netdev ? p->netdev->name : "-", state, phys, p->width,
		      p->speed, p->lid, p->sm_lid, p->events);
	for (i = 0; i < RDMASIM_POINTS; i++)
		if (p->fault[i].active)
			n += scnprintf(buf + n, size - n, " fault=%s",
				       rdmasim_point_names[i]);
	spin_unlock(&sdev->lock);
	return n + scnprintf(buf + n, size - n, "\n");
}

static size_t rdmasim_print(struct rdmasim_dev *sdev, char *buf, size_t size)
{
	static const char * const lives[] = {
		[RDMASIM_CREATING] = "creating",
		[RDMASIM_LIVE] = "live",
		[RDMASIM_DYING] = "dying",
	};
	u32 p;
	size_t n;
	int i;

	n = scnprintf(buf, size,
		      "device %s created_as=%s index=%u node_guid=%016llx adapter=%s ports=%u life=%s uverbs=%d disassociate=%d contexts=%d sleeping=%d",
		      sdev->life == RDMASIM_LIVE ? sdev->ibdev.name : sdev->name,
		      sdev->name, sdev->ibdev.index,
		      be64_to_cpu(sdev->ibdev.node_guid),
		      sdev->adapter ? dev_name(&sdev->adapter->dev) :
				      dev_name(sdev->pci_parent),
		      sdev->num_ports, lives[sdev->life], sdev->uverbs,
		      sdev->disassociate, atomic_read(&sdev->contexts),
		      atomic_read(&sdev->sleeping));
	for (i = 0; i < RDMASIM_POINTS; i++)
		n += scnprintf(buf + n, size - n, " n_%s=%lld",
			       rdmasim_point_names[i],
			       (s64)atomic64_read(&sdev->calls[i]));
	n += scnprintf(buf + n, size - n, "\n");
	for (p = 1; p <= sdev->num_ports; p++)
		n += rdmasim_print_port(sdev, p, buf + n, size - n);
	return n;
}

#define RDMASIM_LINE_ROOM	640

static int rdmasim_list(struct rdmasim_client *client)
{
	struct rdmasim_dev *sdev;
	size_t room = 1;
	int err = 0;

	kvfree(client->text);
	client->len = 0;
	mutex_lock(&rdmasim_lock);
	list_for_each_entry(sdev, &rdmasim_devices, entry)
		room += RDMASIM_LINE_ROOM * (1 + sdev->num_ports);
	client->text = kvmalloc(room, GFP_KERNEL);
	if (client->text)
		list_for_each_entry(sdev, &rdmasim_devices, entry)
			client->len += rdmasim_print(sdev,
						     client->text + client->len,
						     room - client->len);
	else
		err = -ENOMEM;
	mutex_unlock(&rdmasim_lock);
	return err;
}

static ssize_t rdmasim_read(struct file *file, char __user *buf, size_t len,
			    loff_t *pos)
{
	struct rdmasim_client *client = file->private_data;
	ssize_t n;

	mutex_lock(&client->lock);
	if (client->wrote) {
		n = simple_read_from_buffer(buf, len, pos, client->cmd.say,
					    strlen(client->cmd.say));
	} else {
		n = *pos ? 0 : rdmasim_list(client);
		if (!n)
			n = simple_read_from_buffer(buf, len, pos, client->text,
						    client->len);
	}
	mutex_unlock(&client->lock);
	return n;
}

static const struct file_operations rdmasim_fops = {
	.owner = THIS_MODULE,
	.open = rdmasim_open,
	.release = rdmasim_close,
	.read = rdmasim_read,
	.write = rdmasim_write,
	.llseek = default_llseek,
};

static struct miscdevice rdmasim_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rdmasim",
	.fops = &rdmasim_fops,
	.mode = 0600,
};

/**
 * rdmasim_control_init - open for commands
 *
 * Return: 0 or a negative errno.
 */
int rdmasim_control_init(void)
{
	return misc_register(&rdmasim_misc);
}

/**
 * rdmasim_control_exit - no more commands; nobody has the file open by now
 */
void rdmasim_control_exit(void)
{
	misc_deregister(&rdmasim_misc);
}
