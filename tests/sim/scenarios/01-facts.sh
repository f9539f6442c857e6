# kernels: 6.12
# timeout: 180
# What the tools print is what was set: ibv_devinfo, ibstat, rdma, sysfs.
. /rig/lib.sh

sysfs() { cat "/sys/class/infiniband/$1" 2>&1; }

check "a two-port InfiniBand device" rdmasim create s0 ports=2 node_guid=0002:c903:00aa:0010 sys_image_guid=0x0002c90300aa0013 \
        fw=28.41.1000 board=MT_0000000838 hca_type=MT4129 adapter=card0 vendor_id=0x2c9 part_id=4129
check "an Ethernet port needs a netdev" cable v0 p0
check "an Ethernet device on the same card" rdmasim create e0 link_layer=Ethernet netdev=v0 adapter=card0 node_guid=0 speed=EDR
check "port 1: a degraded link" rdmasim port s0/1 width=2X speed=NDR lid=868 sm_lid=3 sm_sl=2 cap_mask=0x2651ec48 active_mtu=2048 lmc=1
check "port 2: no cable" rdmasim port s0/2 state=DOWN phys=Polling width=1X speed=SDR lid=65535 sm_lid=0
check "P_Key" rdmasim pkey s0/1 3 0x8123
check "GID" rdmasim gid s0/1 1 fe80::5054:ff:fe00:1
check "let the kernel read the tables" rdmasim event s0/1 PKEY_CHANGE,CLIENT_REREGISTER
check "nodes are there" wait_for 10 test -c /dev/infiniband/uverbs1
udevadm settle

# sysfs
check_eq "state" "$(sysfs s0/ports/1/state)" "4: ACTIVE"
check_eq "state of port 2" "$(sysfs s0/ports/2/state)" "1: DOWN"
check_eq "phys_state" "$(sysfs s0/ports/1/phys_state)" "5: LinkUp"
check_eq "phys_state of port 2" "$(sysfs s0/ports/2/phys_state)" "2: Polling"
check_eq "rate" "$(sysfs s0/ports/1/rate)" "200 Gb/sec (2X NDR)"
check_eq "rate of port 2" "$(sysfs s0/ports/2/rate)" "2.5 Gb/sec (1X SDR)"
check_eq "lid" "$(sysfs s0/ports/1/lid)" "0x364"
check_eq "sm_lid" "$(sysfs s0/ports/1/sm_lid)" "0x3"
check_eq "sm_sl" "$(sysfs s0/ports/1/sm_sl)" "2"
check_eq "lmc" "$(sysfs s0/ports/1/lid_mask_count)" "1"
check_eq "cap_mask" "$(sysfs s0/ports/1/cap_mask)" "0x2651ec48"
check_eq "link layer" "$(sysfs s0/ports/1/link_layer)" "InfiniBand"
check_eq "link layer, Ethernet" "$(sysfs e0/ports/1/link_layer)" "Ethernet"
check_eq "P_Key 3" "$(sysfs s0/ports/1/pkeys/3)" "0x8123"
check_eq "GID 0 is the port GUID" "$(sysfs s0/ports/2/gids/0)" "fe80:0000:0000:0000:0002:c903:00aa:0011"
check_eq "GID 1" "$(sysfs s0/ports/1/gids/1)" "fe80:0000:0000:0000:5054:00ff:fe00:0001"
check_eq "node_guid" "$(sysfs s0/node_guid)" "0002:c903:00aa:0010"
check_eq "node_guid zero" "$(sysfs e0/node_guid)" "0000:0000:0000:0000"
check_eq "sys_image_guid" "$(sysfs s0/sys_image_guid)" "0002:c903:00aa:0013"
check_eq "fw_ver" "$(sysfs s0/fw_ver)" "28.41.1000"
check_eq "board_id" "$(sysfs s0/board_id)" "MT_0000000838"
check_eq "hca_type" "$(sysfs s0/hca_type)" "MT4129"
check_eq "adapter" "$(sysfs s0/adapter)" "card0"
check_eq "one card" "$(readlink -f /sys/class/infiniband/s0/device)" "$(readlink -f /sys/class/infiniband/e0/device)"
check_eq "driver" "$(basename "$(readlink -f /sys/class/infiniband/s0/device/driver)")" rdmasim

