#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-attach.bash - sessions in a real terminal, a tmux pane: from one to another, questions, the list
#
# USAGE
#   test-attach.bash [NAME...]   only these cases; agentdeck is found in PATH
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

# --- from one session to another -------------------------------------------------------------------

# The text of a popup goes first, but the popup takes keys until it is gone, too.
popup_is_gone() { await_gone '[┌└]'; }

case_a_key_goes_to_another_session() {
	some_sessions
	deck start api --no-supervise
	waiting web
	open 80 24 agentdeck attach api
	await '^. api  idle .* 1 other waits' && keys C-b s
	await 'Go to:' && await '┌─' && await '\? web' && await 'Enter go there  Esc stay'
	keys Escape
	popup_is_gone && keys C-b s
	# the one that waits is offered
	await 'Go to:' && keys Enter
	await '^. web  waiting' && keys C-b s
	# one that does not run is started
	await 'Go to:' && keys d o c s
	await 'Go to: docs' && await_gone '│.* web ' && keys Enter
	await '^. docs  idle' && keys C-b s
	await 'Go to:' && keys d o c s Enter
	await 'shows session docs already' && keys Escape
	popup_is_gone && keys C-q
	await 'ended: 0' && await 'docs keeps running'
	deck show web --json
	grep -q '"status": *"running"' "$home/out" || fail "web does not run: $(<"$home/out")"
}

# tmux opens no popup that is larger than the terminal, and the next keys would go to the agent.
case_a_small_terminal_has_the_picker_too() {
	some_sessions
	deck start api --no-supervise
	waiting web
	open 50 12 agentdeck attach api
	await '^. api  idle' && keys C-b s
	await 'Go to:' && await '\? web' && keys Escape
	popup_is_gone && keys C-b N
	await '^. web  waiting' && keys C-q
	await 'ended: 0'
}

# "a" is also in other agents, groups and directories: the title counts.
case_the_picker_goes_to_the_best_title() {
	some_sessions
	deck add a -t webber -g a --agent demo
	deck add a -t other -g a/web --agent demo
	deck start api --no-supervise
	open 80 24 agentdeck attach api
	await '^. api  idle' && keys C-b s
	await 'Go to:' && keys z z z
	await 'No session matches. Esc leaves this list' && keys BSpace BSpace BSpace w e b
	await 'Go to: web' && await ' other ' && await ' webber ' && await ' web '
	keys Enter
	await '^. web  idle' && keys C-q
	await 'ended: 0'
}

case_a_key_goes_to_the_next_that_waits() {
	some_sessions
	deck start api --no-supervise
	open 80 24 agentdeck attach api
	await '^. api  idle' && keys C-b N
	await 'No other session waits for you'
	waiting web docs
	await '2 others wait' && keys C-b N
	await '^. web  waiting .* 1 other waits' && keys C-b N
	await '^. docs  waiting .* 1 other waits' && keys C-b N
	await '^. web  ' && keys C-q
	await 'ended: 0'
}

# tmux 3.3a crashes when such a client is detached below its popup.
case_a_key_works_inside_another_tmux() {
	local i
	some_sessions
	waiting api web
	open 80 24 env TMUX=/nowhere,1,0 agentdeck attach api
	await 'leaves this session' && keys C-b N
	for ((i = 0; i < 5; i++)); do
		await_attached web && keys C-b N
		await_attached api && keys C-b N
	done
	await_attached web && keys C-q
	await 'ended: 0' && await 'web keeps running'
}
# The note is drawn when the client takes keys.
await_attached() {	# TITLE
	local end=$((SECONDS + 30))
	until deck show "$1" --json && [[ $(tmux -S "$(socket_of "$1")" list-clients 2>"$home/why") ]]; do
		((SECONDS < end)) || { fail "$1 is not attached: $(<"$home/why")" && screen; return 1; }
		read -rt 0.05 <> <(:)
	done
	await 'leaves this session'
}

case_a_terminal_moves_only_if_somebody_waits_for_it() {
	some_sessions
	deck start api web --no-supervise
	open 80 24 env -u TMUX tmux -S "$(socket_of api)" attach
	await '^. api  ' && keys C-b s
	await 'Go to:' && keys w e b Enter
	await 'was not attached by this version' && keys Escape
	await_gone 'Esc stay' && keys C-q
	open 80 24 agentdeck attach api
	await '^. api  '
	env "${environment[@]}" agentdeck switch web >"$home/out" 2>&1 && fail 'it works outside'
	grep -q 'does not show a session' "$home/out" || fail "it says $(<"$home/out")"
	env "${environment[@]}" TMUX="$(socket_of api),1,0" agentdeck switch web >"$home/out" 2>&1 || fail "it says $(<"$home/out")"
	await '^. web  ' && keys C-q
	await 'ended: 0'
}

# --- one session -----------------------------------------------------------------------------------

# The agent reports nothing before its command is over, long after the test.
case_an_answered_question_is_not_waited_for() {
	some_sessions
	for title in web docs; do AGENTDECK_DEMO_RUN_MS=3600000 deck start "$title" --no-supervise; done
	# given with agentdeck
	agents_terminal docs
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	deck status --wait waiting --timeout 20 docs
	open 80 24 agentdeck approve docs
	await '^Give this permission' && keys y Enter
	await '^docs: approved$' && await 'ended: 0' && deck list
	grep -Eq '^docs .* busy' "$home/out" || fail "after approve: $(<"$home/out")"
	# given by hand, and the terminal detaches
	agents_terminal web
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	deck status --wait waiting --timeout 20 web
	open 80 24 agentdeck attach web
	await 'Esc to cancel' && keys 1
	await 'Running' && deck list
	grep -Eq '^web .* asks' "$home/out" || fail "nobody has looked yet: $(<"$home/out")"
	local end=$((SECONDS + 20))
	until env "${environment[@]}" agentdeck status >/dev/null && deck list && grep -Eq '^web .* busy' "$home/out"; do
		((SECONDS < end)) || { fail "after a look: $(<"$home/out")"; return; }
	done
	keys C-q
	await 'ended: 0'
}

