# kernels: 6.1
# timeout: 240
# timed: how long others wait
# An adapter whose firmware does not answer is unknown, stalls nobody, and recovers.
. /rig/lib.sh

conf expect <<END
[Daemon]
ProbeSec=2s
ProbeTimeoutSec=2s
[Port mlx5_*]
Expect=up
END
check "an adapter" rdmasim create mlx5_0 adapter=card0
check "another" rdmasim create mlx5_1 adapter=card1
start_rdmad
check "ok" wait_for 10 rdmactl check
pid=$(rdmad_pid)
journal_mark

check "its firmware hangs" rdmasim fault mlx5_0/1 query_port block=1
unresponsive=RDMAD_REASON=device-unresponsive
check "told once" wait_for 20 journal_count_is 1 RDMAD_OBJECT=mlx5_0 $unresponsive PRIORITY=4
check_match "how long" "$(journal_field MESSAGE $unresponsive)" 'no answer for [0-9]+s'
check_status 3 "check cannot tell" rdmactl check
check "the other adapter is ok" rdmactl check mlx5_1
rdmactl --no-pager status

t0=$(now_ms)
check "the other one falls" rdmasim event mlx5_1/1 PORT_ERR apply=1
check "and is told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=mlx5_1/1 RDMAD_REASON=port-down
check_below "at once, in ms" "$(( $(journal_field _SOURCE_REALTIME_TIMESTAMP RDMAD_OBJECT=mlx5_1/1) / 1000 - t0 ))" 1000
check "and recovers" rdmasim event mlx5_1/1 PORT_ACTIVE apply=1
workers() { pgrep -c rdmad-probe; }
before=$(workers)
sleep 6
check_eq "no worker is piled up on it" "$(workers)" "$before"

check "it answers again" rdmasim release all
check "ok" wait_for 20 rdmactl check
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=mlx5_0 $unresponsive PRIORITY=5
check_eq "the same daemon all through" "$(rdmad_pid)" "$pid"
finish
