#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# press-tab.bash - how bash completes command lines when Tab is pressed at their end
#
# USAGE
#   press-tab.bash SETUP <LINES
#
# Starts a bash on a new terminal that sources the file SETUP, which must complete with a function
# _agentdeck. It gets one line after the other, each followed by a Tab. Prints for each, separated
# by tabs: the line, the completed line, and each word that was offered for it, unquoted. Where bash
# splits a word (at ":" and "="), a word is offered without what is before the last split.
#
set -uo pipefail

PRESS_TAB_SETUP=${1:?}
PRESS_TAB_DIRECTORY=$(mktemp -d) || exit
export PRESS_TAB_SETUP PRESS_TAB_DIRECTORY
trap 'rm -rf "$PRESS_TAB_DIRECTORY"' EXIT
mkfifo "$PRESS_TAB_DIRECTORY/answers" "$PRESS_TAB_DIRECTORY/keys" || exit

cat >"$PRESS_TAB_DIRECTORY/rc" <<'END'
PS1=''
bind 'set bell-style none'
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind 'set enable-bracketed-paste off'
source "$PRESS_TAB_SETUP"
eval "press_tab_complete() $(declare -f _agentdeck | tail -n +2)"
press_tab_offered=()
_agentdeck() {
	local press_tab_reply press_tab_quote=''
	press_tab_complete "$@"
	[[ ${COMP_WORDS[COMP_CWORD]} != [\"\']* ]] || press_tab_quote=${COMP_WORDS[COMP_CWORD]:0:1}
	for press_tab_reply in "${COMPREPLY[@]}"; do
		eval "press_tab_offered+=($press_tab_quote$press_tab_reply$press_tab_quote)"
	done
}
press_tab_report() {
	local IFS=$'\t'
	printf '%s\n' "$READLINE_LINE"$'\t'"${press_tab_offered[*]}" >"$PRESS_TAB_DIRECTORY/answers"
	press_tab_offered=() READLINE_LINE='' READLINE_POINT=0
}
bind -x '"\e[24~": press_tab_report'
END

# shellcheck disable=SC2016  # the new shell expands it
script -qfec 'exec bash --noprofile --rcfile "$PRESS_TAB_DIRECTORY/rc" -i' /dev/null \
	<"$PRESS_TAB_DIRECTORY/keys" >/dev/null 2>&1 &
exec {keys}>"$PRESS_TAB_DIRECTORY/keys" {answers}<>"$PRESS_TAB_DIRECTORY/answers"
while IFS= read -r line; do
	printf '%s\t\e[24~' "$line" >&"$keys"
	# otherwise we would wait for a hanging one at every line
	IFS= read -r -t 30 -u "$answers" answer || exit
	printf '%s\t%s\n' "$line" "$answer"
done
printf '\025\004' >&"$keys"
exec {keys}>&-
wait
