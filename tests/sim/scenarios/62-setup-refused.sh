# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 3 and 7: what the kernel refuses is told with what to do, everything else is applied all the same; what
# would disturb somebody waits until he is gone, or is forced.
# timeout: 120
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

cable d0 p0
cable d1 p1
ip link add link d1 name d1.7 type vlan id 7
ip link add taken type veth peer name taken2
ip netns add other
conf refused <<END
[System]
NetnsMode=exclusive
[Modules]
Load=ib_srp
[Link rxe0]
Type=rxe
NetDevice=d0
[Link rxe1]
Type=rxe
NetDevice=d1.7
[Device rxe0]
NodeDescription=%d of %H
[Port rxe0]
RoCEMode=v1
OptionalCounters=cc_rx_ce_pkts
[Device roce0]
AdaptiveModeration=yes
NodeDescription=a
[Device guid=0002:c903:00aa:0010]
Name=roce0
[Device guid=0002:c903:00aa:0020]
Name=ib1
NodeDescription=b
[IPoIB d1]
Umcast=yes
[IPoIB ib0]
Mode=datagram
MTU=65520
[IPoIB taken]
Parent=ib0
PKey=0x8001
[IPoIB ib9.8001]
Parent=ib9
PKey=0x8001
END
check "three adapters" eval 'rdmasim -q create mlx5_0 node_guid=0002:c903:00aa:0010 && rdmasim -q create roce0 link_layer=Ethernet set_node_desc=0 &&
        rdmasim -q create mlx5_1 node_guid=0002:c903:00aa:0020'
rdmasim -q fault mlx5_1 node_desc errno=EIO
echo 'blacklist ib_srp' >/etc/modprobe.d/site.conf
start_rdmad

rows() { rdmactl --no-pager --no-legend --full plan --all; }
row_is() { [[ $(rows) =~ $1 ]]; }
plan() { rdmactl --json=short plan --all | jq -r '.Setup[] | "\(.Step) \(.Object): \(.Result): \(.Detail): \(.Remedy)"'; }
settled() { ! row_is ' pending '; }
check "everything was tried" wait_for 15 settled
plan | tee /rig/plan
is() { check_match "$1" "$(grep -E "^$2: " /rig/plan)" "$3"; }
is "EBUSY: which namespaces" 'netns-mode host' 'blocked: other network namespaces exist: other.*ib_core'
is "a module that is blacklisted" 'load-module ib_srp' 'blocked: .*blacklist'
is "EIO: a driver that fails" 'node-description (mlx5_1|ib1)' 'failed: .*Input/output error'
is "umcast of what is no IPoIB interface" 'ipoib-umcast d1' 'unsupported: d1 is no IPoIB interface'
is "EPERM: rxe on a VLAN" 'add-link rxe1' 'blocked: d1.7 is a VLAN.*netdev below'
is "moderation, which they all can" 'adaptive-moderation roce0' ': (ok|changed)'
is "EINVAL: a RoCE mode that the port has not" 'roce-mode rxe0/1' 'unsupported: '
is "optional counters" 'optional-counters rxe0/1' 'unsupported: the driver'
is "a driver that refuses the description" 'node-description roce0' 'unsupported: .*does not let it'
is "a name that is taken" 'device-name mlx5_0' 'blocked: another device has the name roce0'
is "an MTU that does not fit" 'netdev-mtu ib0' 'failed: .*datagram'
is "an interface with the child's name" 'add-ipoib taken' 'blocked: another interface'
is "a parent that is not there" 'add-ipoib ib9.8001' 'waiting: netdev ib9 is not there yet'
is "and the rest is applied" 'node-description rxe0' ': (ok|changed)'
rdmasim -q release mlx5_1
check "the name that is free" wait_for 5 test -d /sys/class/infiniband/ib1
check "what failed is tried again" wait_for 15 row_is 'ib1 +node-description +(ok|changed)'
check "the software link" port_is rxe0/1 ACTIVE
check "the unit is active" systemctl is-active rdmad.service
check_status 1 "the host is degraded" rdmactl check
check_match "and says why" "$(rdmactl --no-pager status)" 'setup-blocked'

# EPERM of everything: the helper's unit was robbed of its capability.
helper_with() { # CONFIGURATION of the unit
        mkdir -p /run/systemd/system/rdmad-setup.service.d
        echo "$1" >/run/systemd/system/rdmad-setup.service.d/site.conf
        systemctl daemon-reload
        systemctl kill -s KILL rdmad-setup.service
}
helper_with '[Service]'$'\n''CapabilityBoundingSet='
rdma dev set roce0 adaptive-moderation off
check_status 1 "apply without the capability" rdmactl apply roce0
check "is told" row_is $'roce0 +adaptive-moderation +drifted[^\n]*\n[^\n]*it is not permitted[^\n]*\n[^\n]*\n +remedy: look for CAP_NET_ADMIN'
helper_with ''
check_status 1 "with it: the description is still refused" rdmactl apply roce0
check "and what may be is done" row_is 'roce0 +adaptive-moderation +(ok|changed)'

# In use.
conf refused <<END
[Device guid=0002:c903:00aa:0020]
Name=hca7
[Link rxe0]
Type=rxe
NetDevice=d0
[Device netdev=d0]
Name=roce7
END
setsid ibv_asyncwatch -d rxe0 >/rig/watch 2>&1 &
watcher=$!
is_open() { [[ $(find "/proc/$watcher/fd" -lname '/dev/infiniband/uverbs*') ]]; }
check "somebody uses the device" wait_for 5 is_open
check "reload" systemctl reload rdmad.service
check "the one that is unused is renamed" wait_for 10 test -d /sys/class/infiniband/hca7
waits() { row_is $'rxe0 +device-name +waiting[^\n]*\n[^\n]*\n +in use by'; }
if wait_for 5 waits; then
        pass "the one in use waits, and says for whom"
else
        fail "the one in use waits, and says for whom" "$(rows)"
fi
check "it is as it was" test -d /sys/class/infiniband/rxe0
check_status 1 "apply does not force it" rdmactl apply
check "still as it was" test -d /sys/class/infiniband/rxe0
check "with --disruptive it does" rdmactl apply --disruptive
check "renamed" test -d /sys/class/infiniband/roce7
check "its user lives" kill -0 "$watcher"
rdma dev set roce7 name rxe0
kill "$watcher"
wait "$watcher" 2>/dev/null
finish
