# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# Issue 1, must show 7: a host without RDMA, from its boot on. Issue 8: beside systemd-networkd, and /var is on
# remote storage, mounted after the network.
# boot: cold
# enable: rdmad.service rdmad-setup.socket systemd-networkd.service
# shellcheck source=../lib.sh
. /rig/lib.sh

check "up since boot" wait_for 20 systemctl is-active rdmad.service
check_eq "no RDMA here" "$(ls /sys/class/infiniband 2>/dev/null)" ""
check "not even ib_core is loaded" test ! -d /sys/module/ib_core
check "check exits with 0" rdmactl check
check_match "and says that there is nothing" "$(rdmactl check)" 'no RDMA|nothing'
rdmactl --no-pager status
loud() { journalctl -q -u rdmad.service -u rdmad-setup.service -p notice -o cat --no-pager | grep -v '^\(Start\|Stopp\)'; }
check_eq "quiet" "$(loud)" ""
check_eq "one line of its own" "$(journalctl -q -t rdmad --no-pager -o cat | wc -l)" 1
check_eq "no failed unit" "$(systemctl --failed --plain --no-legend)" ""
check "the network is managed" systemctl -q is-active systemd-networkd.service
check "/var is mounted, late" mountpoint -q /var
mounted=$(systemctl show -P ActiveEnterTimestampMonotonic var.mount) ready=$(systemctl show -P ActiveEnterTimestampMonotonic rdmad.service)
check "rdmad did not wait for it" test 0 -lt "$ready" -a "$ready" -lt "$mounted"
check_eq "the boot is complete" "$(systemctl is-system-running --wait)" running
check_eq "no job is left" "$(systemctl list-jobs --no-legend)" ""
install -d -o rdmad /var/lib/rdmad
check "rdmad writes to the /var that came after it" eval "rdmactl restart && wait_for 10 test -s /var/lib/rdmad/inventory.json"
check "still no module after a while" holds 3 test ! -d /sys/module/ib_core
check_below "who waits for ports does not wait here, ms" "$(took_ms systemctl start rdma-online.target)" 3000
check "and they are online" systemctl is-active rdma-online.target
unordered() { ! journalctl -q -b --no-pager | grep -i 'ordering cycle'; }
check "no ordering cycle" unordered
finish
