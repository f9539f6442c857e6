# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 8: what the two services may and may not, directive by directive (tests/units/directives says which check is for
# which). In place of the program a prober runs in the unit's own sandbox, once as it is and once as root with every
# capability that would help it, so that it is not only the user who is refused.
# timeout: 120
# kernels: 6.12
# kernel-warning: oom-killer
# shellcheck source=../../vm/lib.sh
. /rig/lib.sh

check "an adapter" rdmasim -q create probe0
for d in /root /home /tmp /var/tmp; do mkdir -p $d; echo secret >$d/rdmad-probe; done
install -d -o rdmad /var/lib/rdmad
mkdir -p /run/probe /run/rdmad /run/systemd/system
unit() { # NAME UNIT LINE...: a copy of it that probes
        mkdir "/run/systemd/system/$1.service.d"
        cp "/usr/lib/systemd/system/$2.service" "/run/systemd/system/$1.service"
        printf '%s\n' '[Service]' Type=oneshot ExecStart= ExecStart=/usr/local/bin/confined "StandardOutput=truncate:/run/probe/$1" \
                Restart=no RestartForceExitStatus= WatchdogSec=0 MemoryMax=64M "${@:3}" >"/run/systemd/system/$1.service.d/probe.conf"
}
mighty=(User=root Group=nogroup 'CapabilityBoundingSet=~' 'CapabilityBoundingSet=~CAP_SYS_PTRACE' RestrictAddressFamilies=none RestrictAddressFamilies=)
unit daemon rdmad
unit daemon-root rdmad "${mighty[@]}"
unit helper rdmad-setup
unit helper-root rdmad-setup "${mighty[@]}"
systemctl daemon-reload
confined >/run/probe/free
rm -rf /run/rdmad # RuntimeDirectory= makes it
who=(free daemon daemon-root helper helper-root)
for u in daemon-root daemon helper-root helper; do check "$u ran" systemctl start "$u.service"; done
declare -A found
for u in "${who[@]}"; do while read -r name value; do found[$u.$name]=$value; done <"/run/probe/$u"; done

rdmad_uid=$(id -u rdmad)
others=$(awk -v uid="$rdmad_uid" '$8 == uid' /proc/sysvipc/shm | wc -l)
check_eq "what it left in shared memory is gone with it" "$others" 0
for u in "${who[@]:1}"; do check_eq "$u: the kernel took one process of it for memory, not all" "$(systemctl show -P Result "$u.service")" success; done
check_eq "the directory stays when it ends" "$(stat -c '%U %a' /run/rdmad)" "rdmad 755"

# Without a sandbox; as the daemon; in its sandbox as root; as the helper; in its sandbox with every capability. "*" is anything.
while read -r name free daemon daemon_root helper helper_root; do
        [[ $name && $name != '#'* ]] || continue
        wanted=("$free" "$daemon" "$daemon_root" "$helper" "$helper_root") is=() want=()
        for i in 0 1 2 3 4; do
                is+=("${found[${who[i]}.$name]:-missing}") want+=("${wanted[i]}")
                [[ ${want[i]} != '*' ]] || want[i]=${is[i]}
        done
        check_eq "$name" "${is[*]}" "${want[*]}"
