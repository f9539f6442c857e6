# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# Issue 6, must show 4: booted with a configuration whose netdevs come 30 s after the boot (five orders of more that comes
# late: sim 63-late). The boot does not wait for them, nothing is called failed, and once they come all of it is in force.
# boot: cold
# enable: rdmad.service rdmad-setup.socket
# timeout: 120
# shellcheck source=../lib.sh
. /rig/lib.sh

check "up since boot" wait_for 20 systemctl is-active rdmad.service
check_eq "the boot is complete" "$(systemctl is-system-running --wait)" running
check_eq "no job is left" "$(systemctl list-jobs --no-legend)" ""
active=$(systemctl show -P ActiveEnterTimestampMonotonic rdmad.service) started=$(systemctl show -P InactiveExitTimestampMonotonic rdmad.service)
check_below "ready within its budget, ms" $(( (active - started) / 1000 )) 15000
plan=$(rdmactl --no-pager --no-legend plan)
echo "$plan"
check_match "a link waits" "$plan" 'rxe0.*waiting.*d0'
check_eq "none has failed" "$(grep -cE 'failed|blocked' <<<"$plan")" 0
check_status 0 "who only has a plan has no trouble" rdmactl check --fail-on=failed --class=setup

uptime_s() { local s _; IFS=. read -r s _ </proc/uptime; echo "$s"; }
booted=$(( $(systemctl show -P UserspaceTimestampMonotonic) / 1000000 ))
while (( $(uptime_s) < booted + 30 )); do nap 0.5; done
check "30 s later one comes" cable d0 p0
check "is made, and up" wait_for 15 port_is rxe0/1 ACTIVE
check "the other one, under another name first" ip link add eth9 type veth peer name p1
ip link set p1 up; ip link set eth9 name d1; ip link set d1 up
check "is made, and up" wait_for 15 port_is rxe1/1 ACTIVE
check "nothing is left to do" wait_for 15 rdmactl --no-legend plan --exit-code
for d in rxe0 rxe1; do
        check_eq "$d: its node description" "$(cat "/sys/class/infiniband/$d/node_desc")" "$d of $(hostname)"
        mkdir "/sys/kernel/config/rdma_cm/$d"
        check_eq "$d: its ToS" "$(cat "/sys/kernel/config/rdma_cm/$d/ports/1/default_roce_tos")" 32
        rmdir "/sys/kernel/config/rdma_cm/$d"
done
check "ok" wait_for 10 rdmactl check
check_eq "no unit failed" "$(systemctl --failed --plain --no-legend)" ""
finish
