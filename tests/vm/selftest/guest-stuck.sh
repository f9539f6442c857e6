# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Nobody is left to say anything: the host's own timeout counts.
# expect: FAIL .*no answer from the guest
# timeout: 1
# shellcheck source=../lib.sh
. /rig/lib.sh
check "true" true
kill -STOP 1 "$PPID" "$(ps -o ppid= -p "$PPID")"
finish