done <<'END'
# files
write_etc         ok      EROFS        EROFS   EROFS        EROFS
write_usr         ok      EROFS        EROFS   EROFS        EROFS
write_var         ok      EROFS        EROFS   EROFS        EROFS
write_run         ok      EROFS        EROFS   EROFS        EROFS
write_units       ok      EROFS        EROFS   EROFS        EROFS
write_own_run     ok      ok           ok      EROFS        EROFS
write_own_var     ok      ok           ok      EROFS        EROFS
read_etc          ok      ok           ok      ok           ok
read_root         ok      EACCES       ENOENT  EACCES       ENOENT
read_home         ok      EACCES       ENOENT  EACCES       ENOENT
read_tmp          ok      EACCES       ENOENT  EACCES       ENOENT
read_var_tmp      ok      EACCES       ENOENT  EACCES       ENOENT
read_modules      ok      EACCES       ENOENT  ok           ok
credential        ENOENT  okunknown    okunknown ENOENT     ENOENT
mask              ok=22   ok=77        ok=77   ok=77        ok=77
make_suid         ok      EPERM        EPERM   EPERM        EPERM
# devices
read_block        ok      EACCES       EPERM   ENOENT       ENOENT
read_uverbs       ok      ok           ok      ENOENT       ENOENT
make_node         ok      EPERM        EPERM   EPERM        EPERM
read_kmsg         ok      EACCES       EACCES  ENOENT       ENOENT
# the kernel
read_pid1         ok      ENOENT       ENOENT  ok           ENOENT
read_sysctl       ok      ok           ok      ok           ok
read_proc_modules ok      ok           ok      ok           ok
write_sysctl      ok      EACCES       EROFS   ok           *
write_sys         ok      EACCES       EROFS   ok           ok
write_cgroup      ok      EACCES       EROFS   EROFS        EROFS
load_module       ok      EPERM        EPERM   ok           ok
remove_module     ok      EPERM        EPERM   EPERM        EPERM
read_kernel_log   ok      EPERM        EPERM   EPERM        EPERM
set_clock         ok      EPERM        EPERM   EPERM        EPERM
adjust_clock      ok      EPERM        EPERM   EPERM        EPERM
set_hostname      ok      EPERM        EPERM   EPERM        EPERM
reboot_off        ok      EPERM        EPERM   EPERM        EPERM
do_mount          ok      EPERM        EPERM   EPERM        EPERM
do_chroot         ok      EPERM        EPERM   EPERM        EPERM
do_ptrace         ok      EPERM        EPERM   EPERM        EPERM
# the network
socket_inet       ok      EAFNOSUPPORT ok      EAFNOSUPPORT ok
socket_inet6      ok      EAFNOSUPPORT ok      EAFNOSUPPORT ok
socket_packet     ok      EAFNOSUPPORT ok      EAFNOSUPPORT ok
send_udp          ok      EAFNOSUPPORT EPERM   EAFNOSUPPORT EPERM
socket_unix       ok      ok           ok      ok           ok
netlink_rdma      ok      ok           ok      ok           ok
netlink_route     ok      ok           ok      ok           ok
netlink_uevent    ok      ok           ok      ok           ok
ask_journal       ok      ok           ok      ok           ok
ask_bus           ok      ok           ok      *            *
ask_systemd       ok      *            *       EACCES       ECONNREFUSED
# itself
do_personality    ok      EPERM        EPERM   EPERM        EPERM
write_and_execute ok      EPERM        EPERM   EPERM        EPERM
new_user_ns       ok      EPERM        EPERM   EPERM        EPERM
new_net_ns        ok      EPERM        EPERM   EPERM        EPERM
realtime          ok      EPERM        EPERM   EPERM        EPERM
more_priority     ok      EPERM        EPERM   EPERM        EPERM
change_user       ok      EPERM        EPERM   EPERM        *
other_abi         ok      SIGSYS       SIGSYS  SIGSYS       SIGSYS
leave_ipc         ok      ok           ok      ok           ok
eat_memory        ok      SIGKILL      SIGKILL SIGKILL      SIGKILL
after_that        ok      ok           ok      ok           ok
uid               ok=root ok=other     ok=root ok=root      ok=root
cap_bounding      *       ok=0         *       ok=11000     *
cap_effective     *       ok=0         *       ok=11000     *
cap_ambient       ok=0    ok=0         ok=0    ok=0         ok=0
no_new_privs      ok=0    ok=1         ok=1    ok=1         ok=1
seccomp           ok=0    ok=2         ok=2    ok=2         ok=2
END
check "it has mounts of its own" test "${found[free.ns_mnt]}" != "${found[daemon.ns_mnt]}" -a "${found[free.ns_mnt]}" != "${found[helper.ns_mnt]}"
check "and the host's network" test "${found[free.ns_net]}" = "${found[daemon.ns_net]}" -a "${found[free.ns_net]}" = "${found[helper.ns_net]}"
finish
