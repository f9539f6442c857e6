# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# expect: FAIL .*exit status 1
# shellcheck source=../lib.sh
. /rig/lib.sh
check "true" true
exit 0
