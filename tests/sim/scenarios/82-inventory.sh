# timeout: 180
# kernels: 6.12
# What an adapter is: changes are told once, under our eyes and after a "reboot"; what only looks like one is not.
. /rig/lib.sh

a=0002:c903:00aa:0010 b=0002:c903:00aa:0020 c=0002:c903:00aa:0030 d=0002:c903:00aa:0040
kept=/var/lib/rdmad/inventory.json now=/run/rdmad/inventory.json
conf inventory <<END
[Daemon]
ProbeSec=1s
[Health]
MissingDelaySec=1s
END
inventory() { journal_count_is "$1" RDMAD_REASON=inventory "${@:2}"; }
# The only inventory records since the mark are these: facts, sorted
told() { local f; f=$(journal_field RDMAD_FACT RDMAD_REASON=inventory | sort | xargs); echo "$f"; [[ $f == "$1" ]]; }
message() { journal_field MESSAGE RDMAD_REASON=inventory "RDMAD_FACT=$1"; }
# That something is no change is seen with the next one that is: rdmad looks at all adapters at once, so what it had to
# say of what was before is said by then, and only "told" with that one alone holds.
holds_guid() { grep -q "\"NodeGuid\": \"$2\"" "$1"; }
settle() { nap $(( 2 * RDMAD_TEST_SLOW )); } # MissingDelaySec has passed

check "tmpfiles makes the directory" systemd-tmpfiles --create rdmad.conf
check_eq "which is rdmad's" "$(stat -c '%U %a' /var/lib/rdmad)" "rdmad 755"
check "an adapter in a slot" rdmasim create ma node_guid=$a pci=0000:00:04.0
check "another" rdmasim create mb node_guid=$b adapter=card1 ports=2 speed=HDR
start_rdmad
check "the picture is there" wait_for 20 holds_guid $now $b
check "and the copy" wait_for 5 holds_guid $kept $b
check "of both adapters" holds_guid $kept $a
check_eq "readable by all" "$(stat -c '%U %a' $kept)" "rdmad 644"
if [[ -e /sys/class/dmi/id/product_uuid ]]; then
        check_eq "it names the board" "$(jq -r .Board $kept)" "$(</sys/class/dmi/id/product_uuid)"
else
        check_eq "no board to name" "$(jq -r .Board $kept)" null
fi
check_match "and the machine, not by machine-id" "$(jq -r .Machine $kept)" '^[0-9a-f]{32}$'

# --- under our eyes ---

check "new firmware" rdmasim set mb fw=28.42.1000
check "is told" wait_for 15 inventory 1 RDMAD_FACT=firmware PRIORITY=5 RDMA_GUID=$b RDMAD_OBJECT=mb
check "what was there at first was no change" told firmware
check_eq "old and new" "$(message firmware)" "mb: firmware 28.42.1000, was 28.41.1000"
shown() { grep -qF "\"Message\": \"$1\"" /run/rdmad/state.json; }
check "in the last events, too" wait_for 5 shown "mb: firmware 28.42.1000, was 28.41.1000"
check "it is nothing for health" rdmactl check
journal_mark
check "a better rate" rdmasim port mb/1 speed=NDR
check "is told" wait_for 15 inventory 1 RDMAD_FACT=best-rate RDMAD_OBJECT=mb/1
check_match "with both" "$(message best-rate)" '^mb/1: best rate 400 Gb/s \(4X NDR\), was 200 Gb/s \(4X HDR\)$'

journal_mark
check "a worse one" rdmasim port mb/1 speed=HDR
name=$(rdmasim get mb name)
for i in {1..8}; do
        rdma dev set "$name" name "fast$i"
        name=fast$i
