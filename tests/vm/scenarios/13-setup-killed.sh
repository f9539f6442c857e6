# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 6: rdmad, and the setup helper, are killed in the middle of an apply: the next start completes it,
# nothing is doubled or lost, and what is in force is adopted without a change.
# timeout: 120
# timeout-long: 400
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

n=3
for ((i = 0; i < n; i++)); do
        cable d$i p$i
        printf '[Link rxe%d]\nType=rxe\nNetDevice=d%d\n[Port rxe%d]\nRoCEToS=%d\n' $i $i $i $((8 * i))
done | conf links
complete() { local links=(/sys/class/infiniband/rxe*); (( ${#links[@]} == n )) && rdmactl --no-legend plan --exit-code; }
start_rdmad
rounds=${RDMAD_TEST_LONG:+20}
for ((round = 1; round <= ${rounds:-2}; round++)); do
        for ((i = 0; i < n; i++)); do echo "link delete rxe$i"; done | rdma -force -batch -
        systemctl kill -s KILL rdmad.service
        # rdmad comes again by itself; what it forgot was deleted by hand, so it is told.
        check "round $round: rdmad is back" wait_for 10 rdmactl --no-legend plan
        rdmactl apply >/dev/null &
        nap "0.$((RANDOM % 5))$((RANDOM % 10))"
        if (( round % 2 )); then pkill -KILL -x rdmad-setup; else systemctl kill -s KILL --kill-whom=main rdmad.service; fi
        wait
        check "round $round: apply once more" wait_for 20 rdmactl apply
        check "round $round: all of it, once" wait_for 10 complete
        systemctl reset-failed rdmad.service
done
journal_mark
systemctl kill -s KILL rdmad.service
check "once more" wait_for 10 complete
check_eq "adopted: nothing was changed" "$(journal_records | grep -c ': changed')" 0
mkdir /sys/kernel/config/rdma_cm/rxe{0,1,2}
for ((i = 0; i < n; i++)); do check_eq "ToS of rxe$i" "$(</sys/kernel/config/rdma_cm/rxe$i/ports/1/default_roce_tos)" $((8 * i)); done
check_eq "no unit failed" "$(systemctl --failed --plain --no-legend)" ""
finish
