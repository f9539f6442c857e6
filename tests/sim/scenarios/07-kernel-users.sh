# timeout: 240
# What else in the kernel sits on an RDMA device: ib_mad and umad, ib_ipoib, rdma_cm, net namespaces, and rdma_rxe beside it,
# which must not take the simulated devices for its own.
. /rig/lib.sh

modprobe ib_umad
check "a device" rdmasim create s0 ports=2
check "umad node" wait_for 10 test -c /dev/infiniband/umad1
check_eq "umad of port 2" "$(cat /sys/class/infiniband_mad/umad1/ibdev /sys/class/infiniband_mad/umad1/port 2>&1 | paste -sd/)" "s0/2"
check_match "ibstat lists" "$(ibstat -l 2>&1)" s0
check "QPs of ib_mad are seen" rdma resource show qp

modprobe ib_ipoib
ipoib() { find /sys/class/infiniband/s0/device/net -mindepth 1 -maxdepth 1 -printf '%f\n' 2>/dev/null | sort | head -n1; }
ipoib_there() { [[ $(ipoib) ]]; }
check "IPoIB makes its netdevs" wait_for 10 ipoib_there
if=$(ipoib)
check "up" ip link set "$if" up
check "down" ip link set "$if" down
check "a child" ip link add link "$if" name ibchild type ipoib pkey 0x8001
check "connected mode" ip link set "$if" type ipoib mode connected
check "up again" ip link set "$if" up
ms=$(took_ms rdmasim destroy s0)
check_below "the device goes under it" "$ms" 3000
check_status 1 "and the netdevs with it" ip link show "$if"

check "a cable" cable v0 p0
check "simulated RoCE on one end" rdmasim create e0 link_layer=Ethernet netdev=v0
check "rxe on the other" rdma link add rxe0 type rxe netdev p0
check "rxe on the same netdev as well" rdma link add rxe1 type rxe netdev v0
pull p0
check "rxe0 down" wait_for 5 port_is rxe0/1 DOWN
check "e0 down" wait_for 5 port_is e0/1 DOWN
plug p0
check "rxe0 up" wait_for 5 port_is rxe0/1 ACTIVE
check "e0 up" wait_for 5 port_is e0/1 ACTIVE
ip link set v0 mtu 4200
check "netdev deleted" ip link del v0
check_status 1 "rxe1 goes with it" rdma dev show rxe1
check "e0 stays" port_is e0/1 DOWN

check "rdma_cm finds it" modprobe rdma_cm
check "exclusive namespaces" rdma system set netns exclusive
check "a device that disassociates" rdmasim create d0
check "one that does not" rdmasim create n0 disassociate=0
ip netns add other
check "can move" rdma dev set d0 netns other
check_status 1 "is not here" rdma dev show d0
check "is there" ip netns exec other rdma dev show d0
check_match "cannot move" "$(rdma dev set n0 netns other 2>&1)" "not supported"
ip netns del other
check "comes home with the end of the namespace" wait_for 5 rdma dev show d0
check "all gone" rdmasim destroy all
check "the module goes" wait_for 5 rdmasim unload
finish
