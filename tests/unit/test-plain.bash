#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-plain.bash - agentdeck ui --plain, through a pipe and in a terminal: a tmux pane
#
# USAGE
#   test-plain.bash   agentdeck is found in PATH
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no tmux
set -uo pipefail
export LC_ALL=C.UTF-8 TZ=UTC

command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
home=$(mktemp -d /tmp/agentdeck-plain-XXXXXX) || exit
failures=0 case_name="" passed=0
terminal=(env -u TMUX tmux -S "$home/terminal" -f /dev/null)
environment=(-u TMUX -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_DATA_HOME -u AGENTDECK_PROFILE
	-u AGENTDECK_INSTANCE -u AGENTDECK_INSTANCE_ID -u AGENTDECK_DEMO_CONFIG_DIR -u NO_COLOR
	"AGENTDECK_HOME=$home/deck" "HOME=$home/user" "TMPDIR=$home/tmp" "SHELL=/bin/sh")

trap '"${terminal[@]}" kill-server 2>/dev/null; env -u TMUX tmux -S "$home/other" kill-server 2>/dev/null; env "${environment[@]}" agentdeck stop --all -q >/dev/null 2>&1; rm -rf "$home"' EXIT

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

plain() { env "${environment[@]}" agentdeck ui --plain >"$home/out" 2>&1; }
has() { grep -qE -e "$1" "$home/out" || fail "no '$1': $(<"$home/out")"; }

# --- cases: the same sessions, from one to the next -------------------------------------------------

a_pipe_types_commands() {
	printf '%s\n' '' help w 'o 1' ': status --json' ': show web' | plain || fail "status $?"
	has '^1\. api, demo, idle since [0-9]{2}:[0-9]{2}\.$'
	has '^Group play:$' && has '^2 sessions, 0 of them need you\. Type \? for help\.$'
	has '^NUMBER|^a NUMBER, or only the number: attach'
	has '^agentdeck: api has no reply yet'
	has '^ *"running": 2' && has '^Title +web$'
	# q: nothing after it is obeyed.
	printf 'q\nstop 1\n' | plain || fail "q: status $?"
	grep -q stopped "$home/out" && fail "a line after q was obeyed: $(<"$home/out")"
	plain </dev/null || fail "no input: status $?"
}

bad_lines_are_answered() {
	printf '%s\n' 9 's 1' 's' 'i 1 2' 'i one' '99999999999999999999' frobnicate ': "' ':' |
		plain || fail "status $?"
	has '^> $|^>? ?No session has the number 9\.'
	has '^The text is missing\. Type: s NUMBER TEXT$' && has '^The number of the session is missing\.$'
	has '^Type only the number after i\.$' && has '^No session has the number one\.'
	has '^No session has the number 99999999999999999999\.' && has '^There is no command frobnicate\.'
	has '^the command has a " that is not closed$' && has '^The command is missing\.'
	head -c 70000 /dev/zero | tr '\0' x | plain || fail "a long line: status $?"
	has '^That line is too long\.'
}

what_was_lost_is_asked_about() {
	deck show web --json
	kill -KILL "$(sed -n 's/.*"server_pid": *\([0-9]*\).*/\1/p' "$home/out")"
	await '^2\. web, demo, error'
	# Without a terminal nobody can answer.
	printf 'r\n' | plain || fail "status $?"
	has '^(> )?1 session should run and does not\. Type r to restart it\.$'
	has '^ *ended by a kill or a crash \(1\)$' && has '^ *web \(demo\) in play$' && has '^Type : recover'
	keys r Enter
	await '^ *web \(demo\) in play$' && await '^Type a number or a name; Enter alone chooses Back' && keys Enter
	await '^Nothing was done\.$' && keys -R && keys r Enter
	await '^Type a number or a name' && keys 2 Enter
	await '^1 session: 1 restarted' && await '^2\. web, demo, (running|idle) since' && keys l Enter
}

a_terminal_reads_what_happens() {
	await '^2 sessions, 0 of them need you' && await '^> *$'
	deck stop web
	await '^2\. web, demo, stopped since' && keys 'start 2' Enter
	await '^2\. web, demo, idle since'
	keys 's 1 hello' Enter
	await '^1\. api, demo, waiting since' && keys w Enter
	await '^2 sessions, 1 of them needs you'
}

