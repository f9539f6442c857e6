# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8: restarts at odd moments: while an apply is under way, twice at once beside a reload, killed meanwhile, with a full
# /run/rdmad. Each is done or refused with a word, and rdmad and its links are well afterwards.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

links 2 '[Health]' DownDelaySec=0 FlapCount=0
start_rdmad
check "two links" wait_for 5 rdmactl check 'rxe*'
rdma link del rxe1
rdmactl apply >/tmp/apply 2>&1 &
check_match "during an apply" "$(rdmactl restart 2>&1)" '^rdmad .* goes on, was'
wait $!
check_match "the apply is told that it may go on, or done" "$(</tmp/apply)" 'may still be at it|rxe1: add-link'
check "it is done in the end" rdmactl apply
check "both links" wait_for 5 rdmactl check 'rxe*'

rdmactl restart >/tmp/one 2>&1 &
one=$!
rdmactl restart >/tmp/two 2>&1 &
two=$!
systemctl reload rdmad.service 2>/dev/null # finds rdmad, or that it is about to start
wait $one $two
check_match "one of them is done, and the other, or told why not" "$(sort /tmp/one /tmp/two)" '(under way already|goes on).*rdmad .* goes on'
check "well" wait_for 10 rdmactl check 'rxe*'

rdmactl restart >/tmp/one 2>&1 &
one=$!
nap 0.2
pid=$(rdmad_pid)
[[ $pid == 0 ]] || kill -9 "$pid" # else it has ended already
wait $one
check "well after a kill in the midst" wait_for 10 rdmactl check 'rxe*'
check "in place" rdmactl restart --in-place
check "well" wait_for 5 rdmactl check 'rxe*'

pid=$(rdmad_pid)
mount -t tmpfs -o size=64k,mode=755,uid="$(id -u rdmad)",gid="$(id -g rdmad)" tmpfs /run/rdmad
dd if=/dev/zero of=/run/rdmad/full bs=4k 2>/dev/null
check_match "with a full /run/rdmad it is refused" "$(rdmactl restart 2>&1)" 'what is known cannot be kept: No space left'
umount /run/rdmad
check_eq "the old one goes on" "$(rdmad_pid)" "$pid"
check "well" wait_for 5 rdmactl check 'rxe*'
check_eq "workers" "$(pgrep -c rdmad-probe)" 2
finish
