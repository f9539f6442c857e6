# timeout: 240
# kernels: 6.12
# Issue 5, the principal situations end to end: what check says, and every record that the journal gets, not one less or more.
. /rig/lib.sh

conf situations <<END
[Daemon]
ProbeTimeoutSec=30s
ProbeSec=1s
GraceSec=12s
[Health]
MissingDelaySec=5s
StableSec=1h
[Port sm0]
Expect=up
[Port ei0]
Expect=up
[Port dn0]
Expect=up
MinRate=200Gb/s
[Port odd0]
Expect=up
[Port ll0]
LinkLayer=Ethernet
[Port fat*]
Expect=up
[Expect rails]
Match=rail*
Count=8
[Device nm*]
Expect=yes
[Device nm6]
Expect=yes
[Device nm7]
Expect=yes
END

# "OBJECT REASON EDGE SEVERITY" of every record of a condition, sorted
told() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.RDMAD_EDGE) | "\(.RDMAD_OBJECT) \(.RDMAD_REASON) \(.RDMAD_EDGE) \(.RDMAD_SEVERITY)"' | sort; }
told_is() { local t w; w=$(sort <<<"$1"); t=$(told); [[ $t == "$w" ]] || { echo "$t"; return 1; }; }
field() { journal_field "$1" "RDMAD_OBJECT=$2" RDMAD_EDGE=raised "${@:3}"; }
sim() { rdmasim -q - <<<"$1"; }
explained() { rdmactl explain "$1" | grep -A8 "$2"; }

udevadm control --stop-exec-queue
check "cables" eval 'cable l0 q0 && cable l1 q1 && cable v0 p0 && cable v1 p1'
bond() {
        ip link add bond0 type bond mode active-backup miimon 100 && ip link set l0 down && ip link set l1 down &&
                ip link set l0 master bond0 && ip link set l1 master bond0 && ip link set bond0 up && wait_for 5 _carrier bond0
}
check "a bond of two" bond
ip addr add 10.1.0.1/24 dev v1
check "adapters" sim "create sm0 node_guid=0x100 adapter=c0 state=INIT phys=LinkUp sm_lid=0
create ei0 node_guid=0x101 adapter=c1 link_layer=Ethernet netdev=v0 follow=0 state=INIT phys=LinkUp
create dn0 node_guid=0x102 adapter=c2 state=DOWN phys=Polling width=4X speed=SDR
create odd0 node_guid=0x103 adapter=c3 state=ACTIVE phys=Disabled
create ll0 node_guid=0x104 adapter=c4
create bo0 node_guid=0x105 adapter=c5 link_layer=Ethernet netdev=l0
create gid0 node_guid=0x106 adapter=c6 link_layer=Ethernet netdev=v1 gids=4
create fat0 node_guid=0x107 adapter=c7
create fat1 node_guid=0x108 adapter=c8
create pf0 node_guid=0x109 adapter=0000:81:00.0
create vf0 node_guid=0 adapter=0000:81:00.1 vf_of=0000:81:00.0 state=DOWN phys=Polling
create vf1 node_guid=0 adapter=0000:81:00.2 vf_of=0000:81:00.0 state=DOWN phys=Polling
$(for i in 0 1 2 3 4 5; do echo "create rail$i node_guid=0x20$i adapter=rails"; echo "create nm$i node_guid=0x30$i adapter=names"; done)
create rail6 node_guid=0x206 adapter=rails state=DOWN phys=Polling
create rail7 node_guid=0x207 adapter=rails state=DOWN phys=Disabled"
journal_mark
t0=$(now_ms)
start_rdmad
contexts() { [[ $(rdmasim get "$1" contexts) == "$2" ]]; }
check "the two are heard" eval 'wait_for 10 contexts fat0 1 && wait_for 10 contexts fat1 1'
check "DEVICE_FATAL, and it stays" rdmasim event fat0 DEVICE_FATAL
check "DEVICE_FATAL, and it goes" rdmasim event fat1 DEVICE_FATAL
check "as when a driver is loaded anew" rdmasim destroy fat1
pull q1
ip addr add 10.1.0.2/24 dev v1

# --- within the grace period ---

check_status 1 "no subnet manager, yet: starting" rdmactl check sm0
check_match "explained" "$(explained sm0/1 no-subnet-manager)" 'pending'
check_status 1 "an empty place, yet: starting" rdmactl check dn0
host_is() { [[ $(jq -r .HealthState /run/rdmad/state.json) == "$1" ]]; }
check "back, soon enough" rdmasim create fat1 node_guid=0x108 adapter=c8
early=$(journal_records PRIORITY=3 _SYSTEMD_UNIT=rdmad.service)
(( $(now_ms) - t0 < 11000 )) && check_eq "no failure is told yet" "$early" 0

