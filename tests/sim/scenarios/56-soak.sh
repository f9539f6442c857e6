# timeout: 240
# timeout-long: 1200
# kernels: 6.12
# Issue 5: an hour, a hundred times as fast, of random events on 32 devices: what rdmad made of it, and the journal, against
# the reference model of rdmasoak. The seed is printed; the same one does the same things.
. /rig/lib.sh

seed=1 seconds=36 most=8
# What the machine was too slow for once is not sure for the rest of the time.
[[ ! ${RDMAD_TEST_LONG:-} ]] || seed=$(date +%s) seconds=660 most=16
echo "# seed $seed"

udevadm control --stop-exec-queue
rdmasoak config "$RDMAD_TEST_SLOW" | conf soak
check "the module" rdmasim load
start_rdmad
journal_mark
soak() { rdmasoak run "$seed" 32 "$seconds" "$RDMAD_TEST_SLOW" >/rig/expected 2>/rig/actions; }
check "$seconds s of events" soak
rdmactl --json=short status >/rig/status
journal_json _SYSTEMD_UNIT=rdmad.service >/rig/records
tail -n 1 /rig/actions
awk '$1 != "unsure" { n[$1 " " ($1 == "falls" ? "" : $3)] += $1 == "standing" ? 1 : $NF } END { for (k in n) print "#", n[k], k }' /rig/expected | sort

unsure=$(awk '$1 == "unsure" { print $2 }' /rig/expected)
check "the machine was fast enough for most of them" test "$(wc -w <<<"$unsure")" -le "$most"
[[ ! $unsure ]] || echo "# not for: $(xargs <<<"$unsure")"
sure() { if [[ $unsure ]]; then grep -vF "$unsure"; else cat; fi; }
# A storm spares the journal: of those that had one it has fewer records of falls.
stormy=$(awk '$1 == "told" && $3 == "link-flapping" { print $2 }' /rig/expected)
echo "# $(wc -w <<<"$stormy") devices had a storm"
spared() { # reads "told" lines
        awk -v stormy="$stormy" 'BEGIN { n = split(stormy, s); for (i = 1; i <= n; i++) is[s[i]] = 1 }
                !($2 in is && $3 ~ /^(port-down|no-subnet-manager|link-blip)$/)'
}
standing() {
        jq -r '(.Devices[] | .NodeGuid as $g | (.Reasons[], .Ports[].Reasons[]) | "standing \($g) \(.Id)"),
               (.Missing[] | .NodeGuid as $g | .Reasons[] | "standing \($g) \(.Id)")' /rig/status | sort
}
falls() { jq -r '.Devices[] | "falls \(.NodeGuid) \(.Ports[0].FlapCount)"' /rig/status | sort; }
told() {
        jq -r 'select(.RDMAD_EDGE == "raised" or .RDMAD_EDGE == "event") | "told \(.RDMA_GUID) \(.RDMAD_REASON)"' /rig/records |
                sort | uniq -c | awk '{ print $2, $3, $4, $1 }' | spared | sort
}
# What is open for who follows the journal
open() {
        jq -r 'select(.RDMAD_EDGE == "raised" or .RDMAD_EDGE == "cleared") | "\(.RDMAD_EDGE) \(.RDMA_GUID) \(.RDMAD_REASON)"' /rig/records |
                awk '{ n[$2 " " $3] += $1 == "raised" ? 1 : -1 } END { for (k in n) if (n[k]) print "standing", k (n[k] == 1 ? "" : " " n[k]) }' | sort
}
expected() { grep "^$1 " /rig/expected | sort; }
same() { diff <(expected "$1") <("$2" | sure); }
check "the same conditions stand" same standing standing
check "as often down" same falls falls
check "told of each, and of nothing else" same told told
check "whoever follows the journal knows what stands" same standing open
check_eq "the same daemon" "$(systemctl show -P NRestarts rdmad.service)" 0
(( ! _failed )) || { tail -n 300 /rig/actions; }
finish
