# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# expect: FAIL .*timeout
# timeout: 3
# shellcheck source=../lib.sh
. /rig/lib.sh
check "true" true
sleep 1000
finish
