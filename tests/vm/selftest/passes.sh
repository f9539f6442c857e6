# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# expect: PASS
# shellcheck source=../lib.sh
. /rig/lib.sh
check "true" true
finish
