# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# timeout: 120
# kernels: 6.12
# Issue 5, why: the record of a fall has what the driver, or the physical function of a virtual one, says of it; a driver that takes its
# time delays no record, and has one of its own later.
. /rig/lib.sh

conf why <<END
[Modules]
LoadInfiniBand=
[Port *]
Expect=up
END
check "interfaces of a card" eval 'rdmasim netdev n0 card=c0 && rdmasim netdev n1 card=c1 && rdmasim netdev pf0 card=0000:81:00.0'
ip -b - <<END
link set n0 up
link set n1 up
link set pf0 up
END
rdmasim -q - <<END
create e0 node_guid=0x100 adapter=c0 link_layer=Ethernet netdev=n0
create e1 node_guid=0x101 adapter=c1 link_layer=Ethernet netdev=n1
create i0 node_guid=0x102 adapter=c2
create v0 node_guid=0x103 adapter=0000:81:00.1 vf_of=0000:81:00.0
create v1 node_guid=0x104 adapter=0000:81:00.2 vf_of=0000:81:00.0
END
start_rdmad
held() { [[ $(rdmasim get "$1" contexts) == 1 ]]; }
check "heard" eval 'wait_for 10 held i0 && wait_for 10 held v1'
check "ok" wait_for 10 rdmactl check
down() { journal_count_is 1 RDMAD_OBJECT="$1" RDMAD_REASON=port-down RDMAD_EDGE="${2:-raised}"; }
at() { journal_field _SOURCE_REALTIME_TIMESTAMP RDMAD_OBJECT="$1" RDMAD_REASON=port-down RDMAD_EDGE="$2"; }
text() { journal_field MESSAGE RDMAD_OBJECT="$1" RDMAD_REASON=port-down RDMAD_EDGE="${2:-raised}"; }
journal_mark

# On a machine under load the answer may take longer than a record waits for it, and then has one of its own.
for try in 1 2 3; do
        journal_mark
        check "no cable" rdmasim netdev n0 ext=4 carrier=0
        check "is told, once" wait_for 10 down e0/1
        why=$(text e0/1)
        [[ $why != *'no cable'* && $try != 3 ]] || break
        check "the answer came late: why is told then" wait_for 10 down e0/1 explained
        check "a cable" rdmasim netdev n0 carrier=1
        check "that is told" wait_for 10 down e0/1 cleared
done
check_match "with the reason why" "$why" '^e0/1: port down .*n0: no cable, wanted active; plug a cable in'

check "a slow driver" rdmasim netdev n1 ext=5 sub=1 delay=3000 carrier=0
check "is told" wait_for 10 down e1/1
check "another falls meanwhile" rdmasim event i0/1 PORT_ERR apply=1
check "is told" wait_for 10 down i0/1
check "later why" wait_for 15 down e1/1 explained
check_match "the first record has no reason why" "$(text e1/1)" 'physical state [a-z]+, wanted active'
check_match "the other one has" "$(text e1/1 explained)" '^e1/1: why the port is down: .*n1: cable issue: unsupported cable; exchange the cable'
check_below "the record did not wait for it: us" $(($(at e1/1 raised) + 2000000)) "$(at e1/1 explained)"
check_below "nor did the other port's" "$(at i0/1 raised)" "$(at e1/1 explained)"

check "the policy of a virtual function" ip link set pf0 vf 1 state disable
check "its port falls" rdmasim event v1/1 PORT_ERR apply=1
check "is told" wait_for 10 down v1/1
# As above: in the record of the fall, or in one right after it.
says() { [[ $(text "$1"; text "$1" explained) =~ $2 ]]; }
check "with the policy" wait_for 10 says v1/1 'polling; VF 1 of 0000:81:00.0 is set down(, wanted active)?; let it follow: ip link set pf0 vf 1 state auto'
check "that of the other is not" rdmasim event v0/1 PORT_ERR apply=1
check "is told" wait_for 10 down v0/1
check "it follows" wait_for 10 says v0/1 'VF 0 of 0000:81:00.0 follows its port(, wanted active)?; look at the port of 0000:81:00.0'
check_match "status has it" "$(rdmactl --no-pager status | tr -s ' \n' ' ')" 'VF 1 of 0000:81:00.0 is set down.*ip link set pf0 vf 1 state auto'
finish
