# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The library's helpers, where being wrong would let others pass.
# expect: PASS
# shellcheck source=../lib.sh
. /rig/lib.sh

check_eq "no record yet" "$(journal_records SYSLOG_IDENTIFIER=rigtest)" 0
logger -t rigtest one
check_eq "one record" "$(journal_records SYSLOG_IDENTIFIER=rigtest)" 1
for i in 2 3 4 5; do logger -t rigtest "$i"; done
printf 'MESSAGE=two\nMESSAGE=lines\nSYSLOG_IDENTIFIER=rigtest\n' | logger --journald || fail "logger --journald"
printf 'SYSLOG_IDENTIFIER=rigtest\nMESSAGE=__CURSOR=6\n' | logger --journald || fail "logger --journald"
check_eq "and more" "$(journal_records SYSLOG_IDENTIFIER=rigtest)" 7
check_eq "as JSON too" "$(journal_json SYSLOG_IDENTIFIER=rigtest | wc -l)" 7
check_eq "a field of them" "$(journal_field MESSAGE SYSLOG_IDENTIFIER=rigtest | head -n2 | xargs)" "one 2"
check "for wait_for" journal_count_is 7 SYSLOG_IDENTIFIER=rigtest
journal_mark
check_eq "none after a mark" "$(journal_records SYSLOG_IDENTIFIER=rigtest)" 0
logger -t rigtest after
check_eq "one after that" "$(journal_field MESSAGE SYSLOG_IDENTIFIER=rigtest)" after
unreadable() { journal_records NONSENSE; }
check_status 1 "an unreadable journal is no number" unreadable

start=$(now_ms)
check_status 1 "wait_for gives up" wait_for 0.5 false
check "not before its time" test $(( $(now_ms) - start )) -ge 500
check_status 1 "wait_for wants a number" wait_for soon true
check_status 1 "holds notices at once" holds 100 false
check "holds holds" holds 0.2 true
start=$(now_ms)
nap 0.3
check "nap naps" test $(( $(now_ms) - start )) -ge 300
check_status 1 "no such port has no state" port_state nothing/1
finish
