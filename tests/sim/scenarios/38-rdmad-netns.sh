# timeout: 180
# A device that was moved to another network namespace is not missed; it is told apart from one that is lost there, and
# comes back as what it was.
. /rig/lib.sh

conf expect <<END
[Daemon]
ProbeSec=2s
[Device mlx5_*]
Expect=yes
[Health]
MissingDelaySec=2s
END
check "each has its devices for itself" rdma system set netns exclusive
check "a namespace" ip netns add container
check "a name for that of the host" ip netns attach host 1
check "two adapters" rdmasim create mlx5_0 node_guid=0002:c903:00aa:0010
check "another" rdmasim create mlx5_1 node_guid=0002:c903:00aa:0020
start_rdmad
check "ok" wait_for 15 rdmactl check
held() { [[ $(rdmasim get "$1" contexts) == 1 ]]; }
check "held" wait_for 5 held mlx5_0
journal_mark

check "lent to the container" rdma dev set mlx5_0 netns container
lent() { [[ $(rdmactl --json=short status) == *'it is in another network namespace'* ]]; }
check "it says where it is" wait_for 5 lent
check_match "status, too" "$(rdmactl --no-pager status)" 'mlx5_0.*another network namespace'
check "the host is fine without it" rdmactl check
check "the container can use it" ip netns exec container rdma dev show mlx5_0
check_eq "no context is held there" "$(rdmasim get mlx5_0 contexts)" 0
sleep 4
check_eq "no alarm" "$(journal_records RDMAD_REASON=device-missing)" 0

check "back" ip netns exec container rdma dev set mlx5_0 netns host
check "held again" wait_for 10 held mlx5_0
check "ok" wait_for 5 rdmactl check
check "it is no longer said to be away" test "$(rdmactl --json=short status | grep -c 'another network namespace')" = 0
check_eq "no alarm" "$(journal_records RDMAD_REASON=device-missing)" 0

# There and back before rdmad looks: the context went, and nothing but the node's removal says so.
kill -STOP "$(rdmad_pid)"
check "a short visit" rdma dev set mlx5_0 netns container
check "and back" ip netns exec container rdma dev set mlx5_0 netns host
check_eq "not held" "$(rdmasim get mlx5_0 contexts)" 0
kill -CONT "$(rdmad_pid)"
check "held again" wait_for 5 held mlx5_0

check "lent again" rdma dev set mlx5_0 netns container
check "said" wait_for 5 lent
check "and lost there" rdmasim destroy mlx5_0
missing=RDMAD_REASON=device-missing
check "that is an alarm" wait_for 10 journal_count_is 1 $missing PRIORITY=3 RDMAD_OBJECT=mlx5_0
check_status 2 "check fails" rdmactl check
check "the other one is ok" rdmactl check mlx5_1
check "it comes back" rdmasim create mlx5_0 node_guid=0002:c903:00aa:0010
check "told" wait_for 5 journal_count_is 1 $missing PRIORITY=5
check "ok" wait_for 10 rdmactl check
finish