# odd codes
check "unknown speed" rdmasim port s0/2 speed=0x200 width=4X
check_eq "is called SDR" "$(sysfs s0/ports/2/rate)" "10 Gb/sec (4X SDR)"
check "no width" rdmasim port s0/2 width=0
check_match "is refused" "$(sysfs s0/ports/2/rate)" "Invalid argument"
check "unknown states" rdmasim port s0/2 state=9 phys=11
check_eq "state 9" "$(sysfs s0/ports/2/state)" "9: UNKNOWN"
check_eq "phys 11" "$(sysfs s0/ports/2/phys_state)" "11: <unknown>"
check "XDR" rdmasim port s0/2 state=ACTIVE phys=LinkUp width=4X speed=XDR
case $(uname -r) in
        6.1.*) check_eq "XDR is not known yet" "$(sysfs s0/ports/2/rate)" "10 Gb/sec (4X SDR)" ;;
        *) check_eq "XDR" "$(sysfs s0/ports/2/rate)" "800 Gb/sec (4X XDR)" ;;
esac
while read -r width speed rate; do
        rdmasim -q port s0/2 "width=$width" "speed=$speed"
        check_eq "$width $speed" "$(sysfs s0/ports/2/rate)" "$rate"
done <<'END'
1X SDR 2.5 Gb/sec (1X SDR)
4X DDR 20 Gb/sec (4X DDR)
4X QDR 40 Gb/sec (4X QDR)
4X FDR10 40 Gb/sec (4X FDR10)
4X FDR 56 Gb/sec (4X FDR)
4X EDR 100 Gb/sec (4X EDR)
2X HDR 100 Gb/sec (2X HDR)
8X HDR 400 Gb/sec (8X HDR)
12X NDR 1200 Gb/sec (12X NDR)
END
rdmasim -q port s0/2 state=INIT phys=LinkUp width=4X speed=HDR

# verbs
v=$(ibv_devinfo -v -d s0 2>&1)
check_match "ibv_devinfo: fw" "$v" "fw_ver:[[:space:]]+28.41.1000"
check_match "ibv_devinfo: guid" "$v" "node_guid:[[:space:]]+0002:c903:00aa:0010"
check_match "ibv_devinfo: sys image guid" "$v" "sys_image_guid:[[:space:]]+0002:c903:00aa:0013"
check_match "ibv_devinfo: board" "$v" "board_id:[[:space:]]+MT_0000000838"
check_match "ibv_devinfo: vendor part" "$v" "vendor_part_id:[[:space:]]+4129"
check_match "ibv_devinfo: ports" "$v" "phys_port_cnt:[[:space:]]+2"
check_match "ibv_devinfo: state" "$v" "PORT_ACTIVE"
check_match "ibv_devinfo: port 2" "$v" "PORT_INIT"
check_match "ibv_devinfo: lid" "$v" "port_lid:[[:space:]]+868"
check_match "ibv_devinfo: sm lid" "$v" "sm_lid:[[:space:]]+3"
check_match "ibv_devinfo: lmc" "$v" "port_lmc:[[:space:]]+0x01"
check_match "ibv_devinfo: mtu" "$v" "active_mtu:[[:space:]]+2048"
check_match "ibv_devinfo: width" "$v" "active_width:[[:space:]]+2X"
check_match "ibv_devinfo: GID" "$v" "GID\[  1\]:[[:space:]]+fe80:0000:0000:0000:5054:00ff:fe00:0001"
check_match "ibv_devinfo: Ethernet" "$(ibv_devinfo -v -d e0 2>&1)" "link_layer:[[:space:]]+Ethernet"

# ibstat
s=$(ibstat s0 1 2>&1)
check_match "ibstat: state" "$s" "State: Active"
check_match "ibstat: physical state" "$s" "Physical state: LinkUp"
check_match "ibstat: rate" "$s" "Rate: 200"
check_match "ibstat: lid" "$s" "Base lid: 868"
check_match "ibstat: SM lid" "$s" "SM lid: 3"
check_match "ibstat: port GUID" "$s" "Port GUID: 0x0002c90300aa0010"
check_match "ibstat: CA type" "$(ibstat s0 2>&1)" "CA type: MT4129"
check_match "ibstat: port 2" "$(ibstat s0 2 2>&1)" "State: Initializing"

# rdma netlink
check_eq "rdma link: state" "$(rdma -j link show s0/1 | jq -r '.[0].state')" ACTIVE
check_eq "rdma link: port 2" "$(rdma -j link show s0/2 | jq -r '.[0].state')" INIT
check_eq "rdma link: lid" "$(rdma -j link show s0/1 | jq -r '.[0].lid')" 868
check_eq "rdma link: sm_lid" "$(rdma -j link show s0/1 | jq -r '.[0].sm_lid')" 3
check_eq "rdma link: netdev" "$(rdma -j link show e0/1 | jq -r '.[0].netdev')" v0
check_eq "rdma dev: guid" "$(rdma -j dev show s0 | jq -r '.[0].node_guid')" 0002:c903:00aa:0010
check_eq "rdma dev: fw" "$(rdma -j dev show s0 | jq -r '.[0].fw')" 28.41.1000
check "rdma resource show qp" rdma resource show qp

