# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issues 1 and 7: rdmad with the bus away, late, and restarted: back within 2 s, and nothing is lost.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

cable d0 p0
conf link <<END
[Link rxe0]
Type=rxe
NetDevice=d0
END
systemctl stop dbus.socket dbus.service
rm -f /run/dbus/system_bus_socket # systemd leaves it, as if a bus might come any moment
check "no bus" test ! -S /run/dbus/system_bus_socket
start_rdmad
check "ready without it, and the link is there" port_is rxe0/1 ACTIVE
check "check reads the state file" rdmactl check
check_match "status says where it looked" "$(rdmactl --no-pager status 2>&1)" 'rxe0'
check_eq "JSON too" "$(rdmactl --json=short status | jq -r '.Devices[0].Name')" rxe0
pull p0
check "alerts go on" wait_for 2 journal_count_is 1 RDMAD_OBJECT=rxe0/1 PRIORITY=3
failed() { rdmactl check; [[ $? == 2 ]]; }
check "and check sees them" wait_for 3 failed

on_the_bus() { busctl --timeout=2 get-property org.rdmad1 /org/rdmad1 org.rdmad1.Manager HealthState; }
systemctl start dbus.socket dbus.service
t0=$(now_ms)
check "on the bus when it is there" wait_for 2 on_the_bus
check_below "within" "$(( $(now_ms) - t0 ))" 2500
check_match "with the present state" "$(on_the_bus)" failed
journal_mark
plug p0
check "ok" wait_for 5 rdmactl check
# A recovery that does not last for a second is none.
check "and told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe0/1 PRIORITY=5

# The cable is pulled and the bus restarted in the same moment.
pid=$(rdmad_pid)
before=$(rdmactl --json=short status | jq '[.Events[] | select(.Reason == "port-down" and .NewState == "failed")] | length')
journal_mark
pull p0
systemctl restart dbus.service
t0=$(now_ms)
check "the bus was restarted, rdmad is back on it" wait_for 2 on_the_bus
check_below "within" "$(( $(now_ms) - t0 ))" 2500
check_eq "the same daemon" "$(rdmad_pid)" "$pid"
check "told once" wait_for 2 journal_count_is 1 RDMAD_OBJECT=rxe0/1 PRIORITY=3
check_match "who asks now sees it" "$(on_the_bus)" failed
described=$(busctl --json=short call org.rdmad1 /org/rdmad1 org.rdmad1.Manager Describe | jq -r '.data[0]')
check_eq "and the event" "$(jq '[.Events[] | select(.Reason == "port-down" and .NewState == "failed")] | length' <<<"$described")" $(( before + 1 ))

# Who was there before, and listens again, hears of the next one.
busctl --json=short --match "type='signal',sender='org.rdmad1',member='HealthChanged'" monitor >/tmp/heard 2>/tmp/listening &
monitor=$!
check "somebody listens" wait_for 5 grep -q Monitoring /tmp/listening
plug p0
heard() { grep '^{' /tmp/heard | jq -es 'any(.payload.data[1:3] == ["failed", "ok"])'; }
check "HealthChanged" wait_for 8 heard
kill $monitor
finish
