# timeout: 240
# kernels: 6.12
# timed: how soon what is told
# An adapter whose counters take 30 s: its own ports' alarms come as fast as without, nothing piles up on it, its worker
# lives, other adapters' counters go on; it is a notice, which goes when the counters answer again.
. /rig/lib.sh

conf expect <<END
[Daemon]
ProbeTimeoutSec=1s
CounterSec=1s
SlowCounterSec=1s
[Port m*]
Expect=up
END
check "an adapter with two devices of ten ports" rdmasim create m0 ports=10 adapter=card0
check "the second" rdmasim create m1 ports=10 adapter=card0
check "another adapter" rdmasim create m2 adapter=card1
start_rdmad
check "ok" wait_for 20 rdmactl check
journal_mark
down=RDMAD_REASON=port-down

# Milliseconds from the event to the record, of ten ports of a device; the middle one of them into $median.
fall() { # DEVICE
        local p t=() told=() ms=()
        for p in {1..10}; do
                t[p]=$(now_ms)
                rdmasim -q event "$1/$p" PORT_ERR apply=1
                nap 0.3
        done
        wait_for 10 journal_count_is 10 $down PRIORITY=3 || return 1
        mapfile -t told < <(journal_json $down PRIORITY=3 | jq -r '(.RDMAD_OBJECT | sub(".*/"; "")) + " " + (._SOURCE_REALTIME_TIMESTAMP | tonumber / 1000 | floor | tostring)')
        for p in "${told[@]}"; do ms+=($(( ${p#* } - t[${p% *}] ))); done
        mapfile -t ms < <(printf '%s\n' "${ms[@]}" | sort -n)
        echo "# $1: ${ms[*]} ms"
        median=${ms[4]}
}
fall m0; check_eq "ten ports of the first device fall and are told" $? 0
before=$median
check "counters are read all the time" test "$(rdmasim get m1 n_counters)" -gt 0
workers=$(pgrep rdmad-probe | sort)

check "now they take 30 s" rdmasim fault m0 counters delay=30000
check "on both" rdmasim fault m1 counters delay=30000
slow() { rdmactl --json=short status | jq -e '.Devices[].Reasons[]? | select(.Id == "counters-unavailable")'; }
check "a notice says so" wait_for 10 slow
check "it is only a notice" test "$(rdmactl --json=short status | jq -r '.Devices[1].HealthState')" = ok
asked=$(( $(rdmasim get m0 n_counters) + $(rdmasim get m1 n_counters) )) other=$(rdmasim get m2 n_counters)
journal_mark
fall m1; check_eq "ten ports of the second device fall and are told" $? 0
check_below "as fast as without, median in ms (without: $before)" "$median" $(( before * 3 / 2 + 20 ))
check_below "few readings were begun meanwhile" $(( $(rdmasim get m0 n_counters) + $(rdmasim get m1 n_counters) - asked )) 3
check "the other adapter's go on" test "$(rdmasim get m2 n_counters)" -gt "$other"
check_eq "the same workers" "$(pgrep rdmad-probe | sort)" "$workers"
check_eq "nobody is unresponsive" "$(journal_records RDMAD_REASON=device-unresponsive)" 0

check "they answer again" rdmasim release all
not_slow() { ! slow; }
check "the notice goes" wait_for 15 not_slow
asked=$(rdmasim get m1 n_counters)
more() { (( $(rdmasim get m1 n_counters) > asked )); }
check "and they are read again" wait_for 10 more
check_eq "still the same workers" "$(pgrep rdmad-probe | sort)" "$workers"
finish
