# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 4: what is set up comes late, long after rdmad is ready, in five different orders: links on netdevs
# (one that gets its name only then), an adapter and its netdev, an IPoIB child and its parent. Each time all of it is in
# force, as after a boot: rdmad starts with nothing there and nothing remembered.
# timeout: 120
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

cm=/sys/kernel/config/rdma_cm
systemctl mask -q --now rdma-ndd.service
# Nothing tells that the simulated adapter got its netdev (tests/sim/README.md): the next reading does.
conf late <<END
[Daemon]
ProbeSec=3s
[Link rxe0]
Type=rxe
NetDevice=d0
[Link rxe1]
Type=rxe
NetDevice=d1
[Device driver=rxe]
NodeDescription=%d of %H
[Port rxe1]
RoCEToS=32
[Device guid=0002:c903:00aa:0040]
Name=fast0
[Port netdev=d2]
RoCEMode=v1
[IPoIB ib0.7fff]
Parent=ib0
PKey=0x7fff
Mode=connected
MTU=4092
END
host=$(hostname)
# A process for each: lines for ip -batch, and for rdmasim
ips() { printf 'link %s\n' "$@" | ip -batch -; }
sims() { printf '%s\n' "$@" | rdmasim -q -; }
link() { ips "add d0 type veth peer name p0" "set d0 up" "set p0 up"; }
# As when udev renames it: it comes under another name, and is up before it has its own. Linux before 6.2 renames no
# netdev that is up (net/core/dev.c, dev_change_name(): EBUSY).
renamed() {
        ips "add eth9 type veth peer name p1" "set eth9 up" "set p1 up"
        ips "set eth9 name d1" 2>/dev/null || ips "set eth9 down" "set eth9 name d1" "set d1 up"
}
adapter() { sims "create mlx5_4 link_layer=Ethernet node_guid=0002:c903:00aa:0040"; }
netdev() { ips "add d2 type veth peer name p2" "set d2 up" "set p2 up"; }
bound() { sims "port mlx5_4/1 netdev=d2" "event mlx5_4/1 PORT_ACTIVE"; }
parent() { sims "create mlx5_0 node_guid=0002:c903:00aa:0010"; }
partition() { sims "pkey mlx5_0/1 1 0xffff" "event mlx5_0/1 PKEY_CHANGE"; }

text_is() { local text=; read -r text <"$1"; [[ $text == "$2" ]]; }
in_force() {
        text_is /sys/class/infiniband/rxe0/node_desc "rxe0 of $host" && text_is /sys/class/infiniband/rxe1/node_desc "rxe1 of $host" &&
                text_is /sys/class/net/ib0.7fff/mtu 4092
}
# The mode is of the port on d2, so that it is in the plan only when that is known.
nothing_is_left() {
        local rows
        rows=$(rdmactl --no-pager --no-legend --full plan --all --exit-code 2>&1) || { echo "$rows"; return 1; }
        [[ $rows =~ fast0/1\ +roce-mode\ +(ok|changed) ]]
}
roce_is() {
        local status=1
        mkdir "$cm/fast0" "$cm/rxe1" && text_is "$cm/fast0/ports/1/default_roce_mode" 'IB/RoCE v1' &&
                text_is "$cm/rxe1/ports/1/default_roce_tos" 32 && status=0
        rmdir "$cm/fast0" "$cm/rxe1"
        return $status
}
away() { [[ ! -d /sys/fs/cgroup/system.slice/rdmad.service ]]; }
# Nothing is there, and nothing known, as after a boot.
clear_host() {
        systemctl kill -s TERM rdmad.service
        wait_for 10 away && rdmasim -q destroy all
        ips "delete d0" "delete d1" "delete d2"
        rm -rf /run/rdmad/* /var/lib/rdmad/*
}

modprobe rdmasim
round=0
for order in 'link renamed adapter netdev bound parent partition' 'parent netdev adapter bound partition renamed link' \
        'netdev adapter renamed bound link parent partition' 'renamed parent partition link adapter netdev bound' \
        'adapter parent link netdev bound renamed partition'; do
        round=$((round + 1))
        [[ $round == 1 ]] || clear_host
        start_rdmad
        late=0
        for what in $order; do
                "$what" || late=1
                # At once after each other, or with time between them for each to be dealt with.
                (( round % 2 )) || nap 0.5
        done
        check_eq "round $round: what came late is there: $order" "$late" 0
        check "round $round: all of it is in force" wait_for 20 in_force
        check "round $round: the mode, too, and nothing is left to do" wait_for 15 nothing_is_left
        check "round $round: mode and ToS read so" roce_is
done
check_eq "no unit failed" "$(systemctl --failed --plain --no-legend)" ""
finish
