# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# timeout: 120
# What tools/quickstart shows, in the guest. It is a scenario of the rig (tests/vm): what is shown is checked as well.
# shellcheck source=/dev/null
. /rig/lib.sh

say() { printf '\n==> %s\n' "$*"; }
show() { printf '\n# %s\n' "$*"; "$@" 2>&1; }
# Records reach the journal a moment after the state.
told() { journalctl -q --sync; [[ $(journalctl -q -o cat --no-pager "RDMAD_OBJECT=rxe0/1" "$@") ]]; }

say "Two cables, and what rdmad is to make of them:"
cable roce0 peer0
cable roce1 peer1
conf demo <<'END'
[Link rxe0]
Type=rxe
NetDevice=roce0

[Link rxe1]
Type=rxe
NetDevice=roce1
END
show cat /etc/rdmad/rdmad.conf.d/demo.conf
check "no RDMA before" test ! -e /sys/class/infiniband/rxe0

show systemctl enable --now rdmad
check "the ports are there and ok" wait_for 10 rdmactl check
show rdmactl --no-pager status
show rdmactl check

say "Somebody pulls the cable of rxe0:"
show pull peer0
check "the alert is in the journal" wait_for 5 told RDMAD_REASON=port-down
show rdmactl --no-pager status
show rdmactl check
show journalctl -q --no-pager -x -u rdmad.service RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down

say "And plugs it in again:"
show plug peer0
check "all is well again" wait_for 10 rdmactl check
check "that is in the journal, too" wait_for 5 told RDMAD_OLD_STATE=failed
show rdmactl --no-pager status
show journalctl -q --no-pager -u rdmad.service RDMAD_OBJECT=rxe0/1
finish
