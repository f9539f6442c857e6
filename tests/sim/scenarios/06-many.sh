# timeout: 400
# kernels: 6.12
# 256 devices at once.
. /rig/lib.sh

modprobe -a ib_uverbs ib_umad
udevadm control --stop-exec-queue    # 256 times udev's rules would be the slowest part by far
create_all() { for ((i = 0; i < 256; i++)); do echo "create m$i node_guid=0x$((1000 + i))"; done | rdmasim -q -; }
ms=$(took_ms create_all)
echo "# creating 256 took $ms ms"
check_eq "the module has them" "$(rdmasim list | grep -c '^device')" 256
check_eq "RDMA netlink has them" "$(rdma dev | wc -l)" 256
check_eq "and their ports" "$(rdma link | wc -l)" 256
check_eq "uverbs nodes" "$(find /sys/class/infiniband_verbs -name 'uverbs*' | wc -l)" 256
check_eq "umad nodes" "$(find /sys/class/infiniband_mad -name 'umad*' | wc -l)" 256
check_eq "libibverbs has them" "$(ibv_devices | grep -c ' m[0-9]')" 256
check_below "creating took less than (ms)" "$ms" 60000
check "an event for each" rdmasim event m255/1 PORT_ERR apply=1
check "on the last" port_is m255/1 DOWN
check_eq "not on the first" "$(port_state m0/1)" ACTIVE
ms=$(took_ms rdmasim destroy all)
echo "# destroying 256 took $ms ms"
check_below "destroying took less than (ms)" "$ms" 60000
check_eq "all gone" "$(rdma dev | wc -l)" 0
udevadm control --start-exec-queue
check "the module goes" wait_for 5 rdmasim unload
finish
