# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 1, must show 5: a manual stop is refused, a bad reload too.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

links 1
start_rdmad
pid=$(rdmad_pid)
for verb in stop restart try-restart; do
        out=$(systemctl $verb rdmad.service 2>&1); status=$?
        check_eq "systemctl $verb exits with 4" "$status" 4
        check_match "and says why" "$out" 'refused'
done
check_eq "still the same daemon" "$(rdmad_pid)" "$pid"
check "it answers" rdmactl check
check_match "the setup helper's units refuse too" "$(systemctl stop rdmad-setup.service 2>&1; systemctl stop rdmad-setup.socket 2>&1)" 'refused.*refused|refused'

check "a good reload" systemctl reload rdmad.service
generation=$(rdmactl --json=short status | jq .Daemon.ConfigGeneration)
check_eq "counts" "$generation" 2
conf zz-broken <<END
[Health]
FlapCount=3
FlapCuont=4
END
out=$(systemctl reload rdmad.service 2>&1); status=$?
check "a bad one fails" test "$status" != 0
out=$(rdmactl reload 2>&1); status=$?
check_eq "rdmactl reload exits with 1" "$status" 1
check_match "and names file and line" "$out" '/etc/rdmad/rdmad.conf.d/zz-broken.conf:3: .*FlapCuont'
check_match "so does the journal" "$(journalctl -q -u rdmad.service --no-pager)" 'zz-broken.conf:3: .*FlapCuont'
check_eq "the old one is in force" "$(rdmactl --json=short status | jq .Daemon.ConfigGeneration)" "$generation"
check_eq "the unit is active and not reloading" "$(systemctl is-active rdmad.service)" active
check_eq "still the same daemon" "$(rdmad_pid)" "$pid"
check "and it watches" rdmactl check
rm /etc/rdmad/rdmad.conf.d/zz-broken.conf
check "mended, it loads" systemctl reload rdmad.service
kill -HUP "$pid"
reloaded() { [[ $(rdmactl --json=short status | jq .Daemon.ConfigGeneration) == 4 ]]; }
check "SIGHUP loads too" wait_for 5 reloaded
user_reload() { setpriv --reuid=65534 --regid=65534 --clear-groups rdmactl reload; }
check_status 1 "a user may not" user_reload

check "after=rdma.service means something: rdmad is that unit" systemctl enable rdmad.service
check_eq "rdma.service" "$(systemctl show -P Id rdma.service)" rdmad.service

# What a shutdown does: whatever conflicts with it may stop it.
before=$(rdma -j link; rdma -j dev)
check "a unit that conflicts" systemd-run -q --wait -p Conflicts=rdmad.service -p After=rdmad.service true
check_eq "has stopped it" "$(systemctl is-active rdmad.service) $(systemctl show -P Result rdmad.service) $(rdmad_procs)" "inactive success 0"
stamp() { systemctl show -P "$1" rdmad.service; }
check_below "within 2 s, in ms" "$(( ($(stamp InactiveEnterTimestampMonotonic) - $(stamp ActiveExitTimestampMonotonic)) / 1000 ))" 2000
check_eq "the link is as it was" "$(rdma -j link; rdma -j dev)" "$before"
finish
