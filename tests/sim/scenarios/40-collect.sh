# timeout: 300
# kernels: 6.12
# What collect writes is judged by inspect as the daemon judges the host; what hangs is left out.
. /rig/lib.sh

conf expect <<END
[Port mlx5_*]
Expect=up
END
ip link add d0 type dummy
ip link set d0 up
check "an adapter" rdmasim create mlx5_0 ports=2 adapter=card0
check "another" rdmasim create roce0 link_layer=Ethernet netdev=d0 adapter=card1
check "rxe" rdma link add rxe0 type rxe netdev d0
start_rdmad
check "ok" wait_for 10 rdmactl check

# The same facts by two ways. Not in files: flow control of a netdev, and what the daemon has not seen for long (Required);
# the clocks differ, and the events are the daemon's.
same='del(.Daemon, .Events, .Setup, .HealthSince) | .Devices |= map(del(.Index, .HealthSince, .SetupState, .Reasons)
        | .Ports |= (map(del(.HealthSince, .LastProbe, .DownSince, .Required, .Qos, .FlapCount, .LastEdge)) | sort_by(.Number)))
        | .Devices |= sort_by(.Name)'
compare() { # NAME ARCHIVE
        rdmactl --json | jq "$same" >"/tmp/$1.live"
        rdmactl inspect --json "$2" | jq "$same" >"/tmp/$1.tree"
        check_eq "$1: nothing differs" "$(diff "/tmp/$1.live" "/tmp/$1.tree")" ""
}

# ib_umad is loaded by rdmad, when the devices are there already: their nodes are seen all the same.
umads() { local n; n=$(find /dev/infiniband -name 'umad*' | wc -l); [[ $n -gt 0 && $(rdmactl --json=short status | jq '[.Devices[].Ports[].UmadNode | select(. != null)] | length') == "$n" ]]; }
check "their umad nodes are seen" wait_for 20 umads
check "collect" rdmactl collect /tmp/a.tar.gz
check_eq "for root alone" "$(stat -c '%a %U' /tmp/a.tar.gz)" "600 root"
check_status 1 "never over a file" rdmactl collect /tmp/a.tar.gz
check "but with --force" rdmactl collect --force /tmp/a.tar.gz
compare healthy /tmp/a.tar.gz
check "into a directory" rdmactl collect /tmp/tree/
check_status 1 "a new one" rdmactl collect --force /tmp/tree/
check "which is as good" rdmactl inspect /tmp/tree
for file in sys/class/infiniband/mlx5_0 sys/module/ib_core/refcnt sys/class/net/d0 proc/version versions \
        etc/rdmad/rdmad.conf.d/expect.conf run/rdmad/state.json journal.export; do
        check "it holds $file" test -e "/tmp/tree/$file"
done
check "with records of rdmad" grep -aq 'RDMAD_\|_SYSTEMD_UNIT=rdmad.service' /tmp/tree/journal.export
check_eq "nothing is left in /tmp" "$(find /tmp -maxdepth 1 -name 'rdmactl.*')" ""

check "a port falls" rdmasim port mlx5_0/2 state=DOWN phys=Disabled
check "a device goes" rdmasim destroy roce0
check "collect" rdmactl collect /tmp/b.tar.gz
check_status 2 "two trees: failed" rdmactl inspect /tmp/a.tar.gz /tmp/b.tar.gz
out=$(rdmactl inspect /tmp/a.tar.gz /tmp/b.tar.gz)
echo "$out"
check_match "the port is down" "$out" 'mlx5_0/2 port-down'
check_match "the device is missing" "$out" 'roce0 device-missing'
check "the port is up" rdmasim port mlx5_0/2 state=ACTIVE phys=LinkUp

check "firmware hangs" rdmasim fault mlx5_0/1 query_port block=1
t0=$(now_ms)
check "collect ends all the same" timeout 60 rdmactl collect /tmp/hung/
check_below "in ms" "$(( $(now_ms) - t0 ))" 50000
check_match "what hangs is noted" "$(cat /tmp/hung/left-out)" 'mlx5_0/.*: no answer within 3 s'
check "the rest is there" test -e "$(readlink -f /tmp/hung/sys/class/infiniband/rxe0)/node_guid"
check "it answers again" rdmasim release all
finish
