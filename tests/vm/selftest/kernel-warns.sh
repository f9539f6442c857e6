# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# All is well but for the kernel.
# expect: FAIL .*the kernel warned: .*made up
# shellcheck source=../lib.sh
. /rig/lib.sh
check "true" true
echo '<4>WARNING: CPU: 0 PID: 1 at made up' >/dev/kmsg
finish
