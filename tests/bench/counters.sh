# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What a cycle of counters costs (issue 4): system calls and CPU of rdmad's reader, beside reading the same values from
# sysfs one file at a time. Simulated adapters: the commands themselves cost nothing, so this is all overhead. Time there
# is emulated: compare within one run only. Instructions are those of user space, counted by callgrind.
# timeout: 900
# shellcheck source=../vm/lib.sh
. /rig/lib.sh

check "the program is here" command -v bench-counters
names=''
for ((i = 0; i < 30; i++)); do names+=${names:+,}rx_some_requests_$i; done

# how many system calls it is with these arguments
calls() {
        strace -f -c -U calls,name -o /tmp/strace bench-counters "$@" >/dev/null || return 1
        awk '$2 == "total" { print $1 }' /tmp/strace
}

# how many instructions; the parent's are the same for any number of cycles
instructions() {
        valgrind --tool=callgrind --callgrind-out-file=/dev/null bench-counters "$@" 2>&1 >/dev/null |
                awk '/Collected :/ { n += $NF } END { print n + 0 }'
}

# HOW SOURCE PORTS CYCLES DEVICE...: prints the figures of a cycle; sets per_cycle (system calls) and sum (of the values).
# System calls are those of one adapter, times their number (each has a process of its own, which does the same): under
# strace an emulated CPU needs 6 ms for one. Those of the first cycles are taken off.
measure() {
        local how=$1 source=$2 ports=$3 cycles=$4 n_read cpu elapsed executed
        shift 4
        per_cycle=$(( ($(calls "$how" "$source" 3 "$ports" "$1") - $(calls "$how" "$source" 2 "$ports" "$1")) * $# ))
        executed=$(( ($(instructions "$how" "$source" 3 "$ports" "$1") - $(instructions "$how" "$source" 2 "$ports" "$1")) * $# ))
        check "$how, $source: callgrind counts" test "$executed" -gt 0
        read -r n_read cpu elapsed sum < <(bench-counters "$how" "$source" "$cycles" "$ports" "$@")
        check "$how, $source: counters were read" test "$n_read" -gt 0
        printf 'bench:   %-6s %-3s  %6d counters  %6d system calls  %9d instructions  %7d us CPU  %7d us elapsed\n' "$how" "$source" "$n_read" \
                "$per_cycle" "$executed" "$cpu" "$elapsed"
}

# PORTS-OF-A-DEVICE DEVICES CYCLES
round() {
        local ports=$1 cycles=$3 i devices=() files files_sum
        for ((i = 0; i < $2; i++)); do devices+=("c$i"); done
        for i in "${devices[@]}"; do echo "create $i ports=$ports hw_counters=$names"; done | rdmasim -q -
        check_eq "devices" "$(find /sys/class/infiniband -name 'c*' | wc -l)" "$2"
        for ((i = 0; i < 30; i++)); do
                echo "hw_counter c0/1 rx_some_requests_$i $(( i * 1000 + 7 ))"
                echo "counter c1/2 symbol_error $(( i + 40 ))"
        done | rdmasim -q -
        echo "bench: kernel $(uname -r), $(( ports * $2 )) ports on $2 adapters, per cycle:"
        measure files hw "$ports" "$cycles" "${devices[@]}"
        files=$per_cycle files_sum=$sum
        measure reader hw "$ports" "$cycles" "${devices[@]}"
        check_eq "netlink gives the values of the files" "$sum" "$files_sum"
        check_eq "which are those that were set" "$sum" $(( 435 * 1000 + 30 * 7 ))
        check_below "one message per port is less than a tenth of the calls" "$per_cycle" $(( files / 10 + 1 ))
        measure files pma "$ports" "$cycles" "${devices[@]}"
        files=$per_cycle files_sum=$sum
        measure reader pma "$ports" "$cycles" "${devices[@]}"
        check_eq "descriptors that stay open give the values of now" "$sum" "$files_sum"
        check_below "they are a third of the calls" "$per_cycle" $(( files * 4 / 10 ))
        rdmasim -q destroy all
}

round 2 4 50
round 16 16 5
finish
