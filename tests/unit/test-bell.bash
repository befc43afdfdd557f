#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-bell.bash - the deck follows what agents print, without a report: a tmux pane
#
# USAGE
#   test-bell.bash [NAME...]   only these cases; agentdeck is found in PATH
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no tmux, or agentdeck was built without ncurses
#
# The cases are called by their names, which shellcheck does not see.
# shellcheck disable=SC2317

command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
[[ -x $(dirname "$(command -v agentdeck)")/agentdeck-ui ]] || { echo "skipped: no agentdeck-ui"; exit 77; }
tests=$(cd "${top_srcdir:-$(dirname "$0")/../..}/tests/unit" && pwd)
# shellcheck source=tests/unit/terminal.bash
source "$tests/terminal.bash"

# Those who ring for the session of agents_terminal().
bells() { pgrep -f "^[^ ]*agentdeck-bell $(dirname "${agent[-1]}")/bell\$"; }
has_bells() { [[ $(bells | wc -l) == "$1" ]]; }
await_bells() {	# COUNT
	until_done has_bells "$1" || { fail "not $1 bells, but: $(bells)" && return 1; }
}

case_the_screen_is_live_and_in_colour() {
	some_sessions
	deck start api --no-supervise
	agents_terminal api
	open 120 40
	await '○ api' && keys G Up Tab
	await '│ agentdeck-demo-agent' && await_bells 1
	# It prints, and reports nothing.
	printf '\033[1;31mred words\033[0m\033]0;title\a\r\n' >"$device"
	await 'red words'
	"${terminal[@]}" capture-pane -pe | grep -E $'\033\\[[0-9;]*31[0-9;]*mred words' >/dev/null || fail 'they are not red'
	# Only for the one that is shown.
	keys Down
	await '─ web ─.*\[screen\]' && await_bells 0
	[[ $("${agent[@]}" display-message -p -t %0 '#{pane_pipe}') == 0 ]] || fail 'the pipe is still there'
	keys Up
	await 'red words' && await_bells 1
	printf 'more words\r\n' >"$device"
	await 'more words'
	keys Tab
	await '─ api ─.*\[reply\]' && await_bells 0
}

case_a_stopped_deck_holds_no_agent_up() {
	local pid
	some_sessions
	deck start api --no-supervise
	agents_terminal api
	open 120 40
	await '○ api' && keys G Up Tab
	await '│ agentdeck-demo-agent' && await_bells 1
	pid=$(ui_pid) && kill -STOP "$pid"
	# more than any pipe or queue holds
	head -c 30000000 <(yes 'some words that nobody reads') >"$home/words"
	timeout 60 cp "$home/words" "$device" || fail 'the agent waits for the deck'
	printf 'the end\r\n' >"$device"
	kill -CONT "$pid"
	await 'the end'
}

case_a_killed_deck_leaves_no_bell() {
	some_sessions
	deck start api --no-supervise
	agents_terminal api
	open 120 40
	await '○ api' && keys G Up Tab
	await '│ agentdeck-demo-agent' && await_bells 1
	kill -KILL "$(ui_pid)"
	await 'ended: 137' && await_bells 0
	# tmux has not noticed; the next one comes through.
	open 120 40
	await '○ api' && keys G Up Tab
	await '│ agentdeck-demo-agent' && await_bells 1
	printf 'new words\r\n' >"$device"
	await 'new words'
	keys q
	await 'ended: 0' && await_bells 0
}

case_a_pipe_of_the_user_stays() {
	some_sessions
	deck start api --no-supervise
	agents_terminal api
	"${agent[@]}" pipe-pane -t %0 "exec cat >'$home/piped'"
	open 120 40
	await '○ api' && keys G Up Tab
	await '│ agentdeck-demo-agent' && await_bells 0
	keys q
	await 'ended: 0'
	[[ $("${agent[@]}" display-message -p -t %0 '#{pane_pipe}') == 1 ]] || fail 'the pipe is gone'
	# nor one that comes later
	"${agent[@]}" pipe-pane -t %0
	open 120 40
	await '│ agentdeck-demo-agent' && await_bells 1
	"${agent[@]}" pipe-pane -t %0 "exec cat >'$home/later'"
	await_bells 0
	deck send api hello
	await '│ demo: reply 1'
	keys q
	await 'ended: 0'
	[[ $("${agent[@]}" display-message -p -t %0 '#{pane_pipe}') == 1 ]] || fail 'the later pipe is gone'
	grep -q 'reply 1' "$home/later" || fail "the later pipe has: $(<"$home/later")"
}

# A dialog before the first turn, of which nothing is reported.
case_a_question_at_the_start_is_seen() {
	mkdir -m 700 "$home/deck/agents"
	printf '#!/bin/sh\necho "may I? (y/n)"\nexec cat\n' >"$home/finch"
	chmod 755 "$home/finch"
	printf 'command = ["%s"]\n[screen]\nready = ["^> "]\nwaiting = ["^may I"]\n' "$home/finch" >"$home/deck/agents/finch.toml"
	printf '[resume]\nprobation = 1\n' >>"$home/deck/config.toml"
	deck launch . -t solo --agent finch --no-wait --no-supervise
	open 80 24
	await '\? solo .* asks'
}

# The session is not the selected one, and its agent reports nothing.
case_what_is_printed_is_followed_without_a_supervisor() {
	local words
	mkdir -m 700 "$home/deck/agents"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nfor say in "> " "may I?" "> " "may I?"; do printf "\\033[2J\\033[H%%s\\n" "$say"; read -r line; done\n' >"$home/finch"
	chmod 755 "$home/finch"
	printf 'command = ["%s"]\n[screen]\nready = ["^> "]\nwaiting = ["^may I"]\n' "$home/finch" >"$home/deck/agents/finch.toml"
	# The end of a probation is a look.
	printf '[resume]\nprobation = 120\n' >>"$home/deck/config.toml"
	deck add . -t a --agent finch
	deck launch . -t solo --agent finch --no-wait --no-supervise
	agents_terminal solo
	for words in '' 'agentdeck top'; do
		# shellcheck disable=SC2086
		open 70 24 $words
		await 'solo .* idle' && "${agent[@]}" send-keys -t %0 Enter
		await 'solo .* asks' && "${agent[@]}" send-keys -t %0 Enter
	done
}

# The agent reports nothing before its command is over, long after the test.
case_an_answered_question_is_not_waited_for() {
	some_sessions
	AGENTDECK_DEMO_RUN_MS=3600000 deck start api --no-supervise
	# given by hand, while the deck shows the screen
	agents_terminal api
	open 120 40
	await '○ api' && keys G Up Tab
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	await '│ .*Esc to cancel' && await '\? api .* asks'
	"${agent[@]}" send-keys -t %0 1
	await '│ .*Running' && await '● api .* busy'
}

run_cases "$@"
