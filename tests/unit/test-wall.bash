#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-wall.bash - agentdeck wall in a real terminal: a tmux pane
#
# USAGE
#   test-wall.bash [--update]   agentdeck is found in PATH
#   --update   write the golden screens of tests/unit/wall/ again: read the difference before you
#              commit it
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no tmux, or agentdeck was built without ncurses
set -uo pipefail
export LC_ALL=C.UTF-8 TZ=UTC

command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
[[ -x $(dirname "$(command -v agentdeck)")/agentdeck-ui ]] || { echo "skipped: no agentdeck-ui"; exit 77; }
home=$(mktemp -d /tmp/agentdeck-wall-XXXXXX) || exit
golden=$(cd "${top_srcdir:-$(dirname "$0")/../..}/tests/unit" && pwd)/wall
failures=0 case_name="" passed=0 update=${1:-}
terminal=(env -u TMUX tmux -S "$home/terminal" -f /dev/null)
environment=(-u TMUX -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_DATA_HOME -u AGENTDECK_PROFILE
	-u AGENTDECK_INSTANCE -u AGENTDECK_INSTANCE_ID -u AGENTDECK_DEMO_CONFIG_DIR -u NO_COLOR
	"AGENTDECK_HOME=$home/deck" "HOME=$home/user" "TMPDIR=$home/tmp" "SHELL=/bin/sh"
	MALLOC_PERTURB_=165)	# freed memory gets other bytes

trap '"${terminal[@]}" kill-server 2>/dev/null; env "${environment[@]}" agentdeck stop --all -q >/dev/null 2>&1; rm -rf "$home"' EXIT

fail() {
	echo "FAILED $case_name: $*"
	failures=$((failures + 1))
}
deck() { env "${environment[@]}" agentdeck "$@" >"$home/out" 2>&1 || fail "agentdeck $*: $(<"$home/out")"; }
keys() { "${terminal[@]}" send-keys "$@"; }
screen() { "${terminal[@]}" capture-pane -p 2>&1; }

# Until the screen has a line like this (extended regular expression).
await() {
	local end=$((SECONDS + 30))
	until screen | grep -E -e "$1" >/dev/null; do
		if ((SECONDS >= end)); then
			fail "no '$1' on the screen:" && screen
			return 1
		fi
		read -rt 0.05 <> <(:)
	done
	return 0
}

await_gone() {
	local end=$((SECONDS + 30))
	while screen | grep -E -e "$1" >/dev/null; do
		((SECONDS < end)) || { fail "'$1' stays on the screen"; return 1; }
		read -rt 0.05 <> <(:)
	done
	return 0
}

# The screen becomes the golden one, with "ID" for the ids of sessions.
look() {	# NAME
	local end=$((SECONDS + 10)) shown
	while shown=$(screen | sed -E "s/[0-9a-f]{8}-[0-9a-f-]+/ID/g; s,$home,HOME,g; s/(demo-agent) [0-9][^ :]*/\1 VERSION/; s/[[:space:]]+$//"); do
		if [[ $update == --update ]]; then
			mkdir -p "$golden" && printf '%s\n' "$shown" >"$golden/$1.txt"
			return
		fi
		diff -u "$golden/$1.txt" - <<<"$shown" >"$home/difference" && return
		((SECONDS < end)) || { fail "the screen differs from $golden/$1.txt: $(<"$home/difference")"; return; }
		read -rt 0.05 <> <(:)
	done
}

# Press and release the first button at once: "%4" is column 5 of row 20, both from 1 on and plus 32.
click() { keys -l $'\e[M '"$1"$'\e[M#'"$1"; }

# --- cases: one wall, from one to the next ----------------------------------------------------------

each_session_of_the_group_has_a_tile() {
	await '^>○ api: idle ─+$' && await '^ ○ web: idle ─+$' && await '^session [0-9a-f]'
	! grep -q other <<<"$(screen)" || fail "a session of another group is there: $(screen)"
	look tiles-80x24
}

