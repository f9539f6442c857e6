# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8, must show 2: rdmad is killed at random moments while ports fall and rise and settings are applied, 20 times (200 in the
# long run); the setup helper, too. What it keeps is always readable; no condition is invented, lost or told twice; every fall is counted.
# kernels: 6.12
# timeout: 600
# timeout-long: 5400
# shellcheck source=../lib.sh
. /rig/lib.sh

systemctl mask -q --now rdma-ndd.service # it has another idea of node descriptions
times=$(( ${RDMAD_TEST_LONG:-0} ? 200 : 20 ))
links 2 '[Health]' DownDelaySec=0 FlapCount=0 '[Device rxe*]' NodeDescription='%d of %H'
# The limit has a scenario of its own; without it this need not wait between two kills.
mkdir -p /run/systemd/system/rdmad.service.d
printf '[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestartSec=10ms\n' >/run/systemd/system/rdmad.service.d/limit.conf
systemctl daemon-reload
start_rdmad
check "two links" wait_for 5 rdmactl check 'rxe*'
port() { rdmactl --json=short status | jq -c --arg o "$1" ".Devices[] | select(.Name == \$o) | .Ports[0] | $2"; }
pull p0
check "one is down" wait_for 3 journal_count_is 1 RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down
check "and acknowledged" rdmactl ack rxe0/1 port-down --comment=known
stands=$(port rxe0 '.Reasons | map([.Id, .Since, .AcknowledgedComment])')
check_match "it stands" "$stands" 'port-down.*known'
read -r downs_before </sys/class/net/d1/carrier_down_count
flaps_before=$(port rxe1 .FlapCount)
nap 1.1 # what happened in the last second need not be kept

# The other one falls and rises all the time, so that something is always to be written.
while :; do echo "link set p1 down"; nap 0.5; echo "link set p1 up"; nap 0.5; done 2>/dev/null | ip -batch - &
storming=$!
# another_pid: that of a daemon which is not the one killed last, into $pid; without a process, so that it is met young.
# (In brackets it is about to become rdmad.)
another_pid() {
        local _pids p name
        _rdmad_pids 2>/dev/null || return
        for p in "${_pids[@]}"; do
                { read -r name <"/proc/$p/comm"; } 2>/dev/null || continue
                [[ $p != "$pid" && $name =~ ^\(?rdmad\)?$ ]] && { pid=$p; return; }
        done
        return 1
}
await_another() { # SECONDS
        local end=$(( ${EPOCHREALTIME/[.,]/} + $1 * 1000000 * RDMAD_TEST_SLOW ))
        until another_pid; do (( ${EPOCHREALTIME/[.,]/} < end )) || return; nap 0.02; done
}
description=/sys/class/infiniband/rxe0/node_desc
# Somebody changes a setting, and it is to be applied again: until it is, or rdmad is killed over it.
apply() {
        echo "time $i" >"$description"
        until rdmactl apply; do nap 0.05; done >>/tmp/applies 2>&1
}
pid=0 unreadable=0
for (( i = 0; i < times; i++ )); do
        await_another 20 || { fail "it is started again, time $i"; break; }
        printf -v moment 1.%06d $(( RANDOM * 30 )) # up to
        if (( i % 2 )); then moment=0${moment#1}; else apply & applying=$!; fi
        nap "$moment" # at any moment of a start, of reading, of writing
        kill -9 "$pid" 2>/dev/null
        (( i % 4 )) || pkill -KILL -x rdmad-setup
        jq empty /run/rdmad/*.json || unreadable=$((unreadable + 1))
        (( i % 2 )) || { kill "$applying" && wait "$applying"; } 2>/dev/null
done
echo "# of the applies: $(sort /tmp/applies | uniq -c)"
kill "$storming"
ip link set p1 up
check_eq "files that could not be read" "$unreadable" 0
check_eq "or were set aside" "$(find /run/rdmad -name '*.bad' | wc -l)" 0
check "it is there" wait_for 20 systemctl -q is-active rdmad.service
check "and answers" wait_for 10 rdmactl status
restarts=$(systemctl show -P NRestarts rdmad.service)
check "it was killed $times times ($restarts)" test "$restarts" -ge $(( times - 1 ))
check "what is configured is applied in the end" rdmactl apply
check_eq "and in force" "$(<"$description")" "rxe0 of $(hostname)"
check "nothing is left to do" wait_for 10 rdmactl --no-legend plan --exit-code
check_eq "what stood stands, as old as it is" "$(port rxe0 '.Reasons | map([.Id, .Since, .AcknowledgedComment])')" "$stands"
check_eq "it was told once" "$(journal_records RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down RDMAD_EDGE=raised)" 1
check_eq "and never taken back" "$(journal_records RDMAD_OBJECT=rxe0/1 RDMAD_EDGE=cleared)" 0
counted() {
        local downs flaps
        read -r downs </sys/class/net/d1/carrier_down_count
        flaps=$(port rxe1 .FlapCount)
        echo "kernel $(( downs - downs_before )), rdmad $(( flaps - flaps_before ))"
        (( downs - downs_before == flaps - flaps_before ))
}
check "every fall of the other one is counted" wait_for 10 counted
well() { [[ $(port rxe1 .HealthState) == '"ok"' ]]; }
check "which is well now" wait_for 10 well
check_eq "what was told of other objects: nothing" "$(journal_records RDMAD_EDGE=raised RDMAD_OBJECT=host) $(journal_records RDMAD_EDGE=raised RDMAD_OBJECT=rxe1)" "0 0"
finish
