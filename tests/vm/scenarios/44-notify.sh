# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The RDMA netlink group of notifications is joined where the kernel has it (6.12), and not where it has not (6.1).
# timeout: 60
# shellcheck source=../lib.sh
. /rig/lib.sh

cable d0 p0
cable d1 p1
check "a link" rdma link add rxe0 type rxe netdev d0
start_rdmad
check "ok" wait_for 5 rdmactl check
check "debug level" systemctl service-log-level rdmad.service debug
notices() { journalctl --sync; journalctl -q -u rdmad.service -o cat --no-pager | grep -c "^RDMA netlink: device.*: $1" || :; }
some() { local n; n=$(notices "$1"); echo "$n"; (( n > 0 )); }
check "a link comes" rdma link add rxe1 type rxe netdev d1
there() { [[ $(rdmactl --json=short status) == *'"rxe1"'* ]]; }
check "and is there" wait_for 5 there
before=$(notices registered)
check "it goes" rdma link del rxe1
not_there() { ! there; }
check "and is not" wait_for 5 not_there
case $(uname -r) in
        6.1.*) check_eq "without the group: nothing" "$(notices '')" 0 ;;
        *)
                check_below "registered" 0 "$before"
                more() { (( $(notices registered) > before )); }
                check "gone" wait_for 5 more
                check "its netdev attached: the port was read" some "its netdev changed"
                ;;
esac
check "the picture is the kernel's" wait_for 5 pictures_agree
finish