# web has the conversation of api, too, as an older version could leave it.
who_has_the_conversation_is_asked_about() {
	local manifest owned
	deck show api --json
	owned=$(sed -n 's/.*"session_id": *"\([^"]*\)".*/\1/p' "$home/out" | head -n 1)
	deck stop web
	manifest=$(grep -l '"title": *"web"' "$home"/deck/default/*/instance.json)
	cp "$manifest" "$home/manifest"
	sed -i "s/\"session_id\": *\"[^\"]*\"/\"session_id\": \"$owned\"/" "$manifest"
	keys -R && keys 'start 2' Enter
	await '^Its conversation is open in another session:$' && await '^api \(demo\), ' && await '^ *1  Back' &&
		await '^Type a number or a name; Enter alone chooses Back' && keys Enter
	await '^agentdeck: web was not started$' && keys -R && keys 'start 2' Enter
	await '^Type a number or a name' && keys 2 Enter
	await '^. api .*Ctrl-Q: leave' && keys C-q
	await '^> *$'
	deck show api --json
	has '"status": *"(running|waiting|idle|busy)"'
	cp "$home/manifest" "$manifest"
	deck start web --no-supervise
	await '^2\. web, demo, (idle|running) since'
}

it_attaches_and_comes_back() {
	keys n Enter
	await 'Ctrl-Q: leave'
	deck show api
	has '^Attached +80x40 for [0-9]+ s$'
	keys C-q
	await '^1\. api$' && keys 'o 1' Enter
	await '^demo: reply 1\. You said: "hello"'
	keys 2 Enter
	await 'Ctrl-Q: leave' && keys C-q
	await '^> *$' && keys 'remove 2' Enter
	await '^There is no command remove' && keys ': rm -f web' Enter
	await '^2\. web is removed\.$'
}

who_else_looks_is_told() {
	local other=(env -u TMUX tmux -S "$home/other" -f /dev/null)
	"${other[@]}" new-session -d -x 60 -y 20 env "${environment[@]}" agentdeck attach -r api \; set -g status off
	local end=$((SECONDS + 30))
	until deck show api && grep -q '60x20 (read-only) for' "$home/out"; do
		((SECONDS < end)) || { fail "nobody is attached: $(<"$home/out")"; return; }
		read -rt 0.05 <> <(:)
	done
	keys 1 Enter
	await 'Ctrl-Q: leave'
	until grep -q ' read-only part of 80x39  Ctrl-Q: leave' <<<"$("${other[@]}" capture-pane -p)"; do
		((SECONDS < end)) || { fail "it shows: $("${other[@]}" capture-pane -p)"; return; }
		read -rt 0.05 <> <(:)
	done
	keys C-q
	# tmux may take longer than attach waits for it.
	await '^api is attached to (1 other terminal: 60x20 \(read-only\) for |other terminals; tmux does not say)'
	until deck show api --json && grep -q '"is_read_only": true' "$home/out"; do
		((SECONDS < end)) || { fail "it is not read-only: $(<"$home/out")"; return; }
		read -rt 0.05 <> <(:)
	done
	"${other[@]}" kill-server
}

q_ends_it() {
	keys q Enter
	await '^ended: 0'
	[[ $(deck_state) == *api* ]] || fail "the session is gone"
}

deck_state() { env "${environment[@]}" agentdeck list; }

mkdir "$home/user" "$home/tmp" "$home/work"
mkdir -m 700 "$home/deck"
printf '[tmux]\nlaunch_in_user_scope = false\nlinger = false\n' >"$home/deck/config.toml"
cd "$home/work" || exit 1
# This one says at once that it waits, when it has answered.
AGENTDECK_DEMO_IDLE_MS=1 deck launch . -t api --agent demo --no-supervise
export AGENTDECK_DEMO_IDLE_MS=3600000
deck launch . -t web -g play --agent demo --no-supervise

run_case() {
	local before=$failures
	"$case_name"
	((failures > before)) || passed=$((passed + 1))
}
for case_name in a_pipe_types_commands bad_lines_are_answered; do run_case; done
# shellcheck disable=SC2016 # the inner shell expands it
"${terminal[@]}" new-session -d -x 80 -y 40 env "${environment[@]}" \
	sh -c '"$@"; echo "ended: $?"; exec cat' sh agentdeck ui --plain \; set -g status off
for case_name in what_was_lost_is_asked_about a_terminal_reads_what_happens who_has_the_conversation_is_asked_about it_attaches_and_comes_back who_else_looks_is_told q_ends_it; do run_case; done
echo "$passed passed, $failures failed"
((failures == 0))
