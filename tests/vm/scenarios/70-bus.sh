# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 1, must show 8: rdmad with the bus away, late, and restarted.
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
plug p0
check "ok" wait_for 5 rdmactl check

pid=$(rdmad_pid)
systemctl restart dbus.service
t0=$(now_ms)
check "the bus was restarted, rdmad is back on it" wait_for 2 on_the_bus
check_below "within" "$(( $(now_ms) - t0 ))" 2500
check_eq "the same daemon" "$(rdmad_pid)" "$pid"
pull p0
check "and an alert" wait_for 2 failed
check_match "on the bus" "$(on_the_bus)" failed
finish