# --- after it ---

all="bo0/1 lag-degraded raised degraded
dn0/1 port-down raised failed
ei0/1 port-down raised failed
fat0 device-fatal raised failed
gid0/1 gid-missing raised degraded
host count-missing raised failed
ll0/1 unexpected-link-layer raised degraded
nm6 device-missing raised failed
nm7 device-missing raised failed
odd0/1 port-inconsistent raised degraded
sm0/1 no-subnet-manager raised failed"
check "these are told and no others" wait_for 40 told_is "$all"
check_status 2 "check: failed" rdmactl check
rdmactl check
rdmactl --no-pager status
check_match "sm0: found" "$(field RDMAD_FOUND sm0/1)" '^link up, port state init$'
check_match "ei0: Ethernet has none" "$(explained ei0/1 no-subnet-manager)" 'absent|only InfiniBand'
check_match "dn0: no speed alarm of a port that is down" "$(explained dn0/1 speed-degraded)" 'not judged while it is not ACTIVE'
check_eq "dn0: the rate that it shows" "$(rdmactl --json=short status | jq -r '.Devices[] | select(.Name == "dn0").Ports[0].Rate')" 10000
check_match "rails: by name" "$(field RDMAD_FOUND host)" '^6 ports up; rail6/1 down \(polling\), rail7/1 down \(disabled\)'
check_match "rails: wanted" "$(field RDMAD_WANTED host)" '8 ports up'
check_match "odd0" "$(field RDMAD_FOUND odd0/1)" 'port state active, physical state disabled'
check_match "bo0: the leg's name" "$(field RDMAD_FOUND bo0/1)" 'bond0: l1 has no carrier'
check_match "gid0: the address's" "$(field RDMAD_FOUND gid0/1)" 'no RoCE v2 GID for 10.1.0.2 of v1'
check_match "and that the table is full" "$(field MESSAGE gid0/1)" 'GID table is full \(4 entries\)'
check_match "ll0" "$(field RDMAD_FOUND ll0/1) $(field RDMAD_WANTED ll0/1)" 'InfiniBand Ethernet'
check_match "explain names the line" "$(explained ll0/1 unexpected-link-layer)" 'situations.conf:[0-9]+'
vfs() { rdmactl --json=short status | jq -r '.Devices[] | select(.Name | startswith("vf")) | "\(.Name) \(.NodeGuid) \(.HealthState) \(.Ports[0].IgnoredBecause)"'; }
check_eq "virtual functions that nobody configured: two, and ignored" "$(vfs)" "vf0 null ignored not expected: never seen ACTIVE
vf1 null ignored not expected: never seen ACTIVE"
check "they do not count" rdmactl check vf0 vf1 pf0 fat1

# --- and all of it over ---

plug q1
ip addr del 10.1.0.2/24 dev v1
rm /etc/rdmad/rdmad.conf.d/situations.conf
conf situations <<END
[Daemon]
ProbeTimeoutSec=30s
ProbeSec=1s
GraceSec=12s
[Health]
MissingDelaySec=5s
StableSec=1h
[Port *]
Expect=auto
[Port sm0]
Expect=up
[Port dn0]
Expect=up
[Port odd0]
Expect=up
[Expect rails]
Match=rail*
Count=8
[Device nm6]
Expect=yes
END
check "healed" sim "port sm0/1 state=ACTIVE sm_lid=1
port dn0/1 state=ACTIVE phys=LinkUp speed=HDR
port odd0/1 phys=LinkUp
port rail6/1 state=ACTIVE phys=LinkUp
port rail7/1 state=ACTIVE phys=LinkUp
destroy fat0
create fat0 node_guid=0x107 adapter=c7
create nm6 node_guid=0x306 adapter=names"
check "what is expected no more" rdmactl reload
over=$(sed 's/raised/cleared/' <<<"$all")
check "each is over, once" wait_for 30 told_is "$all
$over"
check_match "the link layer is nobody's wish any more" "$(journal_field MESSAGE RDMAD_OBJECT=ll0/1 RDMAD_EDGE=cleared)" 'configuration changed'
check_match "nor is nm7" "$(journal_field MESSAGE RDMAD_OBJECT=nm7 RDMAD_EDGE=cleared)" 'is closed: no longer expected: configuration changed'
check_match "nor ei0" "$(journal_field MESSAGE RDMAD_OBJECT=ei0/1 RDMAD_EDGE=cleared)" 'configuration changed'
check "ok" wait_for 15 host_is ok
check "check agrees" rdmactl check
finish
