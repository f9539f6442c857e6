# timeout: 240
# Issue 4, must show 6: the driver reloaded under rdmad, a device with two ports of which one has the event, functions that nobody
# configured (node GUID 0): what is told is what happened, and nothing else.
. /rig/lib.sh

conf expect <<END
[Port m*]
Expect=up
[Port vf*]
Expect=up
[Link rxe0]
Type=rxe
NetDevice=v0
END
udevadm control --stop-exec-queue
create_all() {
        printf '%s\n' "create m0 ports=2 node_guid=0x1000 adapter=card0" "create m1 ports=2 node_guid=0x1001 adapter=card0 disassociate=0" \
                "create vf0 node_guid=0 adapter=vf0" "create vf1 node_guid=0 adapter=vf1" | rdmasim -q -
}
told() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.RDMAD_OBJECT or (.PRIORITY | tonumber) <= 5) | "\(.PRIORITY) \(.RDMAD_OBJECT) \(.MESSAGE)"'; }
objects() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r '.RDMAD_OBJECT // empty' | sort -u | paste -sd' '; }
contexts() { [[ $(rdmasim get "$1" contexts) == "$2" ]]; }

check "a cable" cable v0 p0
check "four devices" create_all
start_rdmad
check "ok" wait_for 15 rdmactl check
check "pictures agree" wait_for 5 pictures_agree
check "heard" wait_for 5 contexts m0 1

# One port of two.
journal_mark
check "port 1 of m0 falls" rdmasim event m0/1 PORT_ERR apply=1
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=m0/1 RDMAD_REASON=port-down PRIORITY=3
sleep 1
check_eq "of no other object" "$(objects)" "m0/1"
check "its neighbour is ok" rdmactl check m0/2
check "so is the card's other function" rdmactl check m1
check "pictures agree" pictures_agree
check "and comes back" rdmasim event m0/1 PORT_ACTIVE apply=1
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=m0/1 RDMAD_REASON=port-down PRIORITY=5
check "a blip of port 2" rdmasim event m1/2 PORT_ERR
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=m1/2 RDMAD_REASON=link-blip
check_eq "of these two and of no other" "$(objects)" "m0/1 m1/2"
check_eq "three records" "$(told | wc -l)" 3
flaps() { rdmactl --json=short status | jq -c '[.Devices[] | select(.Name | startswith("m")) | .Ports[].FlapCount]'; }
check_eq "counted where it was" "$(flaps)" "[1,0,0,1]"

# Two functions with node GUID 0.
vfs() { rdmactl --json=short status | jq -c '[.Devices[] | select(.Name | startswith("vf")) | [.Name, .NodeGuid, .HealthState]]'; }
check_eq "two functions, two devices" "$(vfs)" '[["vf0",null,"ok"],["vf1",null,"ok"]]'
journal_mark
check "one of them falls" rdmasim event vf1/1 PORT_ERR apply=1
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=vf1/1 RDMAD_REASON=port-down PRIORITY=3
check_eq "the other one does not" "$(vfs)" '[["vf0",null,"ok"],["vf1",null,"failed"]]'
check "it goes, fallen" rdmasim destroy vf1
gone() { local n; n=$(rdmactl --json=short status | jq -c '[.Missing[].Name]'); echo "$n"; [[ $n == "$1" ]]; }
check "it is vf1 that went" wait_for 5 gone '["vf1"]'
check "and comes back, healthy" rdmasim create vf1 node_guid=0 adapter=vf1
check "nobody is missed" wait_for 5 gone '[]'
check "ok" wait_for 5 rdmactl check
check_eq "of no other object" "$(objects)" "vf1/1"

# modprobe -r and modprobe, of both drivers.
journal_mark
check "all of the driver's devices go" rdmasim destroy all
check "the module goes" wait_for 5 rdmasim unload
none() { [[ $(rdmactl --json=short status | jq '[.Devices[] | select(.Driver == "rdmasim")] | length') == 0 ]]; }
check "seen" wait_for 2 none
check "modprobe rdmasim" rdmasim load
check "the devices are made" create_all
check "ok" wait_for 15 rdmactl check
check "pictures agree" wait_for 5 pictures_agree
sleep 2
check_eq "nothing was told" "$(told)" ""
check "heard again" wait_for 5 contexts m0 1

# (The simulated devices say that they are rxe's: its module would take them along.)
check "the simulated ones go" rdmasim destroy all
conf expect <<END
[Link rxe0]
Type=rxe
NetDevice=v0
[Health]
MissingDelaySec=10min
END
check "modprobe -r rdma_rxe" timeout 10 modprobe -r rdma_rxe
drifted() { rdmactl --json=short status | jq -e '.Reasons[] | select(.Id == "setup-drifted")'; }
check "is drift" wait_for 5 drifted
check "modprobe rdma_rxe" modprobe rdma_rxe
check "and the link, by hand" rdma link add rxe0 type rxe netdev v0
check "ok" wait_for 10 rdmactl check rxe0
not_drifted() { ! drifted; }
check "no drift any more" wait_for 5 not_drifted
check "pictures agree" wait_for 5 pictures_agree
sleep 1
check_eq "no alert" "$(told | grep -c '^[0-4]')" 0
echo "# told:"; told
check "one record of the drift and one of its end, at most" test "$(told | wc -l)" -le 2
udevadm control --start-exec-queue
finish
