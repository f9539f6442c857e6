# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The guest's library. A scenario starts with ". /rig/lib.sh", checks things, and ends with "finish".
# What cannot be checked counts as failed; so does a scenario that ends early.
set -u

_checks=0 _failed=0 _finished=

# --- checks --------------------------------------------------------------------------------------------------------

pass() { # DESCRIPTION
        _checks=$((_checks + 1))
        echo "ok $_checks - $1"
}

fail() { # DESCRIPTION [WHAT WAS FOUND]
        _checks=$((_checks + 1)) _failed=$((_failed + 1))
        echo "not ok $_checks - $1"
        [[ -z ${2:-} ]] || printf '#   %s\n' "${2//$'\n'/$'\n#   '}"
}

# check DESCRIPTION COMMAND...: the command must exit with 0. A function of the scenario will do; for a pipe write one.
check() { check_status 0 "$@"; }

# check_status STATUS DESCRIPTION COMMAND...: must exit with just that status.
check_status() {
        local want=$1 description=$2 output status=0
        shift 2
        output=$("$@" 2>&1 </dev/null) || status=$?
        if (( status == want )) && (( status != 127 && status != 126 )); then
                pass "$description"
        else
                fail "$description" "$(printf '%s\n' "\$ $*" "${output:-(no output)}" "exit status $status, wanted $want")"
        fi
}

