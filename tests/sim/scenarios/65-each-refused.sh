# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 3: each setting refused with each errno by the function of the kernel that would do it (module
# "refuse"): its result, and a sentence with what to do (the words: tests/unit/test-refusal.c); what is not refused is done.
# kernels: 6.12
# timeout: 90
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

# STEP, the function of the kernel that does it, what EBUSY EOPNOTSUPP EEXIST EINVAL ENODEV EPERM come to, and (RDMAD_TEST_LONG)
# EIO ENOMEM EACCES ETIMEDOUT: waiting, unsupported, blocked, failed.
table='load-module __x64_sys_finit_module FFFFFBFFBF
add-link nldev_newlink BUBFWBFFBF
netns-mode rdma_compatdev_set BUFUFBFFBF
privileged-qkey nldev_set_sys_set_doit FUFUFBFFBF
device-name ib_device_rename BUBFWBFFBF
node-description ib_modify_device BUFFWBFFBF
adaptive-moderation ib_device_set_dim BUFUWBFFBF
roce-mode cma_set_default_gid_type BUBUWBFFBF
roce-tos cma_set_default_roce_tos BUBUWBFFBF
optional-counters rdma_counter_modify BUFUWBFFBF
add-ipoib ipoib_new_child_link BBBFWBFFBF
ipoib-mode ipoib_set_mode BUFUWBFFBF
ipoib-umcast ipoib_changelink BUFUWBFFBF
netdev-mtu ipoib_change_mtu BUFFWBFFBF'
names=(EBUSY EOPNOTSUPP EEXIST EINVAL ENODEV EPERM EIO ENOMEM EACCES ETIMEDOUT)
numbers=(16 95 17 22 19 1 5 12 13 110)
rounds=${RDMAD_TEST_LONG:+10}

cable d0 p0
conf each <<END
[System]
NetnsMode=exclusive
PrivilegedQKey=yes
[Modules]
Load=ib_srpt
[Link rxe0]
Type=rxe
NetDevice=d0
[Device guid=0002:c903:00aa:0040]
Name=roce7
NodeDescription=%d of %H
AdaptiveModeration=yes
[Port guid=0002:c903:00aa:0040]
RoCEMode=v1
RoCEToS=106
OptionalCounters=one
[IPoIB ib0]
Mode=connected
Umcast=yes
[IPoIB ib0.8001]
Parent=ib0
PKey=0x8001
[IPoIB ib1]
MTU=1500
END
systemctl mask -q --now rdma-ndd.service
modprobe -a rdma_cm rdma_rxe ib_ipoib ib_umad refuse
check "two adapters" eval 'rdmasim -q create mlx5_0 ports=2 node_guid=0002:c903:00aa:0010 && rdmasim -q pkey mlx5_0/1 1 0x8001 &&
        rdmasim -q event mlx5_0/1 PKEY_CHANGE && rdmasim -q create roce0 link_layer=Ethernet node_guid=0002:c903:00aa:0040 hw_counters="rx,?one"'

calls=/sys/module/refuse/parameters/calls
functions=$(cut -d ' ' -f 2 <<<"$table")
# What each step came to, in the table's order, out of a plan; those that no function refuses are left out.
results() {
        jq -r --arg table "$table" '[.Setup[] | select(.Object | test("^(rdma_cm|ib_umad|ib_ipoib)$") | not)] as $s |
                $table | split("\n")[] | split(" ")[0] as $step | $s[] | select(.Step == $step) |
                "\(.Step) \(.Object): \(.Result): \(.Detail): \(.Remedy)"'
}
wanted() { # ROUND: as many letters as there are steps
        local letters letter=
        while read -r _ _ letters; do letter+=${letters:$1:1}; done <<<"$table"
        echo "$letter"
}
# The results' first letters, with a small one where it is not said what to do.
found() {
        local result line=
        while IFS=: read -r _ result detail remedy; do
                result=${result# } result=${result:0:1}
                [[ $detail == ' ' || $remedy == ' ' ]] || result=${result^}
                line+=$result
        done
        echo "$line"
}
settled() { [[ $(rdmactl --no-pager --no-legend --full plan --all) != *' pending '* ]]; }

echo "${numbers[0]} ${functions//$'\n'/ }" >$calls
for ((i = 0; i < ${rounds:-6}; i++)); do
        # Without a gap: what has failed is tried again at any time.
        echo "${numbers[i]}" >$calls
        if ((i == 0)); then
                start_rdmad
                check "everything was tried" wait_for 15 settled
        else
                check_status 1 "${names[i]}: apply tells that it is not done" rdmactl apply
        fi
        rdmactl --json=short plan --all | results >/rig/plan
        echo "${names[i]}:" && cat /rig/plan
        check_eq "${names[i]}: what each step comes to" "$(found </rig/plan)" "$(wanted $i)"
        ((i % 2)) || check_status 1 "${names[i]}: the host is degraded" rdmactl check
done
check "the unit is active" systemctl is-active rdmad.service
is() { check_match "$1" "$(grep -E "^$2 " /rig/plan)" "$3"; }

# Every other one is refused (and the netns mode, which is set by the same function as the QKEY), and what stands between
# them is done.
mapfile -t functions <<<"$functions"
echo 1 >$calls
echo "0 ${functions[0]} ${functions[2]} ${functions[4]} ${functions[6]} ${functions[8]} ${functions[10]} ${functions[12]}" >$calls
check_status 1 "every other one is refused" rdmactl apply
rdmactl --json=short plan --all | results >/rig/plan
cat /rig/plan
check_eq "what stands between them is done" "$(sed 's/[^:]*: //; s/:.*//; s/changed/ok/' /rig/plan | paste -sd ' ')" \
        "ok blocked blocked blocked ok blocked ok blocked ok blocked ok blocked ok blocked"
is "by the name that it has now" node-description '^node-description roce7:'
echo >$calls
check "nothing is refused: all of it is done" rdmactl apply
check "and nothing is left to do" wait_for 5 rdmactl --no-legend plan --exit-code
check_status 0 "the host is well" rdmactl check
finish
