# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# terminal.bash - a deck of its own for each case, and a real terminal: a tmux pane
#
# SOURCED, with $tests as the directory of this file, by a test that runs its cases with cases.bash, which this sources.
#
# shellcheck disable=SC2034,SC2154 # its variables are for the cases, and $tests is theirs
set -uo pipefail
export LC_ALL=C.UTF-8 TZ=UTC
unset TMUX

# shellcheck source=tests/unit/cases.bash
source "$tests/cases.bash"
root=$(mktemp -d /tmp/agentdeck-terminal-XXXXXX) || exit
opened=0 id="" tree=""
trap 'rm -rf "$root"' EXIT

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

some_sessions() {
	mkdir -p a b c
	deck add a -t api -g work/back --agent demo
	deck add a -t web -g work/back --agent demo
	deck add b -t docs -g work --agent demo
	deck add c -t solo --agent demo
	deck add c -t "日本語 is wide, and this title is longer than any terminal that it is shown in, as users like them to be" -g play --agent demo
}

# The terminal of a running session: its tmux, and the device that the agent prints to.
agents_terminal() {	# TITLE
	local socket
	deck show "$1" --json
	socket=$(sed -n 's/.*"socket": *"\([^"]*\)".*/\1/p' "$home/out")
	agent=(env -u TMUX tmux -S "$socket")
	device=$("${agent[@]}" display-message -p -t %0 '#{pane_tty}')
}
socket_of() {	# TITLE
	deck show "$1" --json
	sed -n 's/.*"socket": *"\([^"]*\)".*/\1/p' "$home/out"
}
# So dies a tmux server.
kill_server() {	# TITLE
	deck show "$1" --json
	kill -KILL "$(sed -n 's/.*"server_pid": *\([0-9]*\).*/\1/p' "$home/out")"
}

# Sessions that wait for their user, in this order.
waiting() {	# TITLE...
	local title
	for title; do
		AGENTDECK_DEMO_IDLE_MS=100 deck start "$title" --no-supervise
		deck send "$title" hello --no-wait
		deck status --wait waiting "$title" --timeout 60
	done
}

# Alternate screen, cursor, mouse, application keys (two), insert mode and wrapping; 1 is on.
modes() {
	"${terminal[@]}" display-message -p \
		'#{alternate_on}#{cursor_flag}#{mouse_any_flag}#{keypad_cursor_flag}#{keypad_flag}#{insert_flag}#{wrap_flag}'
}

# The process of the deck in the pane.
ui_pid() { pgrep -P "$("${terminal[@]}" display-message -p '#{pane_pid}')"; }
