# kernels: 6.12
# timeout: 180
# RDMA netlink is refused (EACCES, as a security policy would): devices and ports are there from sysfs, said once; a fall
# is told; a renamed device stays one. Allowed again, it is said, and nothing is taken for lost.
. /rig/lib.sh

# Named rxe_*: without RDMA netlink libibverbs finds the provider of these by their name.

probe=/usr/libexec/rdmad/rdmad-probe
conf expect <<END
[Daemon]
ProbeSec=2s
CounterSec=1s
[Port *]
Expect=up
[Health]
MissingDelaySec=1s
END
mv $probe $probe.real
cp -L /usr/bin/refuse-netlink $probe
touch /run/refuse-netlink
check "an adapter with two ports" rdmasim create rxe_0 ports=2 node_guid=0002:c903:00aa:0010
check "another" rdmasim create rxe_1 node_guid=0002:c903:00aa:0020
journal_mark
start_rdmad
check "ok" wait_for 15 rdmactl check
said() { journalctl --sync; journalctl -q -u rdmad.service -p "$1" -o cat --no-pager | grep -c -- "$2"; }
said_is() { local n; n=$(said "$2" "$3"); echo "$n"; [[ $n == "$1" ]]; }
check_eq "said once" "$(said warning 'RDMA netlink is refused: Permission denied')" 1
devices() { rdmactl --json=short status | jq -r '[.Devices[] | .Name + " " + .NodeGuid + " " + (.Ports | map(.PortState) | join(","))] | sort | join("; ")'; }
check_eq "all are there" "$(devices)" "rxe_0 0002:c903:00aa:0010 active,active; rxe_1 0002:c903:00aa:0020 active"
check_eq "no index is made up for readers" "$(rdmactl --json=short status | jq -c '[.Devices[].Index]')" "[null,null]"
held() { [[ $(rdmasim get "$1" contexts) == 1 ]]; }
check "a context is held all the same" wait_for 5 held rxe_0

t0=$(now_ms)
down=RDMAD_REASON=port-down
check "a port falls" rdmasim event rxe_0/2 PORT_ERR apply=1
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe_0/2 $down PRIORITY=3
check_below "within a second, in ms" "$(( $(journal_field _SOURCE_REALTIME_TIMESTAMP RDMAD_OBJECT=rxe_0/2) / 1000 - t0 ))" 1000

path=$(busctl tree --list org.rdmad1 | grep '/device/' | sort)
rdma dev set rxe_0 name rxe_fast0
renamed() { [[ $(devices) == "rxe_1 "*"; rxe_fast0 "*active,down ]]; }
check "renamed while down" wait_for 5 renamed
rdma dev set rxe_1 name rxe_
check "one comes, sorted before the others" rdmasim create a0 node_guid=0002:c903:00aa:0030
three() { [[ $(devices) == "a0 "*"; rxe_ "*"; rxe_fast0 "*active,down ]]; }
check "three" wait_for 5 three
check_eq "the first two are the same objects" "$(busctl tree --list org.rdmad1 | grep -cFx "$path")" "$(wc -l <<<"$path")"
condition() { rdmactl check | grep 'rxe_fast0/2.*port-down'; }
check "the condition is under the new name" wait_for 5 condition
check "another goes" rdmasim destroy a0
missing=RDMAD_REASON=device-missing
check "which is missed" wait_for 10 journal_count_is 1 $missing RDMAD_OBJECT=a0
check_eq "no other alarm" "$(journal_records PRIORITY=3 _SYSTEMD_UNIT=rdmad.service)" 2
counters() { busctl --json=short call org.rdmad1 /org/rdmad1 org.rdmad1.Manager DescribeCounters | jq -r '.data[0]' | jq -e '.Ports[] | select(.Object == "rxe_fast0/1").Counters | map(select(.Source == "hw" and .Value != null)) | length > 5'; }
check "counters, too" wait_for 5 counters
check_eq "still said once" "$(said warning 'RDMA netlink')" 1

rm /run/refuse-netlink
pid=$(rdmad_pid)
check "the workers restart" pkill rdmad-probe
check "and netlink answers" wait_for 15 said_is 1 notice 'RDMA netlink answers again'
indexes() { rdmactl --json=short status | jq -e '(.Devices | length) == 2 and (.Devices | all(.Index != null))'; }
check "the kernel's indexes" wait_for 10 indexes
check "the condition stands" condition
check "pictures agree" wait_for 5 pictures_agree
check "held" wait_for 5 held rxe_fast0
check "up again" rdmasim event rxe_fast0/2 PORT_ACTIVE apply=1
check "told once, under its name of now" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe_fast0/2 $down
check "ok" wait_for 10 rdmactl check rxe_fast0 rxe_
check_eq "told as down once, too" "$(journal_records $down PRIORITY=3)" 1
check_eq "nothing was missed" "$(journal_records $missing)" 1
check_eq "the same daemon" "$(rdmad_pid)" "$pid"
finish
