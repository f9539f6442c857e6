# timeout: 240
# timed: how long a deletion takes
# Issue 1, must show 4 and 6, on InfiniBand, for both kinds of driver: a watched device can be destroyed and renamed; the
# context goes at once. An adapter that vanishes is missed, and known again under another name.
. /rig/lib.sh

conf expect <<END
[Port mlx5_*]
Expect=up
[Health]
MissingDelaySec=2s
END
contexts() { [[ $(rdmasim get "$1" contexts) == "$2" ]]; }
check "a driver that disassociates" rdmasim create mlx5_0 node_guid=0002:c903:00aa:0010 disassociate=1
check "one that waits for its users" rdmasim create mlx5_1 node_guid=0002:c903:00aa:0020 disassociate=0
start_rdmad
for d in mlx5_0 mlx5_1; do
        check "$d is held: its only source of events" wait_for 10 contexts $d 1
done
check "ok" wait_for 5 rdmactl check

rdma dev set mlx5_0 name ib_fast0
known_as() { [[ $(rdmactl --json=short status | jq -r '.Devices[0].Name') == "$1" ]]; }
check "renamed" wait_for 5 known_as ib_fast0
rdma dev set ib_fast0 name mlx5_0
check "and back" wait_for 5 known_as mlx5_0

journal_mark
for d in mlx5_0 mlx5_1; do
        ms=$(took_ms timeout 60 rdmasim destroy $d)
        check_eq "destroy $d: exit status" $? 0
        check_below "destroy $d: returns, in ms" "$ms" 2000
done
check_status 3 "not there: unknown at first" rdmactl check
missing=RDMAD_REASON=device-missing
check "then one alarm each" wait_for 10 journal_count_is 2 $missing PRIORITY=3
check_match "that names the GUID" "$(journal_field MESSAGE $missing)" '0002:c903:00aa:0010'
check_status 2 "failed" rdmactl check
rdmactl --no-pager status

check "back under another name" rdmasim create mlx5_7 node_guid=0002:c903:00aa:0010
check "it is known by its GUID" wait_for 5 journal_count_is 1 $missing PRIORITY=5
check_match "and both names are said" "$(journal_field MESSAGE $missing PRIORITY=5)" 'mlx5_0.*mlx5_7'
check "the other one too" rdmasim create mlx5_1 node_guid=0002:c903:00aa:0020 disassociate=0
check "ok" wait_for 10 rdmactl check
check "held again" wait_for 5 contexts mlx5_7 1

# The module itself: rdmad is who pins it through a driver that waits, and lets go as soon as the device goes.
check "all of it gone" rdmasim destroy all
unload() { modprobe -r rdmasim; }
check "the module can be unloaded" wait_for 5 unload
check "rdmad runs" systemctl is-active rdmad.service
finish
