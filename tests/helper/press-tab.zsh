# SPDX-License-Identifier: GPL-3.0-or-later
#
# press-tab.zsh - how zsh completes command lines when Tab is pressed at their end
#
# USAGE
#   zsh -f press-tab.zsh SETUP <LINES
#
# Starts a zsh on a new terminal that sources the file SETUP, which must start the completion
# system. It gets one line after the other, each followed by a Tab. Prints for each, separated by
# tabs: the line, the completed line, and each word that was offered for it, unquoted.
#
emulate -R zsh
zmodload zsh/zpty || exit
export PRESS_TAB_SETUP=${1:?} PRESS_TAB_DIRECTORY
PRESS_TAB_DIRECTORY=$(mktemp -d) || exit
trap 'rm -rf $PRESS_TAB_DIRECTORY' EXIT

cat >$PRESS_TAB_DIRECTORY/rc <<'END'
PROMPT=''
unsetopt beep auto_list auto_menu
source $PRESS_TAB_SETUP
# Calls with -O, -A or -D only ask what would match.
compadd() {
	local -a hits
	local quote=$compstate[quote]
	if [[ ${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
		builtin compadd -A hits "$@"
		press_tab_offered+=("${(@Q)${(@)hits/#/$quote}/%/$quote}")
	fi
	builtin compadd "$@"
}
press-tab-report() {
	local -a answer=("$BUFFER" "${(@)press_tab_offered}")
	print -r -- "${(pj:\t:)answer}" >$PRESS_TAB_DIRECTORY/answer
	press_tab_offered=() BUFFER=''
	zle -I
	print press-tab-ready
}
zle -N press-tab-report
zle-line-init() {
	zle -D zle-line-init
	print press-tab-ready
}
zle -N zle-line-init
bindkey '\t' complete-word
bindkey '\e[24~' press-tab-report
END

zpty tab 'exec zsh -d -f -i'
zpty -w tab 'source $PRESS_TAB_DIRECTORY/rc'
zpty -r tab seen '*press-tab-ready*' || exit
while IFS= read -r line; do
	zpty -wn tab $line$'\t\e[24~'
	zpty -r tab seen '*press-tab-ready*' || exit
	print -r -- $line$'\t'"$(<$PRESS_TAB_DIRECTORY/answer)"
done
zpty -d tab
