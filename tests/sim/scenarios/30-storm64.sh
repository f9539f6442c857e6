# timeout: 300
# kernels: 6.12
# alone: rdmad and what burdens it at the same time
# timeout-long: 600
# Issue 4, must show 1: 64 devices, 10,000 events at full speed while all of rdmad is stopped for 5 s, devices renamed, deleted and
# created meanwhile, and the netdev messages more than a socket holds. Within 2 s of going on the pictures agree; memory
# grows by no more than a constant (three times as many events make no difference); 3 records a port at most, one summary.
. /rig/lib.sh

udevadm control --stop-exec-queue
conf expect <<END
[Modules]
# 94 IPoIB interfaces would be the kernel's work, and most of the guest's.
LoadInfiniBand=
[Port m*]
Expect=up
END
create() { # INDEX [NAME]: every card has two devices
        echo "create ${2:-m$1} node_guid=0x$((1000 + $1)) adapter=card$(($1 / 2)) ports=$((1 + $1 % 2))"
}
create_all() {
        local i
        for ((i = 0; i < 60; i++)); do create $i; done | rdmasim -q -
        for ((i = 0; i < 4; i++)); do echo "create e$i link_layer=Ethernet netdev=v$i adapter=roce$i node_guid=0x$((2000 + i))"; done | rdmasim -q -
}
for i in 0 1 2 3; do cable v$i p$i; done
check "64 devices" create_all
start_rdmad
all_ok() { rdmactl --json=short status | jq -e '[.Devices[].Ports[] | select(.PortState == "active")] | length == 94'; }
check "all are read" wait_for 20 all_ok
held() { local n; n=$(find /proc/[0-9]*/fd -lname '/dev/infiniband/uverbs*' 2>/dev/null | wc -l); echo "$n"; (( n == $1 )); }
check "those without netdev are heard" wait_for 20 held 64
check "pictures agree" wait_for 5 pictures_agree
nap 1
pss=$(rdmad_pss)
# Messages that rdmad's sockets could not take, ever.
# (libnl has a count in the upper bits of a socket's address.)
drops() { awk -v pid="$(rdmad_pid)" 'NR > 1 && $3 % 4194304 == pid { n += $9 } END { print n + 0 }' /proc/net/netlink; }

# A storm, of so many events: over all ports, in different phases, so that some end up and some down.
storm() { # EVENTS ROUND
        local i n=$(($1 / 90))
        for ((i = 0; i < 60; i++)); do echo "event m$i PORT_ERR,PORT_ACTIVE apply=1 count=$((n + (i % 3 == 0)))"; done >/rig/storm
        {
                for ((i = 0; i < 250; i++)); do
                        for p in 0 1 2 3; do echo "link set p$p $([[ $((i % 2)) == 0 ]] && echo down || echo up)"; done
                done
                echo "link set p0 down"
                # Only newer kernels rename one that is up.
                printf 'link set v1 %s\n' down "name w$2"
                echo "link set w$2 up"
        } >/rig/links
        rdmad_signal STOP
        local stopped
        stopped=$(now_ms)
        ip -b /rig/links &
        rdmasim -q - </rig/storm || echo "# the storm failed"
        for ((i = 0; i < 6; i++)); do rdma dev set "m$i" name "n$i"; done
        { echo "destroy m6"; echo "destroy m7"; create 6 x6; create 7; echo "destroy m10"; echo "destroy m11"; create 60; create 61; } | rdmasim -q -
        # Names that change hands.
        rdma dev set m12 name swap; rdma dev set m13 name m12; rdma dev set swap name m13
        { echo "port m14 lid=77 sm_lid=5"; echo "event m14 LID_CHANGE"; echo "port m15 state=INIT phys=LinkUp"; echo "event m15 LID_CHANGE"; } | rdmasim -q -
        wait
        while (( $(now_ms) - stopped < 5000 )); do nap 0.05; done
        echo "# stopped for $(( $(now_ms) - stopped )) ms"
}
# Goes on; looks for 4 s. Into $agreed: when rdmad's picture was the kernel's, in ms from the signal, and stayed it.
go_on() {
        local start k n=0 times=() kernel
        start=$(now_ms)
        rdmad_signal CONT
        while (( $(now_ms) - start < 4000 )); do
                rdmactl --json=short status >"/rig/look.$n"
                times+=($(( $(now_ms) - start )))
                n=$((n + 1))
        done
        kernel=$(kernel_picture)
        agreed=none
        for ((k = n - 1; k >= 0; k--)); do
                [[ $(rdmad_picture "/rig/look.$k") == "$kernel" ]] || break
                agreed=${times[k]}
        done
        [[ $agreed != none ]] || diff <(echo "$kernel") <(rdmad_picture "/rig/look.$((n - 1))") | head -20
        echo "# looks at: ${times[*]} ms"
}

journal_mark
before=$(drops)
storm 10000 0
echo "# $(( $(drops) - before )) netlink messages did not fit"
check "more than fits the sockets" test "$(drops)" -gt "$before"
go_on
check_below "pictures agree, ms after SIGCONT" "$agreed" 2000
check_below "memory grew by less than, in KiB" "$(( $(rdmad_pss) > pss ? $(rdmad_pss) - pss : 0 ))" 4096
echo "# PSS $pss KiB before, $(rdmad_pss) KiB after"
told_storm() { journal_count_is 1 RDMAD_REASON=link-storm; }
check "one summary" wait_for 12 told_storm
echo "# $(journal_field MESSAGE RDMAD_REASON=link-storm)"
check_match "of all ports that were to be up" "$(journal_field RDMAD_PORTS RDMAD_REASON=link-storm)" '^[78][0-9]$'
check_match "and of the messages that did not fit" "$(journal_field RDMAD_OVERRUNS RDMAD_REASON=link-storm)" '^[1-9]'
most=$(records_per_object | head -n 3)
echo "# most records:"; echo "$most"
check "at most 3 records a port" test "$(awk 'NR == 1 { print $1 }' <<<"$most")" -le 3
check "pictures agree" pictures_agree
check "heard again, all" wait_for 5 held 64

pss=$(rdmad_pss)
{ echo "destroy all"; } | rdmasim -q -
ip link set w0 down && ip link set w0 name v1 && ip link set v1 up
plug p0
check "64 new ones" create_all
check "all are read" wait_for 20 all_ok
check "heard" wait_for 20 held 64
storm 30000 1
go_on
check_below "30,000 events: pictures agree, ms after SIGCONT" "$agreed" 2000
check_below "memory grew by less than, in KiB" "$(( $(rdmad_pss) > pss ? $(rdmad_pss) - pss : 0 ))" 4096
echo "# PSS $pss KiB before, $(rdmad_pss) KiB after"
check_eq "the same daemon" "$(systemctl show -P NRestarts rdmad.service)" 0
finish
