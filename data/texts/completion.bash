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

# the text of a word that is typed; its last quote may still be open, and nothing in it is run
_agentdeck_unquote()
{
	local char quote=''
	local -i i
	plain=''
	for ((i = 0; i < ${#1}; i++)); do
		char=${1:i:1}
		case $quote$char in
		\"\" | \'\') quote='' ;;
		\" | \') quote=$char ;;
		\\) ((i += 1)) && plain+=${1:i:1} ;;
		\"\\)
			[[ ${1:i+1:1} == [\"\\\$\`] ]] && ((i += 1))
			plain+=${1:i:1}
			;;
		*) plain+=$char ;;
		esac
	done
}

_agentdeck()
{
	local word quoted plain cur glue='' done=''
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
	for ((i = 0; i < ${#words[@]}; i++)); do
		_agentdeck_unquote "${words[i]}"
		words[i]=$plain
	done
	mapfile -t lines < <(command agentdeck help --complete -- "${words[@]}" 2>/dev/null)
	case ${lines[0]-} in
	directories) compopt -o dirnames ;;
	files) compopt -o default ;;
	programs) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
	esac
	for ((i = 1; i < ${#lines[@]}; i++)); do
		word=${lines[i]%%$'\t'*}
		[[ $word == "$plain"* ]] || continue
		if [[ $cur == [\"\']* ]]; then
			_agentdeck_quote "${cur:0:1}" "$word"
			COMPREPLY+=("$quoted")
		else
			printf -v quoted %q "$word"
			[[ $quoted == \$\'* ]] || quoted=${quoted//\\,/,}
			COMPREPLY+=("${quoted#"$done"}")
		fi
	done
	# a session of that host follows
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *: ]] || compopt -o nospace
}
complete -F _agentdeck agentdeck
