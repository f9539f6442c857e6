# timeout: 180
# kernels: 6.12
# Counters as DescribeCounters() tells them: values, what is odd about them, and what cannot be read.
. /rig/lib.sh

conf fast <<END
[Daemon]
CounterSec=1s
SlowCounterSec=1s
END
many=''
for ((i = 0; i < 200; i++)); do many+=${many:+,}rx_some_requests_$i; done
check "an adapter" rdmasim create m0
check "one with files of its own and odd names" rdmasim create s0 counters=sysfs 'hw_counters=SwLinkUp%2C32,RNR%20sent,active_qps'
check "one file has no PMA behind it" rdmasim counter s0/1 link_downed error=no-pma
check "one with counters of the device" rdmasim create e0 counters=none hw_on_device=1 hw_counters=cmds_err,submitted_cmds
check "one with more than a message holds" rdmasim create b0 counters=none hw_counters="$many"
check "the last of them" rdmasim hw_counter b0/1 rx_some_requests_199 4711
check "old errors" rdmasim counter m0/1 symbol_error 40
start_rdmad

# FILTER [ARGUMENT...]: what jq makes of it (one process: each takes a third of a second here)
describe() { busctl --json=short call org.rdmad1 /org/rdmad1 org.rdmad1.Manager DescribeCounters | jq -c "${@:2}" ".data[0] | fromjson | $1"; }
# OBJECT SOURCE NAME KEY VALUE
counter_is() {
        [[ $(describe '.Ports[] | select(.Object == $o).Counters[] | select(.Source == $s and .Name == $n)[$k]' \
                --arg o "$1" --arg s "$2" --arg n "$3" --arg k "$4") == "$5" ]]
}
# OBJECT KEY VALUE
object_is() { [[ $(describe '.Ports[] | select(.Object == $o)[$k]' --arg o "$1" --arg k "$2") == "$3" ]]; }

# of the InfiniBand specification
check "the first reading" wait_for 20 counter_is m0/1 pma symbol_error Value 40
check "is a baseline" counter_is m0/1 pma symbol_error Delta 0
check "width" counter_is m0/1 pma symbol_error Width 16
check "data has 64 bits here" counter_is m0/1 pma port_rcv_data Width 64
check "not saturated" counter_is m0/1 pma symbol_error Saturated false
check "errors" rdmasim counter m0/1 symbol_error +5
check "are counted" wait_for 10 counter_is m0/1 pma symbol_error Delta 5
check "more than it can hold" rdmasim counter m0/1 symbol_error +70000
check "saturated" wait_for 10 counter_is m0/1 pma symbol_error Saturated true
check "somebody resets it" rdmasim reset m0
check "a new baseline" wait_for 10 counter_is m0/1 pma symbol_error Resets 1
check "no difference" counter_is m0/1 pma symbol_error Delta 0
check "not saturated any more" counter_is m0/1 pma symbol_error Saturated false

# of the driver
check "a driver's counter" rdmasim hw_counter m0/1 local_ack_timeout_err 7
check "through netlink" wait_for 10 counter_is m0/1 hw local_ack_timeout_err Value 7
check "odd names" wait_for 10 counter_is s0/1 hw 'SwLinkUp,32' SafeName '"SwLinkUp_32"'
check "blanks" counter_is s0/1 hw 'RNR sent' SafeName '"RNR_sent"'
check "a gauge has no difference" counter_is s0/1 hw active_qps Delta null
check "of the device" wait_for 10 counter_is e0 hw cmds_err Value 0
check "and they rise" rdmasim hw_counter e0 cmds_err 3
check "told" wait_for 10 counter_is e0 hw cmds_err Delta 3
check "of no port" object_is e0/1 HwError '"the driver has none"'
check "more than netlink's message: from sysfs" wait_for 10 counter_is b0/1 hw rx_some_requests_199 Value 4711
check_eq "all of them" "$(describe '[.Ports[] | select(.Object == "b0/1").Counters[]] | length')" 200

# what cannot be read
check "no PMA is not 0" wait_for 10 counter_is s0/1 pma link_downed Value null
check "and hides nothing" counter_is s0/1 pma symbol_error Value 0
check "no directory" object_is b0/1 PmaError '"the driver has none"'
check "all commands fail" rdmasim fault m0/1 counters errno=EIO
check "the last value is kept, as stale" wait_for 10 counter_is m0/1 pma symbol_error Stale true
check "the reason" object_is m0/1 PmaError '"Invalid argument"'
check "the other source is not stale" counter_is m0/1 hw local_ack_timeout_err Stale false
before=$(rdmasim get m0 n_counters)
sleep 3
check_eq "it is not asked each second" "$(rdmasim get m0 n_counters)" "$before"
finish
