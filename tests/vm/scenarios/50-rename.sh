# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 1, must show 6: a rename is a new name of the same object, and nothing else.
# shellcheck source=../lib.sh
. /rig/lib.sh

cable d0 p0
conf link <<END
[Link rxe0]
Type=rxe
NetDevice=d0
END
start_rdmad
check "ok" wait_for 5 rdmactl check
path=$(busctl tree --list org.rdmad1 | grep -m1 /device/)
name() { busctl get-property org.rdmad1 "$path" org.rdmad1.Device Name | tr -d '"' | cut -d' ' -f2; }
name_is() { local n; n=$(name) && echo "$n" && [[ $n == "$1" ]]; }
check "its name" name_is rxe0
journal_mark
rdma dev set rxe0 name fast0
check "same object, new name" wait_for 5 name_is fast0
sleep 2
check_eq "one device on the bus" "$(busctl tree --list org.rdmad1 | grep -c '/device/d')" 1
alerts() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.MESSAGE_ID) | .MESSAGE'; }
check_eq "no alert" "$(alerts)" ""
check "ok" rdmactl check
check "and rxe0 is not made again" test ! -e /sys/class/infiniband/rxe0
pull p0
check "a fall under the new name" wait_for 2 journal_count_is 1 RDMAD_OBJECT=fast0/1 RDMAD_REASON=port-down
check_status 2 "failed" rdmactl check
plug p0
check "and the recovery" wait_for 5 journal_count_is 2 RDMAD_OBJECT=fast0/1 RDMAD_REASON=port-down
rdma dev set fast0 name rxe0
check "back again" wait_for 5 name_is rxe0
check "ok" wait_for 5 rdmactl check

# An open condition goes along.
pull p0
check "down" wait_for 2 journal_count_is 1 RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down PRIORITY=3
rdma dev set rxe0 name other0
check "renamed while down" wait_for 5 name_is other0
check_match "the condition is there under the new name" "$(rdmactl check)" 'other0/1.*port-down'
check "told once" journal_count_is 0 RDMAD_OBJECT=other0/1 RDMAD_REASON=port-down PRIORITY=3
finish
