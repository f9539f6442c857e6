# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 5: files that are wrong in every way, at boot, at verify and at reload: what is wrong is left out and
# named by file and line, the rest applies; a reload with it keeps what there is.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

dir=/etc/rdmad/rdmad.conf.d
generation() { rdmactl --json=short status | jq .Daemon.ConfigGeneration; }
# what verify says: the places, one a line
places() { rdmactl verify --json=short | jq -r '.Problems[] | .File + ":" + (.Line // "" | tostring)' | sed "s,$dir/,,"; }
break_all() {
        conf 20-value <<<$'[Setup]\nMode=aply\nDrift=ignore'
        conf 21-key <<<$'[Health]\nFlapCuont=4'
        printf '[Health]\r\nFlapCount=7\r\n' >$dir/22-crlf.conf
        printf '\xef\xbb\xbf[Health]\nFlapWindowSec=2h\n' >$dir/23-bom.conf
        printf '[Modules]\nLoad=%300s\nDeny=siw\n' ib_umad >$dir/24-long.conf
        printf '[Link %054d]\nType=rxe\n[Health]\nStableSec=3min\n' 1 >$dir/25-header.conf
        { echo '[Health]'; head -c 1100000 /dev/zero | tr '\0' '#'; } >$dir/26-big.conf
        conf 27-mode <<<$'[Health]\nFlapCount=9'
        chmod 000 $dir/27-mode.conf
        conf 28-twice <<<$'[Link rxe0]\nType=rxe\n[Health]\n[Link rxe0]\nNetDevice=d0'
        mkdir -p /run/rdmad/rdmad.conf.d
        echo '[Nonsense]' >/run/rdmad/rdmad.conf.d/29-mask.conf
        ln -sf /dev/null $dir/29-mask.conf
}
wanted='20-value.conf:2
21-key.conf:2
24-long.conf:2
25-header.conf:1
26-big.conf:
27-mode.conf:'

cable d0 p0
break_all
check_eq "verify names each, without a daemon" "$(places)" "$wanted"
check_status 1 "and exits with 1" rdmactl verify --no-pager
start_rdmad
check "what is right applies: a link out of a section that is there twice" port_is rxe0/1 ACTIVE
check_match "the host is config-invalid" "$(rdmactl check)" 'config-invalid'
check_status 1 "which is degraded" rdmactl check
journal=$(journalctl -q -u rdmad.service --no-pager)
for place in $wanted; do
        check_match "the journal names $place" "$journal" "$dir/$place"
done
check "but nothing of what is masked" test "${journal/Nonsense/}" = "$journal"
check_eq "verify says the same beside the daemon" "$(places)" "$wanted"
understood=$(rdmactl verify --no-pager --full)
check_match "CRLF is understood" "$understood" "FlapCount=7 *# $dir/22-crlf.conf:2"
check_match "and a byte order mark" "$understood" "FlapWindowSec=2h *# $dir/23-bom.conf:2"
check_match "and what stands below a bad header's section" "$understood" "StableSec=3min *# $dir/25-header.conf:4"
check_match "and the section that is there twice" "$understood" "28-twice.conf:4, as well as $dir/28-twice.conf:1"

conf 90-system <<<$'[System]\nPrivilegedQKey=yes\nNetnsMode=shared\n[Link siw0]\nType=siw\nNetDevice=d0\n[Modules]\nLoad=ib_umad nosuch'
check_eq "what this kernel cannot do is told, and no more" \
        "$(rdmactl verify --json=short | jq -r '.Unsupported[].Text')" \
        "[Link siw0] Type=siw: the kernel $(uname -r) has no module siw
[Modules] Load=ib_umad nosuch: the kernel $(uname -r) has no module nosuch"
rm $dir/90-system.conf

check_eq "a reload is refused" "$(rdmactl reload 2>/dev/null; echo $?)" 1
check_match "and says why" "$(rdmactl reload 2>&1)" '20-value.conf:2: Mode=aply'
check_eq "what there was is kept" "$(generation)" 1
rm $dir/2[014567]*.conf
check_status 0 "mended: verify" rdmactl verify --no-pager
check "a reload" systemctl reload rdmad.service
check_eq "counts" "$(generation)" 2
check "the host is ok" wait_for 5 rdmactl check
break_all
conf 28-twice <<<$'[Link rxe1]\nType=rxe\nNetDevice=nosuch'
check_eq "broken again: a reload is refused" "$(rdmactl reload 2>/dev/null; echo $?)" 1
check_eq "the old one is in force" "$(generation)" 2
check "with its link" port_is rxe0/1 ACTIVE
check "and nothing of the new one" test "$(rdmactl plan --json=short --all | jq -r '.Setup[].Object' | tr '\n' ' ')" = 'rxe0 '
check "the host stays ok" rdmactl check
finish
