# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What many devices cost: memory, processes and idle CPU of all rdmad processes, for 8, 64 and 256 devices on 8 adapters,
# and for 64 adapters.
# timeout: 900
# shellcheck source=../vm/lib.sh
. /rig/lib.sh

modprobe -a ib_uverbs ib_umad
udevadm control --stop-exec-queue    # udev's rules for each device would be the slowest part by far

create() {
        local devices=$1 adapters=$2 i
        for (( i = 0; i < devices; i++ )); do
                echo "create m$i node_guid=0x$((1000 + i)) adapter=card$((i % adapters))"
        done | rdmasim -q -
}
watched() { [[ $(rdmactl --json=short status | jq '[.Devices[].Ports[] | select(.LastProbe and .Gids)] | length') == "$1" ]]; }
cpu_ticks() { for p in $(pgrep rdmad); do awk '{ print $14 + $15 }' "/proc/$p/stat"; done | awk '{ s += $1 } END { print s }'; }

measure() {
        local devices=$1 adapters=$2 before
        check "$devices devices on $adapters adapters" create "$devices" "$adapters"
        check "all of them are read" wait_for 120 watched "$devices"
        sleep 15    # the first counters
        before=$(cpu_ticks)
        sleep 60
        echo "bench: $devices devices, $adapters adapters: PSS $(rdmad_pss) KiB in $(pgrep -c rdmad) processes, rdmad alone $(awk '/^Pss:/ { print $2 }' "/proc/$(pgrep -o -x rdmad)/smaps_rollup") KiB; 60 s idle: $(( ($(cpu_ticks) - before) * 10 )) ms CPU"
        check "gone" rdmasim destroy all
        check "rdmad sees that" wait_for 60 watched 0
}

start_rdmad
measure 8 8
measure 64 8
measure 256 8
measure 64 64
udevadm control --start-exec-queue
finish
