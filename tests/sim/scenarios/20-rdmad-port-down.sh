# timeout: 240
# timed: how soon what is told
# Issue 1, must show 2 and 3, on InfiniBand with verbs events: a fall, a recovery, a blip that no reading shows, a storm.
. /rig/lib.sh

object=RDMAD_OBJECT=mlx5_0/1
conf expect <<END
[Port mlx5_*]
Expect=up
END
check "an adapter with two ports" rdmasim create mlx5_0 ports=2 node_guid=0002:c903:00aa:0010 adapter=card0
start_rdmad
held() { [[ $(rdmasim get mlx5_0 contexts) == "$1" ]]; }
check "a context is held for its events" wait_for 10 held 1
check "ok" wait_for 10 rdmactl check
journal_mark

t0=$(now_ms)
check "a cable pulled" rdmasim event mlx5_0/1 PORT_ERR apply=1
check "there is a record" wait_for 5 journal_count_is 1 $object RDMAD_REASON=port-down PRIORITY=3
told_ms() { echo $(( $(journal_field _SOURCE_REALTIME_TIMESTAMP $object) / 1000 - t0 )); }
check_below "within a second, in ms" "$(told_ms)" 1000
check_status 2 "check exits with 2" rdmactl check
check_match "and names it and no other" "$(rdmactl check)" 'mlx5_0/1 port-down'
check "the other port is ok" rdmactl check mlx5_0/2
check_match "the GUID is in the record" "$(journal_field RDMA_GUID $object)" '0002:c903:00aa:0010'
rdmactl --no-pager status
check "back" rdmasim event mlx5_0/1 PORT_ACTIVE apply=1
check "one record of it" wait_for 5 journal_count_is 2 $object
check "ok" rdmactl check

journal_mark
check "PORT_ERR and every reading says ACTIVE" rdmasim event mlx5_0/1 PORT_ERR
check "is a blip" wait_for 5 journal_count_is 1 $object RDMAD_REASON=link-blip PRIORITY=5
check "and no alarm" rdmactl check
flaps() { rdmactl --json=short status | jq '.Devices[0].Ports[0].FlapCount'; }
check_eq "two falls so far" "$(flaps)" 2
sleep 1
check "told once" journal_count_is 1 $object

# 98 more, slower than the worker's loop, so that none is lost to order in the kernel
check "98 blips" rdmasim event mlx5_0/1 PORT_ERR,PORT_ACTIVE count=196 rate=100
hundred() { local n; n=$(flaps); echo "$n"; [[ $n == 100 ]]; }
check "are counted, each" wait_for 10 hundred
check "one link-flapping" wait_for 5 journal_count_is 1 $object RDMAD_REASON=link-flapping PRIORITY=4
sleep 6
check_below "few records" "$(journal_records $object)" 4
check_status 1 "degraded" rdmactl check

journal_mark
check "no subnet manager at boot" rdmasim port mlx5_0/2 state=INIT sm_lid=0
check "the event" rdmasim event mlx5_0/2 LID_CHANGE
other=RDMAD_OBJECT=mlx5_0/2
port_state_is() { [[ $(rdmactl --json=short status | jq -r '.Devices[0].Ports[1].PortState') == "$1" ]]; }
check "is read" wait_for 5 port_state_is init
check_match "and is not a port without link" "$(rdmactl --json=short status | jq -c '.Devices[0].Ports[1]')" '"HealthState":"starting"'
check "no alarm within the grace period" journal_count_is 0 $other
finish
