# timeout: 180
# Issue 4, must show 5: the whole class gone for 3 s and back is at most one notice; one device gone for good is one alert, that names GUID
# and PCI address; back under another name is one recovery that names both; another GUID in its slot is "replaced".
. /rig/lib.sh

conf expect <<END
[Port m*]
Expect=up
END
udevadm control --stop-exec-queue    # rdma-core's rules would rename what sits on a PCI function
create_all() {
        { for i in 0 1 2 3 4 5; do echo "create m$i node_guid=0x$((1000 + i)) ports=2 adapter=card$((i / 2)) disassociate=$((i % 2))"; done
          echo "create mp node_guid=0002:c903:00aa:0010 pci=0000:00:04.0"; } | rdmasim -q -
}
told() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.RDMAD_OBJECT or (.PRIORITY | tonumber) <= 5) | "\(.PRIORITY) \(.RDMAD_OBJECT) \(.MESSAGE)"'; }
check "seven devices" create_all
start_rdmad
check "ok" wait_for 15 rdmactl check
check "pictures agree" wait_for 5 pictures_agree

# Everything goes, and comes back under the same names after 3 s (a driver reload, a firmware reset).
journal_mark
check "the class goes" rdmasim destroy all
none() { [[ $(rdmactl --json=short status | jq '.Devices | length') == 0 ]]; }
check "seen" wait_for 2 none
check_status 3 "unknown meanwhile" rdmactl check
nap 2
check "and comes back" create_all
check "ok" wait_for 15 rdmactl check
check "pictures agree" wait_for 5 pictures_agree
sleep 2
echo "# told:"; told
check "at most one record" test "$(told | wc -l)" -le 1
check_eq "no alert" "$(told | grep -c '^[0-4]')" 0
check_eq "nobody is missed" "$(rdmactl --json=short status | jq '.Missing | length')" 0

conf missing <<END
[Health]
MissingDelaySec=2s
END
check "a short delay" systemctl reload rdmad.service
journal_mark
missing=RDMAD_REASON=device-missing
check "one goes for good" rdmasim destroy mp
check "one alert" wait_for 8 journal_count_is 1 $missing PRIORITY=3
check_match "it names the GUID" "$(journal_field MESSAGE $missing)" '0002:c903:00aa:0010'
check_match "and the PCI address" "$(journal_field MESSAGE $missing)" '0000:00:04\.0'
check_match "as a field, too" "$(journal_field RDMA_GUID $missing)" '0002:c903:00aa:0010'
check_status 2 "failed" rdmactl check
sleep 2
check "still one" journal_count_is 1 $missing
check "back under another name" rdmasim create mq node_guid=0002:c903:00aa:0010 pci=0000:00:04.0
check "one recovery" wait_for 5 journal_count_is 1 $missing PRIORITY=5
check_match "that names both" "$(journal_field MESSAGE $missing PRIORITY=5)" 'mp: .*mq'
check "ok" wait_for 5 rdmactl check
check "no more than these two" journal_count_is 2 $missing

journal_mark
check "it goes again" rdmasim destroy mq
check "told" wait_for 8 journal_count_is 1 $missing PRIORITY=3
check "another adapter in its slot" rdmasim create mr node_guid=0002:c903:00bb:0020 pci=0000:00:04.0
check "one record" wait_for 5 journal_count_is 1 $missing PRIORITY=5
check_match "says replaced, by whom" "$(journal_field MESSAGE $missing PRIORITY=5)" 'mq: replaced by mr.*0002:c903:00bb:0020'
check_eq "nobody is missed" "$(rdmactl --json=short status | jq '.Missing | length')" 0
check "ok" wait_for 5 rdmactl check

# The same before anybody was told that the first one was missing: the inventory says it, nobody is missed.
journal_mark
check "and another one, within the delay" rdmasim destroy mr
check "in the same slot" rdmasim create mr node_guid=0002:c903:00cc:0030 pci=0000:00:04.0
sleep 3
check "no alert" journal_count_is 0 $missing
check_eq "nobody is missed" "$(rdmactl --json=short status | jq '.Missing | length')" 0

# All in one look of rdmad: another index with the same GUID, another GUID in the same slot.
rdmad_signal STOP
check "two go" rdmasim destroy mr
rdmasim -q destroy m3
check "and come back" rdmasim create ms node_guid=0002:c903:00dd:0040 pci=0000:00:04.0
rdmasim -q create m3 node_guid=0x1003 ports=2 adapter=card1
rdmad_signal CONT
check "pictures agree" wait_for 5 pictures_agree
sleep 3
check "no alert" journal_count_is 0 $missing
check_eq "nobody is missed" "$(rdmactl --json=short status | jq '.Missing | length')" 0

# Configured by name, and known by its GUID: it is one device all the same.
conf device <<END
[Device m5]
Expect=yes
END
check "one is expected by name" systemctl reload rdmad.service
journal_mark
check "it goes" rdmasim destroy m5
check "told" wait_for 8 journal_count_is 1 $missing PRIORITY=3
check_eq "once" "$(rdmactl --json=short status | jq '[.Missing[] | select(.Name == "m5")] | length')" 1
check "it is back" rdmasim create m5 node_guid=0x1005 ports=2 adapter=card2
check "told" wait_for 5 journal_count_is 1 $missing PRIORITY=5
check "ok" wait_for 5 rdmactl check
check "two records" journal_count_is 2 $missing

# One function of a card with two goes: the other one stays, it is no replacement.
journal_mark
check "one of a card's two" rdmasim destroy m0
check "is missed, though its neighbour is there" wait_for 8 journal_count_is 1 $missing PRIORITY=3
check "a third one on that card" rdmasim create m9 node_guid=0x9999 adapter=card0
sleep 1
check "does not replace it: an adapter has many" journal_count_is 1 $missing
check "the first one comes" rdmasim create m0 node_guid=0x1000 adapter=card0 disassociate=0
finish
