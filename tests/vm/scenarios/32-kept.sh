# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8: what stands over a crash of rdmad is told once: conditions with their age, acknowledgements, flap counts. What
# is over meanwhile gets its record, what fell and rose is counted by the carrier.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

links 4 '[Health]' DownDelaySec=0 '[Device gone0]' Expect=yes
start_rdmad
check "four links" wait_for 5 rdmactl check 'rxe*'
journal_mark
pull p0
pull p1
check "two are down" wait_for 3 journal_count_is 2 RDMAD_REASON=port-down
check "one is known" rdmactl ack rxe0/1 port-down --comment="cable is ordered"
reasons() { rdmactl --json=short status | jq -c --arg o "$1" '.Devices[].Ports[] as $p | .Devices[] | select(.Name == $o) | .Ports[0].Reasons | map([.Id, .Since, .Found, .Acknowledged, .AcknowledgedBy, .AcknowledgedComment])' | head -n 1; }
flaps() { rdmactl --json=short status | jq -c '[.Devices[].Ports[0].FlapCount]'; }
before0=$(reasons rxe0)
check_match "the acknowledgement is there" "$before0" 'port-down.*true,"root","cable is ordered"'
check_eq "flaps" "$(flaps)" '[1,1,0,0]'
sleep 1.1 # what happened in the last second need not be kept

pid=$(rdmad_pid)
kill -9 "$pid"
plug p1
for _ in 1 2 3; do printf 'link set p2 %s\n' down up; done | ip -batch - # falls and rises that nobody sees
pull p3
again() { local p; p=$(rdmad_pid); [[ $p != 0 && $p != "$pid" ]] && systemctl is-active rdmad.service; }
check "it is started again" wait_for 10 again
check "it says that it goes on" wait_for 5 journal_count_is 1 RDMAD_REASON=restart
check_match "and how long nobody watched" "$(journal_field MESSAGE RDMAD_REASON=restart)" '^goes on as version [^ ]+, was [^ ]+; not watched for at most [0-9.]+'
check "what is over is told so" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe1/1 RDMAD_EDGE=cleared
check "what fell meanwhile is told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe3/1 RDMAD_REASON=port-down
check "three blips are told as such" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe2/1 RDMAD_REASON=link-blip
check_eq "and counted" "$(flaps)" '[1,1,3,1]'
check_eq "what stands is as it was" "$(reasons rxe0)" "$before0"
check_eq "and was not told again" "$(journal_records RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down RDMAD_EDGE=raised)" 1
plug p0
check "its end is told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe0/1 RDMAD_EDGE=cleared
pull p0
check "the second fault alarms like the first" wait_for 3 journal_count_is 2 RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down RDMAD_EDGE=raised
check "it is not acknowledged" test "$(rdmactl --json=short status | jq '[.Devices[].Ports[0].Reasons[] | select(.Acknowledged)] | length')" = 0

# No text at all is no reason not to start, and is said once.
journal_mark
pid=$(rdmad_pid)
kill -9 "$pid"
for f in kept-state kept-counters inventory; do printf '{"Version":1' >/run/rdmad/$f.json; done
check "started from garbage" wait_for 10 again
check "it answers" wait_for 5 rdmactl status
check "the garbage is kept aside" test -e /run/rdmad/kept-state.json.bad -a -e /run/rdmad/inventory.json.bad
check_eq "and said" "$(journalctl -q -b -u rdmad.service -o cat --no-pager | grep -c 'kept-state.json cannot be understood')" 1
finish
