# timeout: 240
# kernels: 6.12
# Issue 5: what is less than it should be, and counts after DegradedDelaySec=: lanes, speeds, like ports, PCIe links, device nodes.
. /rig/lib.sh

conf degraded <<END
[Modules]
# ib_umad is unloaded below, which is nobody's drift here.
LoadInfiniBand=
[Daemon]
ProbeTimeoutSec=30s
ProbeSec=1s
GraceSec=3s
SlowCounterSec=1s
[Health]
DegradedDelaySec=10s
[Port w100]
MinRate=100Gb/s
[Port w200]
MinRate=200Gb/s
[Port s200]
MinRate=200Gb/s
[Port rail*]
Group=rails
[Port dn0]
Expect=up
MinRate=200Gb/s
[Port lost0]
Expect=up
END
# "OBJECT REASON EDGE SEVERITY" of every record of a condition, sorted
told() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.RDMAD_EDGE) | "\(.RDMAD_OBJECT) \(.RDMAD_REASON) \(.RDMAD_EDGE) \(.RDMAD_SEVERITY)"' | sort; }
told_is() { local t w; w=$(sort <<<"$1"); t=$(told); [[ $t == "$w" ]] || { echo "$t"; return 1; }; }
# What was raised, read once: ${found[OBJECT REASON]}
declare -A found wanted
read_records() {
        local object f w
        while IFS=$'\t' read -r object f w; do found[$object]=$f wanted[$object]=$w; done < <(journal_json _SYSTEMD_UNIT=rdmad.service |
                jq -r 'select(.RDMAD_EDGE == "raised") | "\(.RDMAD_OBJECT) \(.RDMAD_REASON)\t\(.RDMAD_FOUND)\t\(.RDMAD_WANTED)"')
}
sim() { rdmasim -q - <<<"$1"; }
explained() { rdmactl explain "$1" | grep -A8 "$2"; }
# A Gen5 card (32 GT/s) of 16 lanes: in a Gen4 slot, and in a Gen5 slot of which a bridge runs at Gen4.
pcie() { # CARD SPEED WIDTH MAX_SPEED MAX_WIDTH
        rdmasim -q pcie "$1" speed="$2 GT/s PCIe" width="$3" max_speed="$4 GT/s PCIe" max_width="$5"
}
slots() {
        pcie 0000:80:01.0 16.0 16 16.0 16 && pcie 0000:81:00.0 16.0 16 32.0 16 &&
                pcie 0000:90:01.0 16.0 16 32.0 16 && pcie 0000:91:00.0 16.0 16 32.0 16 &&
                pcie 0000:92:00.0 32.0 16 32.0 16 && pcie 0000:93:00.0 32.0 16 32.0 16 &&
                pcie 0000:a0:01.0 32.0 8 32.0 16 && pcie 0000:a1:00.0 32.0 8 32.0 16
}

udevadm control --stop-exec-queue
check "adapters" sim "create w100 node_guid=0x100 adapter=c0 width=2X speed=HDR
create w200 node_guid=0x101 adapter=c1 width=2X speed=HDR
create s200 node_guid=0x102 adapter=c2 width=4X speed=EDR
create best0 node_guid=0x103 adapter=c3 width=4X speed=NDR
create dn0 node_guid=0x104 adapter=c4 state=DOWN phys=Polling width=4X speed=SDR
create rail0 node_guid=0x110 adapter=c10 speed=HDR
create rail1 node_guid=0x111 adapter=c11 speed=HDR
create rail2 node_guid=0x112 adapter=c12 speed=EDR
create other0 node_guid=0x113 adapter=c13 speed=FDR board=OTHER
create gen4 node_guid=0x120 adapter=0000:80:01.0/0000:81:00.0 board=P1
create gen5 node_guid=0x121 adapter=0000:90:01.0/0000:91:00.0/0000:92:00.0/0000:93:00.0 board=P2
create lanes node_guid=0x122 adapter=0000:a0:01.0/0000:a1:00.0 board=P3
create nodes node_guid=0x130 adapter=c30 uverbs=0 board=N"
check "PCIe links" slots
journal_mark
start_rdmad
read_rate() { [[ $(rdmactl --json=short status | jq -r --arg d "$1" '.Devices[] | select(.Name == $d).Ports[0].Rate') == "$2" ]]; }
check "400 Gb/s" wait_for 10 read_rate best0 400000
check "its link loses lanes" rdmasim port best0/1 width=1X
check_match "nothing counts yet" "$(explained w200/1 width-degraded)" 'pending'
check "check is content" rdmactl check w200 rail2

