# timed: how soon what is told
# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 1, must show 2: a pulled cable is in the journal, on the bus, in check and in the state file, each once.
# shellcheck source=../lib.sh
. /rig/lib.sh

cable d0 p0
conf link <<END
[Link rxe0]
Type=rxe
NetDevice=d0
END
start_rdmad
health() { busctl get-property org.rdmad1 "$(port_path)" org.rdmad1.Port HealthState | tr -d '"' | cut -d' ' -f2; }
port_path() { busctl tree --list org.rdmad1 | grep -m1 '/port/'; }
health_is() { local h; h=$(health) && echo "$h" && [[ $h == "$1" ]]; }
object=RDMAD_OBJECT=rxe0/1

check "ok on the bus" wait_for 5 health_is ok
busctl monitor --json=short org.rdmad1 >/tmp/monitor 2>/dev/null &
monitor=$!
wait_for 10 test -s /tmp/monitor >/dev/null || true
journal_mark

t0=$(now_ms)
pull p0
check "there is a record" wait_for 5 journal_count_is 1 $object RDMAD_REASON=port-down
# By the record's own time: asking the journal takes longer than that.
told_ms() { echo $(( $(journal_field _SOURCE_REALTIME_TIMESTAMP $object) / 1000 - t0 )); }
check_below "within a second of the pull, in ms" "$(told_ms)" 1000
check_status 2 "check exits with 2" rdmactl check
check_match "and names it" "$(rdmactl check)" 'rxe0/1.*port-down'
check "failed on the bus" health_is failed
check "exactly one record, at err" journal_count_is 1 $object PRIORITY=3
sleep 2
check "still one" journal_count_is 1 $object
check "its fields" journal_count_is 1 $object RDMA_DEVICE=rxe0 RDMA_PORT=1 INTERFACE=d0 RDMAD_OLD_STATE=ok RDMAD_NEW_STATE=failed
check_match "its text" "$(journal_field MESSAGE $object)" '^rxe0/1: port down \(was active .*\).*polling.*(cable|peer)'
check_match "the catalog explains it" "$(journalctl -x -q --no-pager $object)" 'Defined-By|░░|-- '
check_match "with words of help" "$(journalctl -x -q --no-pager $object)" 'able'
check_eq "the state file says so" "$(jq -r '.Devices[0].Ports[0].HealthState' /run/rdmad/state.json)" failed
check_match "status says what to do" "$(rdmactl --no-pager status)" 'port-down'
rdmactl --no-pager status

plug p0
check "ok on the bus again" wait_for 1 health_is ok
check "exactly one record of the recovery" wait_for 5 journal_count_is 1 $object PRIORITY=5
sleep 2
check "still one" journal_count_is 2 $object
check "check exits with 0" rdmactl check
check_match "its text" "$(journal_field MESSAGE $object PRIORITY=5)" '^rxe0/1: port active again.*was down'

kill $monitor
wait $monitor 2>/dev/null
signals() { jq -c --arg m "$1" 'select(.member == $m and (.path | contains("/port/")))' /tmp/monitor | grep -c "\"$2\""; }
check_eq "PropertiesChanged with HealthState, once per change" "$(signals PropertiesChanged HealthState)" 2
health_changed() { jq -c 'select(.member == "HealthChanged") | .payload.data' /tmp/monitor | grep /port/; }
check_eq "HealthChanged, once per change" "$(health_changed | wc -l)" 2
check_match "the first to failed, with the reason" "$(health_changed | head -1)" '"ok","failed",\["port-down"\]'
finish
