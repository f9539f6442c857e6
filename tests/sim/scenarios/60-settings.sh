# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 1 and 2: every section that these kernels can do is in force after the start, read back by the
# ordinary tools; applying again changes nothing; what somebody changes is told with found and wanted, and mended by
# "apply"; what comes anew, or under another name, is set anew.
# timeout: 150
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

cm=/sys/kernel/config/rdma_cm
ib=0002:c903:00aa:0010 roce=0002:c903:00aa:0040
[[ $(uname -r) == 6.1.* ]] || qkey=1 # Linux 6.7
# It writes node descriptions, too, whenever a device comes or is renamed.
systemctl mask -q --now rdma-ndd.service
cable d0 p0
cable d1 p1
conf settings <<END
[System]
NetnsMode=exclusive
${qkey:+PrivilegedQKey=yes}
[Modules]
Load=ib_srpt
[Link rxe0]
Type=rxe
NetDevice=d1
[Device guid=$ib]
Name=hca0
[Device *]
NodeDescription=%H %d
[Device guid=$roce]
AdaptiveModeration=yes
[Port guid=$roce]
RoCEMode=v1
RoCEToS=106
OptionalCounters=one
[Port rxe0]
RoCEMode=v2
RoCEToS=32
[IPoIB ib0.8001]
Parent=ib0
PKey=0x8001
Mode=connected
Umcast=yes
MTU=4092
END
make_ib() { rdmasim -q create "$1" node_guid=$ib && rdmasim -q pkey "$1/1" 1 "$2" && rdmasim -q event "$1/1" PKEY_CHANGE; }
make_roce() { rdmasim -q create roce0 link_layer=Ethernet netdev=d0 node_guid=$roce hw_counters='rx,?one,?two'; }
check "an InfiniBand adapter, its port in the partition 0x8002" make_ib mlx5_0 0x8002
check "a RoCE adapter" make_roce
host=$(hostname)

