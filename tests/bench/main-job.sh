# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Figures of the main job (issue 1), measured in a guest with two soft-RoCE ports. Time there is emulated: compare
# within one run only.
# timeout: 400
# shellcheck source=../vm/lib.sh
. /rig/lib.sh

rounds=20
object=RDMAD_OBJECT=rxe0/1
cable d0 p0
cable d1 p1
conf links <<END
[Link rxe0]
Type=rxe
NetDevice=d0
[Link rxe1]
Type=rxe
NetDevice=d1
[Health]
FlapCount=0
END
start_rdmad
check "both ports" wait_for 10 rdmactl check
us() { systemctl show -P "$1" rdmad.service; }
ready_us=$(( $(us ActiveEnterTimestampMonotonic) - $(us ExecMainStartTimestampMonotonic) ))

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : int((v[NR / 2] + v[NR / 2 + 1]) / 2) }'; }

# ---- alert latency, beside a program that does nothing but print the event ----
modprobe rdma_ucm
stdbuf -oL ibv_asyncwatch -d rxe0 2>&1 | while IFS= read -r line; do
        echo "${EPOCHREALTIME/[.,]/} $line"
done >/tmp/watch &
watching() { grep -q 'FD\|Watching\|rxe0' /tmp/watch; }
check "ibv_asyncwatch watches" wait_for 10 watching
lines() { grep -c "$1" /tmp/watch; }
lines_are() { [[ $(lines "$1") == "$2" ]]; }
active_is() { [[ $(jq -r '.Devices[] | select(.Name == "rxe0") | .Ports[0].HealthState' /run/rdmad/state.json) == "$1" ]]; }
: >/tmp/pulled
journal_mark
for ((i = 1; i <= rounds; i++)); do
        echo "${EPOCHREALTIME/[.,]/}" >>/tmp/pulled
        pull p0
        wait_for 5 lines_are 'IBV_EVENT_PORT_ERR' "$i" || break
        sleep 0.3
        plug p0
        wait_for 5 active_is ok || break
        sleep 1.2 # the state file is written once a second
done
journal_field _SOURCE_REALTIME_TIMESTAMP $object RDMAD_REASON=port-down PRIORITY=3 >/tmp/told
grep 'IBV_EVENT_PORT_ERR' /tmp/watch | cut -d' ' -f1 >/tmp/seen
check_eq "pulls" "$(wc -l </tmp/pulled)" $rounds
check_eq "records" "$(wc -l </tmp/told)" $rounds
check_eq "events that ibv_asyncwatch printed" "$(wc -l </tmp/seen)" $rounds
told=$(paste /tmp/pulled /tmp/told | awk '{ print $2 - $1 }' | median)
seen=$(paste /tmp/pulled /tmp/seen | awk '{ print $2 - $1 }' | median)
pkill ibv_asyncwatch

# ---- memory, wake-ups, CPU ----
pids() { pgrep -d' ' '^rdmad'; }
pss() { for p in $(pids); do cat "/proc/$p/smaps_rollup"; done | awk '/^Pss:/ { s += $2 } END { print s }'; }
switches() { for p in $(pids); do cat /proc/"$p"/task/*/status; done | awk '/ctxt_switches/ { s += $2 } END { print s + 0 }'; }
ticks() { for p in $(pids); do awk '{ print $14 + $15 }' "/proc/$p/stat"; done | awk '{ s += $1 } END { print s }'; }
sleep 5
pss_kib=$(pss)
processes=$(pids)
s0=$(switches) c0=$(ticks)
sleep 60
s1=$(switches) c1=$(ticks)
check_eq "the same processes" "$(pids)" "$processes"

echo "bench: kernel $(uname -r), $rounds rounds"
echo "bench: pull to journal record, median:        $told us"
echo "bench: pull to ibv_asyncwatch's line, median: $seen us"
echo "bench: PSS of $(wc -w <<<"$processes") processes: $pss_kib KiB"
for p in $processes; do
        echo "bench:   $(cat "/proc/$p/comm") $(awk '/^Pss:/ { print $2 }' "/proc/$p/smaps_rollup") KiB, $(find "/proc/$p/task" -mindepth 1 -maxdepth 1 | wc -l) threads"
done
echo "bench: 60 s idle: $(( s1 - s0 )) context switches, $(( (c1 - c0) * 1000 / $(getconf CLK_TCK) )) ms CPU"
echo "bench: start to READY: $ready_us us"
check_below "an alert is as quick as the bare event, within a factor" "$told" "$(( seen * 3 + 100000 ))"
finish
