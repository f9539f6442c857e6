# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# Issue 7: units that need ports that are up. A port that becomes ACTIVE after 8 s releases them then, and not before.
# timeout: 90
# timed: when a unit is released
# shellcheck source=../lib.sh
. /rig/lib.sh

links 2
pull p0
unit() { # NAME KIND: a service that needs ports
        cat >"/run/systemd/system/$1.service" <<END
[Unit]
$2=rdma-online.target
After=rdma-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=touch /run/$1
END
}
unit needs Requires
unit wants Wants
systemctl daemon-reload

# Before rdmad is there, and it is not started by it.
check "two units that need ports" systemctl start --no-block needs wants
t0=$(now_ms)
waiting() { [[ $(systemctl show -P ActiveState rdmad-wait-online) == activating ]]; }
check "wait" wait_for 5 waiting
check "rdmad is not started for it" test "$(systemctl show -P ActiveState rdmad)" = inactive
start_rdmad
check "not started while one port is down" holds "$(( (8000 - $(now_ms) + t0) / 1000 ))" test ! -e /run/needs -a ! -e /run/wants
check "still waiting" waiting
t0=$(now_ms)
plug p0
check "a port becomes ACTIVE: they start" wait_for 5 test -e /run/needs -a -e /run/wants
check_below "at once, in ms" "$(( $(now_ms) - t0 ))" 2000
check_match "and the journal says how many ports" "$(journalctl --sync; journalctl -q -u rdmad-wait-online -o cat --no-pager)" 'Online: 2 ports'

# The timeout
pull p0
check_status 1 "the timeout: it fails" rdmactl wait-online --timeout=500ms
check_match "and names who lags behind" "$(rdmactl wait-online --timeout=500ms 2>&1)" 'Not online after 500ms:.*rxe0/1: (starting|failed)'
check_eq "and nobody else" "$(rdmactl wait-online --timeout=500ms 2>&1 | grep -c rxe1)" 0
check "the other port alone is online" rdmactl wait-online --timeout=500ms 'rxe1*'
check "and one of them" rdmactl wait-online --timeout=500ms --any
mkdir -p /run/systemd/system/rdmad-wait-online.service.d
printf '[Service]\nExecStart=\nExecStart=/usr/bin/rdmactl wait-online --timeout=1s\n' >/run/systemd/system/rdmad-wait-online.service.d/timeout.conf
systemctl daemon-reload
systemctl stop needs wants rdma-online.target rdmad-wait-online
rm -f /run/needs /run/wants
check "started again, with a port down" systemctl start wants
check "the one that wants ports starts after the timeout" test -e /run/wants
check_status 1 "the one that needs them does not" systemctl start needs
check "indeed" test ! -e /run/needs

# Whatever comes and goes meanwhile
(rdmactl wait-online --timeout=40s >/run/said 2>&1; echo $? >/run/status) &
nap 0.5
pid=$(rdmad_pid)
check "the daemon dies" kill -9 "$pid"
another() { local now; now=$(rdmad_pid); (( now > 0 && now != pid )); }
check "and comes back" wait_for 10 another
check "the bus is started anew" systemctl restart dbus.service
check "still waiting" holds 1 test ! -e /run/status
plug p0
check "the port is up: it ends" wait_for 5 test -s /run/status
check_eq "well" "$(cat /run/status /run/said)" $'0\nOnline: 2 ports.'
finish
