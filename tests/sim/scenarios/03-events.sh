# kernels: 6.12
# timeout: 240
# Events reach who has a context open, each kind, single and ten thousand at full speed.
. /rig/lib.sh

watch() { # DEVICE: in the background, into watch.DEVICE; $watcher is its process
        stdbuf -oL ibv_asyncwatch -d "$1" >"watch.$1" 2>&1 &
        watcher=$!
        check "$1 is held open" wait_for 10 is_held "$1" 1
}
is_held() { [[ $(rdmasim get "$1" contexts) == "$2" ]]; }
seen() { grep -c event_type "watch.$1"; }
seen_at_least() { local n; n=$(seen "$1"); echo "$n"; (( n >= $2 )); }
saw() { grep -q "IBV_EVENT_$2 " "watch.$1"; }
cd "$(mktemp -d)" || exit 1

check "a device" rdmasim create s0 ports=2
watch s0
for event in PORT_ERR PORT_ACTIVE LID_CHANGE PKEY_CHANGE SM_CHANGE CLIENT_REREGISTER DEVICE_FATAL; do
        check "send $event" rdmasim event s0/2 "$event"
        check "it arrives" wait_for 5 saw s0 "$event"
done
check_eq "seven events" "$(seen s0)" 7
check_eq "the state is as before" "$(port_state s0/2)" ACTIVE
check "with the state" rdmasim event s0/1 PORT_ERR apply=1
check "down" port_is s0/1 DOWN
check_eq "the other port" "$(port_state s0/2)" ACTIVE
check "and back" rdmasim event s0/1 PORT_ACTIVE apply=1
check "up" port_is s0/1 ACTIVE
check "both counted" wait_for 5 seen_at_least s0 9

# the order of a burst is the kernel's affair, the number is not
ms=$(took_ms rdmasim event s0/1 PORT_ERR,PORT_ACTIVE count=10000)
echo "# sending 10000 took $ms ms"
check "ten thousand arrive" wait_for 60 seen_at_least s0 10009
sleep 0.5
check_eq "and not one more" "$(seen s0)" 10009
check_eq "the module agrees" "$(rdmasim get s0/1 events)" 10002
ms=$(took_ms rdmasim event s0/1 SM_CHANGE count=100 rate=100)
check_below "100 at 100/s take a second" 900 "$ms"
check_below "no longer" "$ms" 3000
kill "$watcher"
check "closed" wait_for 5 is_held s0 0

# Ethernet: the netdev makes the events
check "a cable" cable v0 p0
check "an Ethernet device" rdmasim create e0 link_layer=Ethernet netdev=v0
watch e0
pull p0
check "PORT_ERR" wait_for 5 saw e0 PORT_ERR
plug p0
check "PORT_ACTIVE" wait_for 5 saw e0 PORT_ACTIVE
ip addr add 192.0.2.1/24 dev v0
check "GID change" wait_for 5 saw e0 GID_CHANGE
check_eq "link_downed" "$(cat /sys/class/infiniband/e0/ports/1/counters/link_downed)" 1
kill "$watcher"

# a failing query makes ib_core swallow the event
check "sick firmware" rdmasim fault s0/1 query_port errno=EIO
watch s0
rdmasim -q event s0/1 PORT_ERR
rdmasim -q event s0/1 SM_CHANGE
check "SM_CHANGE comes" wait_for 5 saw s0 SM_CHANGE
sleep 0.3
check_eq "PORT_ERR does not" "$(grep -c IBV_EVENT_PORT_ERR watch.s0)" 0
kill "$watcher"
check_match "no such event" "$(rdmasim event s0/1 PORT_ER 2>&1)" "no event is called 'PORT_ER'"
check "all gone" rdmasim destroy all
check "the module goes" wait_for 5 rdmasim unload
finish
