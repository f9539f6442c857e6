# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 1 and 2: every section that these kernels can do is in force after the start, read back by the
# ordinary tools; applying again changes nothing; what somebody changes is told with found and wanted, and mended by
# "apply"; what comes anew is set anew.
# timeout: 150
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

cm=/sys/kernel/config/rdma_cm
# It writes node descriptions, too, whenever a device comes or is renamed.
systemctl mask -q --now rdma-ndd.service
cable d0 p0
cable d1 p1
conf settings <<END
[System]
NetnsMode=exclusive
[Link rxe0]
Type=rxe
NetDevice=d1
[Device guid=0002:c903:00aa:0010]
Name=hca0
[Device *]
NodeDescription=%H %d
[Port roce0]
RoCEMode=v1
RoCEToS=106
[Port rxe0]
RoCEMode=v2
RoCEToS=32
[IPoIB ib0.8001]
Parent=ib0
PKey=0x8001
Mode=connected
Umcast=yes
MTU=4092
END
check "an InfiniBand adapter" rdmasim -q create mlx5_0 node_guid=0002:c903:00aa:0010
check "a RoCE adapter" rdmasim -q create roce0 link_layer=Ethernet netdev=d0 node_guid=0002:c903:00aa:0040
host=$(hostname)

plan_is_clean() { rdmactl plan --exit-code; }
description() { cat "/sys/class/infiniband/$1/node_desc"; }
description_is() { [[ $(description "$1") == "$2" ]]; }
ip_detail() { ip -d link show "$1"; }
step() { rdmactl --json=short plan --all | jq -r ".Setup[] | select(.Step == \"$1\" and .Object == \"$2\") | .Result"; }
step_is() { [[ $(step "$1" "$2") == "$3" ]]; }

start_rdmad
check "all of it is in force" wait_for 15 plan_is_clean
rdmactl --no-pager plan --all

# All of it, read by the ordinary tools.
in_force() {
        local found wanted
        wanted="netns exclusive
hca0: $host hca0
roce0: $host roce0
roce0: IB/RoCE v1
roce0: 106
rxe0: RoCE v2
rxe0: 32
mtu 4092
ipoib pkey 0x8001 mode connected umcast 0001"
        found=$(
                rdma system show | grep -o 'netns [a-z]*'
                for d in hca0 roce0; do echo "$d: $(<"/sys/class/infiniband/$d/node_desc")"; done
                for d in roce0 rxe0; do echo "$d: $(<$cm/$d/ports/1/default_roce_mode)"; echo "$d: $(<$cm/$d/ports/1/default_roce_tos)"; done
                ip -d link show ib0.8001 | grep -owE '(min|max)?mtu [0-9]+|ipoib pkey [0-9a-fx]+ mode [a-z]+ umcast [0-9]+' | grep -v '^m..mtu'
        )
        check_eq "$1" "$found" "$wanted"
}
in_force "every setting reads as configured"
check_eq "SetupState of a device" "$(rdmactl show roce0 | sed -n 's/^SetupState=//p')" ok

# Once more: nothing is written.
before=$(rdmasim get hca0 n_node_desc)
changes() { journalctl -q -o cat -u rdmad-setup.service | grep -c ': changed'; }
changes=$(changes)
check "apply" rdmactl apply
check_eq "the adapter was written nothing" "$(rdmasim get hca0 n_node_desc)" "$before"
check_eq "the helper changed nothing" "$(changes)" "$changes"

# Changed by hand: told, not repaired, and mended on request.
journal_mark
echo somebody >/sys/class/infiniband/hca0/node_desc
echo 'RoCE v2' >$cm/roce0/ports/1/default_roce_mode
ip link set ib0.8001 mtu 2044
rdmactl reload
check "drift of the node description" wait_for 10 step_is node-description hca0 drifted
check "of the RoCE mode" wait_for 10 step_is roce-mode roce0/1 drifted
check "of the MTU" wait_for 5 step_is netdev-mtu ib0.8001 drifted
check_match "found and wanted are told" "$(journal_field MESSAGE RDMAD_REASON=setup-drifted)" "found somebody, wanted $host hca0"
check_status 0 "a notice is no trouble" rdmactl check
check_eq "left alone" "$(description hca0)" somebody
check "apply mends it" rdmactl apply
in_force "mended"
check "nothing is left to do" wait_for 5 plan_is_clean

# The host's name.
hostname node7
check "the description follows the host's name" wait_for 5 description_is hca0 "node7 hca0"
hostname "$host"
check "and back" wait_for 5 description_is hca0 "$host hca0"

# Renamed by hand, come anew under another name, its netdev made anew.
check "renamed by hand" rdma dev set hca0 name other
check "that is drift" wait_for 5 step_is device-name other drifted
check "apply gives the name back" rdmactl apply
check "all as before" wait_for 5 plan_is_clean
journal_mark
rdmasim -q destroy all
check "a RoCE adapter comes anew" rdmasim -q create roce0 link_layer=Ethernet netdev=d0 node_guid=0002:c903:00aa:0040
check "an InfiniBand one under another name" rdmasim -q create mlx5_3 node_guid=0002:c903:00aa:0010
check "set anew" wait_for 15 plan_is_clean
in_force "anew, all of it"
check_eq "which is nobody's drift" "$(journal_field MESSAGE RDMAD_REASON=setup-drifted)" ""
ip link delete d1
nap 0.5
cable d1 p1
check "the software link is made again, with its settings" wait_for 15 plan_is_clean
in_force "all of it, after the netdev came back"
# Another set-up of drivers is running: rdmad stands still, and says who.
systemd-run -q --unit=openibd.service -p Type=oneshot --no-block sleep 30
check "openibd runs" wait_for 5 grep -q . /sys/fs/cgroup/system.slice/openibd.service/cgroup.procs
journal_mark
rdmasim -q destroy roce0
rdmasim -q create roce0 link_layer=Ethernet netdev=d0 node_guid=0002:c903:00aa:0040
check "what comes now waits for it" wait_for 5 step_is node-description roce0 waiting
check_match "one warning names both" "$(journalctl -q -o cat -u rdmad.service --since "@$(($(date +%s) - 20))" -p warning)" 'openibd.service and rdmad.service both'
systemctl stop openibd.service
check "then it is set" wait_for 10 plan_is_clean
rdmactl --no-pager status
finish
