# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# timeout: 120
# kernels: 6.12
# Issue 5: falls by the thousand are counted one by one, also where no reading shows any (as fast as a CPU can send them: to one in
# a thousand); what the kernel keeps to itself is counted by link_downed.
. /rig/lib.sh

conf many <<END
[Daemon]
SlowCounterSec=1s
[Modules]
LoadInfiniBand=
[Port *]
Expect=up
END
cable v0 p0
check "an adapter" rdmasim create s0 node_guid=0x100
check "one of RoCE" rdmasim create e0 node_guid=0x101 link_layer=Ethernet netdev=v0
start_rdmad
falls() { rdmactl show "$1/1" | sed -n 's/^FlapCount=//p'; }
falls_are() { # DEVICE NUMBER [LESS], since $before
        local n
        n=$(falls "$1")
        echo "$1: $n, before $before"
        (( n - before <= $2 && n - before >= $2 - ${3:-0} ))
}
contexts() { [[ $(rdmasim get s0 contexts) == 1 ]]; }
check "heard" wait_for 10 contexts
before=0
# The list of two events is taken in turn: half as many falls as events.
check "100 falls at 500 a second" rdmasim event s0/1 PORT_ERR,PORT_ACTIVE apply=1 count=200 rate=1000
check "are 100" wait_for 5 falls_are s0 100
before=100
check "2,000 falls at 4,000 a second" rdmasim event s0/1 PORT_ERR,PORT_ACTIVE apply=1 count=4000 rate=8000
check "are 2,000" wait_for 5 falls_are s0 2000
before=2100
check "5,000, as fast as it goes" rdmasim event s0/1 PORT_ERR,PORT_ACTIVE apply=1 count=10000
check "are 5,000" wait_for 5 falls_are s0 5000 5
before=$(falls s0)
check "2,500 that no reading shows" rdmasim event s0/1 PORT_ERR,PORT_ACTIVE count=5000
check "are 2,500" wait_for 5 falls_are s0 2500 2

before=$(falls s0)
rdmasim -q reset s0
# Two readings: what was counted until the first may be in the second only.
shows() { rdmactl --json=short counters s0/1 | jq -e --argjson n "$1" '.Ports[0].Counters[] | select(.Name == "symbol_error").Value == $n'; }
for n in 1 2; do
        rdmasim -q counter s0/1 symbol_error $n
        check "reading $n" wait_for 10 shows $n
done
check "30 that no event tells" rdmasim counter s0/1 link_downed +30
check "are 30" wait_for 5 falls_are s0 30

before=0
for ((i = 0; i < 200; i++)); do echo "link set p0 down"; echo "link set p0 up"; done >/rig/links
check "a cable, 200 times" ip -b /rig/links
check "by the netdev's count" wait_for 5 falls_are e0 200
check_below "one record each of what flaps, no more than" "$(journal_records RDMAD_OBJECT=s0/1)" 20
finish
