# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8: the Debian package is installed, upgraded, removed, purged and installed again: without "Operation refused",
# and without a change in the kernel.
# kernels: 6.12
# timeout: 240
# alone: it is the only one of its suite, and two CPUs make it a quarter shorter
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

debs=/var/cache/rdmad-package
# Of the guest's packages there are no lists of files, which dpkg would say of each, and no scripts, so that triggers do
# nothing: those of dbus and systemd, which would load the policy and the catalog.
mkdir -p /var/lib/dpkg/info
dpkg-query -W -f '${binary:Package}\n' 2>/dev/null | while read -r p; do : >"/var/lib/dpkg/info/$p.list"; done
triggers() { systemctl reload dbus.service; journalctl --update-catalog; }
# package DESCRIPTION COMMAND...: dpkg does it, and nothing is refused, missing or failed
package() {
        local out status=0
        out=$("${@:2}" </dev/null 2>&1) || status=$?
        check_eq "$1" "$status" 0
        # Directories that belong to others, too, which dpkg does not know here; and what it says of any downgrade.
        out=$(grep -vE 'not empty so not removed$|^dpkg: warning: downgrading' <<<"$out")
        if [[ $out =~ refused|[Ff]ail|[Ww]arning|rror|such\ file ]]; then fail "$1: says nothing of trouble" "$out"; else pass "$1: says nothing of trouble"; fi
        said=$out
        triggers >/dev/null 2>&1
}
version_of() { dpkg-deb -f "$1" Version; }
on_bus() { busctl get-property org.rdmad1 /org/rdmad1 org.rdmad1.Manager Version; }
version_is() { local v; v=$(on_bus) && echo "$v" && [[ $v == "s \"$1\"" ]]; }
reasons() { rdmactl --json=short status | jq -c '[.Devices[].Ports[0].Reasons[] | [.Id, .Since]]'; }

cable d0 p0
conf link <<END
[Health]
DownDelaySec=0
[Link rxe0]
Type=rxe
NetDevice=d0
END
package "install" dpkg -i "$debs/old.deb"
check_eq "it runs" "$(systemctl is-active rdmad.service)" active
check_eq "and at boot" "$(systemctl is-enabled rdmad.service rdmad-setup.socket | tr '\n' ' ')" "enabled enabled "
check "as its user" test "$(ps -o user= -p "$(rdmad_pid)")" = rdmad
check "it is on the bus" wait_for 20 version_is "$(version_of "$debs/old.deb")"
check "it made the link" wait_for 10 rdmactl check rxe0/1
check_eq "it had nothing to complain of" "$(journalctl -q -b -u rdmad.service -p warning -o cat --no-pager)" ""
check "the catalog has its texts" wait_for 5 journalctl -q --dump-catalog 61841f95fca04150bc1343406cc6cee7
pull p0
check "trouble" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down
stands=$(reasons)
before=$(rdma -j link; rdma -j dev; cut -d' ' -f1 /proc/modules | sort)
udevadm monitor -k -s infiniband >/tmp/uevents 2>&1 &

pid=$(rdmad_pid)
package "upgrade" dpkg -i "$debs/new.deb"
check_match "it goes on as the new one" "$said" "rdmad $(version_of "$debs/new.deb") goes on, was $(version_of "$debs/old.deb")"
check "which is on the bus" wait_for 5 version_is "$(version_of "$debs/new.deb")"
check "anew" test "$(rdmad_pid)" != "$pid"
check_eq "the unit is active" "$(systemctl is-active rdmad.service)" active
check_eq "what stands is as it was" "$(reasons)" "$stands"
check_eq "and was told once" "$(journal_records RDMAD_OBJECT=rxe0/1 RDMAD_REASON=port-down RDMAD_EDGE=raised)" 1
package "downgrade" dpkg -i --force-downgrade "$debs/old.deb"
check "is an upgrade, too" wait_for 5 version_is "$(version_of "$debs/old.deb")"
check_eq "what stands is as it was" "$(reasons)" "$stands"

package "remove" dpkg -r rdmad
check_eq "nothing of it runs" "$(rdmad_procs)" 0
check_eq "no unit of it is active or has failed" "$(systemctl list-units --state=active,activating,failed --plain --no-legend 'rdmad*')" ""
check_eq "the link stays" "$(rdma -j link; rdma -j dev; cut -d' ' -f1 /proc/modules | sort)" "$before"
check "what it learned stays" test -d /var/lib/rdmad
package "install again" dpkg -i "$debs/new.deb"
check "it runs" wait_for 20 version_is "$(version_of "$debs/new.deb")"
check_eq "and goes on" "$(reasons)" "$stands"
package "purge" dpkg -P rdmad
check_eq "nothing of it runs" "$(rdmad_procs)" 0
check_eq "no file of its own is left" "$(find /var/lib/rdmad /run/rdmad /etc/systemd /etc/needrestart /usr/lib/rdmad /run/systemd/system -name '*rdma*' 2>/dev/null)" ""
check_eq "the link stays" "$(rdma -j link; rdma -j dev; cut -d' ' -f1 /proc/modules | sort)" "$before"
package "install after that" dpkg -i "$debs/new.deb"
check "it runs" wait_for 20 version_is "$(version_of "$debs/new.deb")"
check_eq "nor had it then" "$(journalctl -q -b -u rdmad.service -p warning -o cat --no-pager | grep -c 'the name org.rdmad1')" 0
check_eq "no device came or went" "$(grep -cE 'add|remove' /tmp/uevents)" 0
check_eq "no unit has failed" "$(systemctl list-units --failed --plain --no-legend)" ""
finish