it_shows_what_the_agent_prints() {
	deck send web "日本語日本語日本語日本語日本語日本語日本語日本語日本語 end" --no-wait
	await '^demo: reply 1\. You said: "日本語'
	# Without a report: only the bell can tell.
	deck show web --json
	env -u TMUX tmux -S "$(sed -n 's/.*"socket": *"\([^"]*\)".*/\1/p' "$home/out")" send-keys typed
	await '^❯ typed'
}

tab_and_arrows_select() {
	keys Tab
	await '^>○ web: ' && keys Up
	await '^>○ api: ' && keys Down
	await '^>○ web: '
}

a_click_selects_and_attaches() {
	click '%#'
	await '^>○ api: ' && click '%#'
	await '^. api  ' && keys C-q
	await '^>○ api: ' && click '%4'
	await '^>○ web: '
}

help_lists_the_keys() {
	keys '?'
	await 'any other key back' && look help-80x24
	# Neither a click nor a move reaches the tiles below.
	click '%#' && "${terminal[@]}" resize-window -x 40 -y 12
	await '^Up, k' && look help-40x12
	keys Down
	await_gone 'one tile up' && await 'page 2 of'
	"${terminal[@]}" resize-window -x 80 -y 24
	keys Escape
	await '^>○ web: ' && keys Up && await '^>○ api: ' && keys Down && await '^>○ web: '
}

what_is_removed_below_the_help_is_gone() {
	deck launch . -t fourth -g work --agent demo --no-supervise
	await '^ ○ fourth: idle ─+$' && keys '?'
	await 'any other key back'
	deck remove --force fourth
	# Each draws the help again.
	deck set web group work/other && deck set web group work
	keys Escape
	await '^>○ web: ' && await_gone fourth
}

who_waits_is_marked_without_colors() {
	deck send api hello --no-wait
	await '^ \? api: waiting ═+$' && keys n
	await '^>\? api: waiting ═+$'
}

enter_attaches_and_comes_back() {
	keys Enter
	await 'Ctrl-Q: leave' && keys C-q
	await '^>\? api: waiting ═+$'
}

a_small_terminal_has_pages() {
	deck launch . -t third -g work/deep --agent demo --no-supervise
	"${terminal[@]}" resize-window -x 40 -y 12
	await '^Page 1 of 2 ' && keys NPage
	await '^>○ third: idle ─+$' && await '^Page 2 of 2 ' && keys PPage
	await '^Page 1 of 2 ' && keys -l $'\e[Ma%#'
	await '^Page 2 of 2 ' && keys -l $'\e[M`%#'
	await '^Page 1 of 2 '
	# Wide characters are cut between two of them.
	await '^ ○ web: ' && await '^> (日本語)+… ?$'
}

keys_are_those_of_the_configuration() {
	keys q
	await '^ended: 0'
	printf '[ui]\nkeys = ["wall.next=v", "up=I", "down=K", "collapse=J", "open=L"]\n' >>"$home/deck/config.toml"
	"${terminal[@]}" resize-window -x 100 -y 24 \; \
		respawn-pane -k env "${environment[@]}" NO_COLOR=1 sh -c '"$@"; echo "ended: $?"; exec cat' sh agentdeck wall -g work
	await '^>. api: ' && await 'I, K, J, L choose' && keys Tab
	await 'This key does nothing here; \? lists the keys' && keys v
	await '^.*>. web: ' && keys '?'
	await '^v +to the next tile' && await '^Back-Tab +to the previous tile' && await '^I, K page 1 of 1'
	keys Escape
	await '>. web: '
	"${terminal[@]}" resize-window -x 80 -y 24
}

# Their screens change at the same moment, and are still from then on.
all_who_become_idle_together_are_seen() {
	local title gate state sign
	printf '#!/bin/sh\nwhile :; do\nprintf "\\033[2J\\033[Hworking\\n"\n: <"%s"\nprintf "\\033[2J\\033[H> \\n"\n: <"%s"\ndone\n' \
		"$home/gate" "$home/back" >"$home/mute"
	chmod +x "$home/mute" && mkfifo "$home/gate" "$home/back" && mkdir -p "$home/deck/agents"
	printf 'command = ["%s"]\n[screen]\nready = ["^> "]\nbusy = ["^working"]\n' "$home/mute" >"$home/deck/agents/mute.toml"
	for title in m1 m2 m3 m4; do deck add . -t "$title" -g mute --agent mute; done
	deck start m1 m2 m3 m4 --no-wait --no-supervise
	"${terminal[@]}" respawn-pane -k env "${environment[@]}" NO_COLOR=1 \
		sh -c '"$@"; echo "ended: $?"; exec cat' sh agentdeck wall -g mute
	for title in m1 m2 m3 m4; do await "● $title: busy"; done
	for gate in gate back gate back gate; do
		state=idle sign=○
		[[ $gate == gate ]] || state=busy sign=●
		: >"$home/$gate"
		for title in m1 m2 m3 m4; do await "$sign $title: $state" || return; done
	done
	keys q
	await '^ended: 0'
	deck stop m1 m2 m3 m4
}

q_leaves_no_bell_behind() {
	keys q
	await '^ended: 0'
	local end=$((SECONDS + 20))
	while pgrep -f "agentdeck-bell.*$home" >/dev/null; do
		((SECONDS < end)) || { fail "a bell still runs"; return; }
		read -rt 0.05 <> <(:)
	done
}

signs_suit_a_locale_without_unicode() {
	"${terminal[@]}" respawn-pane -k env "${environment[@]}" NO_COLOR=1 LC_ALL=C agentdeck wall -g work
	await '^>\? api: waiting =+$' && await '^ = web: idle -+$' && await '^> \?+ end$'
}

it_refuses_what_it_cannot_show() {
	local out
	out=$(env "${environment[@]}" agentdeck wall -g nowhere 2>&1)
	[[ $? == 2 && $out == *"no session is in group nowhere"* ]] || fail "an unknown group: $out"
	out=$(env "${environment[@]}" agentdeck wall nobody 2>&1)
	[[ $? == 2 ]] || fail "an unknown session: $out"
	out=$(env "${environment[@]}" agentdeck wall -g work api 2>&1)
	[[ $? == 64 ]] || fail "a group and a session: $out"
	out=$(env "${environment[@]}" agentdeck wall </dev/null 2>&1)
	[[ $? == 64 && $out == *"needs a terminal"* ]] || fail "no terminal: $out"
}

mkdir "$home/user" "$home/tmp" "$home/work"
mkdir -m 700 "$home/deck"
printf '[tmux]\nlaunch_in_user_scope = false\nlinger = false\n' >"$home/deck/config.toml"
cd "$home/work" || exit 1
# This one says at once that it waits, when it has answered.
AGENTDECK_DEMO_IDLE_MS=1 deck launch . -t api -g work --agent demo --no-supervise
export AGENTDECK_DEMO_IDLE_MS=3600000
deck launch . -t web -g work --agent demo --no-supervise
deck launch . -t other -g play --agent demo --no-supervise
# shellcheck disable=SC2016 # the inner shell expands it
"${terminal[@]}" new-session -d -x 80 -y 24 env "${environment[@]}" NO_COLOR=1 \
	sh -c '"$@"; echo "ended: $?"; exec cat' sh agentdeck wall -g work \; set -g status off

for case_name in each_session_of_the_group_has_a_tile it_shows_what_the_agent_prints tab_and_arrows_select \
	a_click_selects_and_attaches help_lists_the_keys what_is_removed_below_the_help_is_gone who_waits_is_marked_without_colors enter_attaches_and_comes_back a_small_terminal_has_pages \
	keys_are_those_of_the_configuration \
	q_leaves_no_bell_behind signs_suit_a_locale_without_unicode \
	all_who_become_idle_together_are_seen it_refuses_what_it_cannot_show; do
	before=$failures
	"$case_name"
	((failures > before)) || { echo "ok $case_name"; passed=$((passed + 1)); }
done
echo "$passed passed, $failures failed"
((failures == 0))
