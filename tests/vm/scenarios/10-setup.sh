# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 1, must show 1: the configured link exists when "systemctl start rdmad" returns, with nothing loaded before,
# and one whose netdev comes later is made then.
# shellcheck source=../lib.sh
. /rig/lib.sh

cable d0 p0
conf links <<END
[Link rxe0]
Type=rxe
NetDevice=d0

[Link rxe1]
Type=rxe
NetDevice=d1
END
check "rdma_rxe is not loaded" test ! -d /sys/module/rdma_rxe
start_rdmad
# At once: nothing may be waited for here.
check "the link is there when start returns" port_is rxe0/1 ACTIVE
check "status says ok at once" rdmactl check rxe0/1
check_match "status shows it" "$(rdmactl --no-pager status)" 'rxe0'
check_match "and that rxe1 waits for its netdev" "$(rdmactl --no-pager status)" 'd1'
check "no link rxe1 yet" test ! -e /sys/class/infiniband/rxe1
check "the unit is active" systemctl is-active rdmad.service
check_match "STATUS= is set" "$(systemctl show -P StatusText rdmad.service)" '1 device, 1 port'

sleep 5
cable d1 p1
check "its netdev appears, and the link is made" wait_for 5 port_is rxe1/1 ACTIVE
check "and watched" wait_for 5 rdmactl check rxe1/1
check "the whole host is ok" wait_for 5 rdmactl check

conf module <<END
[Modules]
Load=ib_umad ib_umad_does_not_exist
END
check "reload" systemctl reload rdmad.service
check "a module of Load= is loaded" wait_for 5 module_loaded ib_umad
absent_is() { [[ $(rdmactl --no-pager --json=short status | jq -r '.Setup[] | select(.Object == "ib_umad_does_not_exist") | .Result') == "$1" ]]; }
check "an absent one is a notice and no trouble" wait_for 5 absent_is unsupported
check "the host stays ok" rdmactl check
check_eq "no unit failed" "$(systemctl --failed --plain --no-legend)" ""
rdmactl --no-pager status
finish
