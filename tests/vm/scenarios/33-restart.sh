# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8, must show 1: an upgrade under port events. The new binary goes on where the old one ended, anew by systemd or,
# where that would stop a unit that requires rdmad, in place; one that could not go on is refused.
# kernels: 6.12
# timeout: 240
# shellcheck source=../lib.sh
. /rig/lib.sh

links 2 '[Health]' DownDelaySec=0
systemctl -q enable rdmad.service # the alias
start_rdmad
check "two links" wait_for 5 rdmactl check 'rxe*'
version=$(rdmad --version) version=${version#rdmad }
other() { echo "${version%?}$1"; } # of the same length
# install_version VERSION: as a package does it, by rename
install_version() { LC_ALL=C sed "s/${version//./\\.}/$1/g" /rig/rdmad.orig >/usr/sbin/rdmad.new && chmod 755 /usr/sbin/rdmad.new && mv /usr/sbin/rdmad.new /usr/sbin/rdmad; }
cp /usr/sbin/rdmad /rig/rdmad.orig
on_bus() { busctl get-property org.rdmad1 /org/rdmad1 org.rdmad1.Manager "$1"; }
# no_old_files: of the unit's processes none runs or maps a file that is gone
no_old_files() {
        local _pids p
        _rdmad_pids || return
        for p in "${_pids[@]}"; do
                ! readlink "/proc/$p/exe" | grep deleted || return 1
                ! grep -E '/(usr|lib).*\(deleted\)' "/proc/$p/maps" || return 1
        done
}
reasons() { rdmactl --json=short status | jq -c '[.Devices[] | select(.Name == "rxe0") | .Ports[0].Reasons[] | [.Id, .Since, .AcknowledgedComment]]'; }
flaps() { rdmactl --json=short status | jq '.Devices[] | select(.Name == "rxe1") | .Ports[0].FlapCount'; }

pull p0
check "one is down" wait_for 3 journal_count_is 1 RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down
check "and acknowledged" rdmactl ack rxe0/1 port-down --comment=known
stands=$(reasons)
check_match "it stands" "$stands" 'port-down.*known'
read -r downs_before </sys/class/net/d1/carrier_down_count
flaps_before=$(flaps)
pid=$(rdmad_pid)

# 20 changes a second, from one process.
storm() { for (( n = 0; n < $1; n++ )); do echo "link set p1 down"; nap 0.05; echo "link set p1 up"; nap 0.05; done | ip -batch -; }
storm 60 &
storming=$!
nap 0.5
install_version "$(other 7)"
out=$(rdmactl restart 2>&1); status=$?
wait "$storming"
check_eq "rdmactl restart" "$status $out" "0 ${out}"
echo "# $out"
check_match "says versions and the gap" "$out" "^rdmad $(other 7) goes on, was $version; not watched for [0-9]"
check_eq "version on the bus" "$(on_bus Version)" "s \"$(other 7)\""
check "systemd started it anew" test "$(rdmad_pid)" != "$pid"
check_eq "the unit is active" "$(systemctl is-active rdmad.service)" active
check_eq "what stands is as it was" "$(reasons)" "$stands"
check_eq "and was told once" "$(journal_records RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down RDMAD_EDGE=raised)" 1
all_counted() {
        local downs
        read -r downs </sys/class/net/d1/carrier_down_count
        echo "kernel $(( downs - downs_before )), rdmad $(( $(flaps) - flaps_before ))"
        (( downs - downs_before == $(flaps) - flaps_before ))
}
check "every fall is counted" wait_for 10 all_counted
check "the storm's port is up, and rdmad knows" wait_for 10 pictures_agree
check "the gap is in the journal" journal_count_is 1 RDMAD_REASON=restart RDMAD_WHY=restart
echo "# gap anew: $(journal_field RDMAD_GAP_USEC RDMAD_REASON=restart) us"
check "no process of an old file" no_old_files

# A unit that requires it must not be stopped.
cat >/etc/systemd/system/user.service <<END
[Unit]
Requires=rdma.service
After=rdma.service
[Service]
ExecStart=sleep infinity
END
systemctl daemon-reload
check "a unit that requires rdma.service" systemctl start user.service
user_pid=$(systemctl show -P MainPID user.service)
pid=$(rdmad_pid)
journal_mark
read -r downs_before </sys/class/net/d1/carrier_down_count
flaps_before=$(flaps)
install_version "$(other 8)"
storm 30 &
storming=$!
nap 0.3
out=$(rdmactl restart 2>&1); status=$?
wait "$storming"
echo "# $out"
check_eq "rdmactl restart" "$status" 0
check_match "in place, and says why" "$out" "In place, since systemd would stop user.service"
check_eq "version on the bus" "$(on_bus Version)" "s \"$(other 8)\""
check_eq "the same process" "$(rdmad_pid)" "$pid"
check_eq "the unit that requires it goes on" "$(systemctl show -P MainPID user.service)" "$user_pid"
check_eq "what stands is as it was" "$(reasons)" "$stands"
check "every fall is counted" wait_for 10 all_counted
echo "# gap in place: $(journal_field RDMAD_GAP_USEC RDMAD_REASON=restart) us"
check "no process of an old file" no_old_files
active() { [[ $(systemctl is-active rdmad.service) == active ]]; }
check "the unit is active" wait_for 3 active
no_zombie() { ! pgrep -P "$pid" -r Z; }
check "and has no zombie" wait_for 3 no_zombie
check_match "it is watched by systemd" "$(systemctl show -P WatchdogUSec rdmad.service)" '3min'

# Somebody masks it, and lets it run: systemd would never start it again.
systemctl stop user.service; systemctl mask -q rdmad.service
check_match "masked, it goes on in place" "$(rdmactl restart 2>&1)" 'goes on.*In place, since rdmad.service is masked'
check_eq "the same process" "$(rdmad_pid)" "$pid"
systemctl unmask -q rdmad.service

# What cannot go on is refused.
printf '#!/bin/sh\necho it is broken\nexit 1\n' >/usr/sbin/rdmad.new && chmod 755 /usr/sbin/rdmad.new && mv /usr/sbin/rdmad.new /usr/sbin/rdmad
out=$(rdmactl restart 2>&1); status=$?
check_eq "a broken binary is refused" "$status $out" "1 rdmactl: rdmad is not restarted: the new binary cannot go on: it is broken"
check_eq "the old one goes on" "$(rdmad_pid) $(on_bus Version)" "$pid s \"$(other 8)\""
rm /usr/sbin/rdmad
check_match "so is one that is not there" "$(rdmactl restart 2>&1)" 'No such file'
check_eq "the old one goes on" "$(rdmad_pid)" "$pid"
check_status 1 "a user may not" setpriv --reuid=65534 --regid=65534 --clear-groups rdmactl restart
install_version "$version"
check "and back again" rdmactl restart
check_eq "version on the bus" "$(on_bus Version)" "s \"$version\""
finish
