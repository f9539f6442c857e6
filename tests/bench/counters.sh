# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What a cycle of counters costs (issue 4): system calls and CPU of rdmad's reader, beside reading the same values from
# sysfs one file at a time. Simulated adapters: the commands themselves cost nothing, so this is all overhead. Time there
# is emulated: compare within one run only.
# timeout: 600
# shellcheck source=../vm/lib.sh
. /rig/lib.sh

check "the program is here" command -v bench-counters
cycles=20
names=''
for ((i = 0; i < 30; i++)); do names+=${names:+,}rx_some_requests_$i; done

# how many system calls it is with these arguments
calls() {
        strace -f -c -U calls,name -o /tmp/strace bench-counters "$@" >/dev/null || return 1
        awk '$2 == "total" { print $1 }' /tmp/strace
}

# HOW SOURCE PORTS DEVICE...: what starting and the first cycle cost is not counted, by the difference of two runs
measure() {
        local how=$1 source=$2 ports=$3 few many read1 cpu1 wall1 read2 cpu2 wall2 _
        shift 3
        few=$(calls "$how" "$source" 1 "$ports" "$@")
        many=$(calls "$how" "$source" $((cycles + 1)) "$ports" "$@")
        read -r read1 cpu1 wall1 _ < <(bench-counters "$how" "$source" 1 "$ports" "$@")
        read -r read2 cpu2 wall2 sum < <(bench-counters "$how" "$source" $((cycles + 1)) "$ports" "$@")
        check "$how, $source: counters were read" test "$read2" -gt 0
        check_eq "$how, $source: the same number of counters in each cycle" "$read1" "$read2"
        printf 'bench:   %-6s %-3s  %6d counters  %6d system calls  %7d us CPU  %7d us elapsed\n' "$how" "$source" "$read2" \
                $(( (many - few) / cycles )) \
                $(( (cpu2 * (cycles + 1) - cpu1) / cycles )) $(( (wall2 * (cycles + 1) - wall1) / cycles ))
        last=$(( (many - few) / cycles ))
}

# PORTS-OF-A-DEVICE DEVICES
round() {
        local ports=$1 i devices=() files files_sum
        for ((i = 0; i < $2; i++)); do devices+=("c$i"); done
        for i in "${devices[@]}"; do echo "create $i ports=$ports hw_counters=$names"; done | rdmasim -q -
        check_eq "devices" "$(find /sys/class/infiniband -name 'c*' | wc -l)" "$2"
        for ((i = 0; i < 30; i++)); do
                echo "hw_counter c0/1 rx_some_requests_$i $(( i * 1000 + 7 ))"
                echo "counter c1/2 symbol_error $(( i + 40 ))"
        done | rdmasim -q -
        echo "bench: kernel $(uname -r), $(( ports * $2 )) ports on $2 adapters, per cycle:"
        measure files hw "$ports" "${devices[@]}"
        files=$last files_sum=$sum
        measure reader hw "$ports" "${devices[@]}"
        check_eq "netlink gives the values of the files" "$sum" "$files_sum"
        check_eq "which are those that were set" "$sum" $(( 435 * 1000 + 30 * 7 ))
        check_below "one message per port is less than a tenth of the calls" "$last" $(( files / 10 + 1 ))
        measure files pma "$ports" "${devices[@]}"
        files=$last files_sum=$sum
        measure reader pma "$ports" "${devices[@]}"
        check_eq "descriptors that stay open give the values of now" "$sum" "$files_sum"
        check_below "they are a third of the calls" "$last" $(( files * 4 / 10 ))
        rdmasim -q destroy all
}

round 2 4
round 16 16
finish