plan_is_clean() { rdmactl --no-legend plan --exit-code; }
description_is() { local text; read -r text <"/sys/class/infiniband/$1/node_desc" && [[ $text == "$2" ]]; }
# RoCE mode and ToS of each, as anybody would read them: in directories that are made for it, and go again, for they keep
# rdma_cm loaded.
roce() { # DEVICE...
        local d mode tos
        mkdir "${@/#/$cm/}"
        for d; do
                mode='' tos=''
                read -r mode <"$cm/$d/ports/1/default_roce_mode"
                read -r tos <"$cm/$d/ports/1/default_roce_tos"
                echo "$d: $mode, $tos"
        done
        rmdir "${@/#/$cm/}"
}
roce_is() { [[ $(roce "$1") == "$1: $2, $3" ]]; }
rows() { rdmactl --no-pager --no-legend --full plan --all; }
# "OBJECT STEP RESULT" each, as "plan" has them; all of them in one plan
rows_are() {
        local rows row
        rows=$'\n'$(rows)
        for row; do [[ $rows =~ $'\n'${row// / +}\  ]] || { echo "$row: not in:$rows"; return 1; }; done
}

start_rdmad
check "a child waits for its partition" wait_for 15 rows_are "ib0.8001 add-ipoib waiting"
check_match "and says for what" "$(rdmactl --no-pager plan ib0.8001)" 'hca0/1 is not in the partition: it has no P_Key 0x8001'
check "the subnet manager makes it a limited member" eval "rdmasim -q pkey mlx5_0/1 1 0x0001 && rdmasim -q event mlx5_0/1 PKEY_CHANGE"
check "all of it is in force" wait_for 15 plan_is_clean
rdmactl --no-pager plan --all

# All of it, read by the ordinary tools.
in_force() { # DESCRIPTION [DEVICE]: the RoCE adapter's name
        local found wanted text n d=${2:-roce0}
        wanted="netns exclusive${qkey:+
privileged-qkey on}
hca0: $host hca0
$d: $host $d
$d: IB/RoCE v1, 106
rxe0: RoCE v2, 32
adaptive-moderation on
mtu 4092
ipoib pkey 0x8001 mode connected umcast 0001"
        text=$(printf '%s\n' "system show" "dev show $d" "statistic mode link $d/1" | rdma -d -b -; ip -d link show ib0.8001)
        found=$(
                [[ ! $text =~ netns\ [a-z]+ ]] || echo "${BASH_REMATCH[0]}"
                [[ ! ${qkey:-} ]] || echo "privileged-qkey $(privileged-qkey)"
                for n in hca0 "$d"; do echo "$n: $(<"/sys/class/infiniband/$n/node_desc")"; done
                roce "$d" rxe0
                for n in 'adaptive-moderation [a-z]+' ' mtu [0-9]+' 'ipoib pkey [0-9a-fx]+ +mode [a-z]+ +umcast [0-9]+'; do
                        [[ ! $text =~ $n ]] || echo "${BASH_REMATCH[0]# }"
                done
        )
        check_eq "$1" "${found//  / }" "$wanted"
        check_match "$1: optional counters" "$text" '[ ,]one'
}
in_force "every setting reads as configured"
check "the module" module_loaded ib_srpt
check_eq "SetupState of a device" "$(rdmactl show roce0 | sed -n 's/^SetupState=//p')" ok

# Once more: the helper, which alone can change anything, reads what only root can read, and writes nothing.
check "the helper runs" systemctl start rdmad-setup.service
helper=$(systemctl show -P MainPID rdmad-setup.service)
strace -f -qq -p "$helper" -o /run/rdmad-trace -e trace=open,openat,bind,sendto,sendmsg,finit_module &
strace=$!
is_traced() { [[ $(<"/proc/$helper/status") =~ TracerPid:.$strace ]]; }
check "and is traced" wait_for 4 is_traced
before=$(rdmasim get hca0 n_node_desc)
check "apply" rdmactl apply
kill "$strace"
wait "$strace"
trace=$(</run/rdmad-trace)
check_match "it looked" "$trace" 'default_roce_mode.*O_RDONLY'
check_eq "it opens nothing to write" "$(grep -E '/(sys|proc)/.*O_(WRONLY|RDWR)' <<<"$trace")" ""
check_eq "loads nothing" "$(grep finit_module <<<"$trace")" ""
check_eq "and changes nothing by netlink" "$(grep -E 'RTM_(NEW|SET|DEL)LINK.*NLM_F_REQUEST' <<<"$trace")" ""
check_eq "the adapter was written nothing" "$(rdmasim get hca0 n_node_desc)" "$before"

# Changed by hand. What the kernel tells of is known at once.
journal_mark
ip link set ib0.8001 mtu 2000
check "drift of the MTU at once" wait_for 3 rows_are "ib0.8001 netdev-mtu drifted"
# A new counter, a mode, a key...: the rest is read at a reload, or in time.
printf '%s\n' "system set netns shared" "dev set roce0 adaptive-moderation off" "statistic set link roce0/1 optional-counters two" \
        "dev set rxe0 name other" | rdma -b -
[[ ! ${qkey:-} ]] || privileged-qkey off
echo somebody >/sys/class/infiniband/hca0/node_desc
mkdir $cm/roce0
echo 'RoCE v2' >$cm/roce0/ports/1/default_roce_mode
echo 7 >$cm/roce0/ports/1/default_roce_tos
rmdir $cm/roce0
ip link set ib0.8001 type ipoib mode datagram umcast 0
rmmod ib_srpt
rdmactl reload
check "drift of each setting" wait_for 10 rows_are "host netns-mode drifted" ${qkey:+"host privileged-qkey drifted"} "ib_srpt load-module drifted" \
        "hca0 node-description drifted" "roce0 adaptive-moderation drifted" "roce0/1 roce-mode drifted" "roce0/1 roce-tos drifted" \
        "roce0/1 optional-counters drifted" "ib0.8001 ipoib-mode drifted" "ib0.8001 ipoib-umcast drifted" "ib0.8001 netdev-mtu waiting"
messages=$(journal_field MESSAGE RDMAD_REASON=setup-drifted)
check_match "found and wanted are told" "$messages" "found somebody, wanted $host hca0"
check_match "of the ToS" "$messages" 'found 7, wanted 106'
check_match "of optional counters" "$messages" 'found two, wanted one'
check_match "of the mode" "$messages" 'found datagram, wanted connected'
[[ ! ${qkey:-} ]] || check_match "of the QKEY" "$messages" 'host privileged-qkey: setup-drifted: found off, wanted on'
check_match "of the module" "$messages" 'found unloaded by hand, wanted loaded'
check_status 0 "a notice is no trouble" rdmactl check
check "left alone" description_is hca0 somebody
# One object first, then all.
check "apply of one port" rdmactl apply roce0/1
check "mends that" roce_is roce0 'IB/RoCE v1' 106
check "and nothing else" description_is hca0 somebody
check_match "what there is not is said" "$(rdmactl apply nosuch 2>&1)" 'nosuch: there is no such object'
rdma dev set other name rxe0
check "apply mends the rest" rdmactl apply
in_force "mended"
check "the module again, since it was ordered" module_loaded ib_srpt
check_match "and the counter of somebody else stays" "$(rdma statistic mode link roce0/1)" 'two'
check "nothing is left to do" wait_for 5 plan_is_clean
ip link delete ib0.8001
rdma link delete rxe0
check "a child and a link that are deleted" wait_for 5 rows_are "ib0.8001 add-ipoib drifted" "rxe0 add-link drifted"
check "apply makes them" rdmactl apply
in_force "made again"

# The host's name.
hostname node7
check "the description follows the host's name" wait_for 5 description_is hca0 "node7 hca0"
hostname "$host"
check "and back" wait_for 5 description_is hca0 "$host hca0"

# Renamed by hand.
check "renamed by hand" rdma dev set hca0 name other
check "that is drift" wait_for 5 rows_are "other device-name drifted"
check "apply gives the name back" rdmactl apply
check "all as before" wait_for 5 plan_is_clean
check "one that may have any name" rdma dev set roce0 name fast0
check "is described by it" wait_for 10 description_is fast0 "$host fast0"
check "nothing is left to do" wait_for 5 plan_is_clean
in_force "renamed" fast0
journal_mark

# Deleted and made again, the driver reloaded.
# Not clean alone: of a port that is not read yet nothing is planned.
tos_is_set() { rows_are "$1/1 roce-tos (ok|changed)"; }
gone() { [[ ! -e /sys/class/infiniband/$1 ]]; }
again() { # COUNT of rounds
        local i
        for ((i = 1; i <= $1; i++)); do
                rdmasim -q destroy all && make_ib mlx5_$((i % 3)) 0x8001 && make_roce || return
                wait_for 15 description_is hca0 "$host hca0" && wait_for 15 description_is roce0 "$host roce0" || return
                wait_for 15 tos_is_set roce0 && roce_is roce0 'IB/RoCE v1' 106 || return
        done
}
link_is_set() { description_is rxe0 "$host rxe0" && tos_is_set rxe0 && roce_is rxe0 'RoCE v2' 32; }
# 20 times; at the end and in between all of it is waited for, else it goes again while rdmad is at it.
netdev_again() { # HOW OFTEN
        local i
        for ((i = 1; i <= 20; i++)); do
                printf '%s\n' "link delete d1" "link add d1 type veth peer name p1" "link set d1 up" "link set p1 up" | ip -batch - || return
                if ((i % $1 == 0)); then wait_for 15 link_is_set || return; else nap "0.$((i % 4))"; fi
        done
}
rounds=${RDMAD_TEST_LONG:+20} often=10
[[ ! ${RDMAD_TEST_LONG:-} ]] || often=1
check "adapters come anew, again and again, under other names" again "${rounds:-2}"
check "a netdev comes anew again and again, and the link with it" netdev_again "$often"
check "the drivers are reloaded, also that of the link" eval "rdmasim -q destroy all && rmmod rdmasim && rmmod rdma_rxe && modprobe rdma_rxe"
check "the adapters are there again" eval "modprobe rdmasim && make_ib mlx5_3 0x8001 && make_roce"
check "so is the link" wait_for 15 description_is rxe0 "$host rxe0"
check "set anew" wait_for 15 plan_is_clean
in_force "anew, all of it"
check_eq "which is nobody's drift" "$(journal_field RDMAD_OBJECT RDMAD_REASON=setup-drifted)" ""

# Another set-up of drivers is running: rdmad stands still, and says who.
systemd-run -q --unit=openibd.service -p Type=oneshot --no-block sleep 30
check "openibd runs" wait_for 5 grep -q . /sys/fs/cgroup/system.slice/openibd.service/cgroup.procs
rdmasim -q destroy roce0
check "an adapter comes" make_roce
check "what comes now waits for it" wait_for 5 rows_are "roce0 node-description waiting"
check_match "one warning names both" "$(journal_field MESSAGE PRIORITY=4)" 'openibd.service and rdmad.service both'
systemctl stop openibd.service
check "then it is set" wait_for 10 plan_is_clean
rdmactl --no-pager status
finish
