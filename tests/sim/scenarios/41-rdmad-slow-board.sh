# timeout: 180
# kernels: 6.12
# A device whose board id takes for ever: the list of devices, its own ports and other adapters do not wait for it.
. /rig/lib.sh

conf expect <<END
[Daemon]
ProbeSec=2s
ProbeTimeoutSec=1s
SlowCounterSec=1s
[Port m*]
Expect=up
END
check "an adapter" rdmasim create m0 adapter=card0 board=SIM_0
check "another" rdmasim create m1 adapter=card1 board=SIM_1
check "the board id of the first hangs" rdmasim fault m0 board_id block=1
start_rdmad
check "ok" wait_for 10 rdmactl check
board() { rdmactl --json=short status | jq -r --arg d "$1" '.Devices[] | select(.Name == $d).BoardId'; }
board_is() { local b; b=$(board "$1"); echo "$b"; [[ $b == "$2" ]]; }
check "the other's is known" wait_for 5 board_is m1 SIM_1
check_eq "of this one it is unknown" "$(board m0)" null
slow() { rdmactl --json=short status | jq -e '.Devices[].Reasons[]? | select(.Id == "counters-unavailable")'; }
check "a notice" wait_for 10 slow
workers=$(pgrep rdmad-probe | sort)
journal_mark
t0=$(now_ms)
check "its port falls" rdmasim event m0/1 PORT_ERR apply=1
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=m0/1 RDMAD_REASON=port-down
check_below "at once, in ms" "$(( $(journal_field _SOURCE_REALTIME_TIMESTAMP RDMAD_OBJECT=m0/1) / 1000 - t0 ))" 1000
check "a device comes" rdmasim create m2 adapter=card2 board=SIM_2
check "and is listed" wait_for 5 board_is m2 SIM_2
check_eq "it was asked once" "$(rdmasim get m0 n_board_id)" 1
check "the scout was not given up" test "$(journal_records RDMAD_REASON=device-unresponsive)" = 0
check "it answers" rdmasim release m0
check "its board" wait_for 10 board_is m0 SIM_0
not_slow() { ! slow; }
check "no notice any more" wait_for 5 not_slow
still() { local w; for w in $workers; do kill -0 "$w" || return; done; }
check "no worker was killed" still
finish
