# kernels: 6.12
# timeout: 180
# Counters: widths and saturation, errors one by one, moving ones, resets; the same in sysfs and in RDMA netlink.
. /rig/lib.sh

c() { cat "/sys/class/infiniband/$1/ports/1/counters/$2" 2>&1; }
names() { (cd "/sys/class/infiniband/$1/ports/1/$2" && printf '%s\n' *); }
hw() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2" 2>&1; }
netlink() { rdma -j statistic show link "$1/1" | jq -r --arg n "$2" '.[0][$n]'; }

# the true widths
check "with extended counters" rdmasim create s0
while read -r name max; do
        rdmasim -q counter s0/1 "$name" "$((max - 1))"
        check_eq "$name: one below the maximum" "$(c s0 "$name")" "$((max - 1))"
        rdmasim -q counter s0/1 "$name" +5
        check_eq "$name sticks" "$(c s0 "$name")" "$max"
done <<'END'
symbol_error 65535
link_error_recovery 255
link_downed 255
port_rcv_errors 65535
port_rcv_remote_physical_errors 65535
port_rcv_switch_relay_errors 65535
port_xmit_discards 65535
port_xmit_constraint_errors 255
port_rcv_constraint_errors 255
local_link_integrity_errors 15
excessive_buffer_overrun_errors 15
VL15_dropped 65535
port_xmit_wait 4294967295
END
for name in port_{xmit,rcv}_{data,packets} {unicast,multicast}_{xmit,rcv}_packets; do
        rdmasim -q counter s0/1 "$name" 0x123456789abcdef
        check_eq "$name: 64 bits" "$(c s0 "$name")" 81985529216486895
done
check "reset" rdmasim reset s0/1
check_eq "zero" "$(cat /sys/class/infiniband/s0/ports/1/counters/* | sort -u)" 0

# other layouts
check "without the extended ones" rdmasim create s1 counters=basic
rdmasim -q counter s1/1 port_rcv_data 5000000000
check_eq "data sticks at 32 bits" "$(c s1 port_rcv_data)" 4294967295
check_status 2 "no unicast counters" ls /sys/class/infiniband/s1/ports/1/counters/unicast_rcv_packets
check "the other extended set" rdmasim create s2 counters=noietf
check_eq "21 or 17 files" "$(names s0 counters | wc -l) $(names s2 counters | wc -l)" "21 17"
check "none" rdmasim create s3 counters=none hw_counters=none
check_status 2 "no directory counters" ls /sys/class/infiniband/s3/ports/1/counters
check_status 2 "no directory hw_counters" ls /sys/class/infiniband/s3/ports/1/hw_counters

# errors
check "all of PortCounters fails" rdmasim counter s0/1 symbol_error error=EIO
check_match "as MADs do" "$(c s0 link_downed)" "Invalid argument"
check_eq "the extended ones do not" "$(c s0 port_rcv_data)" 0
check "healed" rdmasim counter s0/1 symbol_error error=none
check_eq "reads again" "$(c s0 symbol_error)" 0
check "files of the driver's own" rdmasim create s4 counters=sysfs
check "an errno for one" rdmasim counter s4/1 symbol_error error=ETIMEDOUT
check "a text for one" rdmasim counter s4/1 VL15_dropped error=no-pma
check_match "the errno" "$(c s4 symbol_error)" "Connection timed out"
check_eq "the text" "$(c s4 VL15_dropped)" "N/A (no PMA)"
check_eq "the neighbour" "$(c s4 link_downed)" 0

# hw_counters
check "odd names" rdmasim create s5 hw_counters=SwLinkUp%2C32,RNR%20sent,down,up
check_eq "the names" "$(names s5 hw_counters | LC_ALL=C sort | paste -sd:)" "RNR sent:SwLinkUp,32:down:lifespan:up"
check "a value" rdmasim hw_counter s5/1 "RNR sent" 17
check_eq "in sysfs" "$(hw s5 'RNR sent')" 17
sleep 0.1
check_eq "by netlink" "$(netlink s5 'RNR sent')" 17
check "64 bits" rdmasim hw_counter s5/1 SwLinkUp,32 18446744073709551615
sleep 0.1
check_eq "the maximum" "$(hw s5 SwLinkUp,32)" 18446744073709551615
check "counting down" rdmasim hw_counter s5/1 down 1000000 per_sec=-1000
check "counting up" rdmasim hw_counter s5/1 up per_sec=1000
sleep 1
check_below "less" "$(hw s5 down)" 999500
check_below "more" 500 "$(hw s5 up)"
check "down to zero" rdmasim hw_counter s5/1 down 10
sleep 0.1
check_eq "no further" "$(hw s5 down)" 0
check "an errno for one" rdmasim hw_counter s5/1 up error=ENODATA
check_match "the errno" "$(sleep 0.1; hw s5 up)" "No data available"
check_eq "the neighbour" "$(hw s5 'RNR sent')" 17
check_match "at once, though cached" "$(hw s5 up)" "No data available"
check "reset" rdmasim reset s5
sleep 0.1
check_eq "zero" "$(hw s5 'RNR sent')" 0
check "counters of the device" rdmasim create s6 hw_on_device=1 hw_counters=cmds_err,submitted_cmds
check "a value" rdmasim hw_counter s6 cmds_err 3
sleep 0.1
check_eq "in the device's directory" "$(cat /sys/class/infiniband/s6/hw_counters/cmds_err)" 3
check_match "no such counter" "$(rdmasim hw_counter s6 nix 3 2>&1)" "ENOENT.*no counter is called 'nix'"

# optional ones
check "optional counters" rdmasim create s7 "hw_counters=a,?b,?c"
check_match "can be switched" "$(rdma statistic mode supported link s7/1)" "b,c"
check_eq "are off" "$(netlink s7 b)" null
check "one goes on" rdma statistic set link s7/1 optional-counters c
check "it counts" rdmasim hw_counter s7/1 c 5
sleep 0.1
check_eq "and is seen" "$(netlink s7 c)" 5
check_eq "the other one is not" "$(netlink s7 b)" null
check "switching fails" rdmasim fault s7/1 hw_counters errno=EIO times=1
check_status 1 "as it was told to" rdma statistic unset link s7/1 optional-counters
check "off" rdma statistic unset link s7/1 optional-counters
check_eq "is off" "$(netlink s7 c)" null

# link_downed counts by itself with the state
check "a link goes down" rdmasim event s0/1 PORT_ERR apply=1
check_eq "counted" "$(c s0 link_downed)" 1
sleep 0.1
check_eq "twice" "$(hw s0 link_downed)" 1
check_eq "netlink agrees" "$(netlink s0 link_downed)" 1
check "all gone" rdmasim destroy all
check "the module goes" rdmasim unload
finish
