# timeout: 120
# kernels: 6.12
# A GID that has another index than before (whoever was told the old one uses another address now) is in the inventory.
. /rig/lib.sh

check "a cable" cable d0 p0
ip -batch - <<END
addr add 192.0.2.1/24 dev d0
addr add 192.0.2.2/24 dev d0
addr add 192.0.2.3/24 dev d0
END
check "an adapter on it" rdmasim create e0 link_layer=Ethernet netdev=d0 node_guid=0002:c903:00aa:0010
index_of() { # ADDRESS, RoCE v2
        local want i gid type part
        IFS=. read -r -a part <<<"$1"
        printf -v want '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${part[@]}"
        for i in {0..15}; do
                read -r gid <"/sys/class/infiniband/e0/ports/1/gids/$i"
                [[ $gid == "$want" ]] || continue
                read -r type <"/sys/class/infiniband/e0/ports/1/gid_attrs/types/$i"
                if [[ $type == "RoCE v2" ]]; then echo "$i"; return; fi
        done
        return 1
}
check "the third address has GIDs" wait_for 5 index_of 192.0.2.3
start_rdmad
ok() { rdmactl check && [[ $(rdmactl --json=short status) == *e0* ]]; }
check "ok" wait_for 10 ok
sleep 2 # the tables are read
journal_mark
before=$(index_of 192.0.2.3)
printf 'addr del 192.0.2.%s/24 dev d0\n' 2 3 | ip -batch -
echo 'addr add 192.0.2.3/24 dev d0' | ip -batch -
moved() { local i; i=$(index_of 192.0.2.3) && [[ $i != "$before" ]]; }
check "it is at another index" wait_for 5 moved
after=$(index_of 192.0.2.3)
fact="RDMAD_FACT=gid-index"
check "each of its two GIDs is told" wait_for 10 journal_count_is 2 $fact RDMAD_OBJECT=e0/1 PRIORITY=5
check_match "both indexes and the address" "$(journal_field MESSAGE $fact)" "e0/1: GID 192.0.2.3 \(RoCE v2\) has index $after, was $before"
check "in fields, too" journal_count_is 1 $fact RDMAD_BEFORE="$before" RDMAD_FOUND="$after" INTERFACE=d0

journal_mark
echo 'addr add 192.0.2.9/24 dev d0' | ip -batch -
check "a new address" wait_for 5 index_of 192.0.2.9
sleep 2
check_eq "is no move" "$(journal_records $fact)" 0
finish
