#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-dashboard.bash - agentdeck-ui in a real terminal: a tmux pane
#
# USAGE
#   test-dashboard.bash [--update] [NAME...]   only these cases; agentdeck is found in PATH
#
#   --update   write the golden screens again: read the difference before you commit it
#
# The screens are the golden texts in tests/unit/dashboard/, with "TIME" for a time of day, and without what a session uses.
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no tmux, or agentdeck was built without ncurses
#
# The cases are called by their names, which shellcheck does not see.
# shellcheck disable=SC2317
set -uo pipefail
export LC_ALL=C.UTF-8 TZ=UTC
unset TMUX

command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
[[ -x $(dirname "$(command -v agentdeck)")/agentdeck-ui ]] || { echo "skipped: no agentdeck-ui"; exit 77; }
tests=$(cd "${top_srcdir:-$(dirname "$0")/../..}/tests/unit" && pwd)
# shellcheck source=tests/unit/cases.bash
source "$tests/cases.bash"
golden=$tests/dashboard
root=$(mktemp -d /tmp/agentdeck-dashboard-XXXXXX) || exit
update="" opened=0 id="" tree=""
trap 'rm -rf "$root"' EXIT

# --- a deck of its own, and its terminal -----------------------------------------------------------

set_up() {
	home=$(mktemp -d "$root/XXXXXX") || exit
	id="" tree=""
	mkdir "$home/user" "$home/tmp" "$home/work"
	mkdir -m 700 "$home/deck"
	printf '[tmux]\nlaunch_in_user_scope = false\nlinger = false\n[ui]\npreview = false\n' >"$home/deck/config.toml"
	terminal=(tmux -S "$home/terminal" -f /dev/null)
	environment=(-u TMUX -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_DATA_HOME -u AGENTDECK_PROFILE
		-u AGENTDECK_INSTANCE -u AGENTDECK_INSTANCE_ID -u AGENTDECK_DEMO_CONFIG_DIR -u NO_COLOR
		"AGENTDECK_HOME=$home/deck" "HOME=$home/user" "TMPDIR=$home/tmp" "SHELL=/bin/sh"
		MALLOC_PERTURB_=165)	# freed memory gets other bytes
	cd "$home/work" || exit 1
}
deck() { env "${environment[@]}" agentdeck "$@" >"$home/out" 2>&1 || fail "agentdeck $*: $(<"$home/out")"; }
tear_down() {
	env "${environment[@]}" agentdeck stop --all -q >/dev/null 2>&1
	"${terminal[@]}" kill-server 2>/dev/null
	[[ -z ${FAKE_PID-} ]] || kill "$FAKE_PID" 2>/dev/null
	cd "$root" && rm -rf "$home"
}

