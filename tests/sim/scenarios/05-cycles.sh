# timeout: 240
# kernels: 6.12
# timeout-long: 900
# 30 times (100 with RDMAD_TEST_LONG): two devices, one of each kind of driver, contexts open on both, destroyed under them. The holder of the one that does
# not disassociate closes when it hears that its uverbs node goes, as rdmad must. That no kernel warning is in dmesg the rig checks.
. /rig/lib.sh

cycles=${RDMAD_TEST_LONG:+100}
cycles=${cycles:-30}
is_held() { [[ $(rdmasim get "$1" contexts) == 1 ]]; }
cd "$(mktemp -d)" || exit 1
udevadm control --stop-exec-queue    # the devices are the matter here, not udev's rules

check "a device first, so that all modules are there" rdmasim create s0
ibv_devinfo -d s0 >/dev/null 2>&1
slab() { awk '$1 ~ /^(kmalloc-[0-9a-z]+|dentry|kernfs_node_cache)$/ { n += $2 * $4 } END { print int(n / 1024) }' /proc/slabinfo; }

mkfifo uevents
stdbuf -oL udevadm monitor --kernel --subsystem-match=infiniband_verbs >uevents &
monitor=$!
exec 3<uevents

failed=0
one_cycle() {
        local uverbs line d n destroyer
        printf 'create d0 ports=2\ncreate n0 disassociate=0\n' | rdmasim -q - || return 1
        uverbs=$(echo /sys/bus/rdmasim/devices/n0/infiniband_verbs/uverbs*)
        ibv_asyncwatch -d d0 >/dev/null 2>&1 &
        d=$!
        ibv_asyncwatch -d n0 >/dev/null 2>&1 &
        n=$!
        wait_for 10 is_held d0 && wait_for 10 is_held n0 || return 1
        rdmasim -q event d0 PORT_ERR,PORT_ACTIVE count=20 || return 1
        rdmasim -q destroy d0 || return 1
        rdmasim -q destroy n0 &
        destroyer=$!
        while read -r -t 10 line <&3; do
                [[ $line != *" remove "*"/${uverbs##*/} "* || $line != */n0/* ]] || break
        done
        [[ $line == *"/n0/"* ]] || return 1
        kill $n
        wait $destroyer || return 1
        kill $d
        wait $d $n 2>/dev/null
        return 0
}
start=$(now_ms)
for ((i = 1; i <= cycles; i++)); do
        if ! one_cycle; then
                echo "# cycle $i failed"
                failed=$((failed + 1))
                break
        fi
        (( i != 10 )) || before=$(slab)
done
echo "# $cycles cycles took $(( ($(now_ms) - start) / 1000 )) s"
check_eq "all cycles" "$failed" 0
after=$(slab)
# 180 devices more in the long run: a leak of one device each would be megabytes
check_below "the kernel's memory stays (KiB more)" "$(( after > before ? after - before : 0 ))" 2048
kill $monitor
exec 3<&-
udevadm control --start-exec-queue
check_eq "nothing is left" "$(rdmasim list | grep -c '^device')" 1
check_eq "no context is left" "$(rdmasim get s0 contexts)" 0
check "all gone" rdmasim destroy all
check "the module goes" wait_for 5 rdmasim unload
finish
