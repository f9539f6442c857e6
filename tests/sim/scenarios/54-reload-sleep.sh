# timeout: 300
# timeout-long: 600
# kernels: 6.12
# Issue 5: the driver of eight adapters loaded anew, and a host that sleeps. What is down by that is no fault, until it takes too long.
# RDMAD_TEST_LONG=1: with the times that rdmad has by default, and a driver that is away for 90 s.
. /rig/lib.sh

if [[ ${RDMAD_TEST_LONG:-} ]]; then
        delay=60 away=90 grace=60
else
        delay=5 away=7 grace=8
fi
conf reload <<END
[Daemon]
ProbeSec=2s
ProbeTimeoutSec=30s
GraceSec=${grace}s
[Health]
StableSec=1s
MissingDelaySec=${delay}s
END
# "OBJECT REASON EDGE SEVERITY" of every record of a condition, sorted
told() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.RDMAD_EDGE) | "\(.RDMAD_OBJECT) \(.RDMAD_REASON) \(.RDMAD_EDGE) \(.RDMAD_SEVERITY)"' | sort; }
told_is() { local t w; w=$(sort <<<"$1"); t=$(told); [[ $t == "$w" ]] || { echo "$t"; return 1; }; }
host_is() { [[ $(jq -r .HealthState /run/rdmad/state.json) == "$1" ]]; }
flaps() { rdmactl --json=short status | jq -c '[.Devices[].Ports[].FlapCount] | unique'; }
create_all() { # NAME [KEY=VALUE]: the names are others after the reload, the adapters are not
        for i in 0 1 2 3 4 5 6 7; do echo "create $1$i node_guid=0x100$i adapter=0000:8$i:00.0 ${2:-}"; done | rdmasim -q -
}
names() { for i in 0 1 2 3 4 5 6 7; do echo "${1/N/$i} $2"; done; }
learned() { local n; n=$(rdmactl --json=short status | jq '[.Devices[].Ports[] | select(.Required)] | length'); echo "$n"; [[ $n == "$1" ]]; }

udevadm control --stop-exec-queue
check "eight adapters" create_all m
start_rdmad
check "are learned" wait_for 20 learned 8
check "ok" wait_for 5 rdmactl check

# --- a reload that is quick: nothing ---

journal_mark
check "the driver goes" rdmasim destroy all
check "and comes, its links a moment later" create_all m "state=DOWN phys=Polling"
sleep 2
for i in 0 1 2 3 4 5 6 7; do echo "event m$i/1 PORT_ACTIVE apply=1"; done | rdmasim -q -
check "ok" wait_for 15 host_is ok
check "still expected" wait_for 5 learned 8
check "nothing is told of it" told_is ""

# --- one that takes longer than MissingDelaySec= ---

gone=$(now_ms)
check "the driver goes" rdmasim destroy all
check "within the delay nobody knows" wait_for 10 host_is unknown
check "and nothing is told" told_is ""
echo "# asked $(( $(now_ms) - gone )) ms after they went"
raised=$(names "mN" "device-missing raised failed")
check "then each is missed, once" wait_for $((delay + 15)) told_is "$raised"
check_status 2 "check: failed" rdmactl check
early() { # ms between the first fall and the first record
        echo $(( $(journal_field _SOURCE_REALTIME_TIMESTAMP RDMAD_REASON=device-missing | sort | head -n 1) / 1000 - gone ))
}
ms=$(early)
check "not before the delay: after $ms ms" test "$ms" -ge $((delay * 1000 - 100))
while (( $(now_ms) - gone < away * 1000 )); do nap 0.1; done
check "they are back under other names" create_all n "state=INIT phys=LinkUp sm_lid=0"
sleep 2
for i in 0 1 2 3 4 5 6 7; do echo "port n$i/1 state=ACTIVE sm_lid=1"; echo "event n$i/1 PORT_ACTIVE"; done | rdmasim -q -
over=$(names "nN" "device-missing cleared failed")
check "eight recoveries, and nothing else" wait_for 15 told_is "$raised
$over"
check_match "under the names that they have now" "$(journal_field MESSAGE RDMAD_OBJECT=n3)" 'm3: device is back as n3 \(was missing'
check "ok" wait_for 10 host_is ok
check_eq "no port was counted as fallen" "$(flaps)" "[0]"

# --- sleep ---

# pm_test: all is suspended, clocks included, and wakes after 5 s (of an emulated CPU: more)
sleep_well() { echo core >/sys/power/pm_test && echo mem >/sys/power/state && echo none >/sys/power/pm_test; }
clocks() { awk '/^now at/ { print $3 }' /proc/timer_list; }
sim_all() { for i in 0 1 2 3 4 5 6 7; do echo "$1 n$i/1 $2"; done | rdmasim -q -; }
journal_mark
check "the links end, as they do when a host sleeps" sim_all port "state=DOWN phys=Polling"
check "the host sleeps" sleep_well
slept() { journalctl -q -u rdmad.service -o cat --no-pager | grep 'the host has slept for'; }
check "that is noticed" wait_for 15 slept
slept
state_is() { [[ $(rdmactl --json=short status | jq -r '[.Devices[].Ports[].PortState] | unique | join(" ")') == "$1" ]]; }
check "the ports are down" wait_for 15 state_is down
check_status 1 "that is no failure yet: starting" rdmactl check
check "they come back" sim_all event "PORT_ACTIVE apply=1"
check "ok" wait_for 15 host_is ok
check "nothing is told of it" told_is ""
check_eq "and nothing counted" "$(flaps)" "[0]"
nap 2.5 # for so long an event may be that of the fall which a reading has told of
check "one falls later" rdmasim event n0/1 PORT_ERR
check "that is one" wait_for 10 told_is "n0/1 link-blip event notice"
if [[ ${RDMAD_TEST_LONG:-} ]]; then
        journal_mark
        check "it sleeps again" sleep_well
        check "and one does not come back" rdmasim event n1/1 PORT_ERR apply=1
        sleep 100
        check "for a while that is all right" told_is ""
        check "then it is told" wait_for 60 told_is "n1/1 port-down raised failed"
fi
finish
