# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# Issue 8, must show 4: a boot with every network stack of Debian 12 installed and enabled, and a firewall: NetworkManager,
# ifupdown, systemd-networkd and firewalld, each with an interface of its own; an InfiniBand adapter that is there early, a
# soft-RoCE link on a netdev that networkd makes, an IPoIB child, a remote file system that waits for RDMA ports. Then a
# shutdown of all that.
# boot: cold
# enable: rdmad.service rdmad-setup.socket systemd-networkd.service NetworkManager.service networking.service firewalld.service
# timeout: 120
# alone: there is no other of this suite, and two CPUs halve its time
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

check_eq "the boot is complete" "$(systemctl is-system-running --wait)" running
check_eq "no unit failed" "$(systemctl --failed --plain --no-legend)" ""
check_eq "no job is left" "$(systemctl list-jobs --no-legend)" ""
all=(systemd-networkd systemd-networkd-wait-online NetworkManager NetworkManager-wait-online networking ifupdown-pre firewalld
        rdmad rdmad-wait-online user)
for u in "${all[@]}"; do check_eq "$u" "$(systemctl is-active "$u.service")" active; done
check "the remote file system" systemctl -q is-active data.mount
cycles() { journalctl -q -b --no-pager -o cat | grep -iE 'ordering cycle|dependency (problem|loop)|deleted to break' || :; }
check_eq "no ordering cycle" "$(cycles)" ""
# at UNIT PROPERTY: microseconds since the boot
at() { systemctl show -P "${2}TimestampMonotonic" "$1"; }
ready=$(at rdmad.service ActiveEnter)
for u in network-pre.target systemd-networkd.service NetworkManager.service networking.service firewalld.service remote-fs-pre.target; do
        begun=$(at "$u" InactiveExit)
        if (( begun > 0 && ready > 0 )); then echo "# $u: $(( (begun - ready) / 1000 )) ms after rdmad was ready"; fi
        # firewalld is before the network itself: beside rdmad.
        [[ $u != firewalld.service ]] || continue
        check "rdmad is ready before $u" test "$ready" -gt 0 -a "$ready" -le "$begun"
done
check_below "ready within its budget, ms" $(( (ready - $(at rdmad.service InactiveExit)) / 1000 )) 15000

# Each of the stacks has its own, and none has taken what is rdmad's.
check_match "ifupdown's" "$(ip -br addr show old0)" '192\.0\.2\.1/24'
check_match "NetworkManager's" "$(ip -br addr show nm0)" '198\.51\.100\.1/24'
check_match "networkd's" "$(networkctl --no-pager --no-legend list d0)" 'configured'
firewall() { [[ $(busctl get-property org.fedoraproject.FirewallD1 /org/fedoraproject/FirewallD1 org.fedoraproject.FirewallD1 state) == 's "RUNNING"' ]]; }
check "the firewall's" wait_for 15 firewall
check "the link is made" wait_for 15 port_is rxe0/1 ACTIVE
check "nothing is left to do" wait_for 15 rdmactl --no-legend plan --exit-code
nmcli -c no -t -f DEVICE,TYPE,STATE,CONNECTION device
check_eq "the IPoIB child is as configured" "$(ip -d link show ib0.8001 | grep -oE 'pkey 0x[0-9a-f]+ mode [a-z]+')" "pkey 0x8001 mode connected"
check_eq "NetworkManager has no connection on it" "$(nmcli -c no -t -f DEVICE,CONNECTION device | grep '^ib0' | grep -v ':$')" ""
check_eq "nor networkd" "$(networkctl --no-pager --no-legend list 'ib0*' | awk '{ print $NF }' | sort -u)" unmanaged
drift() { journal_records RDMAD_REASON=setup-drifted; }
check_eq "nobody has changed what rdmad set" "$(drift)" 0
check "ports are ok" wait_for 10 rdmactl check

# Each of them starts anew: what is rdmad's stays.
before=$(rdma -j link; rdma -j dev; ip -d -o link show ib0.8001)
systemctl restart NetworkManager.service systemd-networkd.service
systemctl reload firewalld.service
systemctl start NetworkManager-wait-online.service
check_eq "after a restart of all of them" "$(rdma -j link; rdma -j dev; ip -d -o link show ib0.8001)" "$before"
check "nothing is left to do" wait_for 15 rdmactl --no-legend plan --exit-code
check_eq "nobody has changed what rdmad set" "$(drift)" 0

# The end: what conflicts with shutdown.target is stopped, in the order of a shutdown. (The agent stays.)
check_below "all of it is stopped, ms" "$(took_ms systemctl start all-stop.target)" 60000
check_eq "rdmad is stopped" "$(systemctl is-active rdmad.service) $(systemctl show -P Result rdmad.service) $(rdmad_procs)" "inactive success 0"
check_below "within 2 s, ms" $(( ($(at rdmad.service InactiveEnter) - $(at rdmad.service ActiveExit)) / 1000 )) 2000
for u in NetworkManager.service systemd-networkd.service networking.service data.mount user.service; do
        check "after $u" test "$(at rdmad.service ActiveExit)" -ge "$(at "$u" InactiveEnter)"
done
check_eq "no ordering cycle there" "$(cycles)" ""
check_eq "no unit failed" "$(systemctl --failed --plain --no-legend)" ""
check_match "what rdmad made is left" "$(rdma link)" 'rxe0/1 state ACTIVE'
finish
