# timeout: 300
# timed: how long a deletion takes
# timeout-long: 1500
# Issue 4, must show 4: "rdma link del", netdev deletion and driver removal return within 2 s with 64 watched devices, on drivers
# of both kinds; add/delete cycles leave descriptors and processes as they were. 6 cycles; 200 with RDMAD_TEST_LONG.
. /rig/lib.sh

cycles=${RDMAD_TEST_LONG:+200}
cycles=${cycles:-6}
udevadm control --stop-exec-queue
conf monitor <<END
[Device rxe*]
Monitor=events
[Port m*]
Expect=up
[Health]
MissingDelaySec=10min
END
create_all() { # 62 on 31 cards, every other one of the kind that waits for its users
        local i
        for ((i = 0; i < 62; i++)); do echo "create m$i node_guid=0x$((1000 + i)) adapter=card$((i / 2)) disassociate=$((i % 2))"; done | rdmasim -q -
}
check "cables" cable v0 p0
cable v1 p1
check "62 devices" create_all
check "rxe0" rdma link add rxe0 type rxe netdev v0
check "rxe1" rdma link add rxe1 type rxe netdev v1
start_rdmad
held() { local n; n=$(find /proc/[0-9]*/fd -lname '/dev/infiniband/uverbs*' 2>/dev/null | wc -l); echo "$n"; (( n == $1 )); }
check "all are held" wait_for 30 held 64
check "pictures agree" wait_for 10 pictures_agree

gone() { # DESCRIPTION COMMAND...
        local ms status=0
        ms=$(took_ms timeout 30 "${@:2}") || status=$?
        check_eq "$1: exit status" "$status" 0
        check_below "$1: returns, in ms" "$ms" 2000
}
gone "driver removal, one that disassociates" rdmasim destroy m1
gone "driver removal, one that waits" rdmasim destroy m0
gone "rdma link del" rdma link del rxe0
gone "netdev deleted" ip link del v1
check "60 are held" wait_for 2 held 60
check "pictures agree" wait_for 2 pictures_agree

check "a cable" cable v1 p1
cycle() {
        local i=$1 n j
        n=$(rdmad_procs)
        printf '%s\n' "create m0 node_guid=1000 adapter=card0 disassociate=0" "create m1 node_guid=1001 adapter=card0" | rdmasim -q - || return 1
        rdma link add rxe0 type rxe netdev v0 && rdma link add rxe1 type rxe netdev v1 || return 1
        # Every other cycle as soon as they are there, while rdmad is only beginning with them.
        (( i % 2 )) || wait_for 10 held 64 || return 1
        for j in "rdmasim -q destroy m0" "rdma link del rxe0" "rdmasim -q destroy m1" "ip link del v1"; do
                # shellcheck disable=SC2086
                ms=$(took_ms timeout 30 $j) || { echo "$j failed"; return 1; }
                (( ms < slowest )) || slowest=$ms
        done
        ip link add v1 type veth peer name p1 && ip link set v1 up && ip link set p1 up
}
slowest=0 failed=0
settled() { held 60 >/dev/null && pictures_agree; }
for ((c = 1; c <= cycles; c++)); do
        if ! cycle $c; then failed=$c; break; fi
        # The first ones allocate what stays: buffers, lists, sockets; and what is kept of the past is full after some.
        if (( c == 4 )); then
                wait_for 10 settled
                fds=$(rdmad_fds) procs=$(rdmad_procs)
        fi
        (( c != 4 && c != 40 )) || pss=$(rdmad_pss)
done
check_eq "$cycles cycles, none failed" "$failed" 0
check_below "the slowest removal of them, in ms" "$slowest" 2000
check "settled" wait_for 10 settled
same() { local n; n=$("$1") && echo "$n, wanted $2" && [[ $n == "$2" ]]; }
check "as many descriptors as after the 4th ($fds)" wait_for 5 same rdmad_fds "$fds"
check "as many processes ($procs)" wait_for 5 same rdmad_procs "$procs"
echo "# PSS $pss KiB after 4 cycles, or 40 of many, $(rdmad_pss) KiB now"
# A long run sees what each of the 32 processes does every ten minutes for the first time: some 60 KiB each.
check_below "memory grew by less than, in KiB" "$(( $(rdmad_pss) - pss + 1000000 ))" "$(( 1001024 + (cycles > 40 ? 2048 : 0) ))"
check_eq "the same daemon" "$(systemctl show -P NRestarts rdmad.service)" 0

gone "all of both kinds at once" rdmasim destroy all
check "the module goes" wait_for 5 rdmasim unload
udevadm control --start-exec-queue
finish
