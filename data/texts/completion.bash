# bash completion for agentdeck

# as it has to stand behind a quote: the shell reads it again, and a title may be "$(...)"
_agentdeck_quote()
{
	local char
	local -i i
	quoted=''
	for ((i = 0; i < ${#2}; i++)); do
		char=${2:i:1}
		case $1$char in
		\"[\"\\\$\`]) quoted+=\\$char ;;
		\'\') quoted+="'\\''" ;;
		*) quoted+=$char ;;
		esac
	done
}

_agentdeck()
{
	local word quoted cur glue='' done=''
	local -a words=() lines=()
	local -i i
	COMPREPLY=()
	# bash splits at ":" and "=" too, and replaces only the last piece
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((${#words[@]})) && [[ $glue || $word == [:=]* ]]; then
			words[${#words[@]} - 1]+=$word
		else
			words+=("$word")
		fi
		if [[ $word == [:=] ]]; then glue=1; else glue=''; fi
	done
	cur=${words[${#words[@]} - 1]}
	if [[ $glue ]]; then done=$cur; else done=${cur%"$word"}; fi
	mapfile -t lines < <(command agentdeck help --complete -- "${words[@]}" 2>/dev/null)
	case ${lines[0]-} in
	directories) compopt -o dirnames ;;
	files) compopt -o default ;;
	programs) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
	esac
	for ((i = 1; i < ${#lines[@]}; i++)); do
		word=${lines[i]%%$'\t'*}
		if [[ $cur == [\"\']* ]]; then
			[[ $word == "${cur:1}"* || $cur == *\\* ]] || continue
			_agentdeck_quote "${cur:0:1}" "$word"
			if [[ $word == "${cur:1}"* || $quoted == "${cur:1}"* ]]; then
				COMPREPLY+=("$quoted")
			fi
		else
			printf -v quoted %q "$word"
			if [[ $word == "$cur"* || $quoted == "$cur"* ]]; then
				COMPREPLY+=("${quoted#"$done"}")
			fi
		fi
	done
}
complete -F _agentdeck agentdeck
