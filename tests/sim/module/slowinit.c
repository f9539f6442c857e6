// SPDX-License-Identifier: Dual MIT/GPL
/* A module whose initialisation takes its time, as that of a driver whose firmware does not answer. */
#include <linux/delay.h>
#include <linux/module.h>

static unsigned int seconds = 120;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how long the initialisation takes, uninterruptible");

static int __init slowinit_init(void)
{
	ssleep(seconds);
	return 0;
}

static void __exit slowinit_exit(void)
{
}

module_init(slowinit_init);
module_exit(slowinit_exit);
MODULE_DESCRIPTION("A module that is slow to load");
MODULE_LICENSE("Dual MIT/GPL");
