# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6: adapters with Monitor=no are set up without being opened or asked for anything, and what somebody changes there
# is seen all the same. RoCE settings load rdma_cm by themselves, unless that is denied.
# kernels: 6.12
# timeout: 90
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

cm=/sys/kernel/config/rdma_cm
# rdma-core loads rdma_cm and what uses it with the first device.
systemctl mask -q --now rdma-ndd.service rdma-load-modules@{rdma,roce,infiniband}.service
cable d0 p0
conf site <<END
[Daemon]
SlowCounterSec=2s
[Device *]
Monitor=no
NodeDescription=%d here
AdaptiveModeration=yes
[Port linklayer=Ethernet]
RoCEMode=v1
RoCEToS=106
END
conf z-deny <<<$'[Modules]\nDeny=rdma_cm'
check "two adapters" eval "rdmasim -q create roce0 link_layer=Ethernet netdev=d0 hw_counters='rx,?one' && rdmasim -q create mlx5_0"
check "rdma_cm is not loaded" test ! -d /sys/module/rdma_cm
roce() { # FILE [VALUE]: of roce0; with VALUE it is set
        mkdir $cm/roce0
        if [[ ${2:-} ]]; then echo "$2" >$cm/roce0/ports/1/default_roce_"$1"; else echo "$(<$cm/roce0/ports/1/default_roce_"$1")"; fi
        rmdir $cm/roce0
}
rows() { rdmactl --no-pager --no-legend --full plan --all "$@"; }
row_is() { [[ $(rows) =~ $1 ]]; }

start_rdmad
check "the rest is set" wait_for 10 row_is 'roce0 +node-description +(ok|changed)'
check "RoCE settings are blocked" wait_for 5 row_is 'roce0/1 +roce-mode +blocked'
check_match "which says by what" "$(rows roce0/1)" 'it needs rdma_cm, which \[Modules\] Deny= forbids'
check "and it was not loaded" test ! -d /sys/module/rdma_cm
rm /etc/rdmad/rdmad.conf.d/z-deny.conf
check "allowed" systemctl reload rdmad.service
check "all is in force" wait_for 10 rdmactl --no-legend plan --exit-code
check_match "rdmad loaded rdma_cm" "$(journalctl -q -o cat -u rdmad-setup.service)" 'rdma_cm.*: changed'
check_eq "the mode" "$(roce mode)" 'IB/RoCE v1'
check_eq "the ToS" "$(roce tos)" 106
untouched() {
        local d what
        for d in roce0 mlx5_0; do
                for what in n_open n_query_port n_board_id n_counters n_hw_counters; do
                        echo -n "$(rdmasim get "$d" "$what") "
                done
        done
}
before=$(untouched)

# Changed by hand, and nothing tells of it.
echo somebody >/sys/class/infiniband/mlx5_0/node_desc
rdma dev set mlx5_0 adaptive-moderation off
roce mode 'RoCE v2'
check "the description is seen" wait_for 10 row_is 'mlx5_0 +node-description +drifted +somebody'
check "and the moderation" wait_for 10 row_is 'mlx5_0 +adaptive-moderation +drifted +off'
check "and the RoCE mode" wait_for 10 row_is 'roce0/1 +roce-mode +drifted +v2'
check "apply for one of them" rdmactl apply roce0
check_eq "mends that" "$(roce mode)" 'IB/RoCE v1'
check "and leaves the other" row_is 'mlx5_0 +node-description +drifted +somebody'
check_eq "no device was opened, or asked for anything" "$(untouched)" "$before"
check_eq "nor had they been before" "$(rdmasim get roce0 n_open) $(rdmasim get mlx5_0 n_open)" '0 0'

# Unloaded by hand, which nothing of rdmad is in the way of: told, and not loaded again.
check "rdma_cm is unloaded" wait_for 5 modprobe -r rdma_cm
check "that is drift" wait_for 5 row_is 'rdma_cm +load-module +drifted'
check "what it held is not in force" wait_for 5 row_is 'roce0/1 +roce-tos +blocked +no rdma_cm'
check "loaded by hand" modprobe rdma_cm
check "it is set again" wait_for 10 row_is 'roce0/1 +roce-tos +(ok|changed)'
check_eq "indeed" "$(roce tos)" 106
rdmactl --no-pager plan --all
finish
