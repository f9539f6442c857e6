# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The same overlay under a system that runs already.
# expect: PASS
# shellcheck source=../lib.sh
. /rig/lib.sh
check "systemd knows the unit" systemctl start rigtest.service
check "its user is there" grep -q '^rigtest:' /etc/passwd
check "the catalog has its entry" journalctl --list-catalog 5d6ad0a5e7f64d4c9a0f4f0f7ad0b002
check "the links of the merged /usr stayed" test -L /lib
check "the bus knows the policy" busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus RequestName su org.rdmad.RigTest 0
finish
