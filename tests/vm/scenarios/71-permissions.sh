# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 7: who may change something over D-Bus. Root always; others where polkit allows it; nobody blocks when it hangs.
# timeout: 150
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

cable d0 p0
conf link <<END
[Link rxe0]
Type=rxe
NetDevice=d0
END
start_rdmad
# The bus knows rdmad a moment later than systemd does.
check "on the bus" wait_for 5 busctl --timeout=2 get-property org.rdmad1 /org/rdmad1 org.rdmad1.Manager HealthState
check "the link is up" wait_for 5 port_is rxe0/1 ACTIVE

as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@" --allow-interactive-authorization=no; }
manager=(org.rdmad1 /org/rdmad1 org.rdmad1.Manager)
log=(org.rdmad1 /org/freedesktop/LogControl1 org.freedesktop.LogControl1)
# Everything that changes something; as somebody else if told how.
reload() { "$@" busctl call "${manager[@]}" Reload t 0; }
release() { "$@" busctl call "${manager[@]}" Release astt 1 rxe0 60000000 0; }
take_back() { "$@" busctl call "${manager[@]}" Release astt 1 rxe0 0 0; }
ack() { "$@" busctl call "${manager[@]}" Ack ssst rxe0/1 port-down 'a ticket' 0; }
save() { "$@" busctl call "${manager[@]}" SaveBaseline ast 0 0; }
drop() { "$@" busctl call "${manager[@]}" DropBaseline ast 0 0; }
apply() { "$@" busctl call "${manager[@]}" Apply t 0; }
restart() { "$@" busctl call "${manager[@]}" Restart t 0; }
level() { "$@" busctl set-property "${log[@]}" LogLevel s info; }
all=(reload release take_back ack save drop apply restart level)
state() { rdmactl --json=short status | jq -c '[.Daemon.ConfigGeneration, .Devices[0].ReleasedBy, .Devices[0].Ports[0].Reasons]'; }
# refused WHAT MESSAGE: nobody's call of it
refused() {
        local out
        ! out=$("$1" as_nobody 2>&1) || { echo "$1 was not refused"; return 1; }
        [[ $out == *"$2"* ]] || { echo "$out"; return 1; }
}

# On a terminal polkit's agent asks a user for an administrator's password.
useradd -M -G sudo boss && echo boss:right | chpasswd -c SHA256 -s 1000
useradd -M joe
mkfifo /tmp/keys
# types PASSWORD COMMAND: joe's terminal, on which he is asked, answers, and is told how it ended
types() {
        local pid r=0
        setpriv --reuid joe --regid joe --clear-groups script -qefc "$2; echo status \$?" /dev/null <>/tmp/keys >/tmp/screen 2>&1 &
        pid=$!
        { wait_for 10 grep -q 'Password:' /tmp/screen && echo "$1" >/tmp/keys && wait_for 10 grep -q '^status' /tmp/screen; } || r=1
        kill "$pid" && wait "$pid"
        cat /tmp/screen
        return "$r"
}
shows() { local word; for word; do grep -F -e "$word" /tmp/screen || { cat /tmp/screen; return 1; }; done; }
acknowledged() { rdmactl --json=short status | jq -c '.Devices[0].Ports[0].Reasons[0].AcknowledgedBy'; }

pull p0
has_fallen() { [[ $(rdmactl --json=short status) == *'"port-down"'* ]]; }
check "there is something to acknowledge" wait_for 5 has_fallen
check "joe is asked for a password, and types a wrong one" types wrong 'rdmactl ack rxe0/1 port-down'
check "it says for what, and that it was wrong" shows 'acknowledge trouble that rdmad reports' 'Authenticating as: boss' 'FAILED' 'polkit does not allow it' 'password was wrong' 'status 1'
check_eq "nothing has changed" "$(acknowledged)" null
check "joe types the right one" types right 'rdmactl ack rxe0/1 port-down'
check "it is acknowledged" shows 'COMPLETE' 'rxe0/1: port-down acknowledged' 'status 0'
check_eq "and by whom" "$(acknowledged)" "\"uid $(id -u joe)\""
check "root: ack" wait_for 5 ack
plug p0
check "ok" wait_for 5 rdmactl check

before=$(state)
check_eq "polkit has read the actions" "$(pkaction | grep -c '^org\.rdmad1\.')" 6
for what in reload release take_back ack save drop apply restart; do check "a password is needed: $what" refused "$what" 'ask for a password'; done
check "the log level is root's" refused level 'Only root'
check "everybody may read" as_nobody busctl call "${manager[@]}" Describe
check_eq "nothing has changed" "$(state)" "$before"

mkdir -p /etc/polkit-1/rules.d
cat >/etc/polkit-1/rules.d/50-rdmad.rules <<'END'
polkit.addRule(function(action, subject) {
    if (action.id == "org.rdmad1.release" && subject.user == "nobody")
        return polkit.Result.YES;
    if (action.id == "org.rdmad1.ack")
        return polkit.Result.NO;
});
END
chmod 644 /etc/polkit-1/rules.d/50-rdmad.rules
systemctl restart polkit.service
check "a rule allows one thing" release as_nobody
check_eq "and it was done, by whom" "$(rdmactl --json=short status | jq -r '.Devices[0].ReleasedBy')" 'uid 65534'
check "and back" take_back as_nobody
check "not another" refused reload 'ask for a password'
check "a rule forbids" refused ack 'polkit does not allow it'

# polkit hangs, though it would say yes, and that takes ten seconds: meanwhile everything else goes on.
pid=$(systemctl show -P MainPID polkit.service)
kill -STOP "$pid"
t0=$(now_ms)
{ refused release 'polkit has not answered' && echo yes; } >/tmp/hung &
check "polkit hangs: root does not wait" reload
check "nor who reads" as_nobody busctl --timeout=2 call "${manager[@]}" Describe
check_below "both within" "$(( $(now_ms) - t0 ))" 5000
for what in reload release take_back save drop apply level; do check "root: $what" "$what"; done
check "refused in the end" wait_for 15 grep -x yes /tmp/hung
before=$(state)
kill -CONT "$pid"
check "what it says then is not heard" holds 0.5 eval '[[ $(state) == "$before" ]]'

systemctl stop polkit.service
rm /usr/share/dbus-1/system-services/org.freedesktop.PolicyKit1.service
systemctl reload dbus.service
before=$(state)
for what in "${all[@]}"; do check "without polkit: $what" refused "$what" 'Only root'; done
check_eq "nothing has changed" "$(state)" "$before"
check "root may" reload
finish
