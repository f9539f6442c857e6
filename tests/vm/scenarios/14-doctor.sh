# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# doctor on a real host: what it says of modules, nodes, memlock (as systemd has it) and configfs agrees with what is so, and
# what it says to do mends it. import-rdma-conf: the drop-in does what the old file did.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

# ids of one severity, a line
found() { rdmactl doctor --json=short | jq -r --arg s "$1" '.Findings[] | select(.Severity == $s) | .Id' | sort -u; }
has() { [[ $'\n'$(found "$1")$'\n' == *$'\n'$2$'\n'* ]]; }

check "nothing is loaded by looking" rdmactl doctor --no-pager
check "still not" test ! -d /sys/module/ib_core
cable d0 p0
conf link <<END
[Link rxe0]
Type=rxe
NetDevice=d0
END
start_rdmad
check "the link is there" port_is rxe0/1 ACTIVE
check "no warning on a host in order" test "$(found warning)" = ''
chmod 600 /dev/infiniband/uverbs0
check "a node that users cannot open" has warning node-mode
check_status 1 "exits with 1" rdmactl doctor --no-pager
chmod 666 /dev/infiniband/uverbs0
echo '* - memlock unlimited' >/etc/security/limits.d/rdma.conf
check "logins may pin more than units" has warning memlock-units
check_match "as systemd has it" "$(rdmactl doctor --no-pager)" 'units may pin 8 MiB, logins unlimited'
mkdir -p /etc/systemd/system.conf.d
printf '[Manager]\nDefaultLimitMEMLOCK=infinity\n' >/etc/systemd/system.conf.d/memlock.conf
check "a file that is not in force yet does not help" has warning memlock-units
systemctl daemon-reexec
in_force() { [[ $(systemctl show -P DefaultLimitMEMLOCK) == infinity ]]; }
wait_for 10 in_force
check "but in force" has ok memlock-units
umount /sys/kernel/config
check "without configfs" has note no-configfs
check "what it says to do mends it" systemctl start sys-kernel-config.mount
check "it is there" has ok no-configfs
echo 'blacklist mlx5_ib' >/etc/modprobe.d/site.conf
check "a blacklist" has warning module-blacklisted
rm /etc/modprobe.d/site.conf

mkdir -p /etc/rdma
printf 'IPOIB_LOAD=no\nSRPT_LOAD=yes\nSRP_LOAD=no\nTECH_PREVIEW_LOAD=yes\n' >/etc/rdma/rdma.conf
check "an old file nobody reads" has note old-rdma-conf
out=$(rdmactl import-rdma-conf 2>&1); status=$?
check_eq "is imported" "$status" 0
check_match "what there is nothing for is said" "$out" 'rdma.conf:4: TECH_PREVIEW_LOAD=yes: '
check_status 1 "not over what is there" rdmactl import-rdma-conf
check "what was made is right" rdmactl verify --no-pager
check "and is loaded" systemctl reload rdmad.service
check "its module too" wait_for 10 module_loaded ib_srpt
check "and not the others" test ! -d /sys/module/ib_srp
finish
