# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A unit of the overlay, its user and its catalog entry are there when systemd starts.
# boot: cold
# enable: rigtest.service
# expect: PASS
# shellcheck source=../lib.sh
. /rig/lib.sh
check "the unit ran" systemctl is-active rigtest.service
check "as its user" grep -q '^rigtest:' /etc/passwd
check_eq "before sysinit.target" "$(systemctl show -P Result rigtest.service)" success
ordered() { (( $(systemctl show -P ActiveEnterTimestampMonotonic rigtest.service) < $(systemctl show -P ActiveEnterTimestampMonotonic basic.target) )); }
check "before basic.target" ordered
check "the catalog has its entry" journalctl --list-catalog 5d6ad0a5e7f64d4c9a0f4f0f7ad0b002
finish
