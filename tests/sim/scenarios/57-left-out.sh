# timeout: 120
# kernels: 6.12
# A list that the kernel makes while devices go leaves out some that stay: those are not gone, and what is known of them is kept.
. /rig/lib.sh

udevadm control --stop-exec-queue
create_all() {
        { for ((i = 0; i < 40; i++)); do echo "create g$i node_guid=0x$((1000 + i)) adapter=goes$((i / 8))"; done
          for ((i = 0; i < 40; i++)); do echo "create k$i node_guid=0x$((2000 + i)) adapter=stays$((i / 8))"; done; } | rdmasim -q -
}
check "80 devices" create_all
start_rdmad
all_read() { rdmactl --json=short status | jq -e '[.Devices[].Ports[] | select(.PortState == "active")] | length == '"$1"; }
check "are read" wait_for 20 all_read 80
journal_mark
# Each removal makes rdmad list the devices, and the next one comes while it does.
go() { for ((i = 0; i < 40; i++)); do rdmasim -q destroy "g$i"; nap 0.0$((i % 5)); done; }
check "40 of them go, one by one" go
gone() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r '.MESSAGE | select(test("^[^ ]*: (device is gone|new device)")) | split(":")[0]' | sort; }
told() { local n; n=$(gone | grep -c '^g'); echo "$n"; (( n == 40 )); }
check "that is seen" wait_for 15 told
check "nor is one told to be without events that was going" journal_count_is 0 RDMAD_REASON=async-events-unavailable
check_eq "and no other is missed" "$(gone | grep -v '^g' | xargs)" ""
check "pictures agree" wait_for 5 pictures_agree
finish
