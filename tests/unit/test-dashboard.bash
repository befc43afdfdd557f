#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-dashboard.bash - what of agentdeck-ui needs a real terminal (a tmux pane) or real sessions
#
# USAGE
#   test-dashboard.bash [NAME...]   only these cases; agentdeck is found in PATH
#
# What a key does and what is drawn: test-ui.c, test-ui-play.c and test-draw.c, in one process. What the
# commands do that the deck runs: test-cli.bash.
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

# --- what the deck shows ---------------------------------------------------------------------------

case_the_first_session_is_made_and_comes_back() {
	open 80 24 agentdeck
	await 'conversation +nothing' && await 'tool +nothing' && keys Down Enter
	await 'nothing of that kind' && keys Down Down Enter
	await '○ demo' && keys d Down Enter
	# the last one is removed, and can come back
	await 'Start an agent here' && await '^Removed|^demo' && keys u
	await '· demo' && keys q
	await '^ended: 0' && deck
	grep -q '^TITLE' "$home/out" || fail "without a terminal it is the list: $(<"$home/out")"
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
	deck stop web
	await ' · web .* stopped .* <1d$'
}

case_the_deck_opens_as_it_was_left() {
	some_sessions
	open 80 24
	await '\? help' && keys o o Tab Tab Tab Tab G
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

# The manifests of these sessions become this text, with their own ids in the place of $id.
store_all() {	# TEXT NAME...
	python3 - "$home/deck/default" "$id" "$@" <<-'END'
		import os, sys
		profile, id, text, *names = sys.argv[1:]
		os.umask(0o077)
		for name in names:
		    directory = os.path.join(profile, name)
		    os.makedirs(directory, exist_ok=True)
		    open(directory + ".lock", "a").close()
		    with open(directory + "/.changed", "w") as file:
		        file.write(text.replace(id, name) + "\n")
		    os.rename(directory + "/.changed", directory + "/instance.json")
	END
}
# A session, whose id is $id, and so many copies of it, $names; what it is in: $text.
copies() {	# COUNT
	deck add . -t one --agent demo
	id=$(basename "$(dirname "$home"/deck/default/*/instance.json)")
	text=$(<"$home/deck/default/$id/instance.json")
	mapfile -t names < <(seq -f %08.0f "$1")
	store_all "$text" "${names[@]}"
}

case_a_thousand_sessions_change_at_once() {
	local text names
	copies 999
	open 80 24
	await '  1000 sessions  ' && keys / m a n y Enter
	await ', 0 shown' && store_all "${text/\"one\"/\"many\"}" "${names[@]}"
	await ', 999 shown' && keys G
	await ' · many '
}

# A day of events, one after the other: what the deck keeps does not grow with their number.
case_a_storm_of_events_leaves_nothing() {
	local text texts names round pid early late sizes=('100 30' '40 12' '80 24')
	if grep -q __asan_init "$(dirname "$(command -v agentdeck)")/agentdeck-ui"; then
		echo "skipped $case_name: the sanitizer keeps what was freed"
		return
	fi
	copies 80
	texts=("$text" "${text/\"one\"/\"many\"}")
	open 80 24
	await '  81 sessions  ' && keys Tab / m a n y Enter
	await ', 0 shown' && pid=$(ui_pid)
	for round in {1..30}; do
		store_all "${texts[round % 2]}" "${names[@]}"
		# shellcheck disable=SC2086
		set -- ${sizes[round % 3]}
		"${terminal[@]}" resize-window -x "$1" -y "$2"
		await ", $((round % 2 ? 80 : 0)) shown" || break
		keys G g
		((round != 10)) || early=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")
	done
	late=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")
	((late - early < 256)) || fail "2400 events: from $early to $late kB"
	keys q
	await 'ended: 0'
}

case_a_search_looks_into_the_last_replies() {
	some_sessions
	deck start api --no-supervise
	deck send api --wait 'the Zebra is here'
	open 120 40
	await '○ api' && keys / z e b r a
	await 'Search: zebra' && await '○ api' && await '1 shown'
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
	await "^Send to solo: $(printf '%.s0123456789' {1..10})\$"
	"${terminal[@]}" resize-window -x 1 -y 1 \; resize-window -x 40 -y 12
	keys Escape
	await '^Enter start and attach' && await '^What you typed is kept'
}

case_a_start_ends_with_what_the_agent_says() {
	some_sessions
	environment+=(AGENTDECK_DEMO_START_DELAY_MS=500)
	open 120 40
	await '\? help' && keys G s
	# what is awaited is not what came of it
	await '^web: started, conversation [0-9a-f-]+ *$' && await '○ web' && keys q
	await 'ended: 0'
	environment+=(AGENTDECK_DEMO_START_DELAY_MS=0 AGENTDECK_DEMO_EXIT_AT_START=3)
	printf '[tmux.options]\nno-such-option = "x"\n' >>"$home/deck/config.toml"
	open 120 40
	await '\? help' && keys G Up s
	await '^api: its agent did not start: exit 3\. A shell is open in its place'
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

# The deck has a child in this state, a pattern.
await_child() {	# PID STATE
	until_done has_child "$@" || { fail 'the deck has no such child' && return 1; }
}
# shellcheck disable=SC2053 # a pattern
has_child() { [[ $(ps -o stat= --ppid "$1") == $2* ]]; }

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

# --- the screen of the selected session ------------------------------------------------------------

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

# --- what is asked ----------------------------------------------------------------------------------

case_who_has_the_conversation_is_asked_about() {
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
	# an older version could leave that
	manifest=$(grep -l '"title": *"api"' "$home"/deck/default/*/instance.json)
	sed -i "s/\"session_id\": *\"[^\"]*\"/\"session_id\": \"$id\"/" "$manifest"
	open 80 24
	await ' · api .* stopped' && keys Home Down s
	await '│ How do you want to continue\?' && await '> Back' && keys Down Enter
	await '^. web  ' && keys C-q
	await '\? help' && await ' · api .* stopped' && keys s
	await '> Back' && keys Down Down Enter
	await 'api-fork: started with a copy' && await '○ web' && await ' · api .* stopped'
}

case_an_undecided_end_is_asked_about() {
	git init -q -b main repo && git -C repo -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	deck add repo -t api --agent demo --worktree
	deck path api
	tree=$(<"$home/out")
	echo 1 >"$tree/file-1"
	deck start api --no-supervise
	env "${environment[@]}" agentdeck send api /exit --no-wait >/dev/null 2>&1
	open 80 24
	await ' · api .* stopped' && keys q
	await 'ended: 0'
	deck recover
	open 80 24
	await ' · api +ended,wt .* stopped' && keys d y
	await 'This session has unfinished work' && keys Enter
	await '> Keep it' && keys Enter
	await 'Nothing was done' && keys Enter
	await 'file-1' && keys Enter
	# the answer is passed on: no second question
	await '> Return to agent' && keys Enter
	await '^. api  idle .* Ctrl-Q' && await '^❯' && keys C-q
	await '○ api .* idle'
	[[ -e $tree/file-1 ]] || fail 'its work is gone'
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

# The machine was restarted: the server is gone, and its manifest names another boot.
lost_in_a_restart() {	# TITLE
	local manifest
	kill_server "$1"
	manifest=$home/deck/default/$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$home/out" | head -n 1)/instance.json
	# In a container that does not keep its id, a run of another boot may be another container's.
	sed -E "s/$(</proc/sys/kernel/random/boot_id)/00000000-0000-4000-8000-000000000000/; s/\"pid_namespace\": *\"[^\"]*\",?//" "$manifest" >"$manifest.new"
	chmod 600 "$manifest.new" && mv "$manifest.new" "$manifest"
}

case_what_was_lost_is_asked_about() {
	some_sessions
	deck start api docs web --no-supervise
	lost_in_a_restart api
	kill_server docs
	kill_server web
	rmdir b
	printf 'keys = ["quit=F10", "halt=x"]\n' >>"$home/deck/config.toml"
	open 80 24
	await 'Restart every session that should run' && await "'halt=x' in \[ui\] keys: write ACTION=KEY"
	await 'ended with the last restart of the machine \(1\)' && await 'ended by a kill or a crash \(2\)'
	# Enter loses nothing and starts nothing
	keys Enter
	await 'Nothing was done' && await '! api .* error' && keys R
	await 'ended with the last restart of the machine \(1\)' && keys y
	await '^3 sessions: 2 restarted, 1 failed' && await '○ api .* idle' && await '○ web .* idle' && keys F10
	await 'ended: 0' && sed -i '/^keys/d' "$home/deck/config.toml" && open 80 24
	await '1 session should run and does not: R restarts it' && await_gone 'Restart every'
}

# --- commands that the deck runs -------------------------------------------------------------------

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

has_copied() { [[ $("${terminal[@]}" show-buffer 2>&1) == *"$1"* ]]; }
case_the_preview_is_copied() {
	some_sessions
	deck start api --no-supervise
	deck send api --wait 'hello you'
	open 120 40
	"${terminal[@]}" set -g set-clipboard on
	await '○ api' && keys G Up y
	await 'Copied [0-9]+ line'
	has_copied 'reply 1' || fail "copied: $("${terminal[@]}" show-buffer)"
	keys Tab Tab Tab Tab
	await '─ api ─.*\[facts\]' && keys y
	await 'Copied [0-9]+ line'
	has_copied Status || fail "copied: $("${terminal[@]}" show-buffer)"
	keys Tab Tab Tab
	await_gone '─ api ─' && keys q
	await 'ended: 0'
	# in a tmux it is tmux that copies
	open 120 40 env TMUX="$home/terminal$((opened + 1)),1,0" agentdeck ui
	await '○ api' && keys G Up y
	await 'Copied [0-9]+ line'
	until_done has_copied 'reply 1' || fail 'tmux has no buffer'
	keys Home y
	await 'has no reply yet'
}

case_the_form_makes_a_session() {
	mkdir -p one
	open 80 24
	await '\? help' && keys c
	await '^new session' && keys C-u o Tab
	await '^Directory +one/( |$)' && keys Down d e m o Down Down h i Enter
	await '1 session  ' && await '○ one' && await 'one: made and started'
	deck output one
	grep -q 'demo: reply 1' "$home/out" || fail "the message is not there: $(<"$home/out")"
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

# --- the terminal ----------------------------------------------------------------------------------

mouse_is() { [[ $("${terminal[@]}" display-message -p '#{mouse_any_flag}') == "$1" ]] || fail "the mouse is not $1"; }

case_the_mouse_selects_and_attaches() {
	some_sessions
	deck start web --no-supervise
	open 80 20
	await '○ web' && mouse_is 1
	# The first button in column 5 of row 10, counted from 1; what comes at once counts as well.
	keys -l $'\e[M %*\e[M#%*'
	await "$home/work/a" && keys -l $'\e[<0;5;10M\e[<0;5;10m'
	await '^. web  ' && keys C-q
	await '\? help' && await "$home/work/a" && mouse_is 1 && keys q
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

case_a_terminal_without_a_second_screen_is_left_empty() {
	open 80 24 env TERM=vt100 agentdeck ui
	await '\? help' && keys q
	await '^ended: 0'
	[[ $(screen | tr -d '[:space:]') == ended:0 ]] || fail "the deck is still there: $(screen)"
}

case_an_unknown_terminal_is_taken_for_a_usual_one() {
	local kind
	some_sessions
	for kind in TERM=unheard-of TERM=dumb -uTERM; do
		open 80 24 env "$kind" agentdeck ui
		await '\? help' && keys q
		await 'so xterm-256color is used' && await 'ended: 0' || return
	done
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

run_cases "$@"