done
check "8 renames" test -e /sys/class/infiniband/fast8
check "its driver is loaded anew" rdmasim destroy mb
check "and it is back under another name" rdmasim create mx node_guid=$b adapter=card1 ports=2 speed=HDR fw=28.42.1000
check "the other adapter goes" rdmasim destroy ma
check "and one with another GUID is in its slot" rdmasim create mc node_guid=$c pci=0000:00:04.0 fw=30.1.1000 board=OTHER
check "is replaced" wait_for 15 inventory 1 RDMAD_FACT=adapter-replaced RDMA_GUID=$c
settle
check "which is one change, and the only one: a worse rate, other names, a reload are none" told adapter-replaced
check_match "naming both" "$(message adapter-replaced)" "GUID $c, PCI 0000:00:04.0, firmware 30.1.1000, was GUID $a\$"

# --- from one run to the next ---

is_up() { [[ $(systemctl is-active rdmad) == active && $(rdmad_pid) != "$pid" ]]; }
journal_mark
for i in 1 2; do
        pid=$(rdmad_pid)
        systemctl kill -s KILL rdmad
        check "killed, and up again" wait_for 20 is_up
done

is_down() { [[ $(systemctl is-active rdmad) == inactive ]]; }
power_off() {
        systemctl kill rdmad
        check "rdmad stops" wait_for 10 is_down
        rm -rf /run/rdmad/*
}
events_say() { journalctl --sync; rdmactl --no-pager events --kind=inventory | grep -F "$1"; }
power_off
check "the copy has what is here now" holds_guid $kept $c
check "then the firmware changed" rdmasim set mx fw=28.43.1000
check "an adapter went" rdmasim destroy mc
check "and another came" rdmasim create md node_guid=$d adapter=card2
start_rdmad
check "after the boot it is told" wait_for 20 told "adapter-gone firmware new-adapter"
check_match "since when" "$(message firmware)" '^mx: firmware 28.43.1000, was 28.42.1000 \(since 20.* UTC\)$'
check_match "who is gone" "$(message adapter-gone)" "GUID $c, PCI 0000:00:04.0, .*\(last seen 20.* UTC\)\$"
check "rdmactl says it, too" wait_for 5 events_say "firmware 28.43.1000, was 28.42.1000"
check_match "who is new" "$(message new-adapter)" "^md: new adapter: GUID $d, .*\(since 20.* UTC\)\$"
settle
check "once, and being killed was no change" told "adapter-gone firmware new-adapter"
check "nobody's health suffers" rdmactl check
journal_mark
check "what was gone is back" rdmasim create mc node_guid=$c pci=0000:00:04.0 fw=30.1.1000 board=OTHER
check "as itself" wait_for 15 told adapter-back

# --- pictures that are none ---

said() { journalctl --sync; journalctl -q -o cat -u rdmad --since="@$(( RIG_SINCE / 1000000 ))" | grep -c "inventory.json $1"; }
power_off
check "what was told is kept" holds_guid $kept $d
journal_mark
head -c 300 $kept >$kept.cut && mv $kept.cut $kept
chown rdmad: $kept
start_rdmad
check "half a file is kept aside" wait_for 10 test -s $kept.bad
check "and there is a whole one" wait_for 15 jq -e .Version $kept
settle
check "it told nothing" inventory 0
check_eq "said once" "$(said 'cannot be understood')" 1

power_off
journal_mark
jq '.Machine = "cafe"' $kept >$kept.new && mv $kept.new $kept
check "another adapter than there" rdmasim destroy md
start_rdmad
check "the file of another machine is made ours" wait_for 15 jq -e '.Machine != "cafe"' $kept
settle
check "of that one's nothing is missed" inventory 0
check_eq "said once" "$(said 'is of another machine')" 1

# --- /var comes late, or not at all ---

power_off
journal_mark
rm -rf /var/lib/rdmad
start_rdmad
check "without /var/lib/rdmad there is a picture" wait_for 30 holds_guid $now $b
check_eq "and no complaint" "$(said 'cannot')" 0
mkdir /var/lib/rdmad
check "then it is mounted" mount -t tmpfs -o "uid=$(id -u rdmad),mode=755" tmpfs /var/lib/rdmad
check "something changes" rdmasim set mx fw=28.44.1000
check "and is kept there" wait_for 40 grep -q 28.44.1000 $kept
umount /var/lib/rdmad
rdmasim destroy all
finish
