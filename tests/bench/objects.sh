# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 7: GetManagedObjects with 256 devices, of a port and four GIDs each: how long a C client (sd-bus) waits for the
# answer, and until it has read it to its end, the medians of five; and what of that time is whose.
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
nap 3 # what has just started goes to rest
s=$(cpu "$server") b=$(cpu "$bus")
read -r objects properties answered took < <(bench-objects) || fail "GetManagedObjects works"
s=$(( ($(cpu "$server") - s) / 5000 )) b=$(( ($(cpu "$bus") - b) / 5000 ))
echo "bench: $objects objects, $properties properties: median $(( answered / 1000 )) ms, and read $(( took / 1000 )) ms; CPU of rdmad's side $s ms, of dbus-daemon $b ms"
check_eq "all of them" "$objects" 512
check_below "GetManagedObjects with 256 devices, median of five, in ms" "$(( answered / 1000 ))" 200
kill "$server"
finish
