# timeout: 180
# Issue 4, must show 3: 100 renames in 10 s with an open port-down condition: one object, one condition, nothing else told.
. /rig/lib.sh

conf expect <<END
[Port mlx5_*]
Expect=up
[Link rxe0]
Type=rxe
NetDevice=d0
END
cable d0 p0
check "an adapter" rdmasim create mlx5_0 node_guid=0002:c903:00aa:0010
start_rdmad
contexts() { [[ $(rdmasim get mlx5_0 contexts) == "$1" ]]; }
check "its events are heard" wait_for 10 contexts 1
check "ok" wait_for 10 rdmactl check
check "pictures agree" wait_for 5 pictures_agree
journal_mark
check "a fall" rdmasim event mlx5_0/1 PORT_ERR apply=1
pull p0
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=mlx5_0/1 RDMAD_REASON=port-down PRIORITY=3
check "the soft one, too" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down PRIORITY=3

paths() { busctl tree --list org.rdmad1 | grep -E '/(device|port)/' | sort; }
conditions() { rdmactl --json=short status | jq -c '.Devices[].Ports[] | [.FlapCount, .DownSince, (.Reasons[] | [.Id, .Since])]'; }
paths=$(paths) conditions=$(conditions)
check_eq "two objects each" "$(wc -l <<<"$paths")" 4
check_eq "two conditions" "$(wc -l <<<"$conditions")" 2
journal_mark

renames() { # 100 of each device; each is a process, so that ten seconds are what two emulated CPUs can do
        local i start soft status=0
        start=$(now_ms)
        for ((i = 1; i <= 100; i++)); do rdma dev set "${a:-rxe0}" name "soft$i" && a=soft$i || exit 1; done &
        soft=$!
        for ((i = 1; i <= 100; i++)); do
                rdma dev set "${b:-mlx5_0}" name "mlx5_n$((i % 7))x$i" || status=1
                b=mlx5_n$((i % 7))x$i
        done
        wait $soft && (( status == 0 )) || return 1
        echo "$(( $(now_ms) - start )) ms" >/rig/renames
}
a='' b=''
check "100 renames of both" renames
echo "# $(cat /rig/renames)"
check "pictures agree" wait_for 2 pictures_agree
check_eq "the same objects" "$(paths)" "$paths"
check_eq "the same conditions, as old as they were" "$(conditions)" "$conditions"
told() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.RDMAD_OBJECT or (.PRIORITY | tonumber) <= 5) | "\(.PRIORITY) \(.RDMAD_OBJECT) \(.MESSAGE)"'; }
check_eq "nothing was told" "$(told)" ""
check "still heard" contexts 1

# Contexts that are opened while the name changes: what is told then must be true, too. 30 times; 100 with RDMAD_TEST_LONG.
more=${RDMAD_TEST_LONG:+100}
more=${more:-30}
last=mlx5_n$(( (100 + more) % 7 ))x$((100 + more))
reopen() {
        local i pid
        for ((i = 1; i <= more; i++)); do rdma dev set "mlx5_n$(( (i + 99) % 7 ))x$((i + 99))" name "mlx5_n$(( (i + 100) % 7 ))x$((i + 100))" || return 1; done &
        pid=$!
        while kill -0 $pid 2>/dev/null; do systemctl kill -s HUP rdmad.service; nap 0.2; done
        wait $pid
}
check "$more more, with reloads between" reopen
check "heard again" wait_for 5 contexts 1
check "pictures agree" wait_for 2 pictures_agree
# (The reloads have records of their own.)
alerts() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.RDMAD_REASON != "config" and .RDMAD_ACTION != "reload") | select(.RDMAD_OBJECT or (.PRIORITY | tonumber) <= 4) | "\(.PRIORITY) \(.RDMAD_OBJECT) \(.MESSAGE)"'; }
check_eq "nothing was told" "$(alerts)" ""
journal_mark
check "back" rdmasim event mlx5_0/1 PORT_ACTIVE apply=1
check "told under the new name" wait_for 5 journal_count_is 1 "RDMAD_OBJECT=$last/1" RDMAD_REASON=port-down PRIORITY=5
plug p0
check "and of the soft one" wait_for 5 journal_count_is 1 RDMAD_OBJECT=soft100/1 RDMAD_REASON=port-down PRIORITY=5
finish
