# timeout: 120
# kernels: 6.12
# timed: medians of alerts
# Issue 8, must show 5: a local user without privilege with every method, a flood of calls, as many connections as the bus grants,
# the helper's socket and the files that everybody may read: gains nothing, and alerts are not much later for it.
. /rig/lib.sh

conf expect <<END
[Modules]
LoadInfiniBand=
[Health]
FlapCount=0
[Port m*]
Expect=up
END
for i in 0 1 2 3; do echo "create m$i ports=10 adapter=c$i"; done | rdmasim -q -
start_rdmad
check "40 ports" wait_for 10 rdmactl check
pid=$(rdmad_pid)
manager=(org.rdmad1 /org/rdmad1 org.rdmad1.Manager)
index=$(busctl tree --list org.rdmad1 | sed -n 's,^/org/rdmad1/device/d,,p' | head -n 1)
state() { rdmactl --json=short status | jq -c '[.Daemon.ConfigGeneration, [.Devices[] | [.Name, .ReleasedBy, .SetupState, (.Ports[] | .Reasons)]]]'; }

# --- what it may ---
before=$(state)
check_eq "it knows every method" \
        "$(busctl --xml-interface introspect "${manager[@]:0:2}" | sed -n '/"org.rdmad1.Manager"/,/<\/interface/s/.*<method name="\([^"]*\)".*/\1/p' | sort | xargs)" \
        "$(hostile list | sed -n 's/^org\.rdmad1\.Manager\.//p' | grep -vx Stop | sort -u | xargs)"
hostile each "$index" >/tmp/each
check_eq "reading is all that it may" "$(sed -n 's/ ok$//p' /tmp/each | sed 's/.*\.//' | sort -u | xargs)" \
        "Describe DescribeBaseline DescribeBrief DescribeCounters Explain Get GetAll GetMachineId GetManagedObjects Introspect Ping"
check_eq "nothing has changed" "$(state)" "$before"
check_eq "the helper's socket" "$(hostile socket /run/rdmad-setup.socket | sort -u)" "Permission denied"
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@" 2>/dev/null; }
check_eq "files that it may write" "$(as_nobody find /etc/rdmad /run/rdmad /var/lib/rdmad /usr/lib/rdmad -writable ! -type l)" ""
check "systemd does not hear it" hostile notify "STOPPING=1
MAINPID=1
STATUS=hacked"

# --- how quick is an alert ---
coproc SIM { exec rdmasim -q -; }
falls() { # DEVICE...: lets each of their ports fall
        local m p
        for m; do
                for (( p = 1; p <= 10; p++ )); do
                        echo "$m/$p ${EPOCHREALTIME/[.,]/}" >>/tmp/pulled
                        echo "event $m/$p PORT_ERR apply=1" >&"${SIM[1]}"
                        nap 0.15
                done
        done
}
# median_of DEVICE DEVICE: from the fall of a port to its record, in us
median_of() {
        journal_field _SOURCE_REALTIME_TIMESTAMP RDMAD_REASON=port-down RDMAD_EDGE=raised "RDMA_DEVICE=$1" + RDMAD_REASON=port-down RDMAD_EDGE=raised "RDMA_DEVICE=$2" |
                paste <(grep -E "^($1|$2)/" /tmp/pulled) - | awk '{ print $3 - $2 }' | sort -n |
                awk '{ v[NR] = $1 } END { if (NR == 20) print int((v[10] + v[11]) / 2); else print "only", NR, "of 20" }'
}
falls m0 m1
hostile crowd 1000 >/tmp/crowd &
check "it has as many connections as the bus grants" wait_for 20 grep -qE '^(25[0-9]|256) of' /tmp/crowd
# Most calls want no answer, so that nothing slows them down.
hostile flood "$index" 500 >/tmp/flood &
flood=$!
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do hostile deaf "$index" 9500 && echo "$round"; [[ ! -e /tmp/fallen ]] || break; done >/tmp/rounds &
deaf=$!
nap 0.5
falls m2 m3
check "the flood lasts" kill -0 $deaf
: >/tmp/fallen
# From the daemon, or where nobody gets an answer on the bus from its file: never that it does not know.
asked() { rdmactl check; (( $? == 2 )); }
for round in 1 2 3; do check_below "check says within 5 s that ports have failed, in ms" "$(took_ms asked 2>>/tmp/said || echo failed)" 5000; done
cat /tmp/said
wait $flood $deaf
check "of 10,000 calls at least" test "$(wc -l </tmp/rounds)" -ge 1
check_match "who asks without end is told to wait" "$(cat /tmp/flood)" '^500 answers, [1-9][0-9]* good, [1-9][0-9]* over a limit'
check "after it a property is told" busctl --timeout=10 get-property "${manager[@]}" HealthState
check_eq "rdmad did not lose the bus over it" "$(journalctl -q -b -u rdmad.service -o cat --no-pager | grep -c 'does not take our messages')" 0
alone=$(median_of m0 m1) loaded=$(median_of m2 m3)
echo "# without load $alone us, with it $loaded us"
check_below "the median of 20 alerts, in us, within three times that without load" "$loaded" "$(( alone * 3 ))"
check_eq "the same daemon" "$(rdmad_pid)" "$pid"

# One that hangs is known by its file's age.
kill -STOP "$pid"
check_match "it hangs: for a while its file holds" "$(rdmactl check)" '^rdma FAILED: .*; by /run/rdmad/state.json, no answer on the bus$'
touch -d '40 seconds ago' /run/rdmad/state.json
check_status 3 "an old one is nobody's word" rdmactl check
kill -CONT "$pid"
young() { (( $(date +%s) - $(stat -c %Y /run/rdmad/state.json) < 20 )); }
check "it goes on, and says so by the file" wait_for 12 young
finish
