# kernels: 6.12
# timeout: 240
# Firmware that hangs, is slow, or fails; adapters that go away under open contexts.
. /rig/lib.sh

sysfs() { cat "/sys/class/infiniband/$1" 2>&1; }
sleeping() { [[ $(rdmasim get "$1" sleeping) == "$2" ]]; }
is_held() { [[ $(rdmasim get "$1" contexts) == "$2" ]]; }
gone() { ! kill -0 "$1" 2>/dev/null; }
state_of() { sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f1; }
# joined DESCRIPTION PID: it has ended, and well; not by "check", which would wait in a subshell
joined() {
        local status=0
        wait "$2" || status=$?
        check_eq "$1" "$status" 0
}
cd "$(mktemp -d)" || exit 1

check "two devices" rdmasim create s0 ports=2
check "the other" rdmasim create s1

# block until released, in D state
check "port 1 hangs" rdmasim fault s0/1 query_port block=1
cat /sys/class/infiniband/s0/ports/1/state >read.1 2>&1 &
pid=$!
check "a reader sleeps" wait_for 5 sleeping s0 1
check_eq "in D state" "$(state_of $pid)" D
kill -9 $pid
check "SIGKILL does not help" holds 0.5 sleeping s0 1
check_eq "port 2 answers" "$(sysfs s0/ports/2/state)" "4: ACTIVE"
check_eq "the other device too" "$(sysfs s1/ports/1/state)" "4: ACTIVE"
check "released" rdmasim release s0
check "the reader ends" wait_for 5 gone $pid
check_eq "all is well again" "$(sysfs s0/ports/1/state)" "4: ACTIVE"
check "hangs, killable" rdmasim fault s0/1 query_port block=1 killable=1
cat /sys/class/infiniband/s0/ports/1/state >read.1 2>&1 &
pid=$!
check "a reader sleeps" wait_for 5 sleeping s0 1
kill -9 $pid
check "SIGKILL helps" wait_for 5 gone $pid
check "nobody sleeps" sleeping s0 0
check "a reader is released, not killed" rdmasim fault s0/1 query_port block=1
cat /sys/class/infiniband/s0/ports/1/state >read.2 2>&1 &
pid=$!
check "sleeps" wait_for 5 sleeping s0 1
rdmasim -q release all
joined "wakes" $pid
check_eq "and has read" "$(cat read.2)" "4: ACTIVE"

# slow, failing, for a number of calls
check "slow" rdmasim fault s0/1 query_port delay=700
ms=$(took_ms cat /sys/class/infiniband/s0/ports/1/state 2>/dev/null)
check_below "at least 700 ms" 690 "$ms"
check "slow and failing, twice" rdmasim fault s0/1 query_port delay=50 errno=ETIMEDOUT times=2
check_match "first" "$(sysfs s0/ports/1/state)" "Connection timed out"
check_match "second" "$(rdma link show s0/1 2>&1)" "timed out"
check_eq "third" "$(sysfs s0/ports/1/state)" "4: ACTIVE"
check "counters hang" rdmasim fault s0/1 counters block=1
check "hw_counters fail" rdmasim fault s0/1 hw_counters errno=EIO
cat /sys/class/infiniband/s0/ports/1/counters/symbol_error >read.3 2>&1 &
pid=$!
check "a reader sleeps" wait_for 5 sleeping s0 1
check_eq "the port query does not" "$(sysfs s0/ports/1/state)" "4: ACTIVE"
check_match "hw_counters" "$(sleep 0.1; sysfs s0/ports/1/hw_counters/link_downed)" "Input/output error"
check "released" rdmasim release s0/1 counters
joined "wakes" $pid
check_match "hw_counters still fail" "$(sleep 0.1; sysfs s0/ports/1/hw_counters/link_downed)" "Input/output error"
check "opening hangs" rdmasim fault s0 open block=1
ibv_devinfo -d s0 >read.4 2>&1 &
pid=$!
check "who opens sleeps" wait_for 10 sleeping s0 1
check "released" rdmasim release s0
joined "has opened" $pid
check "opening fails" rdmasim fault s0 open errno=EBUSY
check_status 1 "it does" ibv_devinfo -d s0
check "node_desc fails" rdmasim fault s0 node_desc errno=EIO
check_match "it does" "$( (echo x >/sys/class/infiniband/s0/node_desc) 2>&1)" "Input/output error"
check "board_id fails" rdmasim fault s0 board_id errno=EINVAL
check_match "it does" "$(sysfs s0/board_id)" "Invalid argument"
check_match "a fault must do something" "$(rdmasim fault s0 open times=3 2>&1)" "a fault needs"

# destroyed while hung
check "hangs again" rdmasim fault s0 query_port block=1
cat /sys/class/infiniband/s0/ports/1/state >read.5 2>&1 &
pid=$!
check "a reader sleeps" wait_for 5 sleeping s0 1
ms=$(took_ms rdmasim destroy s0)
check_below "destroyed at once" "$ms" 2000
wait $pid
check_match "the reader got an error" "$(cat read.5)" "Input/output error|No such device"

# contexts, a driver that disassociates
stdbuf -oL ibv_asyncwatch -d s1 >watch.1 2>&1 &
pid=$!
check "held open" wait_for 10 is_held s1 1
ms=$(took_ms rdmasim destroy s1)
check_below "destroyed at once" "$ms" 2000
check "DEVICE_FATAL" wait_for 5 grep -qi "fatal" watch.1
check "the holder still sleeps" kill -0 $pid
check "the same name is free" rdmasim create s1
check "the old file is harmless" kill $pid
check_status 1 "nothing is left of the old one" is_held s1 1

# and one that does not
check "no disassociation" rdmasim create n0 disassociate=0
udevadm settle
uverbs=$(ls /sys/class/infiniband/n0/device/infiniband_verbs)
udevadm monitor --kernel --subsystem-match=infiniband_verbs >uevents &
monitor=$!
sleep 0.5
stdbuf -oL ibv_asyncwatch -d n0 >watch.2 2>&1 &
pid=$!
check "held open" wait_for 10 is_held n0 1
check_status 1 "the module is pinned" rmmod rdmasim
rdmasim -q destroy n0 &
destroyer=$!
check "uverbs goes first" wait_for 5 grep -q "remove .*/$uverbs " uevents
check "the removal waits" holds 1 kill -0 $destroyer
check_eq "so says the module" "$(rdmasim get n0 life)" dying
check_status 1 "RDMA netlink has forgotten it" rdma dev show n0
check "others go on" rdmasim port s1 lid=3
kill $pid
joined "the removal ends with the last context" $destroyer
kill $monitor

# everything gone and back
for i in 1 2 3 4 5 6 7 8; do rdmasim -q create "h$i" "node_guid=0xa$i"; done
gone_and_back() {
        rdmasim -q destroy all
        for i in 1 2 3 4 5 6 7 8; do echo "create g$i node_guid=0xa$i"; done | rdmasim -q -
}
ms=$(took_ms gone_and_back)
check_below "all gone and back" "$ms" 2000
check_eq "under new names" "$(rdma dev | grep -c ': g[1-8]:')" 8
check "all gone" rdmasim destroy all
check "the module goes" wait_for 5 rdmasim unload
finish
