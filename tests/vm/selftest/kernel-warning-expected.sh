# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kernel-warning: made up
# expect: PASS
# shellcheck source=../lib.sh
. /rig/lib.sh
check "true" true
echo '<4>WARNING: CPU: 0 PID: 1 at made up' >/dev/kmsg
finish
