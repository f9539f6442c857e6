# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8: restarts that are asked for are not counted; a rdmad that crashes again and again is given up, the devices stay as they are, and it is said what to do;
# started again it goes on from what it knew.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

links 2 '[Health]' DownDelaySec=0
# Two starts in an hour, not five in 30 s: for a guest that takes seconds for a start.
mkdir -p /run/systemd/system/rdmad.service.d
printf '[Unit]\nStartLimitIntervalSec=1h\nStartLimitBurst=2\n[Service]\nRestartSec=100ms\n' >/run/systemd/system/rdmad.service.d/limit.conf
systemctl daemon-reload
start_rdmad
check "two links" wait_for 5 rdmactl check 'rxe*'
pull p0
check "one is down" wait_for 3 journal_count_is 1 RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down
before=$(rdma -j link; rdma -j dev)

# Restarts that are asked for are no crashes.
for i in 1 2 3; do
        pid=$(rdmad_pid)
        check_match "restart $i" "$(rdmactl restart 2>&1)" '^rdmad .* goes on, was .*; not watched for [0-9.a-z ]+$'
        check "anew" test "$(rdmad_pid)" != "$pid"
done
# Who may restart it, but not have systemd count anew, is served in place.
mkdir -p /etc/polkit-1/rules.d
echo 'polkit.addRule(function(action, subject) { if (action.id == "org.rdmad1.restart") return polkit.Result.YES; });' >/etc/polkit-1/rules.d/50-rdmad.rules
chmod 644 /etc/polkit-1/rules.d/50-rdmad.rules
pid=$(rdmad_pid)
check_match "another user's is in place" "$(setpriv --reuid=65534 --regid=65534 --clear-groups rdmactl restart 2>&1)" \
        'In place, since systemd would count it as one more failure: sandbox'
check_eq "the same process" "$(rdmad_pid)" "$pid"

given_up() {
        local pid
        [[ $(systemctl show -P ActiveState rdmad.service) != failed ]] || return 0
        pid=$(rdmad_pid)
        [[ $pid == 0 ]] || kill -9 "$pid"
        return 1
}
check "it is given up" wait_for 25 given_up
check_match "by the limit" "$(journalctl -q -b -u rdmad.service -o cat --no-pager)" 'Start request repeated too quickly'
check_eq "the links are as they were" "$(rdma -j link; rdma -j dev)" "$before"
check_eq "and no worker is left" "$(rdmad_procs)" 0
out=$(rdmactl status 2>&1)
check_match "rdmactl says what to do" "$out" 'systemctl start rdmad'
systemctl reset-failed rdmad.service # the hour is not over
start_rdmad
check_eq "the links are as they were" "$(rdma -j link; rdma -j dev)" "$before"
check "it goes on" wait_for 5 journal_records RDMAD_REASON=restart
check_eq "what stands was told once" "$(journal_records RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down RDMAD_EDGE=raised)" 1
finish
