# timeout: 240
# kernels: 6.12
# timed: its load would make others late
# Everything at once, from many sides, for ten seconds (half a minute with RDMAD_TEST_LONG): the locking rules under load. What is refused does not matter here;
# that the kernel does not complain (the rig looks), that nobody is left sleeping, and that all can be removed, does.
. /rig/lib.sh

# Lots of refusals are expected, their texts are not wanted.
sim() { rdmasim -q "$@" 2>/dev/null; }
any() { echo $((RANDOM % $1)); }
until_end() { while (( $(now_ms) < end )); do "$@"; done; }
seconds=${RDMAD_TEST_LONG:+30}
seconds=${seconds:-10}
end=$(( $(now_ms) + seconds * 1000 ))
cd "$(mktemp -d)" || exit 1
udevadm control --stop-exec-queue

check "a cable" cable v0 p0
check "the module" rdmasim load

come_and_go() {
        local i
        i=$(any 6)
        sim create "x$i" ports=2 adapter="card$((i / 2))" disassociate=$((i % 2)) node_guid="0x$((100 + i))"
        sim create "y$i" link_layer=Ethernet netdev=v0
        (( $(any 3) )) || sim destroy "x$(any 6)"
        (( $(any 3) )) || sim destroy "y$(any 6)"
        (( $(any 15) )) || sim destroy all
}
change() {
        printf '%s\n' "event x$(any 6) PORT_ERR,PORT_ACTIVE,SM_CHANGE,CLIENT_REREGISTER count=200 apply=1" "port x$(any 6)/2 lid=$(any 999) state=INIT" \
                "counter x$(any 6) symbol_error +1 per_sec=7" "hw_counter x$(any 6) link_downed -3" "reset x$(any 6)" "set x$(any 6) fw=1.2.$(any 99)" \
                "pkey x$(any 6)/1 2 0x8001" "gid x$(any 6)/1 1 fe80::$(any 9)" | sim -
}
hang() {
        local d
        d=x$(any 6)
        sim fault "$d" query_port delay=50 times=3
        sim fault "$d/1" counters block=1
        sim fault "$d" open delay=20 errno=EBUSY
        sleep 0.2
        sim release all
}
look() {
        cat /sys/class/infiniband/*/ports/*/{state,rate,counters/symbol_error,hw_counters/link_downed,gids/0,pkeys/0} >/dev/null 2>&1
        sim list >devices
        rdma link >/dev/null 2>&1
}
hold() { timeout 0.7 ibv_asyncwatch -d "x$(any 6)" >/dev/null 2>&1; }
rename() {
        local i
        i=$(any 6)
        rdma dev set "x$i" name "z$i" 2>/dev/null
        rdma dev set "z$i" name "x$i" 2>/dev/null
        sleep 0.1
}
flap() {
        pull p0
        sleep 0.1
        plug p0
        sleep 0.1
        (( $(any 20) )) || { ip link del v0; ip link add v0 type veth peer name p0; ip link set v0 up; }
}
garbage() {
        head -c $((RANDOM % 300)) /dev/urandom >/dev/rdmasim
        printf 'create q%%00 =\n' >/dev/rdmasim
        printf 'port x1/1 = == state= lid=-1\n' >/dev/rdmasim
        printf 'create x\377 %0200d=1\n' 0 >/dev/rdmasim
} 2>/dev/null

pids=()
for job in come_and_go come_and_go change change hang look hold rename flap garbage; do
        until_end $job &
        pids+=($!)
done
# whoever hangs in a fault at the end is freed, over and over, until all are done
left() { local p n=0; rdmasim -q release all; for p in "${pids[@]}"; do ! kill -0 "$p" 2>/dev/null || n=$((n + 1)); done; echo "$n left"; (( n == 0 )); }
sleep $(( seconds + 1 ))
check "all come to an end" wait_for 60 left
check "all can be removed" rdmasim destroy all
check "one more" rdmasim create last
# the kernel counts the devices that it has seen
count=$(rdmasim get last index)
echo "# $count devices came and went"
check "the storm was one" test "$count" -gt 10
check "removed" rdmasim destroy last
check_eq "nothing is left" "$(rdma dev | wc -l)" 0
check_eq "no cards are left" "$(find /sys/bus/rdmasim/devices/ -mindepth 1 | wc -l)" 0
check "a netdev is free to go" timeout 10 ip link del v0
udevadm control --start-exec-queue
check "the module goes" wait_for 5 rdmasim unload
finish
