// SPDX-License-Identifier: Dual MIT/GPL
/*
 * Makes the kernel refuse: functions return an errno at once, without having done anything, where
 * a certain program is what calls them. So a scenario sees what that program makes of a refusal
 * that no simulated adapter could bring about, on the whole way from the kernel's answer on.
 *
 *   echo "NUMBER FUNCTION[ FUNCTION...]" >/sys/module/refuse/parameters/calls
 *   echo NUMBER >/sys/module/refuse/parameters/calls                 with another errno from now on
 *   echo "0 FUNCTION[ FUNCTION...]" >/sys/module/refuse/parameters/calls  these not any more
 *   echo >/sys/module/refuse/parameters/calls                        nothing any more
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

#define CALLS_MAX 32

static char *who = "rdmad-setup";
module_param(who, charp, 0444);
MODULE_PARM_DESC(who, "the program (comm) that is refused");

static struct kprobe probes[CALLS_MAX];
static char text[1024]; /* probes[].symbol_name is in it */
static unsigned int n_probes;
static int error;

/* Runs in the function's place, with its return address, so that its caller gets this. (A system call: all of it.) */
static noinline long refuse_return(void)
{
	return -(long)READ_ONCE(error);
}

static int refuse_enter(struct kprobe *p, struct pt_regs *regs)
{
	if (strcmp(current->comm, who))
		return 0;
	instruction_pointer_set(regs, (unsigned long)refuse_return);
	return 1;
}
NOKPROBE_SYMBOL(refuse_enter);

static void refuse_nothing(void)
{
	while (n_probes)
		unregister_kprobe(&probes[--n_probes]);
}

/* The other probes stay in place all the time: a program that tries again finds no gap. */
static void refuse_no_more(char *functions)
{
	char *word;

	while ((word = strsep(&functions, " \n")))
		for (unsigned int i = 0; i < n_probes; i++)
			if (!strcmp(probes[i].symbol_name, word))
				disable_kprobe(&probes[i]);
}

static int refuse_also(char *functions)
{
	char *word;
	int err = 0;

	while (!err && (word = strsep(&functions, " \n"))) {
		if (!*word)
			continue;
		if (n_probes == CALLS_MAX) {
			err = -E2BIG;
			break;
		}
		probes[n_probes] = (struct kprobe){
			.symbol_name = word,
			.pre_handler = refuse_enter,
		};
		err = register_kprobe(&probes[n_probes]);
		if (err)
			pr_err("refuse: %s: error %d\n", word, err);
		else
			n_probes++;
	}
	if (err)
		refuse_nothing();
	return err;
}

/* The kernel holds the lock of the module's parameters. */
static int refuse_set(const char *value, const struct kernel_param *kp)
{
	static char other[sizeof(text)];
	char *rest = other, *word;
	int number, err;

	if (strscpy(other, value, sizeof(other)) < 0)
		return -E2BIG;
	word = strsep(&rest, " \n");
	if (!word || !*word) {
		refuse_nothing();
		return 0;
	}
	err = kstrtoint(word, 10, &number);
	if (err)
		return err;
	if (!number) {
		refuse_no_more(rest);
		return 0;
	}
	WRITE_ONCE(error, number);
	if (!rest || !*rest)
		return 0;
	refuse_nothing();
	strscpy(text, rest, sizeof(text));
	return refuse_also(text);
}

static const struct kernel_param_ops refuse_ops = { .set = refuse_set };
module_param_cb(calls, &refuse_ops, NULL, 0200);
MODULE_PARM_DESC(calls, "an errno's number and the functions that it is the answer of");

static int __init refuse_init(void)
{
	return 0;
}

static void __exit refuse_exit(void)
{
	refuse_nothing();
}

module_init(refuse_init);
module_exit(refuse_exit);
MODULE_DESCRIPTION("Functions of the kernel that refuse");
MODULE_LICENSE("Dual MIT/GPL");
