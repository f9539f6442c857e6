# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# Issue 1, must show 2: ten pulls are ten pairs with FlapCount=0, and a storm (DESIGN section 9) by default.
# timeout: 240
# timed: how soon what is told
# shellcheck source=../lib.sh
. /rig/lib.sh

object=RDMAD_OBJECT=rxe0/1
cable d0 p0
conf link <<END
[Link rxe0]
Type=rxe
NetDevice=d0
END
conf flap <<END
[Health]
FlapCount=0
END
start_rdmad
journal_mark
for i in 1 2 3 4 5 6 7 8 9 10; do
        pull p0
        wait_for 5 journal_count_is "$i" $object PRIORITY=3 || break
        plug p0
        wait_for 5 journal_count_is "$i" $object PRIORITY=5 || break
done
sleep 1
check "FlapCount=0: ten at err" journal_count_is 10 $object PRIORITY=3
check "and ten at notice" journal_count_is 10 $object PRIORITY=5
check "and nothing else" journal_count_is 20 $object
check_eq "counted" "$(rdmactl --json=short status | jq '.Devices[0].Ports[0].FlapCount')" 10

conf flap <<END
[Health]
FlapCount=3
StableSec=15s
END
systemctl kill rdmad.service
wait_for 10 systemctl is-active rdmad.service >/dev/null || systemctl start rdmad.service
check "ok after the restart" wait_for 10 rdmactl check
falls() { rdmactl --json=short status | jq '.Devices[0].Ports[0].FlapCount'; }
before=$(falls) # the counts are kept over a restart
journal_mark
rdmactl_fails() { rdmactl check; [[ $? == 2 ]]; }
for i in 1 2 3 4 5 6 7 8 9 10; do
        pull p0; sleep 0.3
        plug p0; sleep 0.3
done
check "by default: one link-flapping" wait_for 5 journal_count_is 1 $object RDMAD_REASON=link-flapping
sleep 8
check_status 1 "check exits with 1: degraded" rdmactl check
# Without the end of link-flapping, which may come while we look.
count() { journal_json $object | jq -s 'map(select(.RDMAD_REASON != "link-flapping" or .PRIORITY == "4")) | length'; }
echo "# $(count) records:"; journal_field MESSAGE $object
check "no more than the first, link-flapping and the final state" test "$(count)" -le 3
check_eq "all ten are counted" "$(falls)" $((before + 10))
check "it clears by itself after StableSec" wait_for 20 rdmactl check
check "with one record" wait_for 5 journal_count_is 2 $object RDMAD_REASON=link-flapping
pull p0
check "a fall after that is told at once" wait_for 1 rdmactl_fails
finish
