# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# expect: FAIL .*the guest ended by itself
# shellcheck source=../lib.sh
. /rig/lib.sh
check "true" true
sync
echo c >/proc/sysrq-trigger
sleep 5
finish
