# SPDX-License-Identifier: MIT
# bash completion for rdmactl(1). tests/rdmactl compares it with the verb table.

_rdmactl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev= verb= word i
	local verbs='status list show topo check counters events monitor wait-online explain baseline ack release plan apply verify doctor import-rdma-conf inspect collect reload restart'
	local options='--json --no-legend --full --no-pager --no-ask-password --host --help --version --all --watch --save --since
		--follow --kind --lines --for --as-config --interval --config --force --fail-on --class --group
		--perfdata --ignore-acked --exit --comment --undo --exit-code --disruptive --timeout --any
		--root --output --in-place'

	(( COMP_CWORD > 0 )) && prev=${COMP_WORDS[COMP_CWORD-1]}
	COMPREPLY=()

	# readline splits "--json=short" at the "=".
	if [[ $cur == = && $prev == --json ]]; then
		COMPREPLY=($(compgen -W 'pretty short off'))
		return
	elif [[ $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --json ]]; then
		COMPREPLY=($(compgen -W 'pretty short off' -- "$cur"))
		return
	elif [[ $prev == --kind || ( $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --kind ) ]]; then
		[[ $cur != = ]] || cur=
		COMPREPLY=($(compgen -W 'state inventory config admin' -- "$cur"))
		return
	elif [[ $prev == --@(save|output) || ( $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --@(save|output) ) ]]; then
		[[ $cur != = ]] || cur=
		COMPREPLY=($(compgen -A file -- "$cur"))
		return
	elif [[ $prev == --since || ( $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --since ) ]]; then
		[[ $cur != = ]] || cur=
		COMPREPLY=($(compgen -A file -W 'today yesterday -1h' -- "$cur"))
		return
	elif [[ $prev == --root || ( $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --root ) ]]; then
		[[ $cur != = ]] || cur=
		COMPREPLY=($(compgen -A directory -- "$cur"))
		return
	elif [[ $prev == --config || ( $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --config ) ]]; then
		[[ $cur != = ]] || cur=
		COMPREPLY=($(compgen -A file -- "$cur"))
		return
	elif [[ $prev == -n || $prev == --lines || $prev == --for || $prev == --interval || $prev == --timeout ]]; then
		return
	elif [[ $prev == --fail-on || ( $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --fail-on ) ]]; then
		[[ $cur != = ]] || cur=
		COMPREPLY=($(compgen -W 'failed degraded unknown' -- "$cur"))
		return
	elif [[ $prev == --class || ( $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --class ) ]]; then
		[[ $cur != = ]] || cur=
		COMPREPLY=($(compgen -W 'link fabric device setup monitor config' -- "$cur"))
		return
	elif [[ $prev == --exit || ( $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --exit ) ]]; then
		[[ $cur != = ]] || cur=
		COMPREPLY=($(compgen -W 'nagios npd bool' -- "$cur"))
		return
	elif [[ $prev == --group || $prev == --comment ]]; then
		return
	elif [[ $prev == -H || $prev == --host ]]; then
		COMPREPLY=($(compgen -A hostname -- "$cur"))
		return
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
		return
	fi

	for (( i = 1; i < COMP_CWORD; i++ )); do
		word=${COMP_WORDS[i]}
		if [[ $word == @(-H|--host|-n|--lines|--for|--kind|--save|--since|--interval|--config|--fail-on|--class|--group|--exit|--comment|--timeout|--root|--output) ]]; then
			(( i++ ))
		elif [[ " $verbs " == *" $word "* ]]; then
			verb=$word
			break
		fi
	done

	case $verb in
	'')
		COMPREPLY=($(compgen -W "$verbs" -- "$cur"))
		;;
	status|list|show|topo|check|counters|events|monitor|wait-online|explain|ack|release|plan|apply|baseline)
		# compgen expands what -W is given: names with anything that a shell could take are
		# left out.
		local names key=Object objects=('*' '*/*')
		if [[ $verb == baseline && $((i + 1)) == "$COMP_CWORD" ]]; then
			COMPREPLY=($(compgen -W 'show save drop' -- "$cur"))
			return
		fi
		# What is acknowledged is a reason that stands.
		if [[ $verb == ack && $((i + 1)) -lt $COMP_CWORD ]]; then
			key='Reasons[.][0-9]*[.]Id' objects=("${COMP_WORDS[i+1]}")
		fi
		names=$(rdmactl show --no-pager "${objects[@]}" 2>/dev/null |
			sed -n "s/^$key=\([A-Za-z0-9_.:/-]*\)\$/\1/p")
		[[ $verb != explain ]] || names+=" $(rdmactl --list-reasons)"
		COMPREPLY=($(compgen -W "$names" -- "$cur"))
		;;
	inspect|collect|import-rdma-conf)
		COMPREPLY=($(compgen -A file -- "$cur"))
		;;
	esac
}

complete -F _rdmactl rdmactl
