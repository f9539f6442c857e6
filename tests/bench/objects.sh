# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 7: GetManagedObjects with 256 devices, of a port and four GIDs each: how long a C client (sd-bus) waits for the
# answer and reads it to its end, and what of that time is whose. The least of four medians of five.
# timeout: 120
# kernels: 6.12
# alone: it measures time
# shellcheck source=../vm/lib.sh
. /rig/lib.sh

# Nanoseconds that a process was on a CPU, in microseconds
cpu() { local ns; read -r ns _ <"/proc/$1/schedstat" && echo $(( ns / 1000 )); }
bench-objects-serve 256 &
server=$!
on_the_bus() { busctl status org.rdmad1; }
check "256 devices are on the bus" wait_for 20 on_the_bus
bus=$(pgrep -x dbus-daemon)
best=999999 objects=0
for (( i = 0; i < 4; i++ )); do
        nap 0.5
        s=$(cpu "$server") b=$(cpu "$bus")
        read -r objects properties took < <(bench-objects) || { fail "GetManagedObjects works"; break; }
        echo "bench: $objects objects, $properties properties: $(( took / 1000 )) ms; CPU of rdmad's side $(( ($(cpu "$server") - s) / 5000 )) ms," \
                "of dbus-daemon $(( ($(cpu "$bus") - b) / 5000 )) ms"
        (( took >= best )) || best=$took
done
check_eq "all of them" "$objects" 512
check_below "GetManagedObjects with 256 devices, in ms" "$(( best / 1000 ))" 200
kill "$server"
finish
