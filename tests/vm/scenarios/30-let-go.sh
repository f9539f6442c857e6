# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 1, must show 4: a watched link can be deleted, its netdev removed, its module unloaded, at once; in the default
# and with Monitor=events. What somebody unloaded stays unloaded.
# timed: how long a deletion takes
# shellcheck source=../lib.sh
. /rig/lib.sh

gone_quickly() { # DESCRIPTION COMMAND...
        local ms status=0
        ms=$(took_ms timeout 30 "${@:2}") || status=$?
        check_eq "$1: exit status" "$status" 0
        check_below "$1: returns" "$ms" "${within:-2000}"
}
# Waited for by the kernel is only who holds a context: then there must be one.
held() { find /proc/[0-9]*/fd -lname '/dev/infiniband/uverbs*' 2>/dev/null | wc -l; }
some_held() { local n; n=$(held); echo "$n"; (( n > 0 )); }
none_held() { local n; n=$(held); echo "$n"; (( n == 0 )); }

cable d0 p0
conf link <<END
[Link rxe0]
Type=rxe
NetDevice=d0
END
start_rdmad
check "watched" wait_for 5 rdmactl check
check "in the default no context is held" wait_for 5 none_held
check_eq "the module is not pinned" "$(cat /sys/module/rdma_rxe/refcnt)" 0
gone_quickly "rdma link del" rdma link del rxe0
drifted() { rdmactl --json=short status | jq -e '.Reasons[] | select(.Id == "setup-drifted")'; }
check "told as drift" wait_for 5 drifted
check "and not made again" holds 3 test ! -e /sys/class/infiniband/rxe0
gone_quickly "modprobe -r" modprobe -r rdma_rxe
check "the module is gone" test ! -d /sys/module/rdma_rxe
ip link del d0; cable d0 p0
check "and not loaded again, not even for a new netdev" holds 3 test ! -d /sys/module/rdma_rxe
systemctl kill -s KILL rdmad.service
wait_for 10 systemctl is-active rdmad.service
check "nor by the next daemon" holds 3 test ! -d /sys/module/rdma_rxe
rdmactl --no-pager status

modprobe rdma_rxe
systemctl reload rdmad.service
check "with the module back, the link is made for the new netdev" wait_for 10 port_is rxe0/1 ACTIVE
check "watched" wait_for 5 rdmactl check
gone_quickly "netdev removed" ip link del d0
check "the loss is told" wait_for 5 test "$(rdmactl check; echo $?)" != 0
cable d0 p0
check "made again" wait_for 10 port_is rxe0/1 ACTIVE

conf monitor <<END
[Device rxe*]
Monitor=events
END
check "reload with Monitor=events" systemctl reload rdmad.service
check "now a context is held" wait_for 5 some_held
pull p0
check "events or not, a fall is seen" wait_for 2 test "$(sleep 1; rdmactl check >/dev/null; echo $?)" = 2
plug p0
check "and a recovery" wait_for 5 rdmactl check
gone_quickly "rdma link del, held" rdma link del rxe0
check "nothing is held" none_held
rdma link add rxe0 type rxe netdev d0
check "held again" wait_for 5 some_held
gone_quickly "netdev removed, held" ip link del d0
check "nothing is held" none_held

# The kernel finds a device that it is removing by its index, and in sysfs, for as long as we hold it.
cable d0 p0
check "held once more" wait_for 10 some_held
daemon=$(pgrep -x rdmad)
kill -STOP "$daemon"
for ((i = 0; i < 2000; i++)); do echo change; done >/sys/class/infiniband/rxe0/uevent
(nap 0.5; kill -CONT "$daemon") &
# Half a second of it is the daemon's, and then it has all of that to read.
within=5000 gone_quickly "rdma link del, held, and what tells of it is lost in a storm" rdma link del rxe0
check "nothing is held" none_held
pictured() { rdmactl --json=short status | jq -e '.Devices == []'; }
check "and it is seen to be gone" wait_for 2 pictured
rdma link add rxe0 type rxe netdev d0
check "held again" wait_for 5 some_held

# A program that does not let go: the kernel lists the device no more, and neither do we.
exec 9<>"/dev/infiniband/$(rdmactl --json=short status | jq -r '.Devices[0].UverbsNode')"
rdma link del rxe0 9>&- &
check "removed, but a program holds it: gone" wait_for 3 pictured
check "and not seen again" holds 1 pictured
exec 9>&-
wait $!
rdma link add rxe0 type rxe netdev d0
check "held again" wait_for 5 some_held
check "rdmad runs" systemctl is-active rdmad.service
finish
