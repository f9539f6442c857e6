# timeout: 240
# kernels: 6.12
# Issue 5, counters: rates over their thresholds, resets, ends of widths, congestion, and falls that only link_downed saw.
. /rig/lib.sh

port=RDMAD_OBJECT=mlx5_0/1
errors=("$port" RDMAD_REASON=link-errors RDMAD_SUBJECT=symbol_error)
conf fast <<END
[Daemon]
CounterSec=1s
SlowCounterSec=1s
[Counter symbol_error]
Threshold=10/min
Window=2s
[Port mlx5_*]
Expect=up
[Device mlx5_*]
Monitor=reads
END
check "an adapter with old errors" rdmasim create mlx5_0 node_guid=0002:c903:00aa:0010
check "many of them" rdmasim counter mlx5_0/1 symbol_error 120
check "it fell before" rdmasim counter mlx5_0/1 link_downed 5
check "it waited" rdmasim counter mlx5_0/1 port_xmit_wait 4294967295
check "another" rdmasim create mlx5_1 node_guid=0002:c903:00aa:0020
check "which fell often" rdmasim counter mlx5_1/1 link_downed 254
start_rdmad
describe() { busctl --json=short call org.rdmad1 /org/rdmad1 org.rdmad1.Manager DescribeCounters | jq -r '.data[0]'; }
# NAME KEY VALUE
counter_is() {
        [[ $(describe | jq -c --arg n "$1" --arg k "$2" \
                '.Ports[] | select(.Object == "mlx5_0/1").Counters[] | select(.Source == "pma" and .Name == $n)[$k]') == "$3" ]]
}
check "ok" wait_for 20 rdmactl check
check "old errors are the baseline" wait_for 20 counter_is symbol_error Delta 0
nap 2.5
check "and no alarm, also of the time it waited" journal_count_is 0 $port

# symbol errors
journal_mark
check "10 a second" rdmasim counter mlx5_0/1 symbol_error per_sec=10
check "are link-errors" wait_for 10 journal_count_is 1 "${errors[@]}" RDMAD_EDGE=raised PRIORITY=4
check_match "the record says how many, and which end is to blame" "$(journal_field MESSAGE "${errors[@]}")" \
        'mlx5_0/1: link-errors of symbol_error: found [0-9]+ more in .*, wanted none in 2s; this link: its cable'
check_status 1 "degraded" rdmactl check
check_match "check names it" "$(rdmactl check)" 'link-errors'
rdmactl --no-pager status
check "no more of them" rdmasim counter mlx5_0/1 symbol_error per_sec=0
check "over, after the window and four more" wait_for 60 journal_count_is 1 "${errors[@]}" RDMAD_EDGE=cleared
check "ok" rdmactl check
check "one record each" journal_count_is 2 "${errors[@]}"

# resets
journal_mark
check "many more than a reset leaves" rdmasim counter mlx5_0/1 symbol_error 3
check "it went backwards" wait_for 10 counter_is symbol_error Resets 1
nap 2.5
check "that is no alarm" journal_count_is 0 $port

# a fall between two readings, without an event
check "link_downed 5 to 6" rdmasim counter mlx5_0/1 link_downed +1
check "is a blip" wait_for 10 journal_count_is 1 $port RDMAD_REASON=link-blip PRIORITY=5
flaps_are() { [[ $(rdmactl --json=short status | jq '.Devices[0].Ports[0].FlapCount') == "$1" ]]; }
check "counted" flaps_are 1
nap 2.5
check "once" journal_count_is 1 $port
check "no alarm" rdmactl check

# the end of its width
journal_mark
other=RDMAD_OBJECT=mlx5_1/1
check "a fall, 254 to 255" rdmasim counter mlx5_1/1 link_downed +1
check "is a blip" wait_for 10 journal_count_is 1 $other RDMAD_REASON=link-blip
check "and saturated" wait_for 10 journal_count_is 1 $other RDMAD_REASON=counter-saturated RDMAD_SUBJECT=link_downed PRIORITY=5
check "a notice" rdmactl check
check "4 bits at their end" rdmasim counter mlx5_0/1 excessive_buffer_overrun_errors 15
check "are saturated" wait_for 10 journal_count_is 1 $port RDMAD_SUBJECT=excessive_buffer_overrun_errors RDMAD_REASON=counter-saturated
check "and errors" wait_for 10 journal_count_is 1 $port RDMAD_SUBJECT=excessive_buffer_overrun_errors RDMAD_REASON=link-errors
check_status 1 "degraded" rdmactl check
check "somebody resets all" rdmasim reset mlx5_0
check "no counter is at its end" wait_for 10 journal_count_is 1 $port RDMAD_REASON=counter-saturated RDMAD_EDGE=cleared

# what has no end of its own
check "the window is explained" rdmactl explain mlx5_0/1
check_match "the threshold's file and line" "$(rdmactl explain mlx5_0/1)" 'fast.conf:5'
journal_mark
check "congestion" rdmasim counter mlx5_0/1 port_xmit_wait 4294967295
check "discards" rdmasim counter mlx5_0/1 port_xmit_discards 60000
nap 2.5
check "are information" journal_count_is 0 $port
finish
