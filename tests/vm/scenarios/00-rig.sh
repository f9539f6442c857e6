# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The rig itself: a real systemd, a real kernel's RDMA stack, a cable that can be pulled. Needs no rdmad.
# shellcheck source=../lib.sh
. /rig/lib.sh

echo "# kernel $(uname -r)${RIG_THAWED:+, thawed}, up $(cut -d' ' -f1 /proc/uptime) s, $(date -u '+%F %T')"

system_up() {
        local s
        s=$(systemctl is-system-running)
        echo "$s"
        systemctl --failed --plain --no-legend
        [[ $s == running ]]
}
check_eq "systemd is PID 1" "$(cat /proc/1/comm)" systemd
check "the system is running, no unit failed" system_up
check "udev is there" systemctl is-active systemd-udevd.service
check "the bus is there" busctl status org.freedesktop.DBus
logger -t rig-clock now
check_eq "a record counts" "$(journal_records SYSLOG_IDENTIFIER=rig-clock)" 1
clock_gap() {
        local us
        us=$(journal_json SYSLOG_IDENTIFIER=rig-clock | jq -r .__REALTIME_TIMESTAMP)
        [[ $us ]] && echo $(( $(now_ms) - us / 1000 ))
}
check_below "its time is now" "$(clock_gap)" 20000
journal_mark
check_eq "a record before the mark does not" "$(journal_records SYSLOG_IDENTIFIER=rig-clock)" 0

check "rdma_rxe is not loaded" test ! -d /sys/module/rdma_rxe
check "a cable" cable d0 p0
check "rxe on it, its module loaded by the kernel" rdma link add rxe0 type rxe netdev d0
check "rdma_rxe is loaded" module_loaded rdma_rxe
check "ACTIVE" wait_for 5 port_is rxe0/1 ACTIVE
pull p0
check "cable pulled: DOWN" wait_for 5 port_is rxe0/1 DOWN
plug p0
check "cable back: ACTIVE" wait_for 5 port_is rxe0/1 ACTIVE
check "uverbs node" wait_for 5 test -c /dev/infiniband/uverbs0
check "ibv_devinfo opens it" ibv_devinfo -d rxe0

# A service with a mount namespace of its own: what the initial rootfs could not give.
check "hardened services run" systemd-run -q --wait -p DynamicUser=yes -p ProtectSystem=strict -p PrivateTmp=yes \
        -p ProtectProc=invisible -p CapabilityBoundingSet= true
finish