# check_eq DESCRIPTION FOUND WANTED
check_eq() {
        if (( $# != 3 )); then
                fail "$1" "check_eq needs 3 arguments, got $#: $*"
        elif [[ $2 == "$3" ]]; then
                pass "$1"
        else
                fail "$1" "$(printf '%s\n' "found:  $2" "wanted: $3")"
        fi
}

# check_match DESCRIPTION TEXT PATTERN: an extended regular expression somewhere in the text
check_match() {
        if (( $# != 3 )) || [[ -z $3 ]]; then
                fail "$1" "check_match needs a text and a pattern"
        elif [[ $2 =~ $3 ]]; then
                pass "$1"
        else
                fail "$1" "$(printf '%s\n' "found:     $2" "should match: $3")"
        fi
}

# check_below DESCRIPTION FOUND LIMIT: numbers; the limit is scaled by RDMAD_TEST_SLOW (so for durations)
check_below() {
        local limit
        if ! [[ ${2:-} =~ ^[0-9]+$ && ${3:-} =~ ^[0-9]+$ ]]; then
                fail "$1" "not numbers: '${2:-}', '${3:-}'"
                return
        fi
        limit=$(( $3 * RDMAD_TEST_SLOW ))
        if (( $2 < limit )); then pass "$1 ($2 < $limit)"; else fail "$1" "found $2, wanted less than $limit"; fi
}

# finish: the last line of a scenario
finish() {
        _finished=1
        if (( _checks == 0 )); then
                echo "not ok - no check was made"
                exit 1
        fi
        echo "1..$_checks"
        mkdir -p /rig/out
        : >/rig/out/finished
        (( _failed == 0 )) || { echo "# $_failed of $_checks failed"; exit 1; }
        exit 0
}

_on_exit() {
        local status=$?
        [[ ! $_finished ]] || exit "$status"
        echo "not ok - ended early after $_checks checks (exit status $status)"
        exit 1
}
trap _on_exit EXIT
trap 'exit 143' TERM

# --- time ----------------------------------------------------------------------------------------------------------

# Each process that is started costs an emulated CPU 50 ms and more (jq: 350): what is asked again and again is
# written without.
now_ms() { echo $(( ${EPOCHREALTIME/[.,]/} / 1000 )); }

# nap SECONDS: sleep without a process
exec {_nap_fd}<> <(:)
nap() { read -r -t "$1" -u "$_nap_fd" || :; }

# _to_ms SECONDS, perhaps with a fraction: into $_ms
_to_ms() {
        local fraction=
        [[ $1 =~ ^[0-9]*[.]?[0-9]*$ && $1 ]] || { echo "not a number of seconds: '$1'" >&2; return 1; }
        [[ $1 != *.* ]] || fraction=${1#*.}
        fraction=${fraction}000 _ms=${1%%.*}
        _ms=$(( 10#${_ms:-0} * 1000 + 10#${fraction:0:3} ))
}

# wait_for SECONDS COMMAND...: until the command succeeds, asked every 50 ms, or half of the time if asking takes longer:
# else what is waited for would be made late by the asking. 0 when it did, 1 at the end of the (scaled) time, with
# the last output printed. (Its variables are seen by the command: hence their names.)
wait_for() {
        local seconds=$1 end output status _asked _now _pause _ms
        _to_ms "$seconds" || return
        shift
        end=$(( ${EPOCHREALTIME/[.,]/} / 1000 + _ms * RDMAD_TEST_SLOW ))
        while :; do
                status=0 _asked=${EPOCHREALTIME/[.,]/}
                output=$("$@" 2>&1 </dev/null) || status=$?
                (( status != 0 )) || return 0
                _now=${EPOCHREALTIME/[.,]/}
                (( _now / 1000 < end )) || break
                (( (_pause = _now - _asked) <= 500000 )) || _pause=500000
                (( _pause >= 50000 )) || _pause=50000
                printf -v _pause 0.%06d "$_pause"
                nap "$_pause"
        done
        printf '%s\n' "waited $seconds s x $RDMAD_TEST_SLOW in vain for: $*" "last: ${output:-(no output)} (exit status $status)"
        return 1
}

# holds SECONDS COMMAND...: the command succeeds now and all through the time; for "stays as it is".
holds() {
        local seconds=$1 end output status _ms
        _to_ms "$seconds" || return
        shift
        end=$(( ${EPOCHREALTIME/[.,]/} / 1000 + _ms ))
        while :; do
                status=0
                output=$("$@" 2>&1 </dev/null) || status=$?
                if (( status != 0 )); then
                        printf '%s\n' "did not hold for $seconds s: $*" "${output:-(no output)} (exit status $status)"
                        return 1
                fi
                (( ${EPOCHREALTIME/[.,]/} / 1000 < end )) || return 0
                nap 0.05
        done
}

# took_ms COMMAND...: prints the milliseconds it took; its exit status; its output goes to stderr
took_ms() {
        local start status=0
        start=$(now_ms)
        "$@" >&2 || status=$?
        echo $(( $(now_ms) - start ))
        return $status
}

# --- cables and RDMA links -----------------------------------------------------------------------------------------

# cable NAME PEER: two netdevs with a cable between them, up, carrier there. "pull PEER" and "plug PEER".
cable() {
        ip link add "$1" type veth peer name "$2" && ip link set "$1" up && ip link set "$2" up &&
                wait_for 5 _carrier "$1"
}
_carrier() { local c=; read -r c <"/sys/class/net/$1/carrier" && [[ $c == 1 ]]; }
pull() { ip link set "$1" down; }
plug() { ip link set "$1" up; }

# port_state DEVICE/PORT: the kernel's word, as "rdma link" has it (ACTIVE, DOWN, ...); fails if there is no such port
port_state() {
        local line
        line=$(rdma link show "$1") || return 1
        [[ $line =~ [[:space:]]state[[:space:]]([A-Z_]+) ]] || { echo "no state in: $line" >&2; return 1; }
        echo "${BASH_REMATCH[1]}"
}
port_is() { local s; s=$(port_state "$1") && echo "$s" && [[ $s == "$2" ]]; }

# links N [LINE...]: soft-RoCE links rxe0 to rxe(N-1), each at the end dI of a cable of its own, in the configuration's
# file "link", with these lines first
links() {
        local i n=$1
        shift
        for (( i = 0; i < n; i++ )); do printf 'link add d%d type veth peer name p%d\nlink set d%d up\nlink set p%d up\n' $i $i $i $i; done | ip -batch - || return
        {
                (( ! $# )) || printf '%s\n' "$@"
                for (( i = 0; i < n; i++ )); do printf '[Link rxe%d]\nType=rxe\nNetDevice=d%d\n' $i $i; done
        } | conf link
        for (( i = 0; i < n; i++ )); do wait_for 5 _carrier d$i || return; done
}

module_loaded() { [[ -d /sys/module/$1 ]]; }

# --- rdmad ---------------------------------------------------------------------------------------------------------

# conf NAME <<END: a drop-in
conf() {
        mkdir -p /etc/rdmad/rdmad.conf.d
        cat >"/etc/rdmad/rdmad.conf.d/$1.conf"
}

# start_rdmad: a check of its own: the unit is up
start_rdmad() {
        local output
        if output=$(systemctl start rdmad.service 2>&1) && output=$(systemctl is-active rdmad.service 2>&1); then
                pass "rdmad starts"
        else
                fail "rdmad starts" "$(printf '%s\n' "$output"; systemctl status --no-pager -l -n 30 rdmad.service rdmad-setup.service rdmad-setup.socket 2>&1)"
                return 1
        fi
}

rdmad_pid() { systemctl show -P MainPID rdmad.service; }

rdmad_procs() { pgrep -c '^rdmad' || :; }

# _rdmad_pids: all processes of the unit into $_pids
_rdmad_pids() { mapfile -t _pids </sys/fs/cgroup/system.slice/rdmad.service/cgroup.procs && (( ${#_pids[@]} )); }

# rdmad_fds: open descriptors of the daemon and its workers together
rdmad_fds() {
        local _pids p n=0 f
        _rdmad_pids || return
        for p in "${_pids[@]}"; do
                f=("/proc/$p/fd/"*)
                n=$((n + ${#f[@]}))
        done
        echo "$n"
}

# rdmad_pss: their memory in KiB, shared pages by share
rdmad_pss() {
        local _pids p n=0 key value _
        _rdmad_pids || return
        for p in "${_pids[@]}"; do
                while read -r key value _; do [[ $key != Pss: ]] || n=$((n + value)); done <"/proc/$p/smaps_rollup"
        done
        echo "$n"
}

rdmad_signal() { # SIGNAL: to all of them
        local _pids
        _rdmad_pids && kill "-$1" "${_pids[@]}"
}

# records_per_object [FIELD=VALUE...]: "N OBJECT" of what rdmad told in the journal, most first
records_per_object() { journal_json _SYSTEMD_UNIT=rdmad.service "$@" | jq -r '.RDMAD_OBJECT // empty' | sort | uniq -c | sort -rn; }

# --- the kernel's picture and rdmad's ------------------------------------------------------------------------------

# One line for each device and each port, in words that both know: what "rdma -j dev" and "rdma -j link" have in common
# with "rdmactl --json". A value that there is not is "-".
kernel_picture() { { rdma -j dev && rdma -j link; } | _kernel_picture; }
_kernel_picture() {
        jq -rs '
                def v: if . == null or . == "" or . == "0000:0000:0000:0000" then "-" else tostring end;
                add | .[] | if has("port") then
                        ["port", .ifindex, .ifname, .port, (.state | ascii_downcase),
                         ({LINK_UP: "linkup", POLLING: "polling", DISABLED: "disabled", SLEEP: "sleep", LINK_ERROR_RECOVER: "recovery",
                           PORT_CONFIGURATION_TRAINING: "training", PHY_TEST: "test"}[.physical_state] // .physical_state),
                         .lid, .sm_lid, .netdev, .netdev_index]
                else ["dev", .ifindex, .ifname, .node_guid, .sys_image_guid, .fw] end | map(v) | join(" ")' | sort
}
# rdmad_picture [FILE]: out of what rdmactl says now, or said when FILE was written
# shellcheck disable=SC2120 # a scenario may give one
rdmad_picture() {
        { if [[ ${1:-} ]]; then cat "$1"; else rdmactl --json=short status; fi; } | jq -r '
                def v: if . == null or . == "" then "-" else tostring end;
                .Devices[] | . as $d |
                (["dev", .Index, .Name, .NodeGuid, .SysImageGuid, .FirmwareVersion],
                 (.Ports[] | ["port", $d.Index, $d.Name, .Number, .PortState, .PhysState, .Lid, .SmLid, .NetDevice, .NetDeviceIndex])) |
                map(v) | join(" ")' | sort
}
# pictures_agree [KERNEL_PICTURE]: the same in every common field; else what differs (< kernel, > rdmad)
pictures_agree() {
        local kernel=${1:-} rdmad
        [[ $kernel ]] || kernel=$(kernel_picture) || return
        # shellcheck disable=SC2119
        rdmad=$(rdmad_picture) || return
        [[ $kernel ]] || { echo "no device to compare"; return 1; }
        diff <(echo "$kernel") <(echo "$rdmad")
}

# --- journal -------------------------------------------------------------------------------------------------------

# Records before RIG_SINCE (microseconds since the epoch) do not count: those of a frozen guest's boot, or, after
# journal_mark, all so far. Not journalctl --after-cursor: with a match systemd 252 skips the first record after it.
journal_mark() {
        journalctl --sync
        RIG_SINCE=${EPOCHREALTIME/[.,]/}
}
_journal() { journalctl --sync && journalctl -q --no-pager --since="@$(( ${RIG_SINCE:-0} / 1000000 )).$(printf %06d $(( ${RIG_SINCE:-0} % 1000000 )))" "$@"; }

# journal_json FIELD=VALUE...: one JSON object a line, since the scenario's start or the last journal_mark
journal_json() { _journal -o json "$@"; }

# journal_records FIELD=VALUE...: how many there are. Prints nothing, and fails, if the journal cannot be read.
journal_records() {
        local records
        records=$(_journal -o export --output-fields=_BOOT_ID "$@") || return 1
        records=$'\n'$records
        # As many as there are lines that begin with the cursor.
        records=${records//$'\n'__CURSOR=/$'\001'}
        records=${records//[!$'\001']/}
        echo ${#records}
}

# journal_field FIELD [FIELD=VALUE...]: that field of each record, one a line
journal_field() {
        local field=$1 json
        shift
        json=$(journal_json "$@") || return 1
        jq -r --arg f "$field" '.[$f] // "(none)"' <<<"$json"
}

# journal_count_is N FIELD=VALUE...: for wait_for and check
journal_count_is() {
        local n
        n=$(journal_records "${@:2}") && echo "$n records" && [[ $n == "$1" ]]
}
