# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8, must show 3: a full disk, a read-only directory, no journald, no bus, a jump of time by a year, few descriptors,
# little memory: rdmad stays up, says once what it lacks, goes on watching, and recovers.
# kernels: 6.12
# timeout: 300
# shellcheck source=../lib.sh
. /rig/lib.sh

links 2 '[Health]' DownDelaySec=0 FlapCount=0
start_rdmad
check "two links" wait_for 5 rdmactl check 'rxe*'
pid=$(rdmad_pid)
falls=0 rises=0
fall() { pull p0; falls=$((falls + 1)); }
rise() { plug p0; rises=$((rises + 1)); }
# watches DESCRIPTION: a fall and a rise are told
watches() {
        fall
        check "$1: a fall is told" wait_for 5 journal_count_is $falls RDMAD_OBJECT=rxe0/1 RDMAD_EDGE=raised
        rise
        check "$1: a rise is told" wait_for 10 journal_count_is $rises RDMAD_OBJECT=rxe0/1 RDMAD_EDGE=cleared
}
# It is said when the file is written the next time, a second after the last.
said_once() { local n; n=$(journalctl -q -b -u rdmad.service -o cat --no-pager | grep -c "$1"); echo "$n"; (( n == 1 )); }
state_of() { jq -r '.Devices[] | select(.Name == "rxe0") | .Ports[0].PortState' /run/rdmad/state.json; }

# Full: a small file system of its own, which the daemon sees as soon as it is there.
mount -t tmpfs -o size=512k,mode=755,uid="$(id -u rdmad)",gid="$(id -g rdmad)" tmpfs /run/rdmad
dd if=/dev/zero of=/run/rdmad/full bs=4k 2>/dev/null
watches "full"
check "what could not be written is said once" wait_for 3 said_once 'kept-state.json cannot be written: No space left'
check "of each" wait_for 3 said_once 'rdmad/state.json cannot be written: No space left'
check_eq "nothing half written is left" "$(find /run/rdmad -name '*.tmp' | wc -l)" 0
rm /run/rdmad/full
fall
written() { [[ $(state_of) == down ]] && jq -e .Saved /run/rdmad/kept-state.json >/dev/null; }
check "with room it is written again" wait_for 5 written
rise

mount -o remount,ro /run/rdmad
watches "read-only"
check "that is said once, too" wait_for 3 said_once 'kept-state.json cannot be written: Read-only'
mount -o remount,rw /run/rdmad
fall
check "writable it is written again" wait_for 5 written
rise
umount /run/rdmad
check_eq "still the same daemon" "$(rdmad_pid)" "$pid"

# Without journald: what happens is told when it is back.
systemctl stop systemd-journald.socket systemd-journald-dev-log.socket systemd-journald-audit.socket systemd-journald.service 2>/dev/null
fall
down() { [[ $(rdmactl --json=short status | jq -r '.Devices[] | select(.Name == "rxe0") | .Ports[0].PortState') == down ]]; }
check "without journald it watches" wait_for 5 down
systemctl start systemd-journald.socket systemd-journald-dev-log.socket systemd-journald.service
check "the record comes later" wait_for 15 journal_count_is $falls RDMAD_OBJECT=rxe0/1 RDMAD_EDGE=raised
rise
watches "with journald"

# Without a bus.
systemctl stop dbus.socket dbus.service
watches "without a bus"
check "rdmactl reads the file" wait_for 5 rdmactl check 'rxe*'
systemctl start dbus.socket dbus.service
check "it is on the bus again" wait_for 20 busctl get-property org.rdmad1 /org/rdmad1 org.rdmad1.Manager Version

# The clock.
pull p1
check "something stands" wait_for 5 journal_count_is 1 RDMAD_OBJECT=rxe1/1 RDMAD_EDGE=raised
date -s "+1 year" >/dev/null
nap 1
check_eq "a year later nothing is told anew" "$(journal_records RDMAD_OBJECT=rxe1/1)" 1
check_eq "not even a reminder" "$(journal_records RDMAD_EDGE=reminder)" 0
watches "a year later"
plug p1
check "what stood ends" wait_for 10 journal_count_is 1 RDMAD_OBJECT=rxe1/1 RDMAD_EDGE=cleared
check_match "after seconds, not a year" "$(journal_field MESSAGE RDMAD_OBJECT=rxe1/1 RDMAD_EDGE=cleared)" 'was down ([0-9]+min )?[0-9]+s\)'
date -s "-1 year" >/dev/null
watches "a year back"
check_eq "still the same daemon" "$(rdmad_pid)" "$pid"
check_eq "it was never restarted" "$(systemctl show -P NRestarts rdmad.service)" 0

# Few descriptors, little memory: two ports need no more.
mkdir -p /run/systemd/system/rdmad.service.d
printf '[Service]\nLimitNOFILE=64\nMemoryMax=32M\nMemorySwapMax=0\n' >/run/systemd/system/rdmad.service.d/limits.conf
systemctl daemon-reload
# And no root file system to write to.
check "a read-only root" mount -o remount,ro /
check_status 1 "really" touch /rig.new
check "restart into the limits" rdmactl restart
mount -o remount,rw /
check_eq "they hold" "$(systemctl show -P LimitNOFILE rdmad.service) $(systemctl show -P MemoryMax rdmad.service)" "64 33554432"
check "both links are well" wait_for 10 rdmactl check 'rxe*'
watches "with limits"
check_below "descriptors of the daemon" "$(find "/proc/$(rdmad_pid)/fd" -type l | wc -l)" 64
check_eq "nothing was killed for memory" "$(journalctl -q -k --no-pager | grep -ci 'out of memory\|oom-kill')" 0
finish
