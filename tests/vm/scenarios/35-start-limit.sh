# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8: a rdmad that crashes again and again is given up, the devices stay as they are, and it is said what to do;
# started again it goes on from what it knew.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

for i in 0 1; do cable d$i p$i; done
conf link <<END
[Health]
DownDelaySec=0
[Link rxe0]
Type=rxe
NetDevice=d0
[Link rxe1]
Type=rxe
NetDevice=d1
END
mkdir -p /run/systemd/system/rdmad.service.d
printf '[Service]\nRestartSec=100ms\n' >/run/systemd/system/rdmad.service.d/limit.conf # or the guest is too slow for five in 30 s
systemctl daemon-reload
start_rdmad
check "two links" wait_for 5 rdmactl check 'rxe*'
pull p0
check "one is down" wait_for 3 journal_count_is 1 RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down
nap 1.1
before=$(rdma -j link; rdma -j dev)
given_up() {
        local pid
        [[ $(systemctl show -P ActiveState rdmad.service) != failed ]] || return 0
        pid=$(rdmad_pid)
        [[ $pid == 0 ]] || kill -9 "$pid"
        return 1
}
check "it is given up" wait_for 25 given_up
check_match "by the limit" "$(journalctl -q -b -u rdmad.service -o cat --no-pager)" 'Start request repeated too quickly'
check_eq "the links are as they were" "$(rdma -j link; rdma -j dev)" "$before"
check_eq "and no worker is left" "$(rdmad_procs)" 0
out=$(rdmactl status 2>&1)
check_match "rdmactl says what to do" "$out" 'systemctl start rdmad'
check "started by hand" systemctl reset-failed rdmad.service
start_rdmad
check_eq "the links are as they were" "$(rdma -j link; rdma -j dev)" "$before"
check "it goes on" wait_for 5 journal_records RDMAD_REASON=restart
check_eq "what stands was told once" "$(journal_records RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down RDMAD_EDGE=raised)" 1
finish
