# timeout: 180
# RDMA netlink is refused (EACCES, as a security policy would): devices and ports are there from sysfs, said once; a fall
# is told; a renamed device stays one. Allowed again, it is said, and nothing is taken for lost.
. /rig/lib.sh

probe=/usr/libexec/rdmad/rdmad-probe
conf expect <<END
[Daemon]
ProbeSec=2s
[Port mlx5_*]
Expect=up
[Health]
MissingDelaySec=1s
END
mv $probe $probe.real
cp -L /usr/bin/refuse-netlink $probe
touch /run/refuse-netlink
check "an adapter with two ports" rdmasim create mlx5_0 ports=2 node_guid=0002:c903:00aa:0010
check "another" rdmasim create mlx5_1 node_guid=0002:c903:00aa:0020
journal_mark
start_rdmad
check "ok" wait_for 15 rdmactl check
said() { journalctl --sync; journalctl -q -u rdmad.service -p "$1" -o cat --no-pager | grep -c -- "$2"; }
said_is() { local n; n=$(said "$2" "$3"); echo "$n"; [[ $n == "$1" ]]; }
check_eq "said once" "$(said warning 'RDMA netlink is refused: Permission denied')" 1
devices() { rdmactl --json=short status | jq -r '[.Devices[] | .Name + " " + .NodeGuid + " " + (.Ports | map(.PortState) | join(","))] | sort | join("; ")'; }
check_eq "all are there" "$(devices)" "mlx5_0 0002:c903:00aa:0010 active,active; mlx5_1 0002:c903:00aa:0020 active"
check_eq "no index is made up for readers" "$(rdmactl --json=short status | jq -c '[.Devices[].Index]')" "[null,null]"
check "a context is held all the same" wait_for 5 test "$(rdmasim get mlx5_0 contexts)" = 1

t0=$(now_ms)
down=RDMAD_REASON=port-down
check "a port falls" rdmasim event mlx5_0/2 PORT_ERR apply=1
check "told" wait_for 5 journal_count_is 1 RDMAD_OBJECT=mlx5_0/2 $down PRIORITY=3
check_below "within a second, in ms" "$(( $(journal_field _SOURCE_REALTIME_TIMESTAMP RDMAD_OBJECT=mlx5_0/2) / 1000 - t0 ))" 1000

path=$(busctl tree --list org.rdmad1 | grep '/device/' | sort)
rdma dev set mlx5_0 name ib_fast0
renamed() { [[ $(devices) == "ib_fast0 "*"active,down; mlx5_1 "* ]]; }
check "renamed while down" wait_for 5 renamed
rdma dev set mlx5_1 name a_first
check "one comes, sorted before the others" rdmasim create a0 node_guid=0002:c903:00aa:0030
three() { [[ $(devices) == a0*a_first*ib_fast0*active,down ]]; }
check "three" wait_for 5 three
check_eq "the first two are the same objects" "$(busctl tree --list org.rdmad1 | grep -cFx "$path")" "$(wc -l <<<"$path")"
check "the condition is under the new name" wait_for 5 test "$(rdmactl check | grep -c '^ib_fast0/2.*port-down')" = 1
check "another goes" rdmasim destroy a0
sleep 3
check_eq "no other alarm" "$(journal_records PRIORITY=3 _SYSTEMD_UNIT=rdmad.service)" 1
check "up again" rdmasim event ib_fast0/2 PORT_ACTIVE apply=1
check "told under its name of now" wait_for 5 journal_count_is 1 RDMAD_OBJECT=ib_fast0/2 $down PRIORITY=5
counters() { rdmactl --json=short counters ib_fast0/1 | jq -e '[.. | .Counters? // empty | .[]?] | length > 5'; }
check "counters, too" wait_for 5 counters
check_eq "still said once" "$(said warning 'RDMA netlink')" 1

rm /run/refuse-netlink
pid=$(rdmad_pid)
check "the workers restart" pkill rdmad-probe
check "and netlink answers" wait_for 15 said_is 1 notice 'RDMA netlink answers again'
indexes() { rdmactl --json=short status | jq -e '(.Devices | length) == 2 and (.Devices | all(.Index != null))'; }
check "the kernel's indexes" wait_for 10 indexes
check "ok" wait_for 10 rdmactl check
check "pictures agree" wait_for 5 pictures_agree
sleep 2
check_eq "nothing was missed" "$(journal_records RDMAD_REASON=device-missing)" 0
check_eq "the same daemon" "$(rdmad_pid)" "$pid"
finish
