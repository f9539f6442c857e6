# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# Issue 1, must show 3: what is too short to be read is counted and told all the same.
# timeout: 240
# timed: how soon what is told
# shellcheck source=../lib.sh
. /rig/lib.sh

object=RDMAD_OBJECT=rxe0/1
cable d0 p0
conf link <<END
[Link rxe0]
Type=rxe
NetDevice=d0
END
start_rdmad
flaps() { rdmactl --json=short status | jq '.Devices[0].Ports[0].FlapCount'; }
flaps_are() { local n; n=$(flaps) && echo "$n" && [[ $n == "$1" ]]; }
journal_mark
pull p0; sleep 0.05; plug p0
check "it is counted" wait_for 5 flaps_are 1
sleep 3
blips=$(journal_records $object RDMAD_REASON=link-blip)
falls=$(journal_records $object RDMAD_REASON=port-down)
echo "# $blips blip, $falls records of a fall and a recovery"
check "one link-blip, or one pair" test "$blips/$falls" = 1/0 -o "$blips/$falls" = 0/2
check "the port is ok" rdmactl check

# Faster than any reading: the carrier's own count must tell.
for _ in {1..99}; do
        ip link set p0 down; ip link set p0 up
done
check "100 blips are 100" wait_for 10 flaps_are 100
check "one link-flapping" wait_for 5 journal_count_is 1 $object RDMAD_REASON=link-flapping
sleep 8
echo "# $(journal_records $object) records"; journal_field MESSAGE $object
check "and few records" test "$(journal_records $object)" -le 5
check_match "status counts them" "$(rdmactl --no-pager status)" '(100|[0-9]+) times down'
finish