# the netdev of an Ethernet port
check "address" ip addr add 192.0.2.1/24 dev v0
check "becomes a GID" wait_for 5 grep -q "0000:0000:0000:0000:0000:ffff:c000:0201" /sys/class/infiniband/e0/ports/1/gids/{2,3,4,5}
check_eq "GID types" "$(cat /sys/class/infiniband/e0/ports/1/gid_attrs/types/* 2>/dev/null | sort -u | paste -sd,)" "IB/RoCE v1,RoCE v2"
check "Ethernet port follows its carrier" port_is e0/1 ACTIVE
pull p0
check "down" wait_for 5 port_is e0/1 DOWN
check_eq "polling" "$(sysfs e0/ports/1/phys_state)" "2: Polling"
plug p0
check "up" wait_for 5 port_is e0/1 ACTIVE
check "netdev gone" ip link del v0
check "the device stays, down" wait_for 5 port_is e0/1 DOWN
check "netdev back" cable v0 p0
check "bound again" rdmasim port e0/1 netdev=v0
check "up again" wait_for 5 port_is e0/1 ACTIVE

# what a device can lack
check "without uverbs" rdmasim create nou uverbs=0
check_status 1 "no uverbs node" grep -qx nou /sys/class/infiniband_verbs/uverbs*/ibdev
check "node_desc refused" rdmasim create nod set_node_desc=0
check_match "EOPNOTSUPP" "$( (echo x >/sys/class/infiniband/nod/node_desc) 2>&1)" "Operation not supported"
check "no texts" rdmasim create plain fw= board= hca_type= hw_rev= link_layer=Unknown
check_status 2 "no board_id" ls /sys/class/infiniband/plain/board_id
check_eq "link layer unknown" "$(sysfs plain/ports/1/link_layer)" Unknown
check_eq "node type" "$(sysfs plain/node_type)" "7: unspecified"
check "on a PCI function" rdmasim create onpci pci=0000:00:04.0
udevadm settle
onpci=$(rdmasim get onpci name)    # udev's rules of rdma-core name such devices by their slot
check_match "named by it" "$onpci" "^ibp0s4"
check_eq "as its parent" "$(basename "$(readlink -f "/sys/class/infiniband/$onpci/device")")" 0000:00:04.0
check_eq "that is the adapter" "$(sysfs "$onpci/adapter")" 0000:00:04.0
check "its removal, by the old name" rdmasim destroy onpci
check "leaves the function alone" test -e /sys/bus/pci/devices/0000:00:04.0
check "firmware update" rdmasim set s0 fw=28.43.2026
check_eq "shows" "$(sysfs s0/fw_ver)" 28.43.2026
check "the same GUID under another name" rdmasim destroy s0
check "comes back" rdmasim create back0 node_guid=0002:c903:00aa:0010 ports=2
check_match "with a new index" "$(rdma dev show back0)" "0002:c903:00aa:0010"
check "renamed by others" rdma dev set back0 name other0
check "found by the new name" rdmasim port other0/1 lid=77
check "found by the old one" rdmasim port back0/1 lid=78
check_eq "it is one device" "$(sysfs other0/ports/1/lid)" 0x4e

# refusals tell why
check_match "no such device" "$(rdmasim port nix lid=1 2>&1)" "No such device \(ENODEV\): no device is called 'nix'"
check_match "no such key" "$(rdmasim create x prts=2 2>&1)" "Invalid argument \(EINVAL\): create knows no key 'prts'"
check_match "no such port" "$(rdmasim port e0/2 lid=1 2>&1)" "e0 has ports 1 to 1, not '2'"
check_match "a name taken" "$(rdmasim create e0 2>&1)" "EEXIST"
check_match "a bad value" "$(rdmasim port e0/1 lid=99999 2>&1)" "ERANGE.*bad value in lid=99999"
check_status 1 "nothing of a refused command is done" rdmasim port e0/1 lid=5 smlid=7
check_eq "lid as before" "$(sysfs e0/ports/1/lid)" 0x0
check "all gone" rdmasim destroy all
check_eq "really" "$(rdma dev | wc -l)" 0
check "the module goes" rdmasim unload
finish
