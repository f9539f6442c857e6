# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A check that cannot run must not pass, whatever status is wanted.
# expect: FAIL .*exit status 1
# shellcheck source=../lib.sh
. /rig/lib.sh
check_status 127 "no such command" no-such-command
finish
