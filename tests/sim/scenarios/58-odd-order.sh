# timeout: 180
# kernels: 6.12
# Issue 5: what happens in an odd order: another adapter in the slot of one with an open condition, an acknowledged fall that recovers
# and falls again, a name that the configuration does not cover, an expectation that goes while a link flaps.
. /rig/lib.sh

conf odd <<END
[Daemon]
ProbeTimeoutSec=30s
ProbeSec=1s
GraceSec=5s
[Health]
FlapCount=3
StableSec=1h
MissingDelaySec=4s
[Port m*]
Expect=up
END
told() { journal_json _SYSTEMD_UNIT=rdmad.service | jq -r 'select(.RDMAD_EDGE) | "\(.RDMAD_OBJECT) \(.RDMAD_REASON) \(.RDMAD_EDGE) \(.RDMAD_SEVERITY)"' | sort; }
told_is() { local t w; w=$(sort <<<"$1"); t=$(told); [[ $t == "$w" ]] || { echo "$t"; return 1; }; }
last() { journal_field MESSAGE "RDMAD_OBJECT=$1" "RDMAD_REASON=$2" | tail -n 1; }
host_is() { [[ $(jq -r .HealthState /run/rdmad/state.json) == "$1" ]]; }
# The port's conditions as status has them, with who acknowledged
standing() { rdmactl --json=short status | jq -r --arg d "$1" '[.Devices[] | select(.Name == $d).Ports[0].Reasons[] | "\(.Id) \(.Acknowledged)"] | sort | join(", ")'; }
standing_is() { local s; s=$(standing "$1"); echo "$s"; [[ $s == "$2" ]]; }

udevadm control --stop-exec-queue
for i in 0 1 2 3; do rdmasim -q create m$i node_guid=0x100$i adapter=0000:8$i:00.0; done
start_rdmad
contexts() { [[ $(rdmasim get "$1" contexts) == 1 ]]; }
check "heard" wait_for 10 contexts m3
check "ok" wait_for 10 rdmactl check

# --- acknowledged, recovered, fallen again; renamed meanwhile ---

journal_mark
check "a fall" rdmasim event m0/1 PORT_ERR apply=1
check "told" wait_for 5 told_is "m0/1 port-down raised failed"
check "acknowledged" rdmactl ack m0/1 port-down --comment=known
check "that is shown" standing_is m0 "port-down true"
check_status 2 "it counts as before" rdmactl check
check "renamed while it is down" rdma dev set m0 name m9
check "still acknowledged" wait_for 5 standing_is m9 "port-down true"
check "it recovers" rdmasim event m9/1 PORT_ACTIVE apply=1
check "ok" wait_for 5 host_is ok
# A recovery that does not last for a second is none.
check "that is told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=m9/1 RDMAD_EDGE=cleared
check "it falls again" wait_for 5 rdmasim event m9/1 PORT_ERR apply=1
check "nobody has acknowledged that" wait_for 5 standing_is m9 "port-down false"
check "one record each" wait_for 5 told_is "m0/1 port-down raised failed
m9/1 port-down cleared failed
m9/1 port-down raised failed"
check "a name that the configuration does not cover" rdma dev set m9 name other
check "is ignored" wait_for 5 standing_is other ""
unwatched() { [[ $(last other/1 port-down) == *'not watched for any more: not expected'* ]]; }
check "and that is told" wait_for 5 unwatched
check "ok" wait_for 5 host_is ok

# --- another adapter in the slot ---

journal_mark
check "a fall" rdmasim event m1/1 PORT_ERR apply=1
check "told" wait_for 5 told_is "m1/1 port-down raised failed"
check "the adapter is taken out" rdmasim destroy m1
check "and another one put in its place" rdmasim create m1 node_guid=0x2001 adapter=0000:81:00.0
check "which is well" wait_for 5 host_is ok
check "the fall is over with the adapter" told_is "m1/1 port-down raised failed
m1/1 port-down cleared failed"
check_match "and says so" "$(last m1/1 port-down)" 'is closed: the device is gone'
check_eq "nobody is missed" "$(rdmactl --json=short status | jq -c .Missing)" "[]"
check "that one is taken out, too" rdmasim destroy m1
check "and missed" wait_for 15 journal_count_is 1 RDMAD_OBJECT=m1 RDMAD_REASON=device-missing RDMAD_EDGE=raised
check "until a third is in its place" rdmasim create x1 node_guid=0x3001 adapter=0000:81:00.0
check "that ends it" wait_for 10 journal_count_is 1 RDMAD_REASON=device-missing RDMAD_EDGE=cleared
check_match "by name and GUID" "$(journal_field MESSAGE RDMAD_REASON=device-missing RDMAD_EDGE=cleared)" \
        'm1: replaced by x1, GUID 0000:0000:0000:3001'
check "ok" wait_for 5 host_is ok

# --- an expectation that goes while the link flaps ---

journal_mark
check "down and up, and down at last" rdmasim event m2/1 PORT_ERR,PORT_ACTIVE apply=1 count=9 rate=5
check "flapping" wait_for 5 standing_is m2 "link-flapping false, port-down false"
check "it may be down, says the configuration" eval 'printf "[Port m2]\nExpect=any\n" | conf zz-any'
check "loaded" rdmactl reload
check "nothing stands any more" wait_for 5 standing_is m2 ""
check "ok" wait_for 5 host_is ok
open() { told | awk '{ n[$1 " " $2] += ($3 == "raised") - ($3 == "cleared") } END { for (k in n) if (n[k]) print k, n[k] }'; }
nothing_open() { local o; o=$(open); echo "$o"; [[ ! $o ]]; }
check "nor for who follows the journal" wait_for 10 nothing_open
check_match "closed by the configuration" "$(last m2/1 link-flapping)" 'configuration changed|not watched for any more'
rm /etc/rdmad/rdmad.conf.d/zz-any.conf
check "expected again" rdmactl reload
check "and down: that is told" wait_for 10 journal_count_is 2 RDMAD_OBJECT=m2/1 RDMAD_REASON=port-down RDMAD_EDGE=raised
told
check_status 2 "failed" rdmactl check
finish
