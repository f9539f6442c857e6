# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6: a container that brings drivers reloads them: rdmad stands still until it says that they are there, and one
# warning names both. It is known by its directory, and by the modules that go.
# kernels: 6.12
# timeout: 60
# shellcheck source=../lib.sh
. /rig/lib.sh

conf links <<<$'[Link rxe0]\nType=rxe\nNetDevice=d0\n[Link rxe1]\nType=rxe\nNetDevice=d1'
modprobe ib_core
start_rdmad
mkdir -p /run/mellanox/drivers
cable d0 p0
check "a directory that was left behind is nobody's work" wait_for 10 port_is rxe0/1 ACTIVE
drivers_go() {
        rdma link delete rxe0
        modprobe -qr rpcrdma ib_iser rdma_ucm rdma_rxe ib_umad ib_uverbs iw_cm ib_cm ib_core
        [[ ! -d /sys/module/ib_core ]] || { lsmod; return 1; }
}
# All of it: rdmad holds nothing of a stack that has no device any more.
check "the drivers go" wait_for 5 drivers_go
check "and another part comes" cable d1 p1
row_is() { [[ $(rdmactl --no-pager --no-legend plan) =~ $1 ]]; }
check "a link waits, and says for whom" wait_for 5 row_is 'rxe1 .*waiting.*a driver container .* is at the drivers'
check_eq "one warning names both" "$(journal_field MESSAGE PRIORITY=4 | grep -c '^a driver container .* and rdmad.service both')" 1
check "meanwhile" holds 2 test ! -e /sys/class/infiniband/rxe1
modprobe rdma_rxe
touch /run/mellanox/drivers/.driver-ready
check "the drivers are there: now it is made" wait_for 10 port_is rxe1/1 ACTIVE
check_match "doctor knows of it" "$(rdmactl doctor --no-pager)" "driver container's"
finish
