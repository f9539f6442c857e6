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
status=$(rdmactl --no-pager status)
check_match "status shows it" "$status" 'rxe0'
check_match "and that rxe1 waits for its netdev" "$status" 'd1'
check "no link rxe1 yet" test ! -e /sys/class/infiniband/rxe1
unit=$(systemctl show -p ActiveState -p StatusText rdmad.service)
check_match "the unit is active" "$unit" "ActiveState=active"
check_match "STATUS= is set" "$unit" "StatusText=1 device, 1 port"

cable d1 p1
check "its netdev appears, and the link is made" wait_for 5 port_is rxe1/1 ACTIVE
check "and watched, and the whole host is ok" wait_for 5 rdmactl check

conf module <<END
[Modules]
Load=ib_umad ib_umad_does_not_exist
END
check "reload" systemctl reload rdmad.service
check "a module of Load= is loaded" wait_for 5 module_loaded ib_umad
absent_is() { [[ $(rdmactl --no-pager --no-legend plan ib_umad_does_not_exist) == *" $1 "* ]]; }
check "an absent one is a notice and no trouble" wait_for 5 absent_is unsupported
check "the host stays ok" rdmactl check
check_eq "no unit failed" "$(systemctl --failed --plain --no-legend)" ""
finish
