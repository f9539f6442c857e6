# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 6, must show 5: files that are wrong in every way, at boot, at verify and at reload: what is wrong is left out and
# named by file and line, the rest applies; a reload with it keeps what there is.
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

dir=/etc/rdmad/rdmad.conf.d
generation_is() { local json; json=$(rdmactl --json=short status) && [[ $json =~ '"ConfigGeneration":'$1[^0-9] ]]; }
# what verify says of a file: the places, one a line
places() {
        local line
        while read -r line; do
                [[ $line =~ ^$dir/([0-9a-z-]+\.conf:[0-9]*) ]] || break
                echo "${BASH_REMATCH[1]}"
        done < <(rdmactl verify --no-pager 2>&1)
}
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
start_rdmad
check "what is right applies: a link out of a section that is there twice" port_is rxe0/1 ACTIVE
out=$(rdmactl check)
check_eq "the host is degraded" $? 1
check_match "it is config-invalid" "$out" 'config-invalid'
journal=$(journalctl -q -u rdmad.service --no-pager)
for place in $wanted; do
        check_match "the journal names $place" "$journal" "$dir/$place"
done
check "but nothing of what is masked" test "${journal/Nonsense/}" = "$journal"
understood=$(rdmactl verify --no-pager --full)
check_eq "verify beside the daemon exits with 1" $? 1
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

out=$(rdmactl reload 2>&1)
check_eq "a reload is refused" $? 1
check_match "and says why" "$out" '20-value.conf:2: Mode=aply'
check "what there was is kept" generation_is 1
rm $dir/2[014567]*.conf
check_status 0 "mended: verify" rdmactl verify --no-pager
check "a reload" systemctl reload rdmad.service
check "counts" generation_is 2
check "the host is ok" wait_for 5 rdmactl check
break_all
conf 28-twice <<<$'[Link rxe1]\nType=rxe\nNetDevice=nosuch'
check_status 1 "broken again: a reload is refused" rdmactl reload
check "the old one is in force" generation_is 2
check "with its link" port_is rxe0/1 ACTIVE
check_match "and nothing of the new one" "$(rdmactl --no-pager --no-legend plan --all)" $'^rxe0 +add-link +ok [^\n]*$'
check "the host stays ok" rdmactl check
finish
