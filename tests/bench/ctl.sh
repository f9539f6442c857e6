# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 7: how long one waits for "rdmactl status" and "rdmactl list --json" at 64 devices, beside the tools that people use
# else, and "systemctl --version", which is what linking libsystemd costs here. Turn and turn about, the median of five.
# timeout: 600
# alone: it measures time
# shellcheck source=../vm/lib.sh
. /rig/lib.sh

commands=(
        "rdmactl status"
        "rdmactl list --json"
        "rdmactl check"
        "ibstat"
        "ibv_devinfo"
        "rdma link"
        "systemctl --version"
)
modprobe -a ib_uverbs ib_umad
udevadm control --stop-exec-queue    # udev's rules for each device would be the slowest part by far
for (( i = 0; i < 64; i++ )); do
        echo "create m$i node_guid=0x$((1000 + i)) adapter=card$((i % 8))"
done | rdmasim -q -
check_eq "devices" "$(find /sys/class/infiniband -name 'm*' | wc -l)" 64
udevadm control --start-exec-queue
start_rdmad
watched() { [[ $(rdmactl --json=short status | jq '[.Devices[].Ports[] | select(.LastProbe and .Gids)] | length') == 64 ]]; }
check "all of them are read" wait_for 120 watched
check "nothing else goes on" udevadm settle --timeout=120
nap 20    # the first counters

declare -A times
for (( round = 0; round < 5; round++ )); do
        for c in "${commands[@]}"; do
                # What is read for the first time is not what is measured.
                (( round )) || $c >/dev/null 2>&1 </dev/null
                t=$(now_ms)
                $c >/run/bench-output 2>&1 </dev/null || fail "$c works" "$(tail -3 /run/bench-output)"
                times[$c]+="$(( $(now_ms) - t ))"$'\n'
        done
done
declare -A median
echo "bench: kernel $(uname -r), 64 ports on 64 devices, wall time:"
for c in "${commands[@]}"; do
        mapfile -t sorted < <(sort -n <<<"${times[$c]%$'\n'}")
        median[$c]=${sorted[2]}
        printf 'bench:   %-20s %5d ms  (%d to %d)\n' "$c" "${sorted[2]}" "${sorted[0]}" "${sorted[4]}"
done
for c in "rdmactl status" "rdmactl list --json" "rdmactl check"; do
        check_below "$c is faster than ibstat, in ms" "${median[$c]}" "${median[ibstat]}"
done
check_eq "and says of each port how it is" "$(rdmactl list --json=short | jq '[.Ports[] | select(.HealthState == "ok")] | length')" 64
finish
