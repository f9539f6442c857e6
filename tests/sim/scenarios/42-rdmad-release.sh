# timeout: 240
# kernels: 6.12
# timed: how soon what is told
# Released devices are not held, read or judged, and taken back by themselves; what fell meanwhile and is still down is
# told then, after the grace that a port has to come up in. With Monitor=no a device is never touched.
. /rig/lib.sh

conf expect <<END
[Daemon]
ProbeSec=1s
CounterSec=1s
SlowCounterSec=1s
GraceSec=3s
[Health]
MissingDelaySec=1s
[Port m*]
Expect=up
[Device no0]
Monitor=no
END
check "a device of the kind that waits for its users" rdmasim create m0 node_guid=0x10 disassociate=0 adapter=card0
check "another" rdmasim create m1 node_guid=0x11 adapter=card1
check "one that is never to be touched" rdmasim create no0 node_guid=0x12 disassociate=0 adapter=card2
counts() { echo "$(rdmasim get "$1" n_counters) $(rdmasim get "$1" n_hw_counters) $(rdmasim get "$1" n_open) $(rdmasim get "$1" n_board_id)"; }
untouched=$(counts no0)
start_rdmad
check "ok" wait_for 20 rdmactl check
contexts_are() { local c; c=$(rdmasim get "$1" contexts); echo "$c"; [[ $c == "$2" ]]; }
check "held" wait_for 10 contexts_are m0 1
refcount() { cat /sys/module/rdmasim/refcnt; }
refcount_is() { local c; c=$(refcount); echo "$c"; [[ $c == "$1" ]]; }
journal_mark

check_status 1 "not for everybody" runuser -u nobody -- rdmactl release m0
check_match "an unknown one is named" "$(rdmactl release m0 nix0 2>&1)" nix0
check "nothing is released then" contexts_are m0 1
check_eq "status agrees" "$(rdmactl --json=short status | jq -c '[.Devices[].ReleasedUntil]')" "[null,null,null]"

check "released" rdmactl release m0/1 --for=1h
check "closed within a second" wait_for 1 contexts_are m0 0
check "nothing pins the module" wait_for 1 refcount_is 0
check_match "status says so" "$(rdmactl --no-pager status)" 'released by root until'
check_eq "whose, and until when" "$(rdmactl --json=short status | jq -r '.Devices[] | select(.Name == "m0") | .ReleasedBy + " " + (.ReleasedUntil > 0 | tostring)')" "root true"
check_match "in the journal" "$(journalctl -q -u rdmad.service -o cat --no-pager | grep 'm0: released')" 'by root for 1h'
sleep 1 # what was being read is done
# The kernel itself asks a port after each event: the one that is not touched says how often.
released=$(counts m0) q0=$(rdmasim get m0 n_query_port) q1=$(rdmasim get no0 n_query_port)
for _ in 1 2 3 4 5 6; do
        rdmasim -q event m0/1 PORT_ERR,PORT_ACTIVE apply=1; rdmasim -q event no0/1 PORT_ERR,PORT_ACTIVE apply=1
        sleep 0.5
done
check_eq "nothing is read or opened through 3 s of events" "$(counts m0)" "$released"
# Two events close together may be one reading of the kernel's; rdmad would have added twelve.
check_below "no port is read" $(( $(rdmasim get m0 n_query_port) - q0 )) $(( $(rdmasim get no0 n_query_port) - q1 + 4 ))
check_eq "of the one with Monitor=no nothing ever was" "$(counts no0)" "$untouched"
check "the others are" test "$(rdmasim get m1 n_counters)" -gt 0

check "its driver goes" timeout 10 rdmasim destroy m0
sleep 3
check "and comes" rdmasim create m0 node_guid=0x10 disassociate=0 adapter=card0
released() { [[ $(rdmactl --json=short status | jq -r '.Devices[] | select(.Name == "m0").ReleasedBy') == root ]]; }
check "it is still released" wait_for 5 released
untouched=$(counts m0)
sleep 3
check_eq "and not touched" "$(counts m0)" "$untouched"
# The release itself has a record, of who did it.
check_eq "who released it was told" "$(journal_records RDMAD_OBJECT=m0 RDMAD_ACTION=release)" 1
check_eq "nothing else of it" "$(journal_records RDMAD_OBJECT=m0) $(journal_records RDMAD_OBJECT=m0/1)" "1 0"
check "within one listing, too: gone" rdmasim destroy m0
check "and there" rdmasim create m0 node_guid=0x10 disassociate=0 adapter=card0
sleep 3
check "released" released
check "not held" contexts_are m0 0
check "all of the driver's are let go" rdmactl release m1
check "the whole class goes" timeout 10 rdmasim destroy all
unload() { modprobe -r rdmasim; }
check "and the module" wait_for 3 unload
check_eq "no alarm" "$(journal_records PRIORITY=3 _SYSTEMD_UNIT=rdmad.service)" 0
check "back" rdmasim create m0 node_guid=0x10 disassociate=0 adapter=card0
check "both" rdmasim create m1 node_guid=0x11 adapter=card1
check "released" wait_for 5 released

check "taken back" rdmactl release m0 m1 --for=0
check "held again" wait_for 5 contexts_are m0 1
check "ok" wait_for 10 rdmactl check
check_match "told" "$(journalctl -q -u rdmad.service -o cat --no-pager)" 'm0: taken back'
journal_mark
check "released for six seconds" rdmactl release m0 --for=6s
check "its port falls" rdmasim event m0/1 PORT_ERR apply=1
check "and that of the other, up again" rdmasim event m1/1 PORT_ERR,PORT_ACTIVE apply=1
sleep 3
check_eq "of the released one nothing is told" "$(journal_records RDMAD_OBJECT=m0/1)" 0
check "taken back by itself" wait_for 10 contexts_are m0 1
check "still down: that is told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=m0/1 RDMAD_REASON=port-down PRIORITY=3
check_status 2 "failed" rdmactl check
check "released while down" rdmactl release m0
ended="RDMAD_OBJECT=m0/1 RDMAD_REASON=port-down PRIORITY=5"
# shellcheck disable=SC2086
check "the condition ends" wait_for 5 journal_count_is 1 $ended
# shellcheck disable=SC2086
check_match "and that is called no recovery" "$(journal_field MESSAGE $ended)" 'not watched for any more: released by root until'
finish