case_a_shell_asks_before_it_answers_a_permission() {
	deck add . -t api --agent demo
	deck start api --no-supervise
	agents_terminal api
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	deck status --wait waiting --timeout 20 api
	# no terminal: nobody is asked, and nothing is answered
	env "${environment[@]}" agentdeck approve api </dev/null >"$home/out" 2>&1
	local status=$?
	[[ $status == 64 ]] || fail "without a terminal: status $status, $(<"$home/out")"
	grep -q 'read the question with --json' "$home/out" || fail "without a terminal: $(<"$home/out")"
	open 80 24 agentdeck approve api
	await '^ *make$' && await '^Give this permission\? \(y/n\)$' && keys n Enter
	await '^Not given: the agent still waits for an answer\.$' && await 'ended: 1' && deck status --wait waiting --timeout 20 api
	open 80 24 agentdeck deny api
	await '^Refuse this permission\? \(y/n\)$' && keys Enter
	await '^Not refused: the agent still waits for an answer\.$' && await 'ended: 1' && deck status --wait waiting --timeout 20 api
	open 80 24 agentdeck approve api
	await '^Give this permission' && keys y Enter
	await '^api: approved$' && await 'ended: 0'
	deck status --wait busy,idle --timeout 20 api
}

# The demo agent's question, described as one with choices.
case_a_shell_asks_for_a_choice() {
	mkdir -m 700 "$home/deck/agents"
	printf '%s\n' '[question.command]' "yes = ''" "pick = '^ +([0-9])\. Y'" >"$home/deck/agents/demo.toml"
	deck add . -t api --agent demo
	deck start api --no-supervise
	agents_terminal api
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	deck status --wait waiting --timeout 20 api
	open 80 24 agentdeck approve api
	await '^Which one\? Type its number; q cancels\.$' && keys q Enter
	await '^Not answered: the agent still waits' && await 'ended: 1'
	open 80 24 agentdeck approve api
	await '^Which one' && keys 3 Enter
	await 'api asks for one of its choices: name it with --choice' && await 'ended: 1'
	open 80 24 agentdeck approve api
	await '^Which one' && keys 2 Enter
	await '^api: approved$' && await 'ended: 0'
	deck status --wait busy,idle --timeout 20 api
}

case_a_killed_server_leaves_no_mouse() {
	some_sessions
	deck start api --no-supervise
	# shellcheck disable=SC2016 # the inner shell expands it
	open 80 24 sh -c 'agentdeck attach api; status=$?; stty -a | tr ";" "\n" | grep -w icanon; exit $status'
	await '^. api  '
	[[ $(modes) == 1?1* ]] || fail "no mouse before: $(modes)"
	kill_server api
	await '^ended: ' && await '(^| )icanon'
	[[ $(modes) == 0100001 ]] || fail "the terminal is as tmux had it: $(modes)"
}

case_an_unknown_terminal_is_taken_for_a_usual_one() {
	some_sessions
	open 80 24 env TERM=unheard-of agentdeck attach api
	await 'Ctrl-Q: leave' && keys C-q
	await 'so xterm-256color is used' && await 'ended: 0'
}

# --- the list --------------------------------------------------------------------------------------

# One line for each session, whatever the width.
case_the_list_on_a_terminal_has_who_needs_you_first() {
	local width
	some_sessions
	waiting docs
	deck start api --no-supervise
	kill_server api
	deck start web --no-supervise
	for width in 40 41 57 80 120 300; do
		open "$width" 20 agentdeck list
		await 'ended: 0' || return
		[[ $(screen | head -6 | sed -E 's/^([^ ]+ ?[^ ]*).*/\1/' | paste -sd ,) =~ ^'TITLE ,? docs,! api,○ web,· solo,· 日本' ]] ||
			fail "$width: not in this order: $(screen)"
		[[ $(screen | sed -n 7p) == *'ended and should run'* ]] || fail "$width: a session has two lines: $(screen)"
	done
	# where all do not fit, those that are stopped do not scroll them away
	open 80 8 agentdeck list
	await '^2 stopped sessions are not shown: agentdeck list --status stopped shows them\.$' && await 'ended: 0' && await '^\? docs'
	open 80 6 agentdeck list
	await '^3 more, 2 of them stopped: agentdeck list --no-trunc$' && await 'ended: 0' && await '^\? docs' && await '^! api'
	# a group is what was asked for
	deck session set solo group old
	deck session set docs group old
	open 80 5 agentdeck list -g old
	await '^. solo' && await 'ended: 0'
	deck session set solo group ''
	deck session set docs group ''
	open 80 8 agentdeck list --status stopped
	await '^. solo' && await 'ended: 0'
	printf 'ascii = true\n' >>"$home/deck/config.toml"
	open 80 20 agentdeck status
	await '^\? 1 waiting, ! 1 error, = 1 idle, \. 2 stopped, 5 in all$'
	deck list
	grep -q '^docs .* waiting' "$home/out" || fail "a sign where nobody reads: $(<"$home/out")"
	deck status
	grep -qx '1 waiting, 1 error, 1 idle, 2 stopped, 5 in all' "$home/out" || fail "$(<"$home/out")"
}

# --- all of them -----------------------------------------------------------------------------------

run_cases "$@"
