# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Issue 4: "rdmactl events" tells from the journal what happened, to those who may read it, and nothing that others wrote.
# timeout: 240
# kernels: 6.12
# shellcheck source=../lib.sh
. /rig/lib.sh

links 2
start_rdmad
events() { rdmactl events --no-pager "$@"; }
messages() { events --json=short "$@" | jq -r '.[].Message'; }
told() { journal_count_is "$1" RDMAD_OBJECT="$2" RDMAD_REASON=port-down; }

begin=$(date '+%Y-%m-%d %H:%M:%S')
journal_mark
pull p0
check "rxe0 is told to be down" wait_for 5 told 1 rxe0/1
plug p0
check "and up" wait_for 5 told 2 rxe0/1
pull p1
check "rxe1 is told to be down" wait_for 5 told 1 rxe1/1

lines=$(messages --since="$begin" --kind=state)
echo "$lines"
check_eq "all of it" "$(wc -l <<<"$lines")" 3
check_match "oldest first" "$lines" '^rxe0/1: port down.*'$'\n''rxe0/1: port active.*'$'\n''rxe1/1: port down'
check_eq "of one port" "$(messages --since="$begin" --kind=state rxe1/1 | wc -l)" 1
check_eq "a device stands for its ports" "$(messages --since="$begin" --kind=state rxe0 | wc -l)" 2
check_eq "of none" "$(messages rxe7)" ""
check_match "the last one" "$(messages -n1 --kind=state)" '^rxe1/1: port down[^'$'\n'']*$'
check_match "the last of a port" "$(messages -n1 rxe0/1)" '^rxe0/1: port active'
check_eq "since a span ago" "$(messages --since=-1h --kind=state | tail -3)" "$lines"
check_status 2 "not a time" events --since=someday
check_match "for people" "$(events --since="$begin" rxe1)" '^TIME +OBJECT +MESSAGE.*'$'\n''[-0-9]+ [:0-9]+  rxe1/1 +port down'
check_match "the fields" "$(events --json=short -n1 rxe1/1)" '"Kind":"state".*"Priority":3,"Object":"rxe1/1","Reason":"port-down","Edge":"raised"'
check_eq "every record that the journal has" "$(messages --since="$begin" | wc -l)" "$(journal_json _SYSTEMD_UNIT=rdmad.service | jq -c 'select(.RDMAD_OBJECT)' | wc -l)"

# What another user writes is no record of rdmad's.
id=$(journal_field MESSAGE_ID RDMAD_OBJECT=rxe1/1 RDMAD_REASON=port-down)
printf 'MESSAGE=forged\nMESSAGE_ID=%s\nPRIORITY=5\nRDMAD_OBJECT=rxe1/1\n' "$id" | setpriv --reuid=nobody --clear-groups logger --journald
check "another user's record is in the journal" wait_for 5 journal_count_is 1 MESSAGE=forged
check_eq "and not among the events" "$(messages | grep -c forged)" 0

# Following.
rdmactl events -f -n1 >/tmp/follow 2>&1 &
follower=$!
rdmactl events -f -n1 --json --kind=state rxe0 >/tmp/follow.json 2>&1 &
json_follower=$!
check "what there is comes first" wait_for 10 grep -qE 'rxe1/1 +port down' /tmp/follow
plug p1
check "then what happens" wait_for 10 grep -qE 'rxe1/1 +port active' /tmp/follow
pull p0
objects_are() { [[ $(jq -r .Object /tmp/follow.json | tr '\n' ' ') == "$1" ]]; }
check "of one port, one object a line" wait_for 10 objects_are 'rxe0/1 rxe0/1 '
kill -INT $follower
wait $follower
check_eq "^C ends it well" $? 0
kill $json_follower
wait $json_follower
check_eq "and so does SIGTERM" $? 0

# Without the right, and without the daemon.
denied=$(setpriv --reuid=nobody --clear-groups rdmactl events 2>&1)
check_eq "without the right it fails" $? 1
check_match "and says who may" "$denied" 'systemd-journal or adm'
systemctl kill -s KILL rdmad; systemctl stop rdmad 2>/dev/null
check "it needs no daemon" events --since="$begin"
finish
