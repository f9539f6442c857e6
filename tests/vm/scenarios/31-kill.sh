# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# Issue 1, must show 4: kill -9 changes nothing in the kernel, and the next daemon changes nothing either.
# shellcheck source=../lib.sh
. /rig/lib.sh

links 2
start_rdmad
check "two links" wait_for 5 rdmactl check
rdma link del rxe1
check "one deleted by hand" wait_for 5 test ! -e /sys/class/infiniband/rxe1
sleep 1
before=$(rdma -j link; rdma -j dev)
pid=$(rdmad_pid)
udevadm monitor -k -s infiniband >/tmp/uevents 2>&1 &
kill -9 "$pid"
check_eq "rdma link is as it was" "$(rdma -j link; rdma -j dev)" "$before"
again() { local p; p=$(rdmad_pid); systemctl is-active rdmad.service && [[ $p != 0 && $p != "$pid" ]]; }
check "it is started again" wait_for 10 again
check "and answers" wait_for 5 rdmactl check rxe0/1
sleep 2
check_eq "it adopted everything" "$(rdma -j link; rdma -j dev)" "$before"
check_eq "no device came or went" "$(grep -cE 'add|remove' /tmp/uevents)" 0
setup() { rdmactl --json=short status | jq -r --arg o "$1" '.Setup[] | select(.Object == $o) | .Result'; }
check_eq "the link was as wanted" "$(setup rxe0)" ok
check_eq "the deleted one stays told" "$(setup rxe1)" drifted
workers() { pgrep -c rdmad-probe; }
check "no worker of the dead daemon is left" test "$(workers)" -le 2
finish
