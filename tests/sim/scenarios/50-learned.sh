# timeout: 420
# kernels: 6.12
# What was learned is missed after a "reboot", and recognised; what is counted is missed at the first boot.
. /rig/lib.sh

a=0002:c903:00aa:0010 b=0002:c903:00aa:0020
kept=/var/lib/rdmad/inventory.json
conf learned <<END
[Daemon]
ProbeSec=1s
GraceSec=4s
[Health]
StableSec=2s
MissingDelaySec=1s
END
learned() { jq -e --arg guid "$1" '.Adapters[] | select(.NodeGuid == $guid).Ports[0].Learned == true' "$2" >/dev/null; }
raised() { journal_count_is "$1" RDMAD_REASON=device-missing PRIORITY=3 "${@:2}"; }
expected() { jq -e --arg guid "$1" '.Devices[] | select(.NodeGuid == $guid).Ports[0].Required' /run/rdmad/state.json; }
# The reasons of all conditions since the mark; rdmad's own words have none
told() { journal_field RDMAD_REASON | grep -v '^(none)$' | sort -u | xargs; }
host_is() { [[ $(jq -r .HealthState /run/rdmad/state.json) == "$1" ]]; }
reasons() { jq -r '.Reasons[].Id' /run/rdmad/state.json | xargs; }
is_down() { [[ $(systemctl is-active rdmad) == inactive ]]; }
power_off() {
        systemctl kill rdmad
        check "rdmad stops" wait_for 10 is_down
        rm -rf /run/rdmad/*
        journal_mark
}

systemd-tmpfiles --create rdmad.conf
check "an adapter" rdmasim create ma node_guid=$a pci=0000:00:04.0
check "another one" rdmasim create mb node_guid=$b adapter=card1
start_rdmad
check "that is up is learned" wait_for 30 learned $a $kept
check "so is the other" wait_for 10 learned $b $kept
check_match "rdmactl shows it" "$(rdmactl --no-pager baseline show $a)" "/1 +$a +0000:00:04.0 "
check_match "as configuration" "$(rdmactl baseline show --as-config $b)" "Port \*/1 guid=$b"
check "the host is well" rdmactl check

power_off
check "an adapter dies" rdmasim destroy ma
start_rdmad
check "after the boot the host waits for it" wait_for 10 host_is starting
check "and then it is missed" wait_for 30 raised 1
check_match "by its GUID and slot" "$(journal_field RDMAD_FOUND RDMAD_REASON=device-missing)" \
        "GUID $a, PCI 0000:00:04.0, last seen 20.* UTC"
check "that is a failure" host_is failed
check_match "status says what to do" "$(rdmactl --no-pager status)" 'baseline drop'
check_eq "the other is well" "$(jq -r '.Devices[0].HealthState' /run/rdmad/state.json)" ok
journal_mark
check "it is back" rdmasim create mx node_guid=$a pci=0000:00:04.0
check "one recovery" wait_for 20 journal_count_is 1 RDMAD_REASON=device-missing
check_match "of the same one" "$(journal_field MESSAGE RDMAD_REASON=device-missing RDMA_GUID=$a)" 'device is back.*was missing'
check "the host is well" wait_for 20 host_is ok
check "it is still expected" wait_for 5 expected $a
check_eq "nothing else was told of it" "$(told)" device-missing

# --- taken out for good ---

journal_mark
check "it is taken out" rdmasim destroy mx
check "it is missed" wait_for 20 raised 1
check "and given up, by its GUID" rdmactl baseline drop $a
check_match "which closes it" "$(journalctl --sync; journal_field MESSAGE RDMAD_REASON=device-missing | tail -1)" \
        'is closed: no longer expected: its baseline was dropped'
check "the host is well" wait_for 5 host_is ok
power_off
start_rdmad
nap $(( 6 * RDMAD_TEST_SLOW ))
check "after the next boot it is not missed" raised 0
check "and the host is well" host_is ok

# --- the configuration stops to expect something ---

check "what is up can be learned at once" rdmactl baseline save
journal_mark
check "its cable is pulled" rdmasim port mb/1 state=DOWN phys=Polling
check "it is missed" wait_for 10 journal_count_is 1 RDMAD_REASON=port-down
conf any <<END
[Port mb]
Expect=any
END
check "nobody expects it any more" rdmactl reload
closed() { journalctl --sync; journal_field MESSAGE RDMAD_REASON=port-down | grep -q 'is closed: no longer expected: configuration changed'; }
check "the record says so" wait_for 10 closed
check "the host is well" wait_for 5 host_is ok
rm -f /etc/rdmad/rdmad.conf.d/*any*

# --- an image that keeps nothing ---

power_off
rdmasim destroy all
rm -rf /var/lib/rdmad
check "one rail" rdmasim create r0 node_guid=$a
check "and a dead one" rdmasim create r1 node_guid=$b
check "which never comes up" rdmasim port r1/1 state=DOWN phys=Polling
conf count <<END
[Expect rails]
Match=r*
Count=2
END
start_rdmad
check "one of two is missed at the first boot" wait_for 30 journal_count_is 1 RDMAD_REASON=count-missing PRIORITY=3
check_match "by name" "$(journal_field RDMAD_FOUND RDMAD_REASON=count-missing)" '^1 port up; r1/1 down'
check_eq "it is the only alarm" "$(told)" count-missing
check "the host has failed" host_is failed
check_match "the port says who counts it" "$(rdmactl show r1/1)" 'IgnoredBecause=counted by \[Expect rails\]'
says() { [[ $(rdmactl --no-pager status | tr '\n' ' ') == *'does not outlive this boot'* ]]; }
check "status does not complain" eval '! says'
check "it comes up" rdmasim port r1/1 state=ACTIVE phys=LinkUp
check "that is all" wait_for 20 host_is ok
rm /etc/rdmad/rdmad.conf.d/*count*
check "nothing is expected any more" rdmactl reload
check "status says what that means on a host that keeps nothing" wait_for 20 says
check "check does not" rdmactl check
finish
