#compdef agentdeck
# zsh completion for agentdeck

_agentdeck() {
	local line text expl ret=1
	local -a lines candidates hosts
	lines=("${(@f)$(command agentdeck help --complete -- \
		"${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
	for line in "${(@)lines[2,-1]}"; do
		text=${${line%%$'\t'*}//\\/\\\\}
		# a session of that host follows
		[[ ${line%%$'\t'*} != *: ]] || { hosts+=("${text%:}"); continue }
		text=${text//:/\\:}
		[[ $line == *$'\t'* ]] && text+=:${line#*$'\t'}
		candidates+=("$text")
	done
	(( $#hosts )) && _wanted hosts expl host compadd -S : -a hosts && ret=0
	(( $#candidates )) && _describe -t agentdeck agentdeck candidates && ret=0
	case $lines[1] in
	# "_files -/" offers files where there is no directory
	(directories) _wanted directories expl directory _path_files -/ && ret=0 ;;
	(files) _files && ret=0 ;;
	(programs) _command_names && ret=0 ;;
	esac
	# without a match the user's other ways to complete have their turn
	return ret
}

# Autoloaded from $fpath this file is the function; otherwise it is sourced.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_agentdeck "$@"
else
	compdef _agentdeck agentdeck
fi
