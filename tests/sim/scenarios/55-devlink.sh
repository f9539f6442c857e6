# timeout: 120
# kernels: 6.12
# Issue 5, devices: what an adapter's driver says of it by devlink, and counters of the device.
. /rig/lib.sh

conf fast <<END
[Daemon]
CounterSec=1s
SlowCounterSec=1s
[Port efa_0/1]
Expect=up
[Counter no_completion_cmds]
Window=1s
END
check "an adapter" rdmasim create mlx5_0 adapter=card0
check "its driver watches it" rdmasim reporter mlx5_0 fw healthy
check "and had a fatal error" rdmasim reporter mlx5_0 fw_fatal error
check "that is over" rdmasim reporter mlx5_0 fw_fatal healthy
check "one with counters of the device" rdmasim create efa_0 link_layer=Unknown counters=none hw_on_device=1 disassociate=0 \
        hw_counters=submitted_cmds,no_completion_cmds
check "old ones" rdmasim hw_counter efa_0 no_completion_cmds 7
check "devlink shows it" devlink health show rdmasim/card0 reporter fw_fatal
conf expect <<END
[Port mlx5_0/1]
Expect=up
END
start_rdmad

# explain_is OBJECT RULE TEXT
explain_is() { [[ $(rdmactl --no-pager explain "$1") == *"$2"*"$3"* ]]; }
fatal=(RDMAD_OBJECT=mlx5_0 RDMAD_REASON=devlink-reporter-error RDMAD_SUBJECT=fw_fatal)
lost=(RDMAD_OBJECT=efa_0 RDMAD_REASON=link-errors RDMAD_SUBJECT=no_completion_cmds)
check "ok" wait_for 20 rdmactl check
check_eq "a context of one without InfiniBand would pin its module: nobody holds one" "$(rdmasim get efa_0 contexts)" 0
check "it is read without privileges" wait_for 20 explain_is mlx5_0 devlink-reporter-error \
        "rdmasim/card0: state healthy, errors so far 1"
journal_mark
check "the reporter finds an error" rdmasim reporter mlx5_0 fw_fatal error
check "is a condition" wait_for 20 journal_count_is 1 "${fatal[@]}" RDMAD_EDGE=raised PRIORITY=4
check_match "the record says which, what and what to do" "$(journal_field MESSAGE "${fatal[@]}")" \
        'mlx5_0: devlink-reporter-error of fw_fatal: found rdmasim/card0: state error, errors so far 2, .*devlink health diagnose rdmasim/card0 reporter fw_fatal'
check_status 1 "degraded" rdmactl check
check "it recovers" rdmasim reporter mlx5_0 fw_fatal healthy
check "over" wait_for 20 journal_count_is 1 "${fatal[@]}" RDMAD_EDGE=cleared
check "ok" rdmactl check

check "a command without an answer" rdmasim hw_counter efa_0 no_completion_cmds +1
check "fails the device" wait_for 20 journal_count_is 1 "${lost[@]}" RDMAD_EDGE=raised PRIORITY=3
check_status 2 "failed" rdmactl check
check "over, after the window and four more" wait_for 40 journal_count_is 1 "${lost[@]}" RDMAD_EDGE=cleared
check "ok" rdmactl check
check_eq "nothing else was told of the device" "$(journal_records RDMAD_OBJECT=efa_0)" \
        "$(journal_records "${lost[@]}")"
rdmasim -q destroy all
finish