all="best0/1 width-degraded raised degraded
dn0/1 port-down raised failed
gen5 pcie-degraded raised degraded
lanes pcie-degraded raised degraded
nodes async-events-unavailable raised notice
nodes device-nodes-missing raised degraded
rail2/1 rate-differs raised notice
s200/1 speed-degraded raised degraded
w200/1 width-degraded raised degraded"
check "these are told and no others" wait_for 45 told_is "$all"
read_records
check "2X HDR, and 100 is wanted" rdmactl check w100
check_match "2X HDR, and 200 is wanted" "${found[w200/1 width-degraded]}: ${wanted[w200/1 width-degraded]}" '^100 Gb/s \(2X HDR\): 200 Gb/s \(4X HDR\)'
check_match "4X EDR" "${found[s200/1 speed-degraded]}: ${wanted[s200/1 speed-degraded]}" '^100 Gb/s \(4X EDR\): 200 Gb/s'
check_match "what it was once" "${found[best0/1 width-degraded]}: ${wanted[best0/1 width-degraded]}" '^100 Gb/s \(1X NDR\): 400 Gb/s \(4X NDR\) \(the best seen\)'
check_match "no speed alarm of a port that is down" "$(explained dn0/1 speed-degraded)" 'not judged while it is not ACTIVE'
check_match "as the others of its group" "${found[rail2/1 rate-differs]}: ${wanted[rail2/1 rate-differs]}" '^100 Gb/s \(4X EDR\): 200 Gb/s, as 2 of 3 ports of group rails'
check "a notice" rdmactl check rail2
check "a Gen5 card in a Gen4 slot" rdmactl check gen4
check_match "a Gen5 path at Gen4, and where" "${found[gen5 pcie-degraded]}" '16(\.0)? GT/s x16 between 0000:90:01.0 and 0000:91:00.0'
check_match "lanes" "${found[lanes pcie-degraded]}: ${wanted[lanes pcie-degraded]}" 'x8 between 0000:a0:01.0 and 0000:a1:00.0: .*x16'
check_match "no uverbs node" "${found[nodes device-nodes-missing]}" 'no uverbs node'
check_match "the line of MinRate=" "$(explained w200/1 width-degraded)" 'degraded.conf:14'
rdmactl --no-pager status

check "ib_umad is unloaded: nobody has a node, and that may be meant" modprobe -r ib_umad
healed() {
        sim "port w200/1 width=4X
port s200/1 speed=HDR
port best0/1 width=4X
port dn0/1 state=ACTIVE phys=LinkUp speed=HDR
port rail2/1 speed=HDR
destroy nodes
create nodes node_guid=0x130 adapter=c30 board=N" && pcie 0000:90:01.0 32.0 16 32.0 16 && pcie 0000:91:00.0 32.0 16 32.0 16 &&
                pcie 0000:a0:01.0 32.0 16 32.0 16 && pcie 0000:a1:00.0 32.0 16 32.0 16
}
check "healed" healed
check "each is over, once" wait_for 20 told_is "$all
$(sed 's/raised/cleared/' <<<"$all")"
check "ok" rdmactl check
check_match "umad is explained" "$(explained w100/1 device-nodes-missing)" 'no port has a umad node'
finish