# A pane of this size with a shell in it, which runs the deck and then says how it ended.
open() {	# COLUMNS ROWS [WORD...]
	local size=(-x "$1" -y "$2")
	shift 2
	[[ $# -gt 0 ]] || set -- agentdeck ui
	"${terminal[@]}" kill-server 2>/dev/null
	# The old server may still be ending, on its socket.
	terminal=(tmux -S "$home/terminal$((++opened))" -f /dev/null)
	"${terminal[@]}" new-session -d "${size[@]}" env "${environment[@]}" sh -c '"$@"; echo "ended: $?"; exec cat' sh "$@" \; \
		set -g status off \; set -g remain-on-exit on
}
keys() { "${terminal[@]}" send-keys "$@"; }
screen() { "${terminal[@]}" capture-pane -p 2>&1; }

# Whether the screen has a line like this (extended regular expression).
shows() {
	local line
	while IFS= read -r line; do
		[[ ! $line =~ $1 ]] || return 0
	done <<<"$(screen)"
	return 1
}
shows_not() { ! shows "$1"; }

await() { until_done shows "$1" || { fail "no '$1' on the screen:" && screen && return 1; }; }
await_gone() { until_done shows_not "$1" || { fail "'$1' stays on the screen" && return 1; }; }

# What the golden screens have instead of what differs from run to run.
take() { screen | sed -E "s/\b${id:-none}\b/ID/g; s/\b[0-9]{2}:[0-9]{2}\b/TIME /g; s,$home,HOME,g; s/(<1d) +[0-9.]+[KMG].*$/\1/; /ID|HOME/s/ +│/ │/g; s/[[:space:]]+$//"; }
is_golden() { [[ $(take) == "$(<"$golden/$1.txt")" ]]; }

# The screen becomes the golden one: a frame may be half drawn when it is taken.
look() {	# NAME
	if [[ $update ]]; then
		mkdir -p "$golden" && take >"$golden/$1.txt"
	elif ! until_done is_golden "$1"; then
		fail "the screen differs from $golden/$1.txt:"
		take | diff -u "$golden/$1.txt" -
	fi
}

some_sessions() {
	mkdir -p a b c
	deck add a -t api -g work/back --agent demo
	deck add a -t web -g work/back --agent demo
	deck add b -t docs -g work --agent demo
	deck add c -t solo --agent demo
	deck add c -t "日本語 is wide, and this title is longer than any terminal that it is shown in, as users like them to be" -g play --agent demo
}

# A session whose agent has ended by itself, with files that only its tree has, which is $tree.
undecided() {	# FILES
	git init -q -b main repo && git -C repo -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	deck add repo -t api --agent demo --worktree
	deck path api
	tree=$(<"$home/out") id=$(basename "$(dirname "$tree")")
	for ((i = 1; i <= $1; i++)); do echo "$i" >"$tree/file-$i"; done
	deck start api --no-supervise
	env "${environment[@]}" agentdeck send api /exit --no-wait >/dev/null 2>&1
	open 80 24
	await ' · api .* stopped' && keys q
	await 'ended: 0'
	deck recover
}
stage_is() {	# STAGE
	deck show api --json
	grep -q "\"stage\": *\"$1\"" "$home/out" || fail "no '$1' in: $(<"$home/out")"
}

# --- cases -----------------------------------------------------------------------------------------

case_no_session_yet() {
	open 80 24
	await 'conversation +nothing' && await 'tool +nothing' && look empty-80x24
	open 80 24 agentdeck
	await 'conversation +nothing' && await 'tool +nothing' && look empty-80x24 && keys Down Enter
	await 'nothing of that kind' && keys Down Down Enter
	await '○ demo' && keys d Down Enter
	# the last one is removed, and can come back
	await 'Start an agent here' && await '^Removed|^demo' && keys u
	await '· demo' && keys q
	await '^ended: 0'
}

case_without_a_word_the_sessions_are_shown() {
	some_sessions
	open 80 24 agentdeck
	await '\? help' && keys q
	await 'ended: 0'
}

# As PuTTY and rxvt send Home and End, whatever TERM says; -H is in hexadecimal.
case_home_and_end_of_other_terminals_are_known() {
	local keys
	some_sessions
	for keys in '31 7e:34 7e' '37 7e:38 7e' '48:46'; do
		open 80 24
		await '\? help' || return
		# shellcheck disable=SC2086
		keys -H 1b 5b ${keys#*:} && await "^$home/work/a$"
		# shellcheck disable=SC2086
		keys -H 1b 5b ${keys%:*} && await "^$home/work/c$"
	done
}

case_the_next_profile_is_a_key_away() {
	some_sessions
	deck -p second add a -t other --agent demo
	open 80 24
	await '^agentdeck default \(of 2 profiles\)  5 sessions' && keys P
	await '^agentdeck second \(of 2 profiles\)  1 session  ' && await ' · other '
	deck -p second remove other
	await '^ +Nothing runs yet' && keys P
	await '^agentdeck default ' && keys q
	await 'ended: 0' && restored 'after another profile'
}

case_a_wide_list_shows_what_the_sessions_use() {
	some_sessions
	deck start web --no-supervise
	open 120 40
	await '○ web .* idle .* <1d +[0-9]+M +[0-9]+\.[0-9]%$'
	keys o o o o
	await 'Sorted by memory'
	[[ $(screen) == *'○ web '*'· api '* ]] || fail 'web is not the first'
	deck stop web
	await ' · web .* stopped .* <1d$'
	"${terminal[@]}" resize-window -x 80 -y 24
	await_gone '<1d'
}

case_the_deck_opens_as_it_was_left() {
	some_sessions
	open 80 24
	await '\? help' && keys o o Tab Tab Tab Tab
	await '^─ solo ─.*\[facts\]' && keys f
	await ': those that need you' && keys f f
	await 'Showing all' && keys G
	await '^─ web ─.*\[facts\]' && keys q
	await 'ended: 0'
	open 80 24
	await '^─ web ─.*\[facts\]' && keys o
	await 'Sorted by use' && keys q
	await 'ended: 0'
	# what is no file of ours is as none
	printf '{"default": [7' >"$home/deck/deck.json"
	open 80 24
	await '\? help' && await_gone '\[facts\]' && keys o
	await 'Sorted by urgency'
}

# So many copies of the only session, whose id is $id; and what it is in, in $text.
copies() {	# COUNT
	local profile=$home/deck/default name
	id=$(basename "$(dirname "$profile"/*/instance.json)")
	text=$(<"$profile/$id/instance.json")
	(umask 077 && cd "$profile" && seq -f %08.0f "$1" | xargs mkdir &&
		for name in $(seq -f %08.0f "$1"); do
			: >"$name.lock"
			printf '%s\n' "${text//$id/$name}" >"$name/instance.json"
		done)
}

case_a_thousand_sessions_change_at_once() {
	local name changed text
	deck add . -t one --agent demo
	copies 999 && changed=${text/\"one\"/\"many\"}
	open 80 24
	await '  1000 sessions  ' && keys / m a n y Enter
	await ', 0 shown' && cd "$home/deck/default" || return
	(umask 077 && for name in 0*[0-9]; do printf '%s\n' "${changed//$id/$name}" >"$name/.changed"; done)
	for name in 0*/.changed; do mv "$name" "${name%/*}/instance.json"; done
	await ', 999 shown' && keys G
	await ' · many '
}

# As a new user would, with fourteen live sessions and two hundred stopped ones.
case_what_waits_is_answered_within_three_keys() {
	local text
	deck add . -t old -g archive --agent demo
	copies 199
	sed -i 's/preview = false/preview = true/' "$home/deck/config.toml"
	for i in {1..14}; do deck add . -t "live $i" -g "work/$((i % 3))" --agent demo; done
	deck start "live "{1..14} --no-supervise
	agents_terminal 'live 9'
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	deck status --wait waiting --timeout 20 'live 9'
	open 80 24
	await '^\? live 9 asks you since' && await '^A approve  D deny' && await '○ 13 idle  · 200 stopped$' && keys A
	await '│    make  ' && await 'Give this permission' && keys y
	await '^live 9: approved'
}

# A day of events, one after the other: what the deck keeps does not grow with their number.
case_a_storm_of_events_leaves_nothing() {
	local profile=$home/deck/default text texts names=() name round pid early late mask
	local sizes=('100 30' '40 12' '80 24')
	if grep -q __asan_init "$(dirname "$(command -v agentdeck)")/agentdeck-ui"; then
		echo "skipped $case_name: the sanitizer keeps what was freed"
		return
	fi
	deck add . -t one --agent demo
	id=$(basename "$(dirname "$profile"/*/instance.json)")
	text=$(<"$profile/$id/instance.json")
	texts=("$text" "${text/\"one\"/\"many\"}")
	for round in {10..89}; do names+=("000000$round"); done
	(umask 077 && cd "$profile" && mkdir "${names[@]}" &&
		for name in "${names[@]}"; do
			: >"$name.lock"
			printf '%s\n' "${text//$id/$name}" >"$name/instance.json"
		done)
	open 80 24
	await '  81 sessions  ' && keys Tab / m a n y Enter
	await ', 0 shown' && pid=$(ui_pid)
	mask=$(umask) && umask 077
	for round in {1..30}; do
		for name in "${names[@]}"; do
			printf '%s\n' "${texts[round % 2]//$id/$name}" >"$profile/$name/.changed"
			mv "$profile/$name/.changed" "$profile/$name/instance.json"
		done
		# shellcheck disable=SC2086
		set -- ${sizes[round % 3]}
		"${terminal[@]}" resize-window -x "$1" -y "$2"
		await ", $((round % 2 ? 80 : 0)) shown" || break
		keys G g
		((round != 10)) || early=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")
	done
	umask "$mask"
	late=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")
	((late - early < 256)) || fail "2400 events: from $early to $late kB"
	keys q
	await 'ended: 0'
}

case_a_search_looks_into_the_last_replies() {
	some_sessions
	deck start api web --no-supervise
	deck send api --wait 'the Zebra is here'
	deck send web --wait 'nothing of the kind'
	open 120 40
	await '○ api' && keys / z e b r a
	await 'Search: zebra' && await '○ api' && await '1 shown'
	# a word of the reply, and one of the title
	keys Space a p
	await 'Search: zebra ap' && await '○ api' && await '1 shown'
	keys Space x y
	await 'No session matches'
	keys Escape
	await '5 sessions  '
}

case_a_resize_is_followed() {
	some_sessions
	open 80 24
	await '\? help'
	"${terminal[@]}" resize-window -x 40 -y 12 \; resize-window -x 100 -y 30 \; resize-window -x 40 -y 12
	await '^Enter start and attach  \? help' && look list-40x12
}

# While a line is typed, every size of a window that is dragged comes by.
case_a_storm_of_resizes_keeps_what_is_typed() {
	local i columns sizes=()
	some_sessions
	open 80 24
	await '\? help' && keys m
	await 'Send to solo:'
	for ((i = 0; i < 100; i++)); do
		columns=$((20 + i * 37 % 120))
		sizes+=(resize-window -x "$columns" -y "$((4 + i * 7 % 40))" \; send-keys "$((i % 10))" \;)
	done
	"${terminal[@]}" "${sizes[@]}" resize-window -x 200 -y 24
	await "^Send to solo: $(printf '%.s0123456789' {1..10})\$" && keys Escape
	"${terminal[@]}" resize-window -x 1 -y 1 \; resize-window -x 40 -y 12
	await '^Enter start and attach' && await '^What you typed is kept' && keys Home
	await_gone 'What you typed' && look list-40x12
	# so does the form
	keys c
	await 'new session' && keys -l /tmp
	"${terminal[@]}" resize-window -x 30 -y 8 \; send-keys x \; resize-window -x 80 -y 24
	await '/tmpx'
}

case_changes_appear_by_themselves() {
	some_sessions
	open 80 24
	await '\? help'
	deck rename solo renamed
	await ' · renamed '
	deck remove renamed --force
	await '4 sessions'
	deck start api --no-supervise
	await '○ api .* idle'
}

case_a_start_ends_with_what_the_agent_says() {
	some_sessions
	environment+=(AGENTDECK_DEMO_START_DELAY_MS=1500)
	open 120 40
	await '\? help' && keys G s
	# what is awaited is not what came of it
	await '^web: started, conversation [0-9a-f-]+ *$' && await '○ web'
	keys x
	await 'Stop web' && keys y
	await '· web .* stopped' && keys q
	await 'ended: 0'
	environment+=(AGENTDECK_DEMO_START_DELAY_MS=0 AGENTDECK_DEMO_EXIT_AT_START=3)
	# of which a start warns
	printf '[tmux.options]\nno-such-option = "x"\n' >>"$home/deck/config.toml"
	open 120 40
	await '\? help' && keys G s
	await '^web: its agent did not start: exit 3\. A shell is open in its place'
}

# ask_engine SOCKET PATH [BODY]: a call of the fake engine.
ask_engine() {
	python3 - "$@" <<-'END'
		import http.client, socket, sys
		class Connection(http.client.HTTPConnection):
		    def connect(self):
		        self.sock = socket.socket(socket.AF_UNIX)
		        self.sock.connect(sys.argv[1])
		connection = Connection("engine")
		connection.request("POST", sys.argv[2], "".join(sys.argv[3:]))
		sys.exit(connection.getresponse().status != 200)
	END
}

case_the_stages_of_a_start_are_shown() {
	local socket=$home/engine.sock
	command -v python3 >/dev/null || return 0
	coproc FAKE { exec python3 "$tests/fake-engine" docker "$socket"; }
	read -r <&"${FAKE[0]}" || fail 'the fake engine does not start'
	ask_engine "$socket" '/images/create?fromSrc=-&repo=web&tag=1' tar || fail 'the engine takes no image'
	if ! env "${environment[@]}" agentdeck add . -t web --agent demo --container --engine "unix://$socket" --image web:1 >"$home/out" 2>&1; then
		grep -q 'built without libcurl' "$home/out" || fail "no session: $(<"$home/out")"
		return
	fi
	open 80 24
	await '\? help' && ask_engine "$socket" '/fake/fault?call=network_create&kind=silent' && keys s
	await '^start: network, [1-9][0-9]* s \.\.\.' && kill "$FAKE_PID"
	await 'the stage was network;'
	keys q && await 'ended: 0'
}

case_enter_attaches_and_comes_back_to_the_same_place() {
	some_sessions
	deck start web --no-supervise
	open 80 24
	await '○ web' && keys G
	await "$home/work/a" && keys Enter
	await '^. web  ' && keys C-q
	await '\? help' && await "$home/work/a"
	keys q
	await 'ended: 0' && await 'web keeps running'
}

case_the_preview_follows_the_cursor_and_the_session() {
	some_sessions
	deck start api --no-supervise
	open 120 40
	await '○ api' && keys G Up Tab
	await '─ api ─.*\[screen\]' && await '│ agentdeck-demo-agent'
	# something happens to it
	deck send api hello
	await '│ demo: reply 1'
	keys Tab
	await '─ api ─.*\[reply\]' && await '│ demo: reply 1'
	keys Tab
	await '─ api ─.*\[talk\]' && await '│ > hello' && await '│ demo: reply 1'
	keys Tab
	await '─ api ─.*\[facts\]' && await '│ Status +idle'
	keys Down
	await '─ web ─.*\[facts\]' && await '│ Status +stopped'
	keys Tab
	await '─ web ─.*\[log\]'
	"${terminal[@]}" resize-window -x 80 -y 24
	await '─ web ─.*\[log\]'
	keys Up Up
	await '^─ work/back: group' && await '^2 sessions: 1 idle, 1 stopped$' && await '^  2  demo$'
	keys Down Tab
	await '─ api ─.*\[changes\]' && await 'api has no tree to itself' && keys Tab
	await_gone '─ api'
}

case_the_changes_of_a_tree_are_a_tab() {
	git init -q -b main repo && git -C repo -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	deck add repo -t api --agent demo --worktree
	deck path api
	tree=$(<"$home/out")
	echo 1 >"$tree/made" && git -C "$tree" add made
	git -C "$tree" -c user.name=a -c user.email=a@b commit -qm 'make it'
	echo 2 >"$tree/loose"
	open 80 24
	await '\? help' && keys Tab Tab Tab Tab Tab Tab
	await '^agentdeck/api: 1 commit, not merged' && await '^ +A +\+1 +0  made' && await '^untracked: 1 file'
	await 'Enter show the lines' && keys Enter
	await '^\+1$' && await 'Press Enter to go back' && keys Enter
	await '^agentdeck/api: 1 commit'
}

# The deck has a child in this state, a pattern.
await_child() {	# PID STATE
	local end=$((SECONDS + 20))
	# shellcheck disable=SC2053 # a pattern
	until [[ $(ps -o stat= --ppid "$1") == $2* ]]; do
		((SECONDS < end)) || { fail "the deck has no such child"; return 1; }
		read -rt 0.05 <> <(:)
	done
	return 0
}

# The deck hears at the same moment that they are gone, and that the preview's command has ended.
case_sessions_removed_outside_are_not_shown_any_more() {
	local pid gate
	some_sessions
	mkfifo "$home/gate"
	touch "$home/closed"
	printf '#!/bin/sh\n[ ! -e "%s/closed" ] || : <"%s/gate"\nexec agentdeck "$@"\n' "$home" "$home" >"$home/slow"
	chmod +x "$home/slow"
	open 120 40 agentdeck-ui --program "$home/slow"
	await '\? help' && keys G Tab
	pid=$(ps -o pid= --ppid "$("${terminal[@]}" display-message -p '#{pane_pid}')" | tr -d " ")
	await '─ web ─.*\[screen\]' && await_child "$pid" '[DRS]' || return
	kill -STOP "$pid"
	deck remove --force --all
	rm "$home/closed"
	exec {gate}<>"$home/gate"	# for reading, too: this waits for no reader
	await_child "$pid" Z
	kill -CONT "$pid"
	await 'Start an agent here' && keys q
	await '^ended: 0'
	exec {gate}>&-
}

case_a_terminal_without_a_second_screen_is_left_empty() {
	open 80 24 env TERM=vt100 agentdeck ui
	await '\? help' && keys q
	await '^ended: 0'
	[[ $(screen | tr -d '[:space:]') == ended:0 ]] || fail "the deck is still there: $(screen)"
}

# Alternate screen, cursor, mouse, application keys (two), insert mode and wrapping; 1 is on.
modes() {
	"${terminal[@]}" display-message -p \
		'#{alternate_on}#{cursor_flag}#{mouse_any_flag}#{keypad_cursor_flag}#{keypad_flag}#{insert_flag}#{wrap_flag}'
}

case_a_crash_gives_the_terminal_back() {
	local pid
	printf 'mouse = true\n' >>"$home/deck/config.toml"
	# shellcheck disable=SC2016 # the inner shell expands it
	open 80 24 sh -c 'ulimit -c 0; agentdeck ui; status=$?; stty -a | tr ";" "\n" | grep -w icanon; exit $status'
	await '\? help'
	pid=$("${terminal[@]}" display-message -p '#{alternate_on}#{cursor_flag}#{mouse_any_flag}')
	[[ $pid == 101 ]] || fail "the deck has not taken the terminal: $pid"
	pid=$(ps -o pid= --ppid "$("${terminal[@]}" display-message -p '#{pane_pid}')" | tr -d ' ')
	kill -SEGV "$(ps -o pid= --ppid "$pid" | tr -d ' ')"
	await '^ended: 139' && await '(^| )icanon'
	[[ $(modes) == 0100001 ]] ||
		fail "the terminal is as the deck had it: $(modes)"
}

case_a_killed_server_leaves_no_mouse() {
	some_sessions
	deck start api --no-supervise
	deck show api --json
	# shellcheck disable=SC2016 # the inner shell expands it
	open 80 24 sh -c 'agentdeck attach api; status=$?; stty -a | tr ";" "\n" | grep -w icanon; exit $status'
	await '^. api  '
	[[ $(modes) == 1?1* ]] || fail "no mouse before: $(modes)"
	kill -KILL "$(sed -n 's/.*"server_pid": *\([0-9]*\).*/\1/p' "$home/out")"
	await '^ended: ' && await '(^| )icanon'
	[[ $(modes) == 0100001 ]] || fail "the terminal is as tmux had it: $(modes)"
}

case_the_preview_scrolls() {
	some_sessions
	deck start api --no-supervise
	deck send api --wait one
	open 80 24
	await '○ api' && keys G Up Tab Tab Tab Tab
	# facts begin at the top, and what does not fit is some keys away
	await '─ api ─.*\[facts\]' && await '^Title +api' && await_gone '^Go to it with'
	keys J J J J J J J J J
	await '^Go to it with +agentdeck attach api' && await_gone '^Title +api'
	keys K K K K K K K K K K
	await '^Title +api' && keys Tab
	# the log ends with the latest, and each line begins with what is new in it
	await '─ api ─.*\[log\]' && await '^[A-Z][a-z]+ [0-9 ]+:[0-9]+:[0-9]+ send: ' && await_gone 'instance=' && keys K K K K K K K K K
	await ' add: ' && await_gone '[0-9] send: '
	# another session begins at its end
	keys Down
	await '─ web ─.*\[log\]' && keys Up
	await '[0-9] send: ' && keys Tab Tab K
	await 'There is nothing to scroll'
}

# The terminal of a running session: its tmux, and the device that the agent prints to.
agents_terminal() {	# TITLE
	local socket
	deck show "$1" --json
	socket=$(sed -n 's/.*"socket": *"\([^"]*\)".*/\1/p' "$home/out")
	agent=(env -u TMUX tmux -S "$socket")
	device=$("${agent[@]}" display-message -p -t %0 '#{pane_tty}')
	fifo=$(dirname "$socket")/bell
}
# Those who ring for the session of agents_terminal().
bells() { pgrep -f "^[^ ]*agentdeck-bell $fifo\$"; }
await_bells() {	# COUNT
	local end=$((SECONDS + 20))
	until [[ $(bells | wc -l) == "$1" ]]; do
		if ((SECONDS >= end)); then
			fail "not $1 bells, but: $(bells)"
			return 1
		fi
		read -rt 0.05 <> <(:)
	done
	return 0
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

# A screen is as wide as the terminals that it is attached to.
case_a_wide_screen_is_wrapped_in_the_preview() {
	some_sessions
	deck start api --no-supervise
	deck send api --wait 'a line that is much longer than the place beside the list, and ends with 日本語 here'
	agents_terminal api
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	open 120 40
	await '○ api|\? api' && keys G Up Tab
	await '│ > a line that is much longer' && await '│ ↪.*日本語 here' && await '│ ─{30,}$' && await_gone '│ ↪─'
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

# An editor that writes this, and leaves with this exit status.
editor() {	# TEXT STATUS
	printf '#!/bin/sh\nprintf "%%s" "%s" >"%s"\nexit %s\n' "$1" "\$1" "$2" >"$home/editor"
	chmod +x "$home/editor"
}

case_a_text_is_written_in_an_editor_and_sent() {
	some_sessions
	deck start api --no-supervise
	editor 'words from an editor' 0
	open 120 40 env VISUAL="$home/editor" agentdeck ui
	await '○ api' && keys G Up e
	await '\? help' && keys Tab
	await 'words from an editor'
	compgen -G "$home/tmp/agentdeck-*.md" >/dev/null && fail 'the text is left behind'
	# nothing that was typed is lost
	editor 'kept words' 3
	keys e
	await 'Press Enter to go back' && await 'your text is in .*agentdeck-.*\.md'
	grep -q 'kept words' "$home/tmp"/agentdeck-*.md || fail 'the text is gone'
	keys Enter
	await '\? help'
	editor '' 0
	keys e
	await 'the text is empty' && keys Enter
	await '\? help'
}

case_the_preview_is_copied() {
	some_sessions
	deck start api --no-supervise
	deck send api --wait 'hello you'
	open 120 40
	"${terminal[@]}" set -g set-clipboard on
	await '○ api' && keys G Up y
	await 'Copied [0-9]+ line'
	[[ $("${terminal[@]}" show-buffer) == *'reply 1'* ]] || fail "copied: $("${terminal[@]}" show-buffer)"
	keys Tab Tab Tab Tab
	await '─ api ─.*\[facts\]' && keys y
	await 'Copied [0-9]+ line'
	[[ $("${terminal[@]}" show-buffer) == *'Status'* ]] || fail "copied: $("${terminal[@]}" show-buffer)"
	keys Tab Tab Tab
	await_gone '─ api ─' && keys q
	await 'ended: 0'
	# in a tmux it is tmux that copies
	open 120 40 env TMUX="$home/terminal$((opened + 1)),1,0" agentdeck ui
	await '○ api' && keys G Up y
	await 'Copied [0-9]+ line'
	local end=$((SECONDS + 20))
	until [[ $("${terminal[@]}" show-buffer 2>&1) == *'reply 1'* ]]; do
		((SECONDS < end)) || { fail 'tmux has no buffer' && break; }
		read -rt 0.05 <> <(:)
	done
	keys Home y
	await 'has no reply yet'
}

case_a_refusal_is_told_in_words() {
	some_sessions
	open 80 24
	await '\? help' && keys m
	await 'Send to solo:' && keys h i Enter
	await 'solo is not running' && await '^Send to solo: hi$'
	keys Escape
	await '\? help' && keys x
	await 'Stop solo\?' && await '^Enter Back'
	keys n
	await 'Nothing was done'
}

case_a_permission_is_given_after_its_question_was_seen() {
	some_sessions
	deck start api --no-supervise
	agents_terminal api
	open 120 40
	await '○ api' && keys G Up Tab
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	await '│ .*Esc to cancel' && await '\? api .* asks' && keys A
	await '│ +make' && await 'Give this permission\?' && keys y
	await 'api: approved'
	await '│ .*\(permitted'
}

case_what_is_typed_in_the_preview_is_for_the_agent() {
	some_sessions
	deck start api --no-supervise
	open 80 24
	await '○ api' && keys G Up i
	await 'You type for api \(idle\)' && await '^Esc leave  Ctrl-\] sends Esc'
	# as it is: neither a shell nor tmux reads it
	keys -l "q \$(id) #{pane_id} 'x' " && keys -H 3b
	await "q \\\$\(id\) #\{pane_id\} 'x' ;" && keys Enter
	await 'reply 1' && keys -l '/run make' && keys Enter
	await 'You type for api \(asks\)' && await 'Do you want to proceed'
	keys C-\] && await '\(interrupted' && await 'You type for api \(idle\)'
	keys Escape && await '^Enter attach' && keys d && await 'Stop and remove api\?'
	keys n && await 'Nothing was done'
	# a paste is one message
	keys i && await 'You type for' && printf 'two\nlines' | "${terminal[@]}" load-buffer - \; paste-buffer -p
	await 'lines' && keys Enter && await 'reply 2'
	# what it did not take is kept
	keys -l unsent && await 'unsent'
	deck stop api
	await '^Send to api: unsent' && await 'api .*(not run|did not take)'
	keys -l '!' && await '^Send to api: unsent!' && keys Escape
	await 'What you typed is kept; m shows it again' && keys m && await '^Send to api: unsent!'
	keys Escape && await '^What you typed is kept' && keys i
	await 'api does not run: start it first'
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
	for title in api web docs; do AGENTDECK_DEMO_RUN_MS=3600000 deck start "$title" --no-supervise; done
	# given with agentdeck
	agents_terminal docs
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	deck status --wait waiting --timeout 20 docs
	open 80 24 agentdeck approve docs
	await '^Give this permission' && keys y Enter
	await '^docs: approved$' && await 'ended: 0' && deck list
	grep -Eq '^docs .* busy' "$home/out" || fail "after approve: $(<"$home/out")"
	# given by hand, while the deck shows the screen
	agents_terminal api
	open 120 40
	await '○ api' && keys G Up Tab
	"${agent[@]}" send-keys -t %0 '/run make' Enter
	await '│ .*Esc to cancel' && await '\? api .* asks'
	"${agent[@]}" send-keys -t %0 1
	await '│ .*Running' && await '● api .* busy' && keys q
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

# web runs, and api, which is stopped, has its conversation, too: an older version could leave that.
twins() {
	local manifest
	mkdir a
	deck add a -t web --agent demo
	deck add a -t api --agent demo
	deck start web api --no-supervise
	deck send web --wait hello
	deck send api --wait hello
	deck stop api
	deck show web --json
	id=$(sed -n 's/.*"session_id": *"\([^"]*\)".*/\1/p' "$home/out" | head -n 1)
	manifest=$(grep -l '"title": *"api"' "$home"/deck/default/*/instance.json)
	sed -i "s/\"session_id\": *\"[^\"]*\"/\"session_id\": \"$id\"/" "$manifest"
	# the ids of both, the conversation's, and since when
	id="($id|$(basename "$(dirname "$(grep -l '"title": *"web"' "$home"/deck/default/*/instance.json)")")|$(
		basename "$(dirname "$manifest")")|[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{5} \([0-9]+ (s|min) ago)"
}

case_who_has_the_conversation_is_asked_about() {
	twins
	open 80 24
	await ' · api .* stopped' && keys Home Down s
	await '│ How do you want to continue\?' && look conflict-80x24
	"${terminal[@]}" resize-window -x 120 -y 40
	await '│ How do you want to continue' && look conflict-120x40
	"${terminal[@]}" resize-window -x 40 -y 12
	await '^  Attach to web$' && look conflict-40x12
	"${terminal[@]}" resize-window -x 80 -y 24
	# Enter starts nothing
	keys Enter
	await 'Nothing was done' && await ' · api .* stopped' && await '○ web' && keys s
	await '> Back' && keys Down Enter
	await '^. web  ' && keys C-q
	await '\? help' && await ' · api .* stopped' && keys s
	await '> Back' && keys Down Down Enter
	await 'api-fork: started with a copy' && await '○ web' && await ' · api .* stopped'
}

case_the_owner_of_the_conversation_can_be_stopped() {
	twins
	open 80 24
	await ' · api .* stopped' && keys Home Down Enter
	await '> Back' && keys Down Down Down && await '> Stop web, and start api' && keys Enter
	await '^. api  ' && await 'demo: reply 1' && keys C-q
	await ' · web .* stopped' && await '○ api' && keys Home r y
	await 'web \(demo\)' && await '> Back' && deck stop api && keys Down Down Down Enter
	# it is free by now
	await 'nothing was done, because the owner of the conv' && await ' · web .* stopped' && keys r y
	await '○ web' && await ' · api .* stopped'
}

case_an_undecided_end_is_asked_about() {
	undecided 30
	open 80 24
	await ' · api +ended,wt .* stopped' && keys Enter
	await '^Enter Continue' && look end-work-80x24
	"${terminal[@]}" resize-window -x 40 -y 12
	await '^Enter Continue' && await 'lines 1-6' && look end-work-40x12
	keys PPage NPage NPage NPage NPage NPage NPage NPage
	await 'lines 32-37' && await 'file-9'
	keys Enter
	await '> Return to agent' && look end-40x12
	"${terminal[@]}" resize-window -x 80 -y 24
	await 'Exit and keep - keep everything' && look end-80x24
	# nothing is changed by going away
	keys Escape
	await 'Nothing was done' && keys Enter
	await 'This session has unfinished work' && keys Enter
	# the answer is passed on: no second question
	await '> Return to agent' && keys Enter
	await '^. api  idle .* Ctrl-Q' && await '^❯' && keys C-q
	await '○ api .* idle'
	[[ -e $tree/file-30 ]] || fail 'its work is gone'
}

case_an_undecided_end_is_kept_or_cleaned_up() {
	undecided 2
	open 80 24
	await ' · api +ended,wt .* stopped' && keys s
	await 'file-2' && keys Enter
	await '> Return to agent' && keys Down Enter
	await ' · api +wt .* stopped'
	stage_is kept
	# another change: is it to be used as it is?
	echo 3 >"$tree/file-3"
	keys s
	await 'Its tree has changed since it was kept' && look reuse-80x24
	keys Enter
	await 'Nothing was done'
	stage_is kept && keys s
	await 'Its tree has changed' && keys Down Enter
	await '○ api .* idle'
}

case_work_that_was_not_shown_is_not_given_up() {
	undecided 2
	open 80 24
	await ' · api +ended,wt .* stopped' && keys s
	await 'file-2' && keys Enter
	await '> Return to agent' && echo 3 >"$tree/file-3"
	keys Down Down
	await '> ! Exit and clean up' && keys Enter
	await 'has changed since it was shown'
	[[ -e $tree/file-3 ]] || fail 'its work is gone'
	keys s
	await 'file-3' && keys Enter
	await '> Return to agent' && keys Down Down Enter
	await '0 sessions'
	[[ ! -e $tree ]] || fail 'its tree is there'
}

case_work_at_risk_is_asked_about_before_a_removal() {
	undecided 2
	open 80 24
	await ' · api +ended,wt .* stopped' && keys d
	await 'Stop and remove api' && keys y
	await 'This session has unfinished work' && look remove-work-80x24
	keys Enter
	await '^Enter Keep it' && look remove-80x24
	"${terminal[@]}" resize-window -x 40 -y 12
	await '^Enter Keep it  Esc cancel  PgDn scroll$' && look remove-40x12
	keys Enter
	await 'Nothing was done' && "${terminal[@]}" resize-window -x 80 -y 24
	keys d y
	await 'unfinished work' && keys Enter
	await 'Remove this session' && echo 3 >"$tree/file-3"
	keys Down Enter
	await 'has changed since' && keys d y
	await 'unfinished work' && keys Enter
	await 'Remove this session' && keys Down Enter
	await '0 sessions'
	deck undo
	[[ -e $tree/file-3 ]] || fail 'its work is gone'
}

case_work_at_risk_of_one_among_several_is_asked_about() {
	undecided 2
	deck add repo -t plain --agent demo
	open 80 24
	# api is also in the section of those that need the user
	await ' · plain ' && keys Home Space Down Space d
	await 'Stop and remove 2 sessions' && keys y
	await 'This session has unfinished work' && keys Enter
	await '> Keep it' && keys Enter
	await '1 session  ' && await ' · api +ended,wt .* stopped'
	deck add repo -t plain --agent demo
	await ' · plain ' && keys Escape Home Space Down Space d y
	await 'unfinished work' && keys Enter
	await '> Keep it' && keys Down Enter
	await '0 sessions'
}

# --- from one session to another -------------------------------------------------------------------

# Sessions that wait for their user, in this order.
waiting() {	# TITLE...
	local title
	for title; do
		AGENTDECK_DEMO_IDLE_MS=100 deck start "$title" --no-supervise
		deck send "$title" hello --no-wait
		deck status --wait waiting "$title" --timeout 60
	done
}
socket_of() {	# TITLE
	deck show "$1" --json
	sed -n 's/.*"socket": *"\([^"]*\)".*/\1/p' "$home/out"
}

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

case_pasted_text_is_no_action() {
	some_sessions
	open 80 24
	await '\? help'
	printf 'qd' | "${terminal[@]}" load-buffer - \; paste-buffer -p
	await 'Pasted text does nothing here' && await '5 sessions'
	keys m
	await 'Send to solo:'
	printf 'two\nlines' | "${terminal[@]}" load-buffer - \; paste-buffer -p
	await 'Send to solo: two lines$'
}

# Many sequences end in D or A (Ctrl-Left and Ctrl-Up do), which are actions. This one nobody knows.
case_a_key_that_is_not_known_is_no_action() {
	some_sessions
	open 80 24
	await '\? help'
	keys -H 1b 5b 39 3b 39 44 && await 'This key does nothing here'
	keys Home && await_gone 'does nothing here'
	# in pieces, as a network delivers it
	keys -H 1b 5b 39 \; run-shell true \; send-keys -H 3b 39 41 && await 'This key does nothing here'
	keys Home && await_gone 'does nothing here'
	keys -H 1b \; run-shell true \; send-keys -H 5b 39 41 && await 'This key does nothing here'
	# the key right behind it counts
	keys -H 1b 5b 39 3b 39 44 74 && await 'Title of solo:'
	# and one that cuts it off
	keys -H 1b && await_gone 'Title of solo:'
	keys -H 1b 5b 39 3b 03 && await 'ended: 0'
}

case_keys_are_those_of_the_configuration() {
	some_sessions
	printf 'keys = ["stop=X", "quit=F10", "quit=Ctrl-C", "halt=x"]\n' >>"$home/deck/config.toml"
	open 80 24
	await "'halt=x' in \[ui\] keys: write ACTION=KEY" && await 'F10 quit'
	keys X
	await 'Stop solo\?' && await 'y yes'
	keys n x
	await 'x does nothing here'
	keys F10
	await 'ended: 0'
}

case_a_session_that_asks_before_it_resumes_says_so() {
	printf '[resume]\npolicy = "confirm"\n' >>"$home/deck/config.toml"
	deck add . -t api --agent demo
	deck start api --no-supervise
	deck send api --wait hello
	deck stop api
	open 120 40
	await '· api' && keys s
	await 'api: asks before it resumes conversation' && await '\? api .* asks' && keys Tab
	await 'n +start a new conversation' && keys m h i Enter
	await 'the session asks whether to resume: answer it first' && keys Escape
	await '\? help' && keys Enter
	await 'Ctrl-Q: leave' && keys Enter
	await '^❯' && keys C-q
	await '○ api .* idle'
}

case_what_was_lost_is_told() {
	some_sessions
	deck start api --no-supervise
	env "${environment[@]}" agentdeck show api --json >"$home/out"
	kill -KILL "$(sed -n 's/.*"server_pid": *\([0-9]*\).*/\1/p' "$home/out")"
	open 80 24
	await '1 session should run and does not: R restarts it' && keys R
	await 'Restart every session' && keys y
	await '○ api .* idle'
}

# Sessions that could not be restarted are in a table; what counts is below it.
case_a_recovery_tells_how_many_failed() {
	local title
	some_sessions
	deck start api docs --no-supervise
	for title in api docs; do
		env "${environment[@]}" agentdeck show "$title" --json >"$home/out"
		kill -KILL "$(sed -n 's/.*"server_pid": *\([0-9]*\).*/\1/p' "$home/out")"
	done
	rmdir b
	open 80 24
	await '2 sessions should run and do not: R restarts them' && keys R
	await 'Restart every session' && keys y
	await '^2 sessions: 1 restarted, 1 failed'
}

# The machine was restarted: the server is gone, and its manifest names another boot.
lost_in_a_restart() {	# TITLE
	local manifest
	deck show "$1" --json
	manifest=$home/deck/default/$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$home/out" | head -n 1)/instance.json
	kill -KILL "$(sed -n 's/.*"server_pid": *\([0-9]*\).*/\1/p' "$home/out")"
	# In a container that does not keep its id, a run of another boot may be another container's.
	sed -E "s/$(</proc/sys/kernel/random/boot_id)/00000000-0000-4000-8000-000000000000/; s/\"pid_namespace\": *\"[^\"]*\",?//" "$manifest" >"$manifest.new"
	chmod 600 "$manifest.new" && mv "$manifest.new" "$manifest"
}

case_what_a_restart_of_the_machine_has_ended_is_asked_about() {
	some_sessions
	deck start api docs web --no-supervise
	lost_in_a_restart api
	lost_in_a_restart docs
	deck show web --json
	kill -KILL "$(sed -n 's/.*"server_pid": *\([0-9]*\).*/\1/p' "$home/out")"
	open 80 24
	await 'Restart every session that should run' && look recover-80x24
	"${terminal[@]}" resize-window -x 40 -y 12
	await '^and does not\?$' && look recover-40x12
	"${terminal[@]}" resize-window -x 80 -y 24
	# Enter loses nothing and starts nothing
	keys Enter
	await 'Nothing was done' && await '! api .* error' && keys R
	await 'ended with the last restart of the machine \(2\)' && keys y
	await '○ api .* idle' && await '○ docs .* idle' && await '○ web .* idle'
	# nothing is lost any more
	keys q
	await 'ended: 0' && open 80 24
	await '\? help' && await_gone 'Restart every'
}

case_a_broken_configuration_is_told_with_the_recovery() {
	some_sessions
	deck start api --no-supervise
	lost_in_a_restart api
	printf 'keys = ["halt=x"]\n' >>"$home/deck/config.toml"
	open 80 24
	await 'Restart every session that should run' && await "'halt=x' in \[ui\] keys"
}

case_removed_sessions_are_shown_before_they_are_deleted() {
	some_sessions
	open 80 24
	await '\? help' && keys p
	await '^The trash is empty\.' && keys G d y
	await '4 sessions' && keys u
	await 'Restored ' && await '5 sessions' && keys G d y
	await '4 sessions'
	deck remove docs --force
	await '3 sessions' && keys p
	id='[0-9a-z]{8}, removed [0-9:-]+ [0-9:]+'
	await '│ Delete these for good\?' && look prune-80x24
	id=
	"${terminal[@]}" resize-window -x 40 -y 12
	await '^Delete these for good\? The conversations$' && await '^  docs, [0-9a-z]+, removed$|^  web, ' && await '^  ! Delete them'
	"${terminal[@]}" resize-window -x 80 -y 24
	keys Enter
	await 'Nothing was done' && keys p
	# another one that was not shown
	await 'removed sessions \(2\)' && deck remove solo --force && keys Down Enter
	await 'the trash has changed since it was shown' && keys p
	await 'removed sessions \(3\)' && keys Down Enter
	await 'Deleted 3 removed sessions\.' && keys u
	await 'the trash is empty: there is nothing to undo'
	# those that are too young stay
	printf '[trash]\nkeep = 30\n' >>"$home/deck/config.toml"
	keys G d y
	await '1 session  ' && keys p
	await '1 younger one is left alone'
}

case_actions_are_carried_out() {
	some_sessions
	open 80 24
	await '\? help' && keys t
	await 'Title of solo: solo' && keys 2 Enter
	await ' · solo2 ' && keys M
	await 'Group of solo2:' && keys z o o Enter
	await '▾ zoo' && await 'solo2: group is now zoo' && keys d
	await 'Stop and remove solo2' && keys Down Enter
	await '4 sessions'
}

case_the_form_makes_a_session() {
	mkdir -p one two other
	open 80 24
	await '\? help' && keys c
	await '^new session' && keys C-u o Tab
	await 'one/ +other/' && keys n Tab
	await '^Directory +one/( |$)' && keys Down d e m o Down Down Down Right Down
	await '^Agent +.*\(demo\)' && await '^Branch' && look form-80x24
	"${terminal[@]}" resize-window -x 40 -y 12
	await '^Enter make it  Esc back  Tab complete$' && look form-40x12
	# its failure is told, and nothing is forgotten
	keys Enter
	await 'is not in a Git repository' && await '\(worktree\)'
	keys Escape
	await 'What you typed is kept; c shows' && keys c
	await '^Workspace +same tree  \(worktree\)' && keys Up Left
	await_gone 'is not in a Git repository' && keys Up Up
	# a pasted line is text
	printf 'my\nown' | "${terminal[@]}" load-buffer - \; paste-buffer -p
	await '^Title +my own( |$)' && keys Down h i Enter
	await '1 session  ' && await '○ my own' && await 'my own: made and started'
	deck output 'my own'
	grep -q 'demo: reply 1' "$home/out" || fail "the message is not there: $(<"$home/out")"
	# the next one is empty, and knows the directories in use
	keys c
	await '^Title( +empty|$)' && keys C-r
	await '^Directory .*/one( |$)' && keys Escape
}

case_the_form_starts_where_the_cursor_is() {
	mkdir -p a b c/deep
	git init -q -b main repo && git -C repo -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	deck add repo -t tree --agent demo --worktree
	deck add a -t api -g work --agent demo
	deck add c/deep -t web -g work --agent demo
	deck add c/deep -t last -g work --agent demo
	deck add b -t docs -g work/back --agent demo
	open 100 24
	await '· tree' && keys g c
	# a session in a tree to itself: what the tree was made of
	await '^Directory .*/work/repo( |$)' && await '^Group +work  work/back'
	keys Down Down Down Down Right Down a g Tab
	await '^Branch +agentdeck/tree( |$)' && keys C-x Escape
	await '· api' && keys Down c
	# a group: where most of its sessions are
	await '^Directory .*/work/c/deep( |$)' && await '^Group +work( |$)' && keys Escape
	await '· docs' && keys G c
	await '^Directory .*/work/b( |$)' && await '^Group +work/back( |$)' && keys C-r C-r
	await '^Directory .*/work/c/deep( |$)' && keys Escape
}

# 300 characters, some of them wide or written from right to left.
long_path() { printf '%s/' a/日本語の長い名前 שלום-עולם "$(printf 'x%.0s' {1..200})" "$(printf 'y%.0s' {1..80})"; }

case_the_form_takes_any_text_at_any_size() {
	local path
	path=$(long_path) && mkdir -p "$path"
	open 120 40
	await '\? help' && keys c C-u
	await '^Directory +where' && keys -l "$path"
	await 'yyyy/$' && keys Up
	await '^Group +such as' && keys -l 'work/グループ' && keys Down Down d e m o Down && keys -l 'שלום 日本語' && keys Left Left
	await '^Agent +.*\(demo\)' && await '^Title +.*日本語'
	# typing goes on where it was, whatever the size
	"${terminal[@]}" resize-window -x 40 -y 12
	await '^Enter make it  Esc back  Tab next$' && keys X && await '^Title +.*日X本語'
	"${terminal[@]}" resize-window -x 80 -y 24 \; resize-window -x 30 -y 8 \; resize-window -x 120 -y 40
	await '^Enter make it  Esc back  Tab next +Ctrl-X empty$' && keys BSpace Up Up
	await '^Directory .*yyyy/$'
	keys Home && await "^Directory  a/日本語の長い名前/" && keys End && await '^Directory .*yyyy/$'
	"${terminal[@]}" resize-window -x 40 -y 12
	await 'Tab complete'
	keys Enter
	await '· .*日本語|○ .*日本語|: made and started' || return
	deck list --json
	grep -q 'y/*"' "$home/out" || fail "the path is cut: $(<"$home/out")"
	grep -q 'グループ' "$home/out" || fail "the group is cut: $(<"$home/out")"
}

case_the_form_asks_which_session_it_is_for() {
	undecided 1
	open 80 24
	await ' · api +ended,wt .* stopped' && keys s
	await 'file-1' && keys Enter
	await '> Return to agent' && keys Down Enter
	await ' · api +wt .* stopped' && echo 2 >"$tree/file-2"
	keys c
	await '^new session' && keys C-u r e p o Down d e m Enter
	await 'Start a new session, or resume one' && await '> Start new' && keys Escape
	await 'Nothing was done' && await '^Directory +repo( |$)' && keys Enter
	await '> Start new' && keys Down
	await '> Resume api' && keys Enter
	await 'Its tree has changed since it was kept' && keys Down Enter
	await '○ api .* idle' && await '1 session  '
	# with a title nobody asks
	keys x y
	await ' · api .* stopped' && keys c C-u r e p o Down d e m Down t w o Enter
	await '○ two .* idle' && await '2 sessions  '
	# each session that ended is offered, and not only the newest
	keys Down x y
	await ' · two .* stopped' && keys c C-u r e p o Down d e m Enter
	await '> Start new' && await 'Resume two' && await 'Resume api' && keys Escape
}

case_actions_are_for_all_chosen_ones() {
	some_sessions
	open 80 24
	await '\? help' && keys End Up Space Space
	await '2 chosen' && keys M C-u z o o Enter
	await '^set: 2 sessions done' && await '▾ zoo +2·' && keys End Up Space Space
	await '2 chosen' && keys L 1 G Enter
	await '^limit: 2 sessions done'
	deck limit api
	grep -q '^memory_max .*1.*G' "$home/out" || fail "no limit: $(<"$home/out")"
	# who fails is told, and does not hold up the others
	keys End Up Space Space
	await '2 chosen' && keys F && await 'Fork 2 sessions\?' && keys y
	await '2 of 2 sessions failed: '
}

case_what_was_done_with_several_is_counted() {
	some_sessions
	open 80 24
	await '\? help' && keys End Up Space Space
	await '2 chosen' && keys s
	await '^2 sessions: 2 running$' && keys End Up Space Space
	await '2 chosen' && keys x y
	await '^2 sessions: 2 stopped$'
}

case_other_commands_are_run_with_the_session() {
	some_sessions
	open 80 24
	await '\? help' && keys : p a t h Enter
	await '^== agentdeck path [0-9a-z]+$' && await "^$home/work/c" && await '^Press Enter to go back' && keys Enter
	await '\? help' && keys : && keys -l 'session set on-end keep'
	await 'Command with solo: session set on-end keep' && keys Enter
	await '^Press Enter to go back' && keys Enter
	await '\? help'
	deck show solo --json
	grep -q '"keep"' "$home/out" || fail "not set: $(<"$home/out")"
	# one that takes no session gets none
	keys : && keys -l 'group list' && keys Enter
	await '^== agentdeck group list$' && await '^work/back' && await '^Press Enter to go back' && keys Enter
	await '\? help' && keys : && keys -l 'nonsense' && keys Enter
	await '^== agentdeck nonsense$' && await 'nonsense' && await '^It failed, ' && keys Enter
	# the line is there again
	await '^Command with solo: nonsense' && keys C-u
	# who fails says so, and Ctrl-C goes back as Enter does
	keys -l 'exec -- sh -c "exit 7"' && keys Enter
	await '^It failed, with exit status 7\.$' && await '^Press Enter to go back' && keys C-c
	# Tab completes commands and sessions
	await '^Command with solo: exec' && keys C-u && keys -l 'pat' && keys Tab
	await '^Command with solo: path $|^Command with solo: path$' && keys -l 'so' && keys Tab
	await '^Command with solo: path solo' && keys Enter
	await "^$home/work/c" && keys Enter
	await '\? help'
	# a line that cannot be read is told, and can be mended
	keys : && keys -l "path 'x" && keys Enter
	await 'not closed' && keys C-c
	await '\? help'
}

case_w_shows_a_wall_and_comes_back() {
	some_sessions
	deck start web --no-supervise
	open 80 24
	await '○ web' && keys w
	await '^[> ]○ web: idle ─' && await 'Arrows choose' && keys q
	await '\? help' && keys q
	await 'ended: 0'
}

mouse_is() { [[ $("${terminal[@]}" display-message -p '#{mouse_any_flag}') == "$1" ]] || fail "the mouse is not $1"; }

case_the_mouse_selects_and_attaches() {
	local turns
	some_sessions
	deck start web --no-supervise
	open 80 20
	await '○ web' && mouse_is 1
	# The first button in column 5 of row 10, counted from 1; what comes at once counts as well.
	keys -l $'\e[M %*\e[M#%*'
	await "$home/work/a" && keys -l $'\e[<0;5;10M\e[<0;5;10m'
	await '^. web  ' && keys C-q
	await '\? help' && await "$home/work/a" && mouse_is 1
	# the wheel turns what it is over: the preview in row 15, down and up
	keys Tab Tab Tab Tab
	printf -v turns '\e[<65;5;15M%.0s' {1..9}
	await '^─ web ─.*\[facts\]' && await '^Title +web' && keys -l "$turns"
	printf -v turns '\e[M`%%/%.0s' {1..9}
	await '^Go to it with' && await_gone '^Title' && keys -l "$turns"
	await '^Title +web' && keys Tab Tab Tab
	# and the list
	await_gone '^─ web' && keys -l $'\e[M`%)\e[M`%)\e[<64;5;9M'
	await "$home/work/c" && keys q
	await 'ended: 0' && mouse_is 0
	printf 'mouse = false\n' >>"$home/deck/config.toml"
	open 80 24
	await '○ web' && mouse_is 0
}

# What the shell would find: the line mode, and a shown cursor.
restored() {
	[[ $("${terminal[@]}" display-message -p '#{alternate_on} #{cursor_flag} #{keypad_cursor_flag}') == '0 1 0' ]] ||
		fail "$1: the screen is not restored"
	keys h e l l o
	await '^hello' || fail "$1: nothing is echoed"
}

case_the_terminal_is_restored() {
	open 80 24
	await '\? help' && keys q
	await 'ended: 0' && restored quit
	open 80 24
	await '\? help' && kill -TERM "$(ui_pid)"
	await 'ended: 143' && restored SIGTERM
}

# The process of the deck in the pane.
ui_pid() { pgrep -P "$("${terminal[@]}" display-message -p '#{pane_pid}')"; }

case_a_closed_terminal_ends_it() {
	local pid=
	open 80 24
	await '\? help' && pid=$(ui_pid)
	"${terminal[@]}" kill-server
	timeout 10 tail --pid="$pid" -f /dev/null || fail "it lives on without a terminal"
}

case_control_z_gives_the_terminal_back() {
	open 80 24 bash --norc -i -c 'set -m; agentdeck ui; echo stopped; read -r; fg >/dev/null; echo back'
	await '\? help' && keys C-z
	await stopped && keys Enter
	await '\? help'
	keys q
	await 'ended: 0'
}

case_a_killed_one_is_repaired_by_the_next() {
	# wide enough for the word behind the keys, where the killed one has left the cursor
	open 120 24 sh -c 'agentdeck ui; echo killed; read -r go; agentdeck ui'
	await '\? help' && kill -KILL "$(pgrep -P "$(ui_pid)")"
	# the line mode is still that of the deck: Enter would be no end of a line
	await killed && keys C-j
	await_gone killed && await '\? help' && keys q
	await 'ended: 0' && restored 'after kill -9'
}

case_without_a_terminal_it_is_the_list() {
	some_sessions
	deck
	grep -q '^TITLE' "$home/out" || fail "$(<"$home/out")"
}

# One line for each session, whatever the width.
case_the_list_on_a_terminal_has_who_needs_you_first() {
	local width
	some_sessions
	waiting docs
	deck start api --no-supervise
	deck show api --json
	kill -KILL "$(sed -n 's/.*"server_pid": *\([0-9]*\).*/\1/p' "$home/out")"
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

case_an_unknown_terminal_is_taken_for_a_usual_one() {
	local kind
	some_sessions
	for kind in TERM=unheard-of TERM=dumb -uTERM; do
		open 80 24 env "$kind" agentdeck ui
		await '\? help' && keys q
		await 'so xterm-256color is used' && await 'ended: 0' || return
	done
	open 80 24 env TERM=unheard-of agentdeck attach api
	await 'Ctrl-Q: leave' && keys C-q
	await 'so xterm-256color is used' && await 'ended: 0' || return
	open 80 24 env TERM=dumb agentdeck
	await '^TITLE' && await 'ended: 0'
}

# Where no description is found, they are in a place that only ncurses knows.
case_a_terminal_without_any_description_is_refused() {
	open 80 24 env TERM=unheard-of HOME=/nonexistent TERMINFO=/nonexistent agentdeck-ui
	await 'TERM=unheard-of\) is not known' && await 'ended: 3'
}

case_characters_that_the_locale_lacks_are_shown_as_one() {
	some_sessions
	open 80 24 env LC_ALL=C agentdeck ui
	await ' \. \?\?\? is wide, and .*~' && await '^\[-\] play'
	printf 'ascii = true\n' >>"$home/deck/config.toml"
	open 80 24
	await ' \. 日本語 is wide, and .*~' && await '^\[-\] play'
}

case_no_colour_where_none_is_wanted() {
	some_sessions
	open 80 24 env NO_COLOR=1 agentdeck ui
	await '\? help'
	! "${terminal[@]}" capture-pane -pe | grep -E $'\033\\[[0-9;]*(3|4|9|10)[0-7]m' || fail "there is a colour"
}

# --- all of them -----------------------------------------------------------------------------------

[[ ${1-} != --update ]] || { update=1 && shift; }
run_cases "$@"
