# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 4: a module whose initialisation hangs for 120 s. The boot goes on, what is ordered after rdmad
# starts, rdmad is READY within its budget and watches everything else; what was to come after that module waits.
# kernels: 6.12
# timeout: 90
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

cable d0 p0
cat >/run/systemd/system/sshd-like.service <<END
[Unit]
After=rdmad.service
Wants=rdmad.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
END
systemctl daemon-reload
conf slow <<END
[Daemon]
StartBudgetSec=4s
[Modules]
Load=slowinit
[Link rxe0]
Type=rxe
NetDevice=d0
END
rdmasim -q create mlx5_0
begin=$(now_ms)
check "what is ordered after rdmad starts" systemctl start sshd-like.service
took=$(($(now_ms) - begin))
check_below "ms from the order" "$took" 10000
check "not before its budget was used" test "$took" -ge 3500
check "rdmad is ready" systemctl is-active rdmad.service
check "it watches the rest" wait_for 5 rdmactl check mlx5_0
check_match "the module is pending" "$(rdmactl plan)" slowinit
check_status 1 "the plan has work left" rdmactl plan --exit-code
journal_mark
rdmasim -q port mlx5_0/1 state=DOWN phys=Polling
rdmasim -q event mlx5_0/1 PORT_ERR
rdmactl --no-pager plan --all
check_match "the helper hangs, and not rdmad" "$(ps -L -o state= -C rdmad-setup)" D
check "the bus answers" rdmactl status --no-pager
check "no unit failed" test -z "$(systemctl --failed --plain --no-legend)"
check "the daemon reloads" systemctl reload rdmad.service
finish
