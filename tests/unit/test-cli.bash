#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-cli.bash - bad input through the built program
#
# USAGE
#   test-cli.bash [NAME...]    only these cases; agentdeck and its helpers are found in PATH
#
# After each refusal: the documented exit status, one line that says what to do, an unchanged state,
# and no process left.  Sessions are made without systemd, in scratch directories.
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no tmux
#
# The cases are called by their names, which shellcheck does not see.
# shellcheck disable=SC2317,SC2015,SC2016
set -uo pipefail
export LC_ALL=C.UTF-8

command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
root=$(mktemp -d /tmp/agentdeck-cli-XXXXXX) || exit
tree=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
# shellcheck source=tests/unit/cases.bash
source "$tree/tests/unit/cases.bash"

# --- helpers ---------------------------------------------------------------------------------------

# A scratch deck: $home, with a project directory in it, which becomes the working directory.
set_up() {
	home=$(mktemp -d "$root/XXXXXX") || exit
	mkdir "$home/user" "$home/tmp" "$home/work"
	deck=(env -u TMUX -u XDG_CONFIG_HOME -u XDG_STATE_HOME -u XDG_DATA_HOME -u AGENTDECK_PROFILE
		-u AGENTDECK_INSTANCE -u AGENTDECK_INSTANCE_ID -u AGENTDECK_DEMO_CONFIG_DIR
		"AGENTDECK_HOME=$home/deck" "HOME=$home/user" "TMPDIR=$home/tmp" "SHELL=/bin/sh")
	mkdir -m 700 "$home/deck"
	printf '[tmux]\nlaunch_in_user_scope = false\nlinger = false\n' >"$home/deck/config.toml"
	cd "$home/work" || exit 1
}

run() {
	"${deck[@]}" agentdeck "$@" >"$home/out" 2>"$home/err" </dev/null
	status=$?
}

# A command that a case depends on, and that must succeed.
must() {
	run "$@"
	[ "$status" = 0 ] || fail "$*: status $status, $(<"$home/err")"
}

# A member of session show --json that has its own line.
value() {
	local shown line=$'(^|\n) *"'"$2"$'": *"?([^",\n]*)"?,?(\n|$)'
	shown=$("${deck[@]}" agentdeck session show "$1" --json)
	[[ ! $shown =~ $line ]] || echo "${BASH_REMATCH[2]}"
}

# Sets $files to all files that must last, with what changes when one is written; logs, locks and
# copies come and go.
state() {
	files=$(find "$home/deck" -path "$home/deck/logs" -prune -o -name '*.lock' -prune -o -name instances.json -prune -o \
		-name config.good.toml -prune -o -type f -printf '%p %i %s %m %C@\n' 2>/dev/null)
}

# Sets $left to the processes that belong to this deck: they have its root in their environment.
left() {
	local file found words
	left=""
	found=$(grep -lzxsF "AGENTDECK_HOME=$home/deck" /proc/[0-9]*/environ)
	for file in $found; do
		file=${file%/environ}
		words=()
		mapfile -d '' words 2>/dev/null <"$file/cmdline"
		# agentdeck-watch ends soon, without our help.
		case "${words[*]}" in
		'' | *agentdeck-watch*) ;;
		*) left+="${file#/proc/} " ;;
		esac
	done
}
none_left() { left; [ -z "$left" ]; }

# Processes that were told to end may need a moment.
settle() { until_done none_left || true; }

tear_down() {
	local pid
	settle
	[ -z "$left" ] || fail "processes left at the end: $left"
	for pid in $left; do
		kill -9 "$pid" 2>/dev/null
	done
}

# kill(1) does not wait until they are gone, and as long as they are there, they count as alive.
gone() { ! kill -0 "$@" 2>/dev/null; }
end_at_once() {	# PID...
	kill -9 "$@"
	until_done gone "$@" || fail "one of $* does not end"
}

# Sets $said to what is on standard error without the warnings.
said() {
	local line
	said=()
	while IFS= read -r line; do
		[[ $line == 'agentdeck: warning: '* ]] || said+=("$line")
	done <"$home/err"
}

# refused STATUS PATTERN ARGUMENT...: one matching line on standard error, and nothing else changed.
refused() {
	local expected=$1 pattern="^agentdeck: .*$2" files left said before processes line
	shift 2
	state && before=$files
	left && processes=$left
	run "$@"
	state
	left
	said
	[ "$status" = "$expected" ] || fail "$*: exit status $status, expected $expected: $(<"$home/err")"
	[ ${#said[@]} = 1 ] || fail "$*: ${#said[@]} lines: $(<"$home/err")"
	line=${said[0]-}
	[[ $line =~ $pattern ]] || fail "$*: says $(<"$home/err"), expected $pattern"
	[[ ${line//$'\t'} != *[[:cntrl:]]* ]] || fail "$*: control characters"
	[ ! -s "$home/out" ] || fail "$*: standard output: $(<"$home/out")"
	[ "$before" = "$files" ] || fail "$*: the state has changed: $(diff <(echo "$before") <(echo "$files"))"
	[ "$processes" = "$left" ] || fail "$*: processes left: $left"
}

# The same with --json: an object on standard output.
refused_json() {
	local expected=$1 pattern="\"code\": *\"$2\"" said answer
	shift 2
	run "$@" --json
	[ "$status" = "$expected" ] || fail "$* --json: exit status $status"
	answer=$(<"$home/out")
	[[ $answer =~ \"success\":\ *false && $answer =~ $pattern ]] || fail "$* --json: $answer"
	said
	[ ${#said[@]} = 0 ] || fail "$* --json: $(<"$home/err")"
}

# As refused, for a start: it may record that and why it failed, but nothing about the conversation.
not_started() {
	local expected=$1 pattern=$2 id=$3 before after
	before=$(value "$id" session_id)
	run session start "$id"
	[ "$status" = "$expected" ] || fail "start $id: exit status $status, expected $expected"
	grep -Eq -- "^agentdeck: .*$pattern" "$home/err" || fail "start $id: says $(<"$home/err")"
	[ "$(grep -vc '^agentdeck: warning: ' "$home/err")" = 1 ] || fail "start $id: $(<"$home/err")"
	after=$(value "$id" session_id)
	[ "$before" = "$after" ] || fail "start $id: the conversation $before became $after"
	none_left || fail "start $id: processes left: $left"
}

# --- what does not exist ---------------------------------------------------------------------------

case_unknown_things() {
	refused 2 "unknown agent 'nosuch'.*known are.*demo" add . -t a --agent nosuch
	refused 2 "unknown agent 'dmeo'; did you mean 'demo'\?" add . -t a --agent dmeo
	# Nothing about the session that works here, since none is made.
	must launch . -t other --agent demo
	refused 1 "program 'nosuch' not found in PATH" launch . -t a -c nosuch
	grep -q "^agentdeck: program 'nosuch'" "$home/err" || fail "it names an agent: $(<"$home/err")"
	# A worktree is advised only where one can be made.
	must launch . -t second --agent demo
	grep -q 'agentdeck: other works in .*the same files$' "$home/err" || fail "$(<"$home/err")"
	git init -q -b main .
	must launch . -t third --agent demo
	grep -q 'agentdeck: .* the same files. .*agentdeck launch --worktree ' "$home/err" || fail "$(<"$home/err")"
	must remove --force other second third
	refused 2 'none is not an existing directory: create it first' add "$home/none" -t a
	refused 2 'is not an existing directory' add "$home/deck/config.toml" -t a
	refused 2 'no session .*"nosuch"' session start nosuch
	refused 2 'no session' remove nosuch
	refused 2 "unknown command 'nosuch'" help nosuch
	refused 64 "unexpected argument 'export'" help import export
	refused 64 "unexpected argument 'now'" help session export now
	refused_json 2 NOT_FOUND session start nosuch
	refused_json 2 NOT_FOUND add . -t a --agent nosuch
}

case_no_agent_is_chosen_for_a_script() {
	local program bin=$home/bin
	program=$(command -v agentdeck)
	mkdir "$bin"
	ln -s "$(command -v agentdeck-demo-agent)" "$bin"
	for command in add launch; do
		"${deck[@]}" PATH="$bin" "$program" "$command" . >"$home/out" 2>"$home/err" </dev/null
		[ $? = 1 ] && grep -q 'no coding agent is installed: .* --agent NAME' "$home/err" ||
			fail "$command: $(<"$home/out") $(<"$home/err")"
	done
	ln -s /bin/true "$bin/codex"
	"${deck[@]}" PATH="$bin" "$program" add . -t a >"$home/out" 2>"$home/err" </dev/null || fail "$(<"$home/err")"
	[ "$(value a agent)" = codex ] || fail "it is $(value a agent)"
	must remove a --force
	must list
	[ ! -s "$home/out" ] || ! grep -q demo "$home/out" || fail "made: $(<"$home/out")"
}

case_under_sudo_the_sessions_are_those_of_root() {
	local told="Under sudo, agentdeck has root's sessions. Those of ann: without sudo"
	unset SUDO_USER
	SUDO_USER=ann must list
	if ((EUID == 0)); then
		grep -qxF "$told" "$home/out" || fail "it says: $(<"$home/out")"
	else
		! grep -qF sudo "$home/out" || fail "$EUID is not root: $(<"$home/out")"
	fi
	must list
	! grep -qF sudo "$home/out" || fail "without sudo: $(<"$home/out")"
	must add . -t one --agent demo
	SUDO_USER=ann must list
	! grep -qF sudo "$home/out" || fail "root has some: $(<"$home/out")"
}
case_attach_without_a_terminal() {
	refused 2 'there is no session yet' attach
	must add . -t a --agent demo
	refused 3 'attaching needs a terminal' attach
	refused 3 'attaching needs a terminal' attach a
	refused 2 'no session waits for an answer' attach --next
	refused 64 "omit 'a'" attach --next a
}

case_usage() {
	refused 2 "unknown command 'begin'" begin
	refused 64 'usage: agentdeck show SESSION \(see agentdeck show --help\)' session show
	refused 64 "unexpected argument 'b'" session show a b
	refused 64 'unknown option --bogus' list --bogus
	refused 64 'option -t requires a value' add -t
	refused 64 'unknown option' --bogus list
	refused 64 'unknown option --group: omit its dashes \(usage: agentdeck set SESSION FIELD VALUE' set a --group x
	refused 64 'unknown option --bogus: see' set a --bogus x
	refused 64 '' -p '../x' list
	refused 64 '' -p logs list
	refused 64 'is not closed' add . -t a -c "sh -c 'open"
	refused 64 'shell' add . -t a -c 'a | b'
	refused 64 'empty' add . -t a -c ''
	refused 1 'session id' add . -t a --agent demo --session-id not-a-uuid
	refused 64 'auto, confirm or never' add . -t a --resume sometimes
	refused_json 64 USAGE session start
	refused_json 64 USAGE list --bogus
}

# The error names the word that is wrong, and those that are near to it.
case_typing_errors() {
	refused 2 "unknown command 'atach'; did you mean 'attach'\?" atach x
	refused 2 "unknown command 'atach'; did you mean 'attach'\?" -p default atach
	refused 2 "unknown command 'tsart'; did you mean 'start'\?" tsart
	refused 2 "unknown command 'sesion'; did you mean 'session'\?" sesion start x
	refused 2 "unknown session command 'strat'; did you mean 'session start'\?" session strat x
	refused 64 "usage: agentdeck check SESSION" check
	refused 2 "unknown command 'edit'; did you mean 'config edit'\?" edit
	refused 2 "unknown command 'recov'; did you mean 'recover'\?" recov
	refused 2 "unknown command 'qqqqqq': 'agentdeck help' lists" qqqqqq
	refused 2 "unknown agents command 'qqqqqq': 'agentdeck help agents' lists" agents qqqqqq
	refused 2 "unknown command 'atach'; did you mean 'attach'\?" help atach
	refused_json 2 NOT_FOUND atach
	# The words of other programs.
	refused 2 "unknown command 'new'; did you mean 'launch'\?" new
	refused 2 "unknown command 'kill'; did you mean 'stop'\?" kill x
	refused 2 "unknown command 'delete'; did you mean 'remove'\?" delete x
	refused 64 'did you mean agentdeck session import x.tar\?' import x.tar
}

case_a_refused_session_leaves_no_profile() {
	refused 2 'not an existing directory' -p ghost add "$home/nowhere"
	# Also if it failed late, and if there was nothing to do.
	printf '[session.x]\ncmd = "no-such-program"\n' >agentdeck.toml
	refused 1 'not found in PATH' -p ghost launch . -c no-such-program
	refused 1 'not in a Git repository' -p ghost add . --agent demo --clone
	refused 1 'not found in PATH' -p ghost up
	must -p ghost discover
	[ ! -e "$home/deck/ghost" ] || fail 'the profile is there'
	must add . -t here --agent demo -p ghost
	refused 2 'not an existing directory' -p ghost add "$home/nowhere"
	must list -p ghost
	grep -q '^here ' "$home/out" || fail "$(<"$home/out")"
}

case_a_terminal_is_needed() {
	refused 64 'the deck needs a terminal: use agentdeck list' ui
	refused 64 'there is no terminal for an editor: use agentdeck config set' config edit
	refused_json 64 USAGE config edit
}

case_the_profile_may_be_anywhere() {
	must add . -t here --agent demo -p work
	must -p work list
	grep -q here "$home/out" || fail "list in the profile"
	for line in '-p work session show here' 'session -p work show here' 'session show -p work here' \
		'session show here -p work' 'show here --profile=work' '-p none show here -p work'; do
		# shellcheck disable=SC2086  # words
		must $line --json
		grep -q '"title": *"here"' "$home/out" || fail "$line: $(<"$home/out")"
	done
	refused 2 'no session' show here
	must add . -t there -c 'sleep 9' -- -p other
	must show there
	refused 64 'option -p requires a value' list -p
}

case_a_profile_that_does_not_exist() {
	local line
	refused 2 "no profile 'x'.* Create it with: agentdeck -p x add" -p x list
	must add . -t a --agent demo
	must -p work add . -t b --agent demo
	for line in list status events top recover logs 'show a' 'start a' 'stop a' 'attach a' 'remove a' \
		'session set a title b' 'fork a' current 'output a'; do
		# shellcheck disable=SC2086  # words
		refused 2 "no profile 'x'; profiles: default, work\. Create it with: agentdeck -p x add" -p x $line
	done
	refused_json 2 NOT_FOUND -p x list
	run -p x doctor
	grep -q "no profile 'x'" "$home/out" || fail "doctor: $(<"$home/out")"
	run -p x add "$home/none" -t a
	[ "$status" = 2 ] || fail "add of what is not there"
	run -p y help --complete -- -p y start ''
	[ ! -e "$home/deck/y" ] || fail "completion made a profile"
	rm -rf "$home/deck/x"
	run -p x list
	[ ! -e "$home/deck/x" ] || fail "list made a profile"
}

# A pane of agent-deck's names its own profile.
case_the_profile_of_agent_deck() {
	local theirs=(AGENTDECK_INSTANCE_ID=409a6ace-1795308038 AGENTDECK_PROFILE=work)
	must add . -t here --agent demo
	must -p work add . -t there --agent demo
	deck+=("${theirs[@]}")
	must list
	grep -q here "$home/out" || fail "it chooses another profile: $(<"$home/out")"
	grep -q "AGENTDECK_PROFILE is agent-deck's in this terminal: using profile default" "$home/err" || fail "it says nothing"
	must -p work list
	[ -s "$home/err" ] && fail "with -p it says: $(<"$home/err")"
	deck+=(AGENTDECK_PROFILE=theirs)
	must list
	[ -s "$home/err" ] && fail "of a profile that is only theirs it says: $(<"$home/err")"
	must add . -t new --agent demo
	grep -q 'using profile default' "$home/err" || fail "it makes a session and says nothing"
	[ ! -e "$home/deck/theirs" ] || fail "it made a profile"
}

# What a message advises can be pasted into a shell.
case_hints_name_the_title() {
	local hint
	must add . -t "it's mine" --agent demo -p work
	hint=$(sed -n 's/.*Start it with: agentdeck start //p' "$home/out")
	[ "$hint" = "-p work 'it'\''s mine'" ] || fail "add: $hint"
	eval "must show $hint"
	refused 3 "run agentdeck attach -p work 'it'" -p work attach "it's mine"
	refused 1 "agentdeck send -p work 'it'.* TEXT" -p work output "it's mine"
	must add . -t api --agent demo
	grep -q 'Start it with: agentdeck start api$' "$home/out" || fail "add: $(<"$home/out")"
}

case_missing_binary() {
	must add . -t gone --agent demo -c "$home/agent"
	not_started 1 "program '.*/agent' does not exist" gone
	must add . -t nopath -c 'agentdeck-no-such-program --x'
	not_started 1 "program 'agentdeck-no-such-program' not found" nopath
	must list
}

case_deleted_directory() {
	mkdir "$home/gone"
	must add "$home/gone" -t gone --agent demo
	rmdir "$home/gone"
	not_started 2 'directory .*/gone is missing' gone
	: >"$home/gone"
	not_started 2 'directory .*/gone is missing' gone
	rm "$home/gone"
	mkdir "$home/gone"
	must session start gone
	rmdir "$home/gone"
	# A restart that cannot succeed does not end what runs.
	local pid
	pid=$(value gone server_pid)
	refused 2 'directory .*/gone is missing' session restart gone
	kill -0 "$pid" 2>/dev/null || fail "the session was ended"
	must session stop gone
}

# --- damaged and foreign state ---------------------------------------------------------------------

case_damaged_config() {
	must add . -t a --agent demo
	# What makes a session, or sets what the file would set, is refused.
	printf '[tmux]\nhistory_limit = "many"\n' >"$home/deck/config.toml"
	refused 1 'config\.toml:2:[0-9]+: ' add . -t b --agent demo
	printf '[tmux\n' >"$home/deck/config.toml"
	refused 1 'config\.toml:1:[0-9]+: ' launch . -t b --agent demo
	printf '[tmux]\n\nhistroy_limit = 7\n' >"$home/deck/config.toml"
	refused 1 'config\.toml:3:1: .*history_limit' session limit a --memory-max 1G
	refused_json 1 CORRUPT session limit a --memory-max 1G
	# docs/configuration.md names all of them.
	local count command
	local -A operands=([adopt]=1 [import]=aoe [restore]=x ['host add']=x ['host create']=x ['host remove']=x ['host rename']='x y' ['session fork']=a ['session import']=x ['session limit']='a --tasks-max 9')
	count=0
	while read -r command; do
		# shellcheck disable=SC2086 # words
		refused 1 'config\.toml:3:1: .*history_limit' $command ${operands[$command]-}
		count=$((count + 1))
	done < <(sed -n '/^same. These refuse a broken file/,/^$/p' "$tree/docs/configuration.md" | grep -oE '`[a-z ]+`' | tr -d '`')
	[ "$count" = "$(grep -ho 'IS_STRICT' "$tree"/src/cli/{cmd,import}/*.c | wc -l)" ] || fail "docs/configuration.md names $count commands"
	# All else goes on with the last good one, and says so in one line before it begins.
	local said='^agentdeck: warning: .*config\.toml:3:1: .*history_limit.* \(using the last good configuration\)$'
	for command in list status 'show a' 'start a' 'stop a' \
		'rename a c' 'agents list' 'supervise --status' logs 'remove c'; do
		# shellcheck disable=SC2086 # words
		run $command
		[ "$status" = 0 ] || [ "$command" = 'supervise --status' ] ||
			fail "$command: status $status, $(<"$home/err")"
		[ "$(wc -l <"$home/err")" = 1 ] && grep -Eq "$said" "$home/err" || fail "$command: $(<"$home/err")"
	done
	none_left || fail "processes left: $left"
	run list --json
	[ "$(<"$home/out")" = '[
]' ] || fail "list --json: $(<"$home/out")"
	rm "$home/deck/config.good.toml"
	run list
	grep -q '(using the defaults)$' "$home/err" || fail "without a copy: $(<"$home/err")"
	# A link into a collection of such files is fine.
	printf 'default_agent = "demo"\n' >"$home/real.toml"
	ln -sf "$home/real.toml" "$home/deck/config.toml"
	must list
}

case_damaged_agent_entry() {
	mkdir -m 700 "$home/deck/agents"
	printf 'title = 7\n' >"$home/deck/agents/mine.toml"
	must add . -t a --agent demo
	[ ! -s "$home/err" ] || fail "it concerns another agent: $(<"$home/err")"
	run add . -t b --agent mine
	[ "$status" = 2 ] || fail "exit status $status"
	grep -q 'warning: .*mine\.toml:1:' "$home/err" || fail "no warning: $(<"$home/err")"
	must agents list
	grep -Eq '^demo .* by its id ' "$home/out" && ! grep -q STRATEGY "$home/out" || fail "$(<"$home/out")"
	grep -q 'warning: .*mine\.toml:1:' "$home/err" || fail "no warning in the list: $(<"$home/err")"
}

case_damaged_manifest() {
	must add . -t good --agent demo
	must add . -t bad --agent demo
	local id manifest
	id=$(value bad id)
	manifest=$home/deck/default/$id/instance.json
	head -c 100 "$manifest" >"$home/torn"
	cp "$home/torn" "$manifest"
	must list
	grep -q good "$home/out" || fail "the good one is not listed"
	grep -q "$id" "$home/out" || fail "the damaged one is not listed"
	run session start "$id"
	[ "$status" = 1 ] || fail "exit status $status"
	grep -Eq 'damaged.*set aside' "$home/err" || fail "says $(<"$home/err")"
	cmp -s "$home/torn" "$home/deck/default/$id"/instance.json.damaged-* || fail "it is not set aside as it was"
	must session start good
	must session stop good
	must remove "$id"
	[ ! -e "$home/deck/default/$id" ] || fail "it is still there"
}

case_damaged_manifest_of_what_runs() {
	must add . -t a --agent demo
	must session start a
	local id
	id=$(value a id)
	echo '{' >"$home/deck/default/$id/instance.json"
	must remove "$id"
	none_left || fail "processes left: $left"
}

case_newer_manifest() {
	must add . -t a --agent demo
	local id
	id=$(value a id)
	sed -i 's/"format": *1/"format": 3/' "$home/deck/default/$id/instance.json"
	refused 1 'format 3 .*newer agentdeck' session start "$id"
	refused 1 'format 3 .*newer agentdeck' session stop "$id"
	refused 1 'format 3 .*newer agentdeck' remove "$id"
	refused 1 'format 3 .*newer agentdeck' rename "$id" other
	refused_json 1 NEWER_FORMAT session start "$id"
}

case_foreign_state() {
	must add . -t a --agent demo
	chmod 0777 "$home/deck"
	refused 1 'can be written by others.*chmod 700' list
	chmod 0700 "$home/deck"
	chmod 0770 "$home/deck/default"
	refused 1 'can be written by others.*chmod 700' list
	chmod 0700 "$home/deck/default"
	if [ "$(id -u)" = 0 ]; then
		chown 12345 "$home/deck"
		refused 1 'belongs to user 12345' list
		chown 0 "$home/deck"
		chown 12345 "$home/deck/default/$(value a id)"
		refused 1 'belongs to user 12345' session start "$(basename "$home"/deck/default/*/)"
	fi
}

# --- the machine ------------------------------------------------------------------------------------

# PATH with our own programs and what the shell needs, without tmux.
poor_path() {
	mkdir -p "$home/bin"
	ln -sf "$(command -v agentdeck)" "$(command -v agentdeck-demo-agent)" "$home/bin/"
	deck+=("PATH=$home/bin")
}

case_the_users_tmux_configuration() {
	local i
	printf '%s\n' "run-shell 'touch $home/obeyed'" 'set -g @mine yes' 'set -g destroy-unattached on' \
		'set -g exit-unattached on' 'set -s exit-empty off' >"$home/user/.tmux.conf"
	must add . -t a --agent demo
	must start a
	[ ! -e "$home/obeyed" ] || fail 'it was run without being wished'
	must config set tmux.source_user_config true
	must restart a
	for ((i = 0; i < 100; i++)); do
		[ ! -e "$home/obeyed" ] || break
		sleep 0.1
	done
	[ -e "$home/obeyed" ] || fail 'it was not run'
	[ "$(env -u TMUX tmux -S "$(value a socket)" show-options -gqv @mine)" = yes ] || fail 'its options are not set'
	[ "$(value a status)" = running ] || fail "it is $(value a status)"
	must stop a
}

case_no_tmux() {
	# Otherwise tmux is in the PATH that the session keeps.
	poor_path
	must add . -t a --agent demo
	not_started 1 'tmux is not installed: install tmux 3\.2' a
	[ "$(value a status)" = stopped ] || fail "status $(value a status)"
}

# A library that cannot be loaded does not prove that there is no user manager.
case_a_broken_libsystemd_starts_nothing() {
	grep -q 'libsystemd\.so\.0' "$(command -v agentdeck)" || return 0
	mkdir "$home/lib"
	echo 'no library' >"$home/lib/libsystemd.so.0"
	printf '[tmux]\nlaunch_in_user_scope = true\nlinger = false\n' >"$home/deck/config.toml"
	must add . -t b -c cat
	deck+=("LD_LIBRARY_PATH=$home/lib")
	not_started 1 'the user manager cannot be asked what runs: libsystemd' b
	unset "deck[-1]"
	must start b
	must stop b
}

# What the first launch says of a conversation that it makes, or was to resume.
case_first_launch_says_what_it_did() {
	local unknown=01234567-89ab-4cde-8f01-23456789abcd
	must launch . -t a --agent demo -- --resume "$unknown"
	grep -q "knows no conversation $unknown: a new one begins" "$home/out" || fail "unknown: $(<"$home/out")"
	# as copilot: the same words make and resume
	mkdir -m 700 "$home/deck/agents"
	sed 's/^resume = .*/resume = ["--session-id", "{session_id}"]/' "$tree/data/agents/demo.toml" >"$home/deck/agents/twin.toml"
	must launch . -t b --agent twin
	grep -q 'b: started, conversation' "$home/out" || fail "first: $(<"$home/out")"
	must session stop a b
}

# A start from cron, whose PATH has the agent as well.
case_poorer_path_is_not_kept() {
	local kept program
	program=$(command -v agentdeck)
	must add . -t a --agent demo
	must start a
	kept=$(grep -o '"PATH=[^"]*"' "$home/deck/default/$(value a id)/instance.json")
	must stop a
	"${deck[@]}" PATH="$(dirname "$program"):/usr/bin:/bin" "$program" start a >"$home/out" 2>"$home/err" ||
		fail "$(<"$home/err")"
	[ "$kept" = "$(grep -o '"PATH=[^"]*"' "$home/deck/default/$(value a id)/instance.json")" ] ||
		fail "it was $kept, and is $(grep PATH= "$home/deck/default/$(value a id)/instance.json")"
	must stop a
}

# A start without a login, as after a reboot.
case_missing_variables_are_named() {
	local -a poor=("${deck[@]}" env -u HTTPS_PROXY -u AGENTDECK_DEMO_TOKEN -u MY_KEPT)
	local -a login=("${deck[@]}" HTTPS_PROXY=http://me:s3cret@proxy AGENTDECK_DEMO_TOKEN=s3cret OTHER_THING=1 MY_KEPT=iodine)
	printf '[environment]\nkeep = ["MY_KEPT"]\n' >>"$home/deck/config.toml"
	deck=("${login[@]}")
	must add . -t a --agent demo
	must start a
	must show a
	! grep -q Lacks "$home/out" || fail "nothing is missing: $(<"$home/out")"
	! grep -rq s3cret "$home/deck" || fail "a value is in $(grep -rl s3cret "$home/deck")"
	end_at_once "$(value a server_pid)" "$(value a agent_pid)"
	deck=("${poor[@]}")
	# as after a reboot
	must recover --kept-environment
	grep -qx MY_KEPT=iodine <<<"$(tr '\0' '\n' <"/proc/$(value a agent_pid)/environ")" || fail 'it lacks what is kept'
	must show a
	grep -q '^Lacks .*HTTPS_PROXY' "$home/out" && grep -q '^Lacks .*AGENTDECK_DEMO_TOKEN' "$home/out" &&
		! grep -q OTHER_THING "$home/out" || fail "$(<"$home/out")"
	must show a --json
	grep -q '"HTTPS_PROXY"' "$home/out" || fail "$(<"$home/out")"
	run doctor
	grep -q 'lack variables .*HTTPS_PROXY.*: a$' "$home/out" || fail "$(<"$home/out")"
	must logs a
	grep -q 'had more: .*HTTPS_PROXY.*session restart .*/environment.d/' "$home/out" || fail "$(<"$home/out")"
	# By cron, whose PATH is poorer.
	deck=("${poor[@]}" PATH="$(dirname "$(command -v agentdeck)"):/usr/bin:/bin")
	must restart a
	must show a
	grep -q '^Lacks .*HTTPS_PROXY' "$home/out" || fail "a start by cron forgot: $(<"$home/out")"
	deck=("${login[@]}")
	must restart a
	must show a
	! grep -q Lacks "$home/out" || fail "it has them again: $(<"$home/out")"
	deck=("${poor[@]}")
	must restart a
	must show a
	! grep -q Lacks "$home/out" || fail "its user wants none: $(<"$home/out")"
	must session stop a
}

case_hooks_that_are_off_are_named() {
	printf '[resume]\nprobation = 60\n' >>"$home/deck/config.toml"
	must add . -t a --agent demo -- --settings '{"disableAllHooks":true}'
	must start a
	grep -q 'a: its agent reports nothing (its hooks are off: disableAllHooks=true in ' "$home/err" || fail "$(<"$home/err")"
	! grep -q waiting "$home/err" || fail "no report can come: $(<"$home/err")"
	must show a
	grep -q '^Reports .*disableAllHooks=true' "$home/out" || fail "$(<"$home/out")"
	must show a --json
	grep -q '"unreported": *"its hooks are off' "$home/out" || fail "$(<"$home/out")"
	run doctor
	grep -q 'a reports nothing: its hooks are off: disableAllHooks=true' "$home/out" || fail "$(<"$home/out")"
	must add . -t b --agent demo
	must start b
	! grep -q 'reports nothing' "$home/err" || fail "$(<"$home/err")"
	must show b
	! grep -q '^Reports' "$home/out" || fail "$(<"$home/out")"
	must session stop a b
}

case_quickstart_speaks_of_logind_only_where_it_runs() {
	next_steps() {	# DIRECTORY in the place of logind's
		(
			heading() { :; }
			say() { echo "$*"; }
			# shellcheck disable=SC2034
			ORIGINAL_PATH=/usr/bin PREFIX=/usr BUILD=/build YELLOW='' PLAIN=''
			# shellcheck source=/dev/null
			source <(sed -n "/^say_what_next() {/,/^}/{s|/run/systemd/users|$1|;p;}" "$tree/scripts/quickstart")
			say_what_next
		)
	}
	[[ $(next_steps "$home/work") == *"asks logind once"* ]] || fail "it says nothing of logind: $(next_steps "$home/work")"
	[[ $(next_steps "$home/missing") != *"asks logind"* ]] || fail "no logind is there: $(next_steps "$home/missing")"
	[[ $(next_steps "$home/missing") == *"agentdeck launch"* ]] || fail "it says: $(next_steps "$home/missing")"
}

case_old_tmux() {
	must add . -t a --agent demo -- 'the first prompt'
	local -a good=("${deck[@]}")
	poor_path
	printf '#!/bin/sh\n[ "$1" = -V ] && echo "tmux 3.1c" && exit 0\necho "unknown option" >&2\nexit 1\n' \
		>"$home/bin/tmux"
	chmod 755 "$home/bin/tmux"
	not_started 1 'tmux 3\.1c is too old: install tmux 3\.2' a
	deck=("${good[@]}")
	# The refusal costs nothing: the first launch is still to come, with its prompt.
	must session start a
	"${deck[@]}" agentdeck session show a --json | grep >/dev/null 'the first prompt' || fail "the prompt is lost"
	must session stop a
}

case_no_home() {
	deck=(env -i "PATH=$PATH" "AGENTDECK_HOME=relative")
	refused 64 'AGENTDECK_HOME .*absolute' list
	deck=(env -i "PATH=$PATH" "HOME=relative")
	# The user database still has one.
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		deck=(setpriv --reuid=54321 --clear-groups env -i "PATH=$PATH")
		# a user who may not execute it here, or (built for gcov) not write its notes,
		# cannot show it
		[ -z "$("${deck[@]}" agentdeck --version 2>&1 >/dev/null)" ] || return 0
		refused 64 'no home directory is known: set HOME' list
	fi
}

# --- names ------------------------------------------------------------------------------------------

case_titles() {
	local title long
	long=$(printf 't%.0s' {1..250})
	refused 64 '' add . -t $'two\nlines'
	refused 64 '' add . -t $'\033[31m'
	refused 64 '' add . -t ''
	refused 64 '' add . -t ' x'
	refused 64 '' add . -t "${long}t"
	refused 64 '' add . -t $'\xff'
	# shellcheck disable=SC2016 # nothing is to be expanded
	for title in '../../etc' '#(touch pwned)' '#{pid}' 'a;' 'a\;' "it's" '"q"' '-x' '$(touch pwned)' \
		'%s%n' 'Ünï €😀' "$long"; do
		must add . "--title=$title" --agent demo
		must session start -- "$title"
		must list
		grep -qF -- "$title" <("${deck[@]}" agentdeck list --json | sed 's/\\"/"/g; s/\\\\/\\/g') ||
			fail "$title is not listed as it is"
		must session stop -- "$title"
		must remove -- "$title"
	done
	[ -z "$(find "$home" -name pwned)" ] || fail "a title was obeyed"
	must add . -t same --agent demo
	refused 1 "same" add . -t same --agent demo
	refused_json 1 ALREADY_EXISTS add . -t same --agent demo
}

case_directories() {
	local directory long server agent
	long=$(printf 'd%.0s' {1..250})
	for directory in 'with space' $'line\nbreak' 'Ünï €😀' $'not\xffutf8' "$long" \
		'#(touch pwned)' '#{pid};' "it's \"\$x\""; do
		mkdir "$home/work/$directory" || continue
		must add "$home/work/$directory" -t dir --agent demo
		must session start dir
		server=$(value dir server_pid)
		agent=$(cut -d ' ' -f 1 "/proc/$server/task/$server/children")
		[ "$(readlink "/proc/$agent/cwd")" = "$home/work/$directory" ] ||
			fail "$directory: the agent stands elsewhere"
		must session restart dir
		must list
		must session stop dir
		must remove dir
	done
	[ -z "$(find "$home" -name pwned)" ] || fail "a directory was obeyed"
	mkdir "$home/work/real"
	ln -s real "$home/work/link"
	must add "$home/work/link" -t linked --agent demo
	[ "$(value linked path)" = "$home/work/real" ] || fail "a link is $(value linked path)"
	must session show "$home/work/link"
	refused 2 'is not an existing directory' add $'\033[31m' -t a
}

# --- what is there already, or inside -----------------------------------------------------------------

case_two_on_one_conversation() {
	must add . -t one --agent demo
	local id
	id=$(value one session_id)
	refused 1 "of 'one'" add . -t two --agent demo --session-id "$id"
	refused 1 "of 'one'" -p second add . -t three --agent demo --session-id "${id^^}"
	must add . -t two --agent demo
	must -p second add . -t three --agent demo
	# As an older version could leave it.
	sed -i "s/\"session_id\": *\"[^\"]*\"/\"session_id\": \"$id\"/" \
		"$home/deck/default/$(value two id)/instance.json" "$home"/deck/second/*/instance.json
	must session start one
	local pid
	pid=$(value one server_pid)
	refused 1 "open in session 'one'" session start two
	refused 1 "open in session 'one'" -p second session start three
	kill -0 "$pid" || fail "the holder was ended"
	must session stop one
	must session start two
	refused 1 "open in session 'two'" session start one
	must session stop two
}

# settled PYTHON: what settle has printed is as the expression says
settled() {
	python3 -c "import json, sys; o = json.load(sys.stdin); q = o['questions'][0] if o['questions'] else {}
kinds = [c['kind'] for c in q.get('choices', [])]; lines = q.get('lines', []); assert $1, o" <"$home/out" 2>"$home/why" ||
		fail "not $1: $(<"$home/why")"
}
seen() { sed -n 's/.*"seen": *"\([^"]*\)".*/\1/p' "$home/out"; }

# two_with_one_conversation: two, which is stopped, has the conversation of one
two_with_one_conversation() {
	must add . -t one --agent demo
	must add . -t two --agent demo
	must start one two --no-supervise
	must send one --wait hello
	must send two --wait hello
	must stop two
	sed -i "s/\"session_id\": *\"[^\"]*\"/\"session_id\": \"$(value one session_id)\"/" \
		"$home/deck/default/$(value two id)/instance.json"
}

case_the_owner_of_a_conversation_is_told_to_the_deck() {
	local digest pid
	two_with_one_conversation
	pid=$(value one server_pid)
	must settle --json start two
	settled "o['about'] == 'conflict' and kinds == ['keep', 'attach', 'fork', 'take']"
	settled "o['id'] == '$(value two id)' and o['occasion'] == 'start'"
	settled "any('one (demo), $(value one id)' in line for line in lines) and 'directory $home/work' in lines"
	settled "'conversation $(value one session_id)' in lines and any(line.startswith('since 20') for line in lines)"
	settled "not any(c['loses'] for c in q['choices'])"
	settled "q['choices'][3]['command'] == ['--profile', 'default', 'settle', '--answer', 'take', '--seen', o['seen'], 'start', o['id']]"
	must settle start two
	grep -Eq "^To choose .*: agentdeck --profile default settle --answer fork --seen [0-9a-f]+ start $(value two id)\$" "$home/out" ||
		fail "$(<"$home/out")"
	must settle --json start two
	digest=$(seen)
	# what is answered is what was shown
	refused 1 'the owner of the conversation of two changed' settle --answer take --seen other start two
	refused 1 'the owner of the conversation of two changed' settle --answer fork start two
	must restart one
	refused 1 'the owner of the conversation of two changed' settle --answer take --seen "$digest" start two
	must settle --json start two
	digest=$(seen)
	must stop one
	refused 1 'the owner of the conversation of two changed' settle --answer take --seen "$digest" start two
	must settle --json start two
	settled "o['about'] == 'nothing'"
	must start one
	must settle --json restart two
	settled "o['about'] == 'conflict'"
	must settle --answer take --seen "$(seen)" restart two
	[ "$(value one status) $(value two status)" = 'stopped running' ] || fail "$(value one status) $(value two status)"
	must settle --json start two
	settled "o['about'] == 'nothing'"
	must settle --json start one
	must settle --answer fork --seen "$(seen)" start one
	[ "$(value one status) $(value two status)" = 'stopped running' ] || fail "$(value one status) $(value two status)"
	[ "$(value one-fork status)" = running ] || fail "no copy: $(<"$home/out")"
	[ "$(value one-fork session_id)" != "$(value one session_id)" ] || fail 'the copy has the conversation itself'
	must stop --all
}

case_who_has_a_conversation_is_asked_about() {
	local words
	two_with_one_conversation
	for words in 'start two' 'restart two' 'attach two'; do
		# shellcheck disable=SC2086 # words
		asked '' $words
		[ "$status" = 1 ] || fail "$words: status $status: $(<"$home/out")"
		grep -q '^How do you want to continue?' "$home/out" || fail "$words: it asks: $(<"$home/out")"
		grep -q 'two was not started' "$home/out" || fail "$words: it says: $(<"$home/out")"
		! grep -q 'open in session' "$home/out" || fail "$words: it was tried: $(<"$home/out")"
		[ "$(value one status) $(value two status)" = 'running stopped' ] || fail "$words: $(<"$home/out")"
	done
	asked copy start two --no-supervise
	grep -q 'two-fork: started with a copy' "$home/out" || fail "no copy: $(<"$home/out")"
	[ "$(value one status) $(value two status)" = 'running stopped' ] || fail "copy: $(<"$home/out")"
	# there is no terminal to ask on
	refused 1 "attach $(value one id), or stop it first with agentdeck stop $(value one id)" start two
	asked stop start two --no-supervise
	[ "$(value one status) $(value two status)" = 'stopped running' ] || fail "stop: $(<"$home/out")"
	# its profile is named, and it can be stopped there
	must -p second add . -t three --agent demo
	sed -i "s/\"session_id\": *\"[^\"]*\"/\"session_id\": \"$(value two session_id)\"/" "$home"/deck/second/*/instance.json
	asked stop -p second start three --no-supervise
	grep -q "two (demo), $(value two id), profile default" "$home/out" || fail "profile: $(<"$home/out")"
	[ "$(value two status)" = stopped ] || fail "not stopped there: $(<"$home/out")"
	refused 1 'attach -p second [0-9a-z]+, or' start two
	must stop --all
	must -p second stop --all
}

# undecided FILES: a session api of the repository repo, whose agent has ended by itself, with so many
# files that only its tree has, which is $tree
undecided() {
	local i
	git init -q -b main repo && git -C repo -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	must add repo -t api --agent demo --worktree
	tree=$("${deck[@]}" agentdeck path api)
	for ((i = 1; i <= $1; i++)); do echo "$i" >"$tree/file-$i"; done
	must start api --no-supervise
	run send api /exit --no-wait
	until_done has_ended api || fail 'its agent does not end'
	must recover
}
has_ended() { [ "$(value "$1" status)" = stopped ]; }
# Refused, though what was seen meanwhile is written down.
refused_as_changed() {	# WORD...
	run "$@"
	[ "$status" = 1 ] || fail "$*: status $status"
	grep -q 'has changed since it was shown' "$home/err" || fail "$*: $(<"$home/err")"
}
is_stage() { [ "$(value api stage)" = "$1" ] || fail "the stage is $(value api stage), and not $1"; }

case_an_undecided_end_is_settled() {
	local digest
	undecided 2
	must settle --json start api
	settled "o['about'] == 'end' and len(o['questions']) == 2 and o['occasion'] == 'start'"
	settled "[c['kind'] for c in o['questions'][1]['choices']] == ['return', 'keep', 'clean']"
	settled "q['evidence'][0]['items'] == ['?? file-1', '?? file-2']"
	must settle --answer keep --seen "$(seen)" start api
	is_stage kept
	must settle --json start api
	settled "o['about'] == 'nothing'"
	# another change: is it to be used as it is?
	echo 3 >"$tree/file-3"
	must settle --json start api
	settled "o['about'] == 'reuse' and kinds == ['keep', 'return']"
	settled "'Its tree has changed since it was kept:' in lines"
	is_stage kept
	must start api --no-supervise
	run send api /exit --no-wait
	until_done has_ended api || fail 'its agent does not end'
	must recover
	must settle --json start api
	digest=$(seen)
	# work that was not shown is not given up
	echo 4 >"$tree/file-4"
	refused_as_changed settle --answer clean --seen "$digest" start api
	[ -e "$tree/file-4" ] || fail 'its work is gone'
	must settle --json start api
	must settle --answer clean --seen "$(seen)" start api
	[ ! -e "$tree" ] || fail 'its tree is there'
	refused 2 'no session has' show api
}

case_work_at_risk_is_settled_before_a_removal() {
	local digest id
	undecided 2
	id=$(value api id)
	must settle --json remove api
	settled "o['about'] == 'removal' and [c['kind'] for c in o['questions'][1]['choices']] == ['keep', 'clean']"
	digest=$(seen)
	echo 3 >"$tree/file-3"
	refused_as_changed remove --force --seen="$id=$digest" -- "$id"
	must add repo -t plain --agent demo
	must settle --json remove api
	must remove --force --seen="$id=$(seen)" -- "$id" "$(value plain id)"
	must list
	! grep -q 'api\|plain' "$home/out" || fail "still there: $(<"$home/out")"
	must undo
	[ -e "$tree/file-3" ] || fail 'its work is gone'
}

case_a_launch_offers_each_session_that_ended() {
	undecided 1
	must settle --json launch repo --agent demo
	settled "o['about'] == 'launch' and [c['label'] for c in q['choices']] == ['Start new session', 'Resume api']"
	must add repo -t two --agent demo
	must start two --no-supervise
	must stop two
	must settle --json launch repo --agent demo
	settled "[c['label'] for c in q['choices']] == ['Start new session', 'Resume two', 'Resume api']"
	must settle --json launch repo --agent demo --title three
	settled "o['about'] == 'nothing'"
}

case_the_trash_is_settled_before_it_is_emptied() {
	local digest
	must settle --json prune
	settled "o['about'] == 'nothing' and o['text'] == 'The trash is empty.'"
	must add . -t a --agent demo
	must add . -t b --agent demo
	must remove a
	must settle --json prune
	settled "kinds == ['keep', 'clean'] and q['choices'][1]['loses']"
	settled "len(q['evidence'][0]['items']) == 1 and q['evidence'][0]['items'][0].startswith('a, ')"
	digest=$(seen)
	# another one that was not shown
	must remove b
	refused 1 'the trash has changed since it was shown' settle --answer clean --seen "$digest" prune
	must settle --json prune
	must settle --answer clean --seen "$(seen)" prune
	grep -qx 'Deleted 2 removed sessions\.' "$home/out" || fail "it says: $(<"$home/out")"
	refused 2 'the trash is empty: there is nothing to undo' undo
	# those that are too young stay
	must config set trash.keep 30
	must add . -t c --agent demo
	must remove c
	must settle --json prune
	settled "o['about'] == 'nothing' and '1 younger one is left alone' in o['text']"
}

case_a_restart_after_an_answer_restarts_what_runs() {
	local pid
	must add . -t one --agent demo
	must add . -t two --agent demo
	must start one two --no-supervise
	must send one --wait hello
	must send two --wait hello
	sed -i "s/\"session_id\": *\"[^\"]*\"/\"session_id\": \"$(value one session_id)\"/" \
		"$home/deck/default/$(value two id)/instance.json"
	pid=$(value two server_pid)
	must settle --json restart two
	settled "o['about'] == 'conflict' and 'take' in kinds"
	must settle --answer take --seen "$(seen)" restart two
	[ "$(value one status) $(value two status)" = 'stopped running' ] || fail "$(value one status) $(value two status)"
	[ "$(value two server_pid)" != "$pid" ] || fail "it was not restarted: $(<"$home/out")"
	must stop --all
}

case_a_read_only_attach_stays_read_only() {
	two_with_one_conversation
	on_terminal 80 agentdeck attach --read-only two
	until_screen '^How do you want to continue'
	type_in attach
	until_screen 'demo: reply 1'
	type_in 'not for you'
	"${deck[@]}" tmux -S "$terminal" send-keys C-q
	until_screen '^ended with 0$'
	must output one --pane
	! grep -q 'not for you' "$home/out" || fail "it was typed: $(<"$home/out")"
	"${deck[@]}" tmux -S "$terminal" kill-server
	must stop --all
}

case_an_answer_about_a_free_conversation_does_nothing() {
	local answer
	two_with_one_conversation
	for answer in copy attach; do
		must start one --no-supervise
		on_terminal 100 agentdeck start two --no-supervise
		until_screen '^How do you want to continue'
		must stop one
		type_in "$answer"
		until_screen '^ended with 1$'
		grep -q 'the conversation of two is free now, so nothing was done' <<<"$(screen)" || fail "$answer: $(screen)"
		"${deck[@]}" tmux -S "$terminal" kill-server
		[ "$(value two status)" = stopped ] || fail "$answer: two is $(value two status)"
	done
}

case_a_message_that_is_not_sent_is_named() {
	two_with_one_conversation
	echo hi >"$home/message"
	for words in '-m hi' "--message-file=$home/message"; do
		# shellcheck disable=SC2086 # words
		on_terminal 80 agentdeck start two $words
		until_screen '^How do you want to continue'
		type_in attach
		until_screen 'demo: reply 1'
		"${deck[@]}" tmux -S "$terminal" send-keys C-q
		until_screen '^ended with 0$'
		grep -q 'the message was not sent' <<<"$(screen)" || fail "$words: $(screen)"
		"${deck[@]}" tmux -S "$terminal" kill-server
	done
	must stop --all
}

case_what_undoes_an_export_is_named_with_its_profile() {
	must -p work add . -t notes -c cat
	must -p work export notes "$home/file" --remove
	grep -Eq 'removed here: agentdeck undo -p work [0-9a-z]+ restores it' "$home/out" || fail "it says: $(<"$home/out")"
	must add . -t notes -c cat
	must export notes "$home/other" --remove
	grep -q 'removed here: agentdeck undo restores it' "$home/out" || fail "it says: $(<"$home/out")"
}

case_the_deck_adds_no_session_where_others_are_named() {
	local id words
	must add . -t one -c cat
	id=$(value one id)
	while IFS='|' read -r words expected; do
		# shellcheck disable=SC2086 # words
		run with-session "$id" -- $words
		grep -qxF "== agentdeck ${expected//ID/$id}" "$home/err" || fail "$words: $(<"$home/err")"
	done <<-END
		stop|stop ID
		stop --json|stop ID --json
		session stop|session stop ID
		stop two|stop two
		stop --all|stop --all
		stop -g work|stop -g work
		send hi|send ID hi
		send --all hi|send --all hi
		send --group=work hi|send --group=work hi
		send --session two hi|send --session two hi
		wall -g work|wall -g work
		show|show ID
		show two|show two
		rename new|rename ID new
		rename two new|rename two new
		stop --nonsense|stop ID --nonsense
		groups|groups
	END
}

case_several_agents_get_one_task() {
	git init -q -b main && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
	refused 64 'several agents would change the same files' launch . -n 2 --agent demo
	refused 64 '--number does not go with' launch . -n 2 --worktree --agent demo --attach
	must launch --worktree fix -n 2 --agent demo --no-supervise -m 'say hello'
	[ "$(git branch --list 'fix-*' --format='%(refname:short)' | tr '\n' ' ')" = 'fix-1 fix-2 ' ] ||
		fail "$(git branch)"
	must changes fix-1 fix-2
	grep -Eq '^FILE +fix-1 +fix-2' "$home/out" || fail "$(<"$home/out")"
	must remove --force fix-1 fix-2
}

case_a_launch_leaves_what_its_help_says() {
	run launch . -t missing -c no-such-program
	[ "$status" != 0 ] || fail 'a missing program was launched'
	must list -q
	[ ! -s "$home/out" ] || fail "it has left a session"
	run launch . -t short -c 'sh -c "exit 3"'
	[ "$status" = 1 ] && grep -q 'A shell is open in its place' "$home/err" || fail "status $status: $(<"$home/err")"
	must list -q
	[ "$(wc -l <"$home/out")" = 1 ] || fail "it has left no session"
	must stop short
}

case_a_start_says_what_it_waits_for() {
	must add . -t slow --agent demo
	must add . -t blind -c cat
	deck+=(AGENTDECK_DEMO_NO_REPORT=1)
	printf '[session.late]\nagent = "demo"\n' >agentdeck.toml
	must up
	grep -q '^agentdeck: late: waiting for demo' "$home/err" || fail "up says: $(<"$home/err")"
	must stop late
	must session start slow --json
	grep -q 'slow: waiting for demo to report its start' "$home/err" || fail "it waits without a word"
	grep -q '"verified": *true' "$home/out" || fail "its screen is no proof: $(<"$home/out")"
	must session start blind --json
	grep -q '"verified": *false' "$home/out" || fail "verified by nothing: $(<"$home/out")"
	must session restart blind
	grep -q 'not verified' "$home/out" || fail "the text does not say so: $(<"$home/out")"
	must session stop slow
	must session stop blind
}

case_a_persons_own_tmux_is_left_alone() {
	local socket=$home/own.sock
	"${deck[@]}" tmux -S "$socket" -f /dev/null new-session -d \
		"agentdeck pane 0123abcd x; agentdeck pane x y; : > $home/done; cat"
	for _ in $(seq 100); do
		[ -e "$home/done" ] && break
		read -rt 0.1 <> <(:) || true
	done
	"${deck[@]}" tmux -S "$socket" list-sessions >/dev/null 2>&1 || fail "the server was killed"
	"${deck[@]}" tmux -S "$socket" kill-server
}

case_send_joins_its_words() {
	must add . -t api --agent demo
	must start api
	must send api fix the test
	must status --wait idle api --timeout 30
	must output api
	grep -q 'You said: "fix the test"' "$home/out" || fail "it says: $(<"$home/out")"
	echo 'from a file' >"$home/message"
	must send api --message-file "$home/message"
	must status --wait idle api --timeout 30
	must output api
	grep -q 'You said: "from a file"' "$home/out" || fail "it says: $(<"$home/out")"
	refused 64 'message is missing' send api
	refused 64 'as words or as a file' send api one two --message-file "$home/message"
	must stop api
}

# An agent whose entry only says what its files look like.
case_the_reply_of_an_agent_with_listed_files_is_found() {
	mkdir -m 700 "$home/deck/agents"
	sed -e 's/^transcript = .*//' -e '/^once\|^latest/d' -e 's/^match = .*/match = ["wren"]/' \
		"$tree/data/agents/demo.toml" >"$home/deck/agents/wren.toml"
	cat >>"$home/deck/agents/wren.toml" <<-'END'
		[files]
		conversation = "projects/*/{uuid}.jsonl"
		directory = "cwd"
		prompt = "type=user"
		prompt_text = "message.content"
		reply = "type=assistant"
		reply_text = "message.content"
	END
	must add . -t bird --agent wren
	must start bird
	must send bird --wait what now
	grep -q 'You said: "what now"' "$home/out" || fail "it says: $(<"$home/out")"
	must send bird --wait what now
	must output bird --json
	grep -q '"content": *".*You said: ."what now' "$home/out" || fail "it says: $(<"$home/out")"
	grep -q '"replied_at": *"20' "$home/out" || fail "when: $(<"$home/out")"
	must output bird --turns 20
	[ "$(grep -c '^> what now' "$home/out")" = 2 ] || fail "the last turns: $(<"$home/out")"
	must output bird --turns 1 --json
	grep -q '"role": "assistant"' "$home/out" || fail "the last turn: $(<"$home/out")"
	! grep -q '"role": "user"' "$home/out" || fail "not the last turn alone: $(<"$home/out")"
	refused 64 'one of --follow' output bird --turns 1 --pane
	must show bird
	grep -q 'You said: "what now"' "$home/out" || fail "it shows: $(<"$home/out")"
	grep -qE '^[A-Z].*what now' "$home/out" || fail "not the first words: $(<"$home/out")"
	must stop bird
}

# As on a slow machine: it ends after the probation, since it does not have the conversation.
case_an_agent_that_says_late_that_an_id_is_unknown_begins_anew() {
	printf '[resume]\nprobation = 1\n' >>"$home/deck/config.toml"
	mkdir -m 700 "$home/deck/agents"
	printf '%s\n' 'command = ["slow"]' '[session]' 'id = "uuid"' 'assign = ["--new", "{session_id}"]' 'resume = ["--old", "{session_id}"]' \
		'[session.unknown]' 'behaviour = "exits"' 'pattern = "^no such session"' >"$home/deck/agents/slow.toml"
	printf '#!/bin/sh\n[ "$1" != --old ] || { sleep 1.2; echo "no such session"; exit 1; }\nexec cat\n' >"$home/user/slow"
	chmod 755 "$home/user/slow"
	must add . -t slow --agent slow -c "$home/user/slow"
	must start slow --no-wait
	end_at_once "$(value slow server_pid)"
	must start slow --no-wait
	begins_anew() { [[ $(value slow status) == running && $(value slow rung) == assign ]]; }
	until_done begins_anew || fail "$("${deck[@]}" agentdeck session show slow --json)"
	must stop slow
}

case_send_waits_for_the_reply() {
	must add . -t api --agent demo
	must start api
	must send api first
	must send api --wait what now
	grep -q 'You said: "what now"' "$home/out" || fail "it says: $(<"$home/out")"
	must send api --wait --json once more
	grep -q '"content": *".*You said: ."once more' "$home/out" || fail "it says: $(<"$home/out")"
	"${deck[@]}" agentdeck output api --follow >"$home/follow" 2>"$home/err" &
	local pid=$!
	must send api --wait and again
	for _ in $(seq 100); do
		grep -q 'You said: "and again"' "$home/follow" && break
		read -rt 0.1 <> <(:) || :
	done
	grep -q 'You said: "once more"' "$home/follow" || fail "not the last one: $(<"$home/follow")"
	grep -q 'You said: "and again"' "$home/follow" || fail "not the next one: $(<"$home/follow")"
	kill "$pid"
	wait "$pid"
	must stop api
	refused 1 'not running' send api --wait hello
	must add . -t sh -c sh
	must start sh
	refused 1 'nothing was sent, .* needs the reply: Shell writes no .* agentdeck output --pane sh' send sh --wait x
	must stop sh
}

case_start_sends_a_message() {
	must add . -t a --agent demo
	must add . -t b --agent demo
	must start a -m 'hello a'
	grep -qx 'a: message submitted' "$home/out" || fail "it says: $(<"$home/out")"
	must start a b -m 'hello both'
	must status --wait idle b --timeout 30
	must output b
	grep -q 'You said: "hello both"' "$home/out" || fail "b says: $(<"$home/out")"
	refused 64 'cannot be used with a message' start a -m x --no-wait
	must stop --all
}

case_several_sessions() {
	local title
	mkdir one two three
	for title in one two three; do
		must add "$title" -t "$title" --agent demo -g work/"$title"
	done
	must start one two one three
	[ "$(grep -c '^[a-z]*: started' "$home/out")" = 3 ] || fail "start says: $(<"$home/out")"
	grep -qx '3 sessions: 3 running' "$home/out" || fail "start says: $(<"$home/out")"
	refused 2 'no session has .*nosuch' stop one nosuch
	[ "$(value one status)" = running ] || fail "one was stopped before the mistake was noticed"
	refused 2 "did you mean 'one'\?" stop onr
	refused 2 "did you mean 'three'\?" show thr
	refused 64 'only one of them' stop one --all
	refused 64 'no session is named' stop
	refused 2 "no session is in group 'wor'" stop -g wor
	refused 64 'exactly one SESSION' start one two --attach
	# One fails, and the others do not notice.
	mv three elsewhere
	run restart --all
	[ "$status" = 1 ] || fail "restart --all: status $status"
	grep -qx '3 sessions: 2 restarted, 1 failed' "$home/out" || fail "it says: $(<"$home/out")"
	grep -q '^agentdeck: three: .*/three' "$home/err" || fail "it says: $(<"$home/err")"
	mv elsewhere three
	must send -s one -s two hello both
	grep -qx '2 sessions: 2 submitted' "$home/out" || fail "send says: $(<"$home/out")"
	must status --wait idle two --timeout 30
	must output two
	grep -q 'You said: "hello both"' "$home/out" || fail "two says: $(<"$home/out")"
	must stop -g work/two
	[ "$(value one status)" = running ] || fail "one is not in work/two"
	must stop --group work --json
	[ "$(grep -c '^{.*"success":true.*"title":' "$home/out")" = "$(wc -l <"$home/out")" ] ||
		fail "stop says: $(<"$home/out")"
	must stop --all --quiet
	[ ! -s "$home/out" ] || fail "it is not quiet: $(<"$home/out")"
	must start one
	refused 1 'one is running: stop it first' remove one two
	refused 1 'one is running: stop it first' remove --all
	must stop one
	refused 1 '3 sessions would be removed: add --force' remove --all
	[ "$("${deck[@]}" agentdeck list --json | grep -c '"title"')" = 3 ] || fail "some were removed"
	must start one
	must remove --all --force
	grep -qx '3 sessions: 3 removed' "$home/out" || fail "remove says: $(<"$home/out")"
	must stop --all
	grep -qx 'There are no sessions.' "$home/out" || fail "it says: $(<"$home/out")"
}

# What the terminal shows when this answer is typed.
asked() {
	local answer=$1 words
	shift
	printf -v words '%q ' "$@"
	printf '%s\n' "$answer" | "${deck[@]}" script -qec "agentdeck $words" /dev/null >"$home/out" 2>&1
	status=$?
}

case_quick_asks_nothing() {
	printf '#!/bin/sh\n' >"$home/claude"
	chmod +x "$home/claude"
	mkdir -p "$home/quick"
	# without it, q at the question creates nothing
	printf 'q\n' | "${deck[@]}" PATH="$home:$PATH" script -qec "agentdeck add $home/quick" /dev/null >"$home/out" 2>&1
	grep -q 'Which agent' "$home/out" || fail "not asked: $(<"$home/out")"
	for word in add 'launch --no-wait --no-supervise'; do
		"${deck[@]}" PATH="$home:$PATH" script -qec "agentdeck $word -Q -t quick-${word%% *} $home/quick" /dev/null </dev/null >"$home/out" 2>&1 || fail "$word"
		! grep -q 'Which agent' "$home/out" || fail "$word asks"
		"${deck[@]}" agentdeck show "quick-${word%% *}" | grep >/dev/null '^Agent *claude' || fail "the agent of $word: $(<"$home/out")"
	done
	"${deck[@]}" agentdeck remove -f quick-add quick-launch >/dev/null || fail "remove"
	rm -r "$home/claude" "$home/quick"
}

case_remove_asks_on_a_terminal() {
	must add . -t a --agent demo
	must start a
	asked n remove a
	[ "$status" = 1 ] || fail "n: status $status"
	grep -q 'a is running. Stop and remove it?' "$home/out" || fail "it asks: $(<"$home/out")"
	grep -q 'Nothing was removed' "$home/out" || fail "n: it says: $(<"$home/out")"
	[ "$(value a status)" = running ] || fail "n: it was stopped"
	refused_json 1 INVALID_OPERATION remove a
	asked y remove a
	[ "$status" = 0 ] || fail "y: status $status: $(<"$home/out")"
	refused 2 'no session has' show a
}

# Its tmux server does not answer, so the worker waits until it is killed.
case_a_killed_worker_is_named() {
	local server asker worker=""
	must add . -t a --agent demo
	must add . -t b --agent demo
	must start a
	server=$(pgrep -f -- "^[^ ]*tmux.* -S [^ ]*/$(value a id)/" | sed -n 1p)
	kill -STOP "$server" || fail "no server: '$server'"
	"${deck[@]}" agentdeck stop a b >"$home/out" 2>"$home/err" </dev/null &
	asker=$!
	for _ in $(seq 100); do
		worker=$(pgrep -P "$asker" -f -- "--instance $(value a id)") && break
		read -rt 0.1 <> <(:) || true
	done
	kill -9 "$worker"
	wait "$asker"
	kill -CONT "$server"
	grep -qx 'agentdeck: a: its process was killed' "$home/err" || fail "it says: $(<"$home/out") $(<"$home/err")"
	must stop a
}

# What was started after the question is not what the answer was about.
# Without a scope, too: what left the pane may have work to save.
case_a_stop_asks_before_it_kills() {
	printf 'trap "touch %s; exit" TERM\ntouch %s\nsleep 7777 & wait\n' "$home/asked" "$home/ready" >window.sh
	printf '(setsid sh window.sh &)\nexec sleep 8888\n' >agent.sh
	must launch . -t api -c 'sh agent.sh' --no-supervise
	until_done test -e "$home/ready" || fail 'it did not begin'
	must stop api
	[ -e "$home/asked" ] || fail 'it was killed before it could save its work'
}

case_remove_stops_only_what_it_named() {
	local words asker
	must add . -t a --agent demo
	must add . -t b --agent demo
	must start a
	mkfifo "$home/answer"
	: >"$home/asked"
	"${deck[@]}" script -qefc 'agentdeck remove a b' /dev/null <>"$home/answer" >"$home/asked" 2>&1 &
	asker=$!
	for _ in $(seq 100); do
		grep -q 'stop the 1 that run' "$home/asked" && break
		read -rt 0.1 <> <(:) || true
	done
	must start b
	echo y >"$home/answer"
	wait "$asker"
	words=$(<"$home/asked")
	[[ $words = *'b is running'* ]] || fail "it says: $words"
	[ "$(value b status)" = running ] || fail "b was stopped: $words"
	refused 2 'no session has' show a
	# purge asks about what runs, too.
	words=$("${deck[@]}" script -qefc 'agentdeck purge b' /dev/null <<<y 2>&1)
	[[ $words = *'b is running. Stop it, and delete it for good?'* ]] || fail "it asks: $words"
	refused 2 'no session has' show b
}

# Each can be typed as it is printed.
case_remove_says_how_each_comes_back() {
	local title
	mkdir one two
	must add one -t one --agent demo
	must add two -t two --agent demo
	must remove --force one two
	mv "$home/out" "$home/said"
	for title in one two; do
		# shellcheck disable=SC2046
		must $(sed -n "s/^Removed $title .*To restore the session: agentdeck //p" "$home/said")
		grep -q "^Restored $title " "$home/out" || fail "$title: $(<"$home/out")"
	done
	must -p work add . -t notes --agent demo
	must -p work remove notes
	# shellcheck disable=SC2046
	must $(sed -n 's/.*To restore the session: agentdeck //p' "$home/out")
	grep -q '^Restored notes ' "$home/out" || fail "notes: $(<"$home/out")"
}

# agentdeck made them, and no name says so.
case_a_branch_with_a_name_of_its_user_is_found_again() {
	local -a commit=(git -c user.name=a -c user.email=a@b commit -q --allow-empty -m)
	git init -q -b main . && "${commit[@]}" one && git branch mine
	must add . --worktree --branch fix -t a --agent demo
	must add . --worktree --branch moved -t b --agent demo
	must remove a b
	must prune --branches --dry-run
	grep -q '^Branch fix .*goes: main has all of it' "$home/out" || fail "$(<"$home/out")"
	must prune --force
	# Its user works on it now.
	"${commit[@]}" two && git branch -f moved main
	cd / || exit
	must prune --branches --dry-run
	grep -q '^Branch fix .*goes: main has all of it' "$home/out" || fail "$(<"$home/out")"
	! grep -Eq 'moved|mine' "$home/out" || fail "it is not ours: $(<"$home/out")"
	run doctor --fix --dry-run
	grep -q '^branch  *fix .*main has all of it' "$home/out" || fail "doctor: $(<"$home/out")"
	must prune --branches --force
	[ "$(git -C "$OLDPWD" branch --format='%(refname:short)' | tr '\n' ' ')" = 'main mine moved ' ] ||
		fail "$(git -C "$OLDPWD" branch)"
	cd "$OLDPWD" || exit
}

# What one command has removed comes back as one, and what another one has removed does not.
case_undo_of_several() {
	must add . -t a --agent demo
	must add . -t b --agent demo
	must add . -t c --agent demo
	must remove c
	must remove a b --force
	must undo
	grep -q '^2 sessions: 2 restored$' "$home/out" || fail "undo of two: $(<"$home/out")"
	must show a
	refused 2 'no session has' show c
	# What cannot come back stays in the trash, and holds up no other.
	must remove a b --force
	must add . -t a --agent demo
	run undo --json
	[ "$status" = 1 ] || fail "undo of one: status $status"
	[ "$(grep -c '"protocol"' "$home/out")" = 2 ] || fail "no line for each: $(<"$home/out")"
	grep -q '"code": *"ALREADY_EXISTS"' "$home/out" || fail "undo of one: $(<"$home/out")"
	must show b
	must rename a other
	must undo
	grep -q '^Restored a ' "$home/out" || fail "undo of what was left: $(<"$home/out")"
	# Alone, it is alone again.
	must remove b
	must remove a
	must undo
	grep -q '^Restored a ' "$home/out" || fail "undo of one: $(<"$home/out")"
	refused 2 'no session has' show b
}

case_undo_and_prune() {
	local id trash=$home/deck/default/.trash
	refused 2 'trash is empty' undo
	must prune
	must add . -t a --agent demo
	must add . -t b --agent demo
	id=$(value a session_id)
	must remove a
	must remove b
	refused 2 "no removed session has .*'nosuch'" undo nosuch
	must undo
	refused 2 '"a"; one was removed: agentdeck undo a$' show a
	must undo a
	[ "$(value a session_id)" = "$id" ] || fail "it came back with $(value a session_id)"
	[ "$(value a status)" = stopped ] || fail "it came back $(value a status)"
	refused 2 'trash is empty' undo
	# The title and the conversation are free after a removal, and whoever took them keeps them.
	must remove a
	must add . -t a --agent demo
	refused 1 "has the title 'a' now: .* --title" undo a
	must undo a --title second
	[ "$(value second session_id)" = "$id" ] || fail "second has $(value second session_id)"
	must remove second
	must add . -t taker --agent demo --session-id "$id"
	refused 1 "second stays in the trash: .*'taker'" undo
	must remove taker
	must undo second
	[ "$(value second session_id)" = "$id" ] || fail "second has $(value second session_id)"
	# What is not ours stays.
	must remove second
	echo mine >"$(echo "$trash"/*"$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$trash"/*/instance.json | sed -n 1p)")/notes"
	mkdir "$trash/notes" "$home/elsewhere"
	ln -s "$home/elsewhere" "$trash/2026-01-01T00:00:00.000Z-aaaaaaaa"
	refused 1 'add --force' prune
	must prune --dry-run
	grep -q second "$home/out" || fail "prune --dry-run: $(<"$home/out")"
	must prune --force
	[ "$(cat "$trash"/*/notes)" = mine ] || fail "a file that is not ours was deleted"
	grep -q "stays: it has a file that is not agentdeck's" "$home/err" || fail "it says: $(<"$home/err")"
	[ -d "$trash/notes" ] && [ -d "$home/elsewhere" ] && [ -L "$trash/2026-01-01T00:00:00.000Z-aaaaaaaa" ] ||
		fail "something that is not ours was deleted"
	rm "$trash"/*/notes
	must prune --older 1 --force
	[ "$(find "$trash" -mindepth 1 -maxdepth 1 | wc -l)" = 3 ] || fail "prune --older 1 deleted today's"
	must config set trash.keep 1
	must prune --force
	[ "$(find "$trash" -mindepth 1 -maxdepth 1 | wc -l)" = 3 ] || fail "prune deleted today's, against trash.keep"
	grep -q '1 younger one was left alone' "$home/out" || fail "it says: $(<"$home/out")"
	must prune --older 0 --force
	[ "$(find "$trash" -mindepth 1 | wc -l)" = 2 ] || fail "left: $(find "$trash")"
	refused 2 'trash is empty' undo
	# What is purged does not come back, and takes only itself along.
	must add . -t purged --agent demo
	must add . -t other --agent demo
	must remove other
	refused 1 'add --force' purge purged
	must purge purged --force
	grep -q 'conversation stays' "$home/out" || fail "purge: $(<"$home/out")"
	refused 2 'no session has' show purged
	refused 2 'no removed session' undo purged
	must undo other
}

case_hook_input() {
	must add . -t a --agent demo
	local id before files
	id=$(value a id)
	state && before=$files
	for input in '' x '{' '{"hook_event_name":"SessionStart","session_id":"../x"}' \
		'{"hook_event_name":"SessionStart","session_id":"0aaaaaaa-0000-4000-8000-000000000001","source":"clear"}'; do
		printf %s "$input" | "${deck[@]}" AGENTDECK_REPORT_TOKEN=x agentdeck hook --instance "$id" \
			>"$home/out" 2>"$home/err" || fail "hook: exit status $?"
		[ ! -s "$home/out" ] && [ ! -s "$home/err" ] || fail "hook says $(cat "$home/out" "$home/err")"
	done
	head -c 10000000 /dev/zero | tr '\0' x | "${deck[@]}" agentdeck hook --instance "$id"
	[ "${PIPESTATUS[2]}" = 0 ] || fail "10 MB"
	state
	[ "$before" = "$files" ] || fail "the state has changed"
}

case_limits() {
	refused 64 "--memory-max: invalid size '4 GB' .examples: 512M, 4G" add . -t a --agent demo --memory-max '4 GB'
	refused 64 '--memory-high: .*too little' add . -t a --agent demo --memory-high 1M
	must add . -t a --agent demo -g work --memory-max 1G
	refused 64 '--tasks-max: .*1 to 4194304' session limit a --tasks-max -1
	refused 64 "'memory-max=1G': did you mean --memory-max=1G" session limit a memory-max=1G
	refused 64 '--cpu-weight: .*1 to 10000' session limit a --memory-max 2G --cpu-weight 10001
	refused 2 "no session" session limit nosuch --memory-max 2G
	refused_json 64 USAGE session limit a --memory-max ''
	must session limit a
	grep -Eq '^memory_max +1G +session$' "$home/out" || fail "limits: $(<"$home/out")"
	printf '[groups.work.limits]\nmemory_max = "2G"\ntasks_max = 50\n' >>"$home/deck/config.toml"
	must session limit a --tasks-max infinity
	grep -Eq '^a: the limits (hold from its next start on|are stored, and this machine enforces none of them)$' "$home/out" ||
		fail "limits: $(<"$home/out")"
	grep -Eq '^tasks_max +infinity +session$' "$home/out" || fail "limits: $(<"$home/out")"
	must session limit a --reset
	grep -Eq '^memory_max +2G +group work$' "$home/out" || fail "limits: $(<"$home/out")"
	must session limit a --json
	grep -q '"effect": *null' "$home/out" && grep -q '"group": *"work"' "$home/out" || fail "limits: $(<"$home/out")"
}

# import_image SOCKET NAME TAG: an image for the engine.
import_image() {
	python3 - "$@" <<-'END'
		import http.client, socket, sys
		class Connection(http.client.HTTPConnection):
		    def connect(self):
		        self.sock = socket.socket(socket.AF_UNIX)
		        self.sock.connect(sys.argv[1])
		connection = Connection("engine")
		connection.request("POST", f"/images/create?fromSrc=-&repo={sys.argv[2]}&tag={sys.argv[3]}",
		                   f"tar of {sys.argv[3]}")
		sys.exit(connection.getresponse().status != 200)
	END
}

case_container_options() {
	refused 64 '--image is for a session in a container: add --container' add . -t a --agent demo --image web:1
	refused 64 '--secret is for .*: add --container' add . -t a --agent demo --secret KEY
	refused 64 'exclude each other' add . -t a --agent demo --container --no-container
	refused 1 '(cannot connect to the container engine at unix:///nowhere|built without libcurl)' \
		add . -t a --agent demo --container --engine unix:///nowhere
	refused 64 'absolute path' add . -t a --agent demo --container --mount /etc:data
	refused 2 '/nowhere does not exist: create it first' add . -t a --agent demo --container --mount /nowhere
	refused 64 'say where its value comes from' add . -t a --agent demo --container --secret KEY=canary
	! grep -q canary "$home/err" || fail "a secret is shown: $(<"$home/err")"
	refused 64 '--auth token: no variable .*AGENTDECK_DEMO_TOKEN.*--secret NAME' \
		add . -t a --agent demo --container --auth token
	refused 64 'choose default, none' add . -t a --agent demo --container --network 'a b'
	must add . -t host --agent demo
	refused 1 'runs on this host: it has no container' add -t a --agent demo --in host
	refused 64 '--image is of a container, and --in takes' add -t a --agent demo --in host --image web
	refused 64 '--in and --container exclude each other' add -t a --agent demo --in host --container
	refused 64 '--in takes the directory of that session as it is: omit the path' add . -t a --agent demo --in host
	refused 64 'limits are of the container' add -t a --agent demo --in host --memory-max 1G
	must remove host --force
	refused 64 'number of processors' add . -t a --agent demo --container --cpus many
	refused 2 'no conversation .* with a turn in' add . -t a --agent demo --container \
		--session-id 11111111-2222-4333-8444-555555555555
	refused 1 'does not know where Codex' add . -t a --agent codex --container \
		--session-id 11111111-2222-4333-8444-555555555555
	must add . -t host --agent demo
	refused 1 'host has no recipe' session show host --recipe
	refused 1 'host has no image' session set host recipe.image web:1
	refused 1 'host has no secrets' session set host recipe.secret KEY
	refused 1 'host has no mounts' session set host recipe.mount /srv
	must session show host --json
	grep -q '"recipe": *null' "$home/out" || fail "recipe: $(<"$home/out")"
}

# Which libraries the processes of a command load, by the loader's own word. A library that a command
# opens later is seen as well: that is shown by a command that needs one.
libraries_of() {
	rm -f "$home"/libraries.*
	deck+=("LD_DEBUG=files" "LD_DEBUG_OUTPUT=$home/libraries")
	must "$@"
	unset 'deck[-1]' 'deck[-1]'
	cat "$home"/libraries.* >"$home/loaded" 2>/dev/null
	grep -q 'calling init: .*/libc\.so' "$home/loaded" || fail "$*: the loader tells nothing"
}

case_no_library_of_containers() {
	local words
	"${deck[@]}" LD_DEBUG=files LD_DEBUG_OUTPUT="$home/libraries" agentdeck --version >/dev/null
	grep -qs 'calling init: .*/libc\.so' "$home"/libraries.* || return 0
	must add . -t a --agent demo
	for words in --version list 'list --json' status 'session start a' 'session stop a' recover 'session show a'; do
		# shellcheck disable=SC2086 # words
		libraries_of $words
		! grep -Eq 'calling init: .*/lib(curl|ssl|gnutls|git2|ncurses)' "$home/loaded" ||
			fail "$words: it loads $(grep -Eo 'calling init: .*/lib(curl|ssl|gnutls|git2|ncurses).*' "$home/loaded")"
	done
	deck+=("LD_DEBUG=files" "LD_DEBUG_OUTPUT=$home/libraries")
	run add . -t b --agent demo --container --engine unix:///nowhere
	unset 'deck[-1]' 'deck[-1]'
	grep -q 'built without libcurl' "$home/err" || grep -q 'calling init: .*/libcurl' "$home"/libraries.* ||
		fail "the loader does not tell of libcurl: $(<"$home/err")"
}

case_what_is_written_is_the_users_alone() {
	local file wide
	umask 000
	rm "$home/deck/config.toml"
	must config set tmux.linger false
	must add . -t a --agent demo
	must session set a notes 'for me'
	must session export a "$home/user/one.tar"
	must backup "$home/user/all.tar"
	must remove a --force
	must undo
	must list
	umask 022
	for file in config.toml default logs/agentdeck.log ../user/one.tar ../user/all.tar; do
		[ -e "$home/deck/$file" ] || fail "$file: this proves nothing"
	done
	wide=$(find "$home/deck" "$home/user/one.tar" "$home/user/all.tar" ! -type l -perm /077 -printf '%M %p\n')
	[ -z "$wide" ] || fail "others can read or write: $wide"
}

# The index of many sessions is large. A hint that looks for the title once more read it again.
case_show_reads_the_index_once() {
	local words
	command -v strace >/dev/null || return 0
	must add . -t a --agent demo
	deck+=("AGENTDECK_INSTANCE=$(value a id)" ASAN_OPTIONS=detect_leaks=0)
	for words in 'show a' 'show a --verbose' current; do
		# shellcheck disable=SC2086 # words
		"${deck[@]}" strace -qq -e trace=openat -o "$home/trace" agentdeck session $words >"$home/out" 2>"$home/err" ||
			fail "session $words: $(<"$home/err")"
		[ "$(grep -c 'instances.json"' "$home/trace")" = 1 ] || fail "session $words: $(grep instances "$home/trace")"
	done
}

case_role() {
	local file=$home/user/role/.devcontainer/devcontainer.json
	mkdir -p "${file%/*}"
	printf '{\n"image": "web:1",\n"privileged": true}\n' >"$file"
	run role check "$home/user/role"
	[ "$status" = 1 ] || fail "check of a refused role: $status"
	grep -q "^$file:3: refused: privileged: " "$home/out" || fail "check: $(<"$home/out")"
	refused 1 "$file:3: privileged: .*role check" add . -t a --agent demo --role "$home/user/role"
	refused 1 'refused cannot be trusted' role trust "$home/user/role"
	printf '{\n"image": "web:1",\n"mounts": ["type=bind,source=%s,target=/d"]}\n' "$home/link" >"$file"
	ln -s /run "$home/link"
	must role check "$home/user/role"
	grep -q "^$file: asks$" "$home/out" || fail "check: $(<"$home/out")"
	refused 1 'that you do not trust yet' add . -t a --agent demo --role "$home/user/role"
	must role trust "$home/user/role"
	grep -q '^Mounts:  *.*:/d$' "$home/out" || fail "trust shows: $(<"$home/out")"
	must role list
	grep -q "$file" "$home/out" || fail "list: $(<"$home/out")"
	refused 1 'its agent could command this machine' add . -t a --agent demo --role "$home/user/role"
	# the same file, and the link leads elsewhere: nothing asks, and nothing but the directory is mounted
	rm "$home/link" && mkdir "$home/private" && ln -s "$home/private" "$home/link"
	refused 1 'a part of that is a link' add . -t a --agent demo --role "$home/user/role"
	# what is in a directory of agentdeck, also behind a link
	rm "$home/link" && ln -s "$home/deck/default" "$home/link"
	refused 1 'its agent could command this machine' add . -t a --agent demo --role "$home/user/role"
	printf '{\n"image": "web:1",\n"mounts": ["type=bind,source=%s,target=/d,readonly"]}\n' "$home/deck/default" >"$file"
	must role trust "$home/user/role"
	refused 1 'its agent could command this machine' add . -t a --agent demo --role "$home/user/role"
	echo '// a change' >>"$file"
	refused 1 'has changed since you trusted it' add . -t a --agent demo --role "$home/user/role"
	must role untrust "$file"
	refused 2 'no role that you trust' role untrust "$home/user/role"
	refused 64 'omit --role or --image' add . -t a --agent demo --role . --image web:1
	refused 64 '--role is for .*: omit --no-container' add . -t a --agent demo --role . --no-container
	refused 64 'a role comes from' role check http://example.org/role
	refused 64 'choose one' add . -t a --agent demo --role . --devcontainer
	refused 64 'omit --devcontainer or --build' add . -t a --agent demo --devcontainer --build .
	refused 1 "$file is a role that you do not trust yet" add "$home/user/role" -t a --agent demo --devcontainer
	refused 2 'has no role' add . -t a --agent demo --devcontainer
	refused 1 "$file is a role" add "$home/user/role" -t a --agent demo --devcontainer=.devcontainer/devcontainer.json
	refused 64 'no file of the project' add . -t a --agent demo --devcontainer="$file"
	printf '[session.a]\nagent = "demo"\npath = "user/role"\ndevcontainer = true\n' >"$home/agentdeck.toml"
	run up "$home/agentdeck.toml"
	[ "$status" = 1 ] && grep -q "$file is a role that you do not trust yet" "$home/err" || fail "up: $status: $(<"$home/err")"
}

# At first use, and with what differs when it has changed.
case_role_is_asked_for() {
	local file=$home/user/role/.devcontainer.json words=(add "$home/user/role" -t a --agent demo --devcontainer --engine unix:///nowhere)
	mkdir -p "$home/user/role"
	printf '{"image": "web:1",\n"initializeCommand": "touch %s",\n"postCreateCommand": "make",\n"capAdd": []}\n' "$home/ran" >"$file"
	asked n "${words[@]}"
	[ "$status" = 1 ] || fail "no: $status: $(<"$home/out")"
	for text in 'Runs inside: *postCreateCommand: make' "initializeCommand: .*never does: touch $home/ran" \
		'Trust this role as it is now' 'The role is not trusted' 'that you do not trust yet'; do
		grep -q "$text" "$home/out" || fail "no $text: $(<"$home/out")"
	done
	must role list
	! grep -q role/ "$home/out" || fail "it is trusted: $(<"$home/out")"
	asked y "${words[@]}"
	must role list
	grep -q role/ "$home/out" || fail "it is not trusted: $(<"$home/out")"
	sed -i 's/"make"/"make all"/' "$file"
	asked n "${words[@]}"
	for text in 'It has changed since you trusted it, and other files' '-"postCreateCommand": "make",' '+"postCreateCommand": "make all",'; do
		grep -qF -- "$text" "$home/out" || fail "no $text: $(<"$home/out")"
	done
	! grep -qF -- '-"initializeCommand' "$home/out" || fail "what is the same is shown: $(<"$home/out")"
	[ ! -e "$home/ran" ] || fail 'initializeCommand ran'
}

# The options of the user are before what the role says, and its other words stay.
case_role_counts_after_the_options_of_the_user() {
	local engine socket=$home/engine.sock file=$home/work/.devcontainer.json
	command -v python3 >/dev/null || return 0
	run add . -t a --agent demo --container --engine unix:///nowhere
	! grep -q 'built without libcurl' "$home/err" || return 0
	coproc FAKE { exec python3 "$tree/tests/unit/fake-engine" docker "$socket"; }
	engine=$FAKE_PID
	read -r <&"${FAKE[0]}" || fail 'the fake engine does not start'
	import_image "$socket" web 1 || fail 'the engine takes no image'
	printf '[container]\nengine = "unix://%s"\n' "$socket" >>"$home/deck/config.toml"
	printf '{"image": "web:1", "containerEnv": {"CITY": "Oslo", "LAND": "N"}, %s}\n' \
		'"hostRequirements": {"cpus": 1}, "customizations": {"agentdeck": {"network": "none"}}' >"$file"
	must role trust .
	must add . -t a --agent demo --devcontainer
	must session show a --recipe
	for text in '^Network +none' '^Processors +1' 'CITY=Oslo' 'LAND=N'; do
		grep -Eq "$text" "$home/out" || fail "the role's $text: $(<"$home/out")"
	done
	must add . -t b --agent demo --devcontainer --env CITY=Rome --network internal --cpus 2
	must session show b --recipe
	for text in '^Network +internal' '^Processors +2' 'CITY=Rome' 'LAND=N'; do
		grep -Eq "$text" "$home/out" || fail "the user's $text: $(<"$home/out")"
	done
	kill "$engine"
	wait "$engine" 2>/dev/null
}

# A variable that the role asks for, at a terminal and without one.
case_role_asks_for_variables() {
	local engine socket=$home/engine.sock file=$home/work/.devcontainer.json
	command -v python3 >/dev/null || return 0
	run add . -t a --agent demo --container --engine unix:///nowhere
	! grep -q 'built without libcurl' "$home/err" || return 0
	coproc FAKE { exec python3 "$tree/tests/unit/fake-engine" docker "$socket"; }
	engine=$FAKE_PID
	read -r <&"${FAKE[0]}" || fail 'the fake engine does not start'
	import_image "$socket" web 1 || fail 'the engine takes no image'
	printf '[container]\nengine = "unix://%s"\n' "$socket" >>"$home/deck/config.toml"
	printf '{"image": "web:1", "customizations": {"agentdeck": {"env": {%s}}}}\n' \
		'"KEY": {"secret": true, "prompt": "the key"}, "CITY": {"options": ["Oslo", "Rome"], "default": "Oslo"}, "STREET": {"depends_on": ["AREA"]}, "AREA": {"skippable": true}' >"$file"
	must role trust .
	grep -q '^Asks you for: *KEY: the key$' "$home/out" || fail "trust: $(<"$home/out")"
	refused 64 'the role asks for KEY .the key.: give it with --secret KEY=SOURCE' add . -t a --agent demo --devcontainer
	refused 64 'KEY is a secret, and --env is written down' add . -t a --agent demo --devcontainer --env KEY=canary
	must add . -t a --agent demo --devcontainer --secret KEY=file:/key --env CITY=Bonn
	must session show a --recipe
	grep -Eq '^Variables +CITY=Bonn$' "$home/out" && grep -Eq '^Secrets +KEY from file:/key$' "$home/out" || fail "given: $(<"$home/out")"
	must add . -t b --agent demo --devcontainer --secret KEY=env:K
	must session show b --recipe
	grep -Eq '^Variables +CITY=Oslo$' "$home/out" || fail "the default: $(<"$home/out")"
	# a secret that is no reference, one; no option, one; nothing, which is skipped with what needs it
	asked $'canary\nenv:THE_KEY\nBern\nRome\n' add . -t c --agent demo --devcontainer
	grep -q 'say where the secret is' "$home/out" && grep -q 'choose one of these' "$home/out" || fail "asked: $(<"$home/out")"
	! grep -q 'STREET' "$home/out" || fail "what depends on nothing: $(<"$home/out")"
	must session show c --recipe
	grep -Eq '^Variables +CITY=Rome$' "$home/out" && grep -Eq '^Secrets +KEY from env:THE_KEY$' "$home/out" || fail "answered: $(<"$home/out")"
	! grep -rq canary "$home/deck" || fail "the value is written down: $(grep -rl canary "$home/deck")"
	asked q add . -t d --agent demo --devcontainer
	grep -q 'cancelled: no session was created' "$home/out" || fail "q: $(<"$home/out")"
	kill "$engine"
	wait "$engine" 2>/dev/null
}

case_role_of_the_configuration() {
	local api=$home/user/api/.devcontainer.json
	mkdir -p "$home/user/api" "$home/user/web"
	printf '{"image": "web:1"}\n' >"$api"
	cp "$api" "$home/user/web"
	printf '[roles.api]\nsource = "~/api"\n[container]\nrole = "api"\n[groups.web.container]\nenabled = true\nrole = "~/web"\n' \
		>>"$home/deck/config.toml"
	must role check api
	grep -q "^$api: runs$" "$home/out" || fail "check: $(<"$home/out")"
	refused 1 "$api is a role that you do not trust yet" add . -t a --agent demo --role api
	refused 1 "$api is a role that" add . -t a --agent demo --container
	refused 1 "$home/user/web/.devcontainer.json is a role" add . -t a --agent demo -g web/old
	refused 2 'is no directory' add . -t a --agent demo --role ./api
	must add . -t a --agent demo
	must session set a group web
	refused 1 "$home/user/web/.devcontainer.json is a role" fork a --container
	refused 1 "$api is a role" fork a --container -g other
}

case_a_project_with_a_role_is_told_of_once() {
	mkdir -p "$home/user/role"
	printf '{"image": "web:1"}\n' >"$home/user/role/.devcontainer.json"
	must add "$home/user/role" -t a --agent demo --json
	[ ! -s "$home/err" ] || fail "with --json: $(<"$home/err")"
	must add "$home/user/role" -t b --agent demo
	grep -q "role/.devcontainer.json describes a container .* --devcontainer" "$home/err" || fail "no hint: $(<"$home/err")"
	must add "$home/user/role" -t c --agent demo
	! grep -q 'describes a container' "$home/err" || fail "twice: $(<"$home/err")"
	must role list
	! grep -q role/ "$home/out" || fail "it is trusted: $(<"$home/out")"
	refused 1 'that you do not trust yet' add "$home/user/role" -t d --agent demo --devcontainer
}

case_container_recipe() {
	local engine image base socket=$home/engine.sock
	command -v python3 >/dev/null || return 0
	run add . -t a --agent demo --container --engine unix:///nowhere
	! grep -q 'built without libcurl' "$home/err" || return 0
	coproc FAKE { exec python3 "$tree/tests/unit/fake-engine" docker "$socket"; }
	engine=$FAKE_PID
	read -r <&"${FAKE[0]}" || fail 'the fake engine does not start'
	import_image "$socket" web 1 && import_image "$socket" web 2 || fail 'the engine takes no image'
	refused 2 'no default image yet: .*make it with agentdeck image build-default' \
		add . -t a --agent demo --container --engine "unix://$socket"
	refused 2 'has no image web:3: add --pull to download it, or name another one' \
		add . -t a --agent demo --container --engine "unix://$socket" --image web:3
	# podman's address answers, and docker's does not
	deck+=("DOCKER_HOST=unix:///nowhere" "CONTAINER_HOST=unix://$socket")
	must add . -t instead --agent demo --container --image web:1
	grep -q 'warning: the container is in podman, since docker does not answer: .*nowhere' "$home/err" || fail "$(<"$home/err")"
	must remove instead --force
	grep -q 'is kept until agentdeck prune; files .* in its container outside of .* are not' "$home/out" ||
		fail "remove does not say what goes: $(<"$home/out")"
	printf '[container]\nengine = "unix://%s"\nimage = "web:1"\n' "$socket" >>"$home/deck/config.toml"
	deck+=("KEY=canary" "AGENTDECK_DEMO_TOKEN=canary")
	must add . -t a --agent demo --container --mount "$home/user:/data:ro" --env A=b --secret KEY \
		--cpus 1.5 --memory-max 1G --network none --cap-add NET_ADMIN
	grep -q 'warning: capability NET_ADMIN' "$home/err" || fail "no warning: $(<"$home/err")"
	base=$(cd "$home/deck/default" && echo ad-*-work-demo)
	[ -f "$home/deck/default/$base/instance.json" ] || fail "base: $(ls "$home/deck/default")"
	[ "$(value a backend)" = container ] || fail "backend: $(value a backend)"
	must session show a --recipe
	for line in "Container +$base" 'Image +web:1' '  kept as +agentdeck/keep:ad-' "Home +$home/deck/default/$base/home" \
		"Mounts +$home/user at /data, read-only" 'Variables +A=b' 'Secrets +KEY from env:KEY' 'Login +ignore' \
		'Network +none' 'Capabilities +NET_ADMIN' 'Memory +1G' 'Processors +1.5'; do
		grep -Eq "^$line" "$home/out" || fail "show --recipe: no $line: $(<"$home/out")"
	done
	# A container of two sessions is a column, and otherwise one for who asks
	must list
	! grep -q CONTAINER "$home/out" || fail "a column that says nothing: $(<"$home/out")"
	must add -t second --agent demo --in a
	must list
	[ "$(grep -Ec "(CONTAINER|^(a|second) .* $base)$" "$home/out")" = 3 ] || fail "list: $(<"$home/out")"
	must list --format 'table title,container'
	grep -Eq "^second +$base$" "$home/out" || fail "its container: $(<"$home/out")"
	must list --json
	[ "$(grep -c "\"container\": *\"$base\"" "$home/out")" = 2 ] || fail "JSON: $(<"$home/out")"
	must remove second --force
	must session set a recipe.secret 'KEY=command:["pass","key"]'
	must session show a --recipe
	grep -Eq '^Secrets +KEY from command:\["pass","key"\]$' "$home/out" || fail "secret: $(<"$home/out")"
	refused 64 'say where its value comes from' session set a recipe.secret KEY=canary
	must session set a recipe.network default
	must session show a --recipe
	grep -Eq '^Network +own$' "$home/out" || fail "network: $(<"$home/out")"
	must session set a recipe.network shared
	must session show a --recipe
	grep -Eq '^Network +shared$' "$home/out" || fail "shared: $(<"$home/out")"
	refused 64 'choose default, none' session set a recipe.network 'a b'
	# A Docker inside: this engine lacks its image, and root has none
	must session set a recipe.docker none
	refused 64 'rootless-tcp or none' session set a recipe.docker privileged
	run session set a recipe.docker rootless
	[ "$status" != 0 ] && grep -q 'a Docker inside' "$home/err" || fail "docker: $status $(<"$home/err")"
	printf 'docker = "rootless"\n' >>"$home/deck/config.toml"
	run add . -t docker --agent demo --container
	[ "$status" != 0 ] && grep -q 'a Docker inside' "$home/err" || fail "[container] docker: $status $(<"$home/err")"
	refused 64 'omit one of them' add . -t docker --agent demo --container --docker none --docker-tcp
	must add . -t docker --agent demo --container --docker none
	must remove docker --force
	sed -i '/^docker = /d' "$home/deck/config.toml"
	mkdir -p "$home/other"
	must session set a recipe.mount "$home/other:/data"
	must session show a --recipe
	grep -Eq "^Mounts +$home/other at /data$" "$home/out" || fail "mount: $(<"$home/out")"
	refused 2 'create it first' session set a recipe.mount "$home/none:/data"
	refused 1 "has sockets of agentdeck's" session set a recipe.mount "$home:/data"
	must add . -t token --agent demo --container --auth token
	must session show token --recipe
	grep -Eq '^Secrets +AGENTDECK_DEMO_TOKEN from env:AGENTDECK_DEMO_TOKEN$' "$home/out" || fail "token: $(<"$home/out")"
	must remove token --force
	! grep -rq canary "$home/deck" || fail "a secret is stored: $(grep -rl canary "$home/deck")"

	must session show a --json
	image=$(grep -m 1 image_id "$home/out")
	refused 2 'has no image web:3' session set a recipe.image web:3
	must session set a recipe.image web:2
	must session show a --json
	[ "$(grep -m 1 image_id "$home/out")" != "$image" ] || fail "the image is still $image"
	# What config.toml says, and what a command line says against it.
	printf '%s\n' 'enabled = true' 'cpus = 0.5' "mounts = [\"$home/user:/more\"]" '[groups.host.container]' \
		'enabled = false' '[groups."host/not".container]' 'enabled = true' 'image = "web:2"' >>"$home/deck/config.toml"
	must add . -t inside --agent demo --mount "$home/user:/data" --cpus 2
	must session show inside --recipe
	for line in 'Image +web:1' 'Mounts +.*/user at /data' ' +.*/user at /more' 'Processors +2'; do
		grep -Eq "^$line" "$home/out" || fail "no $line: $(<"$home/out")"
	done
	must add . -t not --agent demo -g host/not
	must session show not --recipe
	grep -Eq '^Image +web:2' "$home/out" && grep -Eq '^Processors +0.5' "$home/out" || fail "of the group: $(<"$home/out")"
	must add . -t host --agent demo -g host
	must add . -t here --agent demo --no-container
	refused 64 '--image is for a session in a container: omit --no-container' \
		add . -t x --agent demo --no-container --image web:1
	refused 64 '--image is for .*: add --container' add . -t x --agent demo -g host --image web:1
	[ "$(value host backend) $(value here backend)" = 'host host' ] || fail "backend: $(value host backend)"
	for title in inside not host here; do must remove "$title" --force; done

	kill "$engine"
	wait "$engine" 2>/dev/null
	refused 1 'cannot connect to the container engine' session set a recipe.image web:1
	must session set a title b
	must remove b --force
	must undo b
	must session show b --recipe
}

case_top() {
	refused 64 '--interval must be a whole number of seconds from 1 to 3600' top --interval 0.5
	refused 64 '--sort must be memory, cpu, tasks or title' top --sort size
	refused 64 '--once does not go with --interval' top --once --interval 2
	must top
	grep -qx 'No session is running.' "$home/out" || fail "top: $(<"$home/out")"
	must add . -t a --agent demo
	must session start a
	must top --json
	grep -q '"title":"a".*"in_scope":false,"memory_bytes":[1-9][0-9]*,.*"memory_max_bytes":null' "$home/out" || fail "top: $(<"$home/out")"
	must session stop a
	must top --json
	[ ! -s "$home/out" ] || fail "what was stopped is shown: $(<"$home/out")"
}

case_status_wait() {
	refused 64 'states: waiting, idle, busy, error, stopped' status --wait sleeping
	refused 64 'states: waiting, idle' status --wait idle,
	refused 64 'need --wait' status --timeout 3
	refused 64 'a whole number of seconds' status --wait idle --timeout soon
	refused 2 'no session' status --wait idle nosuch
	refused 1 'no session was idle within 0 s' status --wait idle --timeout 0
	refused_json 1 TIMEOUT status --wait idle --timeout 0
	# Somebody looks on.
	asked '' status --wait idle --timeout 0
	grep -q 'waiting until a session is idle; Ctrl-C ends that' "$home/out" || fail "it says: $(<"$home/out")"
	refused 64 "unexpected argument 'a'" events a
	must add . -t a --agent demo
	must status --wait error,stopped
	grep -Eqx 'a \([0-9a-z]{8}\): stopped.*' "$home/out" || fail "it says: $(<"$home/out")"
	must session start a
	must status --wait idle --timeout 30 --json a
	grep -q '"activity": *"idle"' "$home/out" && grep -q '"since_at": *"2' "$home/out" || fail "it says: $(<"$home/out")"
	refused 1 'no session was stopped' status --wait stopped --timeout 0 a
	must session stop a
}

case_recover() {
	refused 64 "a number from 1 to 256, not 'many'" recover --jobs many
	refused 64 'a number from 1 to 256' recover --jobs 0
	refused 64 "--only must be error, not 'stopped'" recover --only stopped
	refused 64 "unexpected argument 'a'" recover a
	refused 64 'no, on-failure or always' add . -t a --restart sometimes
	mkdir "$home/gone"
	must add "$home/gone" -t gone --agent demo --restart always
	must add . -t a --agent demo
	refused 64 'no, on-failure, always or default' session set a restart sometimes
	must recover
	grep -qx 'Nothing to recover: every session that is to run does.' "$home/out" || fail "a pipe changes the format: $(<"$home/out")"
	must recover --json
	grep -q '"total":0,' "$home/out" || fail "something to recover: $(<"$home/out")"
	must session start gone
	must session start a
	local pid
	for pid in "$(value gone server_pid)" "$(value a server_pid)"; do
		kill -9 "$pid"
		while kill -0 "$pid" 2>/dev/null; do :; done
	done
	rmdir "$home/gone"
	run recover --json
	[ "$status" = 1 ] || fail "recover with a failure: status $status"
	grep -q '"title":"gone","outcome":"failed".*directory .*/gone is missing' "$home/out" ||
		fail "no reason: $(<"$home/out")"
	grep -q '"title":"a","outcome":"revived"' "$home/out" || fail "a is left: $(<"$home/out")"
	grep -q '"total":2,"revived":1,.*"failed":1,.*"success":false' <<<"$(tail -n 1 "$home/out")" ||
		fail "no summary: $(<"$home/out")"
	must session set gone restart no
	must session stop a
}

# A setting of an agent that only its user can change.
case_hint_of_an_agent() {
	local settings=$home/user/nest/settings.json hint='it forgets'
	mkdir -m 700 "$home/deck/agents" "$home/user/nest"
	printf '%s\n' 'command = ["no-such-agent-here"]' '[home]' 'default = "~/nest"' '[doctor]' 'hint = "it forgets"' \
		'remedy = "remind it"' 'file = "{home}/settings.json"' 'unless = "memory.forget=false"' \
		>"$home/deck/agents/parrot.toml"
	doctor_says() { run doctor; grep -q "$hint" "$home/out" && grep -q 'remind it' "$home/out"; }
	! doctor_says || fail "told of an agent that nobody uses"
	must add . -t p --agent parrot
	doctor_says || fail "not told of an agent that has a session: $(<"$home/out")"
	for text in '{"memory": {"forget": true}}' '{"memory": 3}' '[]' '{' ''; do
		printf '%s' "$text" >"$settings"
		doctor_says || fail "not told with $text"
	done
	printf '{"memory": {"forget": false}}' >"$settings"
	! doctor_says || fail "told though it is settled"
	must remove p
}

case_closed_standard_descriptors() {
	must add . -t a --agent demo
	"${deck[@]}" agentdeck session start a <&- >&- 2>&-
	"${deck[@]}" agentdeck list <&- >&- 2>&-
	[ "$(value a status)" = running ] || fail "status $(value a status)"
	! grep -rqs '^a: ' "$home/deck" || fail "a message stands in a file of ours"
	must session stop a
}

# --- config.toml ---------------------------------------------------------------------------------------

case_config_get() {
	printf '%s\n' 'resume = "confirm"' '[tmux]' 'detach_key = "C-x"' '[limits]' 'memory_max = "2048M"' \
		'[groups."work/api".limits]' 'tasks_max = 7' '[notify]' 'on = ["oom", "held"]' >"$home/deck/config.toml"
	gets() {	# VALUE KEY
		must config get "$2"
		[ "$(<"$home/out")" = "$1" ] || fail "$2 is $(<"$home/out"), expected $1"
	}
	gets C-x tmux.detach_key
	gets true tmux.mouse
	gets confirm resume.policy
	gets 2G limits.memory_max
	gets '["oom", "held"]' notify.on
	gets '' default_agent
	gets 7 groups.work/api.limits.tasks_max
	gets 7 'groups."work/api".limits.tasks_max'
	must config get resume.policy --json
	grep -q '"from": *"file"' "$home/out" || fail "not from the file: $(<"$home/out")"
	must config get tmux.mouse --json
	grep -q '"from": *"default"' "$home/out" || fail "not the default: $(<"$home/out")"
	must config get stop
	[ "$(grep -c '^stop\.timeout ' "$home/out")$(wc -l <"$home/out")" = 12 ] || fail "[stop]: $(<"$home/out")"
	refused 2 "no key 'tmux.muose': did you mean 'tmux.mouse'" config get tmux.muose
	refused 2 "no key 'qqqqqqqqq'" config get qqqqqqqqq
	refused 64 'a quote is not closed' config get 'groups."work'
	refused_json 2 NOT_FOUND config get tmux.muose
	must list
	echo 'mouse = 3' >"$home/deck/config.toml"
	gets C-x tmux.detach_key
	must config get tmux.detach_key --json
	grep -q '"from": *"last_good"' "$home/out" || fail "not the last good one: $(<"$home/out")"
}

case_config_path() {
	must config path
	[ "$(<"$home/out")" = "$home/deck/config.toml" ] || fail "$(<"$home/out")"
	[ ! -s "$home/err" ] || fail "$(<"$home/err")"
	rm "$home/deck/config.toml"
	must config path
	[ "$(<"$home/out")" = "$home/deck/config.toml" ] || fail "$(<"$home/out")"
	grep -q 'does not exist yet: agentdeck config edit' "$home/err" || fail "$(<"$home/err")"
}

case_config_check() {
	must config check
	[ "$(<"$home/out")" = '1 file, no mistakes' ] || fail "$(<"$home/out")"
	mkdir -m 700 "$home/deck/agents"
	echo 'comand = ["x"]' >"$home/deck/agents/parrot.toml"
	printf '%s\n' 'colour = 1' '[tmux]' 'mouse = 3' '[groups.a.limits]' 'tasks_max = -1' 'cpu_weight = "x"' \
		>"$home/deck/config.toml"
	run config check
	[ "$status" = 1 ] || fail "status $status"
	for place in agents/parrot.toml:1:1 config.toml:1:1 config.toml:3:1 config.toml:5:1 config.toml:6:1; do
		grep -qF "$home/deck/$place: " "$home/out" || fail "nothing about $place: $(<"$home/out")"
	done
	grep -qx '2 files, 5 mistakes' "$home/out" || fail "$(<"$home/out")"
	run config check --json
	[ "$status" = 1 ] || fail "status $status with --json"
	grep -q '"valid": *false' "$home/out" && grep -q '"line": *6,' "$home/out" || fail "$(<"$home/out")"
	rm -r "$home/deck/agents"
	printf '%s\n' '[ui]' 'keys = ["up=x", "stop=x",' ' "form.next=F2", "line.clear=a"]' 'colors = ["busy=puce"]' >"$home/deck/config.toml"
	run config check
	[ "$status" = 1 ] || fail "status $status with two meanings of a key"
	grep -qxF "$home/deck/config.toml:2:17: 'stop=x' in [ui] keys: x belongs to up, which works in the same place" "$home/out" &&
		grep -qF "$home/deck/config.toml:3:18: 'line.clear=a' in [ui] keys: a is text there" "$home/out" &&
		grep -qF "$home/deck/config.toml:4:11: \"puce\" is no colour" "$home/out" &&
		grep -qx '1 file, 3 mistakes' "$home/out" || fail "$(<"$home/out")"
	# No command but the deck minds.
	must list
	[ ! -s "$home/err" ] || fail "$(<"$home/err")"
	printf 'default_agent = "parrot"\n[resume.agents]\nfinch = "never"\n' >"$home/deck/config.toml"
	must config check
	grep -q 'config.toml:1:1: warning: there is no agent "parrot"' "$home/out" || fail "$(<"$home/out")"
	grep -q 'config.toml:3:1: warning: there is no agent "finch"' "$home/out" || fail "$(<"$home/out")"
}

case_config_set() {
	local file=$home/deck/config.toml
	printf '%s\n' '# mine' '[tmux] # t' 'mouse = true # m' '' '[groups]' 'work.limits = { memory_max = "8G" } # w' >"$file"
	must config set tmux.mouse false
	[ "$(<"$home/out")" = 'tmux.mouse = false' ] || fail "says $(<"$home/out")"
	must config set tmux.detach_key C-x
	must config set resume.policy confirm
	must config set limits.memory_max 4G
	grep -q 'keep their limits until their next start$' "$home/out" || fail "it says: $(<"$home/out")"
	# It has no line to itself.
	cp "$file" "$home/before"
	refused 1 'groups.work.limits.cpu_weight has no line to itself, or can have none: change it with agentdeck config edit' \
		config set groups.work.limits.cpu_weight 50
	cmp "$file" "$home/before" || fail "a refused change is made"
	must config set groups.work/api.limits.tasks_max 9
	must config set notify.on 'oom held'
	must config set notify.command '["/bin/true", "a b"]'
	must config set default_agent claude
	diff - "$file" <<-'END' || fail "the file above"
		default_agent = "claude"
		# mine
		[tmux] # t
		mouse = false # m
		detach_key = "C-x"

		[groups]
		work.limits = { memory_max = "8G" } # w

		[resume]
		policy = "confirm"

		[limits]
		memory_max = "4G"

		[groups."work/api".limits]
		tasks_max = 9

		[notify]
		on = ["oom", "held"]
		command = ["/bin/true", "a b"]
	END
	must config check
	must config set tmux.mouse --unset
	grep -qx '# mouse = true # m\|# mouse = false # m' "$file" || fail "$(<"$file")"
	must config set tmux.mouse --unset --json
	grep -q '"changed": *false' "$home/out" || fail "$(<"$home/out")"
	refused 64 'tmux.mouse must be true or false, not a string' config set tmux.mouse yes
	refused 64 "'stop=x' in \[ui\] keys: x belongs to up, which works in the same place" config set ui.keys 'up=x stop=x'
	refused 64 'stop.timeout must be from 1 to 3600, not 0' config set stop.timeout 0
	refused 64 'limits.memory_max: invalid size "lots"' config set limits.memory_max lots
	refused 64 'notify.on holds "never"' config set notify.on never
	refused 64 'tmux.options is a table: name one of its keys' config set tmux.options x
	refused 64 'give a value for tmux.mouse, or --unset' config set tmux.mouse
	refused 64 'not both' config set tmux.mouse true --unset
	refused 2 "did you mean 'tmux.mouse'" config set tmux.muose true
	echo 'groups.work.limits.memory_max = "8G"' >"$file"
	must config set --unset groups.work.limits.memory_max
	[ "$(<"$file")" = '# groups.work.limits.memory_max = "8G"' ] || fail "$(<"$file")"
	echo 'resume = "auto" # r' >"$file"
	must config set resume.policy never
	[ "$(<"$file")" = 'resume = "never" # r' ] || fail "$(<"$file")"
	refused 1 'resume is a value here, and not a table' config set resume.probation 5
	printf 'default_agent = "claude"\nmouse = 3\n' >"$file"
	refused 1 'correct config.toml first.*config.toml:2:1: ' config set tmux.mouse true
}

# An editor that writes what $home/texts/N says when it runs for the Nth time.
case_config_edit() {
	local file=$home/deck/config.toml text
	mkdir "$home/texts"
	cat >"$home/my editor" <<-'END'
		#!/bin/sh
		cd "$1" && shift && n=$(($(cat count 2>/dev/null || echo 0) + 1)) && echo "$n" >count
		cp "$1" "saw-$n" && { [ ! -e "$n" ] || cat "$n" >"$1"; } && exit "$(cat status 2>/dev/null || echo 0)"
	END
	chmod +x "$home/my editor"
	deck+=("VISUAL='$home/my editor' $home/texts" EDITOR=false)
	drafts() { find "$home/deck" -name '.agentdeck-edit-*'; }
	echo 'default_agent = "claude" # new' >"$home/texts/1"
	must config edit
	[ "$(<"$file")" = 'default_agent = "claude" # new' ] || fail "$(<"$file")"
	[ -z "$(drafts)" ] || fail "a draft is left"
	must config edit
	grep -q 'Nothing is changed' "$home/out" || fail "$(<"$home/out")"
	# A mistake: the file stays, and so does the text.
	printf 'mouse = 3\n[stop]\ntimeout = 0\n' >"$home/texts/3"
	run config edit
	[ "$status" = 1 ] || fail "status $status"
	grep -q 'config.toml:1:1: ' "$home/err" && grep -q 'config.toml:3:1: ' "$home/err" || fail "$(<"$home/err")"
	grep -q "your text is in $(drafts)" "$home/err" || fail "$(<"$home/err")"
	diff "$(drafts)" "$home/texts/3" || fail "the draft"
	[ "$(<"$file")" = 'default_agent = "claude" # new' ] || fail "$(<"$file")"
	rm "$(drafts)"
	# An editor that fails.
	echo '# other' >"$home/texts/4"
	echo 3 >"$home/texts/status"
	run config edit
	[ "$status" = 1 ] && grep -q 'ended with exit status 3' "$home/err" || fail "$(<"$home/err")"
	[ -n "$(drafts)" ] && rm "$(drafts)"
	refused 1 'ended with exit status 3; config.toml is as before$' config edit
	# No space for the copy: it leaves nothing.
	text=$(trap '' XFSZ; ulimit -f 0; "${deck[@]}" agentdeck config edit 2>&1 </dev/null)
	[[ $text = *'write /'*'.agentdeck-edit-'*'File too large'* ]] || fail "says $text"
	[ -z "$(drafts)" ] || fail "a part of a draft is left"
	rm "$home/texts/status" "$file"
	# Without a file: a commented one to start from, which is not written as it is.
	must config edit
	grep -qx '# mouse = true' "$home/texts/saw-6" || fail "no starter: $(<"$home/texts/saw-6")"
	[ ! -e "$file" ] || fail "the starter was written"
	deck+=("VISUAL=" "EDITOR=/nonexistent/ed")
	refused 1 "no editor '/nonexistent/ed': set VISUAL or EDITOR" config edit
	deck+=("EDITOR=ed | tee")
	refused 64 "EDITOR: " config edit
	[ -z "$(drafts)" ] || fail "a draft is left"
}

# --- list --------------------------------------------------------------------------------------------

# on_terminal COLUMNS COMMAND...: what a terminal of so many columns shows. Each has its own socket,
# since a server that was killed may answer for a moment.
terminals=0 terminal=
on_terminal() {
	terminal=$home/terminal.$((terminals += 1))
	# tmux may lose the output of a program that has ended, so cat follows it
	# shellcheck disable=SC2016 # expanded by the inner sh
	"${deck[@]}" TERM=xterm-256color tmux -S "$terminal" -f /dev/null new-session -d -x "$1" -y 50 \
		sh -c '"$@"; echo "ended with $?"; exec cat' sh "${@:2}"
}

screen() {
	"${deck[@]}" tmux -S "$terminal" capture-pane -p -S - 2>&1
}

# until_screen PATTERN
until_screen() {
	for _ in $(seq 100); do
		grep -Eq -- "$1" <<<"$(screen)" && return
		read -rt 0.1 <> <(:) || true
	done
	fail "the screen does not show $1: $(screen)"
}

case_list_rows_fit_the_terminal() {
	local titles title columns count
	titles=("$(printf 'a long title %.0s' {1..16})x" "$(printf 'x%.0s' {1..200})" "$(printf '日本語%.0s' {1..20})"
		"$(printf '👩‍💻🎉%.0s' {1..15})" "$(printf 'e\u0301\u0302%.0s' {1..40})" short)
	for title in "${titles[@]}"; do
		must add . -t "$title" -g "work/$(printf 'group%.0s' {1..20})" --agent demo
	done
	must list
	for title in "${titles[@]}"; do
		grep -qF -- "$title" "$home/out" || fail "cut without a terminal: $title"
	done
	for columns in 40 80 200; do
		on_terminal "$columns" agentdeck list
		until_screen 'short +.*stopped'
		# a wrapped row would be one more line
		count=$(screen | grep -vc '^ended with\|^$')
		[ "$count" = $((${#titles[@]} + 1)) ] || fail "$count lines at $columns columns: $(screen)"
		"${deck[@]}" tmux -S "$terminal" kill-server
	done
	on_terminal 80 agentdeck list --no-trunc
	until_screen 'short'
	grep -qF "${titles[1]}" <<<"$(screen | tr -d '\n')" || fail "--no-trunc has cut: $(screen)"
	must list --no-trunc
	grep -q '^TITLE  *ID .* PATH  *CONVERSATION' "$home/out" || fail "it lacks columns: $(head -n 1 "$home/out")"
	"${deck[@]}" tmux -S "$terminal" kill-server
}

case_list_shows_what_was_asked_for() {
	local id
	must add . -t beta -g work --agent demo
	must add . -t alpha -g work/api --agent demo
	must add . -t gamma -g workshop --agent demo
	id=$(value alpha id)
	run list -g work --sort title --format 'table title,group'
	[ "$(<"$home/out")" = "$(printf 'TITLE  GROUP\nalpha  work/api\nbeta   work')" ] || fail "-g: $(<"$home/out")"
	run list -g work/api -q
	[ "$(<"$home/out")" = "$id" ] || fail "-q: $(<"$home/out")"
	run list --status waiting,running -q
	[ ! -s "$home/out" ] || fail "--status running: $(<"$home/out")"
	run list --status stopped -q
	[ "$(wc -l <"$home/out")" = 3 ] || fail "--status stopped: $(<"$home/out")"
	run list --sort age --format 'table title'
	[ "$(tr '\n' ' ' <"$home/out")" = 'TITLE gamma alpha beta ' ] || fail "--sort age: $(<"$home/out")"
	run list --format json -g workshop
	grep -q '"title": *"gamma"' "$home/out" && ! grep -q alpha "$home/out" || fail "json: $(<"$home/out")"
	run list
	grep -Eq '^alpha +work/api +demo +stopped +[0-9]{2}:[0-9]{2} +<1d$' "$home/out" || fail "list: $(<"$home/out")"
	refused 64 "unknown column 'size': choose from title, id, group" list --format 'table title,size'
	refused 64 "unknown format 'csv'.*'table title,path'" list --format csv
	refused 64 "unknown status 'ok': choose from waiting, idle" list --status idle,ok
	refused 64 "title, age, status, group or used, not 'size'" list --sort size
	refused 64 'invalid group' list -g ''
	refused 64 'only one of' list -q --watch
	refused_json 64 USAGE list -q
	refused 64 '--watch needs a terminal' list --watch
}

case_the_first_list_says_why_a_session_is_not_restarted() {
	must add . -t a --agent demo --restart no
	must start a
	end_at_once "$(value a server_pid)" "$(value a agent_pid)"
	must list
	grep -q 'its tmux server was killed; its restart policy is "no"' "$home/out" || fail "list: $(<"$home/out")"
}

case_list_is_redrawn() {
	must add . -t before --agent demo
	on_terminal 80 agentdeck list --watch
	until_screen '^[^ ] before +demo +stopped'
	must rename before after
	until_screen '^[^ ] after +demo +stopped'
	must add . -t second --agent demo
	until_screen '^2 sessions'
	"${deck[@]}" tmux -S "$terminal" send-keys q
	until_screen '^ended with 0$'
	"${deck[@]}" tmux -S "$terminal" kill-server
}

# --- show --------------------------------------------------------------------------------------------

case_show_tells_what_a_user_needs() {
	must add . -t 'my api' -g work --agent demo
	must start 'my api'
	must send 'my api' 'say this back'
	must status --wait idle --timeout 30 'my api'
	must show 'my api'
	grep -Eq '^Status +idle since [0-9]{2}:[0-9]{2}$' "$home/out" || fail "no activity: $(<"$home/out")"
	grep -Eq '^Model +demo$' "$home/out" || fail "no model: $(<"$home/out")"
	grep -Eq '^First prompt +say this back$' "$home/out" || fail "no prompt: $(<"$home/out")"
	grep -Eq '^Last reply .*say this back' "$home/out" || fail "no reply: $(<"$home/out")"
	grep -Eq "^Go to it with +agentdeck attach 'my api'\$" "$home/out" || fail "no way back: $(<"$home/out")"
	! grep -E '^(Process|Socket|Scope|Cgroup|Transcript|Command| +argv)' "$home/out" || fail "internals are shown"
	must show --verbose 'my api'
	for word in Process Socket Scope Transcript Command '  argv'; do
		grep -q "^$word" "$home/out" || fail "no $word with --verbose: $(<"$home/out")"
	done
	must send 'my api' 'another prompt'
	must stop 'my api'
	must show 'my api'
	grep -Eq '^Status +stopped$' "$home/out" || fail "stopped: $(<"$home/out")"
	grep -Eq '^First prompt +say this back$' "$home/out" || fail "another prompt: $(<"$home/out")"
	[ "$(value 'my api' first_prompt)" = 'say this back' ] || fail "JSON: $(value 'my api' first_prompt)"
	[ "$(value 'my api' model)" = demo ] || fail "JSON: $(value 'my api' model)"
}

# --- discover ----------------------------------------------------------------------------------------

# conversation PROJECT ID WORDS [DIRECTORY]: claude's file, in the directory of PROJECT
conversation() {
	local folder=$home/user/.claude/projects/$1
	mkdir -p "$folder"
	printf '{"type":"user","cwd":"%s","message":{"role":"user","content":"%s"}}\n' "${4-$home/work}" "$3" \
		>"$folder/$2.jsonl"
}

# Files that an agent, or somebody else, may have left there.
hostile_files() {
	local folder=$home/user/.claude/projects/odd number
	mkdir -p "$folder"
	mkfifo "$folder/00000000-0000-4000-8000-000000000001.jsonl"
	ln -s /etc/passwd "$folder/00000000-0000-4000-8000-000000000002.jsonl"
	ln -s . "$folder/loop"
	mkdir "$folder/00000000-0000-4000-8000-000000000003.jsonl"
	printf '{"cwd":"/","type":"user","mess' >"$folder/00000000-0000-4000-8000-000000000004.jsonl"
	printf '{"cwd":"relative","type":"user","message":{"content":"x"}}\n' \
		>"$folder/00000000-0000-4000-8000-000000000005.jsonl"
	# One line of 100 MB, and one file that is all holes.
	number=00000000-0000-4000-8000-000000000006
	printf '{"cwd":"/tmp","type":"user","message":{"content":"' >"$folder/$number.jsonl"
	truncate -s 100M "$folder/$number.jsonl"
	truncate -s 1T "$folder/00000000-0000-4000-8000-000000000007.jsonl" 2>/dev/null ||
		truncate -s 10G "$folder/00000000-0000-4000-8000-000000000007.jsonl"
	conversation odd 00000000-0000-4000-8000-000000000008 'secret'
	chmod 0 "$folder/00000000-0000-4000-8000-000000000008.jsonl"
}

case_discover_finds_what_belongs_to_nobody() {
	local slug=${home//[^A-Za-z0-9-]/-}-work first=11111111-1111-4111-8111-111111111111
	local second=22222222-2222-4222-8222-222222222222 gone=33333333-3333-4333-8333-333333333333
	must discover
	grep -qx 'There is no conversation without a session.' "$home/out" || fail "finds $(<"$home/out")"
	hostile_files
	conversation "$slug" "$first" 'the first \u001b[31mtask\u0007'
	conversation "$slug" "$second" 'the second'
	conversation gone "$gone" 'elsewhere' "$home/gone"
	touch -d '3 days ago' "$home/user/.claude/projects/$slug/$first.jsonl"
	touch -d '9 days ago' "$home/user/.claude/projects/gone/$gone.jsonl"
	must discover
	LC_ALL=C grep -q $'[\001-\010\013-\037\177]' "$home/out" && fail "control characters"
	[ "$(grep -o '[123]\{8\}-[0-9-]*' "$home/out" | tr '\n' ' ')" = "$second $first $gone " ] ||
		fail "lists $(<"$home/out")"
	grep -q "claude .*3 d .*$home/work .*the first" "$home/out" || fail "says $(<"$home/out")"
	grep -q "$home/gone (gone) " "$home/out" || fail "does not say whose directory is gone: $(<"$home/out")"
	grep -q "$home/work (gone)" "$home/out" && fail "a directory is not gone: $(<"$home/out")"
	grep -q secret "$home/out" && [ "$(id -u)" != 0 ] && fail "reads what it may not"
	must discover --agent codex
	grep -qx 'There is no such conversation without a session.' "$home/out" || fail "codex: $(<"$home/out")"
	rm -f "$home/user/.claude/projects/odd/"*8.jsonl
	must discover --since 7d --directory . -n 1 --json
	grep -q '"has_more": true' "$home/out" && grep -q "$second" "$home/out" || fail "$(<"$home/out")"

	refused 64 'invalid age' discover --since soon
	refused 64 '--add needs' discover --add
	refused 64 'add --add' discover "$first"
	refused 2 'no conversation' discover 99999999 --add
	refused 2 'does not exist any more' discover "$second" "$gone" --add
	refused 2 'no conversation 1111111 on disk: give its id, or the first 8 characters' discover 1111111 --add
	must discover 11111111 "$second" --add -g old
	must list --json
	[ "$(grep -c '"group": "old"' "$home/out")" = 2 ] || fail "added $(<"$home/out")"
	grep -q '"title": "work-2"' "$home/out" || fail "titles: $(<"$home/out")"
	[ "$(value work session_id)" = "$first" ] || fail "has $(value work session_id)"
	grep -q -- "\"$first\"" "$home/deck/default/$(value work id)/instance.json" || fail "no command on disk"
	refused 1 "belongs to session 'work'" discover "$first" --add
	must remove work
	refused 1 "belongs to the removed session 'work'" discover "$first" --add
	must -p other discover
	grep -q "$first\|$second" "$home/out" && fail "another profile finds $(<"$home/out")"
	must prune --older 0 --force
	must -p other discover "$first" --add
	grep -q 'continues it with agentdeck start -p other work$' "$home/out" || fail "it says: $(<"$home/out")"
	[ "$(find "$home/user/.claude" -name "$first.jsonl" | wc -l)" = 1 ] || fail "the transcript is gone"
}

# odd NUMBER BEFORE CONTENT AFTER: a conversation whose first record has this content, with a reply
odd() {
	local folder=$home/user/.claude/projects/${home//[^A-Za-z0-9-]/-}-work
	mkdir -p "$folder"
	printf '%s{"type":"user","cwd":"%s","message":{"content":%s}}\n%s\n' "$2" "$home/work" "$3" \
		'{"type":"assistant","message":{"content":[{"type":"text","text":"It is an answer"}]}}' \
		>"$folder/0000000$1-1111-4111-8111-111111111111.jsonl"
}

# claude resumes each of them.
case_discover_leaves_no_odd_file_out() {
	local long
	long=$(head -c 1200000 /dev/zero | tr '\0' y)
	odd 1 '' '[{"type":"image","data":"'"$long"'"},{"type":"text","text":"what is this"}]'
	odd 2 '' "\"$long, it says needle $long\""
	odd 3 '' '[{"type":"image","data":"x"}]'
	odd 4 '' '"<command-name>/review</command-name>"'
	odd 5 $'\xef\xbb\xbf' '"a question"'
	must discover
	[ "$(grep -c '0000000[1-5]-1111' "$home/out")" = 5 ] || fail "lists $(<"$home/out")"
	[ "$(grep -c '(first words not read)' "$home/out")" = 2 ] || fail "says $(<"$home/out")"
	must discover --json
	[ "$(grep -c '"first_words": null' "$home/out")" = 2 ] || fail "$(<"$home/out")"
	must discover 0000000{1,2,3,4,5} --add
	must history is an answer
	[ "$(grep -c '^work' "$home/out")" = 5 ] || fail "finds $(<"$home/out")"
	must history says needle
	grep -q '^    you: .*it says needle' "$home/out" || fail "finds $(<"$home/out")"
}

# copy_home AGENT DIRECTORY: what a real one left, in its home
copy_home() {
	mkdir -p "$home/user/$2"
	cp -R "$tree/tests/unit/conversations/$1/." "$home/user/$2/" || fail "no fixture"
	grep -rl /home/user "$home/user/$2" | xargs sed -i "s,/home/user/work,$home/work,g"
}

case_discover_knows_each_agents_files() {
	local chats=$home/user/.gemini/tmp/work/chats first=11111111-1111-4111-8111-111111111111
	copy_home gemini . && copy_home copilot .copilot && copy_home kimi-code .kimi-code
	copy_home codex .codex && copy_home qwen .qwen
	# The newest file of this conversation has no words of its user.
	touch -d '2 days ago' "$chats/session-2026-11-25T19-54-11111111.jsonl"
	must discover
	[ "$(grep -c "$home/work" "$home/out")" = 6 ] || fail "lists $(<"$home/out")"
	for words in gemini copilot kimi 'codex tui' 'qwen tui' 'gemini tui'; do
		grep -q "hello $words words" "$home/out" || fail "not $words: $(<"$home/out")"
	done
	[ "$(grep -c "$first" "$home/out")" = 1 ] || fail "twice: $(<"$home/out")"
	must history stub reply 3
	grep -q 'gemini: stub reply 3' "$home/out" || fail "history $(<"$home/out")"
	# Both files have the newest words.
	cp "$chats/session-2026-11-25T19-54-11111111.jsonl" "$chats/session-2026-11-26T00-00-11111111.jsonl"
	must discover --json
	[ "$(grep -c "\"session_id\": \"$first\"" "$home/out")" = 1 ] || fail "twice: $(<"$home/out")"
	must discover "$first" session_87552a56-7a95-4fe5-b5f7-edf96a49b4f1 22222222-2222-4222-8222-222222222222 --add
	[ "$(value work session_id)" = "$first" ] || fail "has $(value work session_id)"
	must discover
	[ "$(grep -c "$home/work" "$home/out")" = 3 ] || fail "still lists $(<"$home/out")"
}

case_discover_says_what_it_cannot_read() {
	local folder=$home/user/.claude/projects/closed
	[ "$(id -u)" != 0 ] || return 0
	conversation closed 11111111-1111-4111-8111-111111111111 'closed'
	conversation open 22222222-2222-4222-8222-222222222222 'open'
	chmod 0 "$folder"
	must discover
	grep -q open "$home/out" || fail "lists $(<"$home/out")"
	grep -q "$folder: Permission denied" "$home/err" || fail "says $(<"$home/err")"
	chmod 700 "$folder"
	chmod 0 "$folder"/*
	must discover
	grep -q "Permission denied" "$home/err" || fail "says $(<"$home/err")"
}

case_discover_leaves_what_is_open() {
	local id pid folder
	id=$(</proc/sys/kernel/random/uuid)
	folder=$home/user/.local/share/agentdeck-demo-agent/projects/${home//[^A-Za-z0-9-]/-}-work
	mkdir -p "$folder"
	printf '{"type":"user","cwd":"%s","message":{"role":"user","content":"hello"}}\n' "$home/work" >"$folder/$id.jsonl"
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d "exec agentdeck-demo-agent --resume $id"
	pid=$(tmux -S "$home/tmp/tmux" list-panes -F '#{pane_pid}')
	for _ in $(seq 100); do
		run adopt --json
		grep -q "\"pid\": $pid," "$home/out" && break
		read -rt 0.1 <> <(:) || true
	done
	refused 1 "open in process $pid" discover "$id" --add
	tmux -S "$home/tmp/tmux" kill-server
	settle
	must discover "$id" --add
}

# An agent that locks a file while it has a conversation open, as its entry says.  The one that locks
# is a child of the one that can be adopted.
case_what_an_agent_has_locked_is_left() {
	command -v python3 >/dev/null || return 0
	local id=22222222-2222-4222-8222-222222222222 folder pid
	copy_home copilot .copilot
	folder=$home/user/.copilot/session-state/$id
	mkdir "$home/bin"
	cat >"$home/bin/copilot" <<-END
		#!$(command -v python3)
		import fcntl, os, subprocess, sys
		if sys.argv[-1] != "inner":
		    sys.exit(subprocess.call([sys.executable, __file__, "inner"]))
		with open("$folder/inuse.%d.hold" % os.getpid(), "w") as held:
		    fcntl.flock(held, fcntl.LOCK_EX)
		    with open("$home/pid.new", "w") as told:
		        told.write("%d\\n" % os.getpid())
		    os.rename("$home/pid.new", "$home/pid")
		    sys.stdin.read()
	END
	chmod +x "$home/bin/copilot"
	deck+=("PATH=$home/bin:$PATH")
	must discover
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d "exec $home/bin/copilot"
	until_done test -s "$home/pid"
	pid=$(<"$home/pid")
	refused 1 "open in process $pid: take that over with agentdeck adopt $pid" discover "$id" --add
	must adopt --json
	grep -q "\"pid\": $pid," "$home/out" && fail "the child can be adopted: $(<"$home/out")"
	run adopt "$pid" --fresh
	grep -q 'no agent that can be adopted' "$home/err" && fail "adopt does not know $pid: $(<"$home/err")"
	tmux -S "$home/tmp/tmux" kill-server
	settle
	must discover "$id" --add
	# Open again, elsewhere: no second agent starts beside it.
	rm "$home/pid"
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d "exec $home/bin/copilot"
	until_done test -s "$home/pid"
	run start work
	[ "$status" = 1 ] && grep -q "open in process $(<"$home/pid")" "$home/err" || fail "starts: $status $(<"$home/err")"
	tmux -S "$home/tmp/tmux" kill-server
	settle
	must start work
	must show work
	! grep -q '^Also open in' "$home/out" || fail "its own agent: $(<"$home/out")"
	# In a shell beside it, as agentdeck shell opens one.
	rm "$home/pid"
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d "exec $home/bin/copilot"
	until_done test -s "$home/pid"
	must show work
	grep -q "^Also open in  *process $(<"$home/pid")" "$home/out" || fail "$(<"$home/out")"
	tmux -S "$home/tmp/tmux" kill-server
	must stop work
	settle
	# And in the shell in its place, which a start would end.
	sed -i '2i import os, sys\nif os.path.exists("'"$home/broken"'"): sys.exit(3)' "$home/bin/copilot"
	touch "$home/broken"
	run start work
	[ "$status" = 1 ] && grep -q 'A shell is open in its place' "$home/err" || fail "status $status: $(<"$home/err")"
	rm "$home/broken" "$home/pid"
	tmux -S "$(value work socket)" send-keys "$home/bin/copilot" Enter
	until_done test -s "$home/pid"
	refused 1 "its conversation is open in process $(<"$home/pid"), in the shell in its place" start work
	must stop work
}

# adopt --json, without what it says of the processes of other cases.
finds() {
	run adopt --json
	awk -v RS='}' -v home="$home" 'index($0, home)' "$home/out" >"$home/mine"
	mv "$home/mine" "$home/out"
}
is_found() { finds; grep -q -- "$1" "$home/out"; }

# until_found PATTERN: adopt --json says so
until_found() {
	until_done is_found "$1" || fail "adopt never finds $1: $(<"$home/out")"
}

# taken_from PID ID: the manifest of s, as a take-over of this process leaves it when it is killed
taken_from() {
	python3 - "$home/deck/default/$(value s id)/instance.json" "$@" <<-'END'
		import json, sys
		path, pid, session_id = sys.argv[1:]
		manifest = json.load(open(path))
		start = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19]
		manifest["taken_from"] = {"pid": int(pid), "start": int(start), "session_id": session_id,
		                          "boot_id": open("/proc/sys/kernel/random/boot_id").read().strip()}
		json.dump(manifest, open(path, "w"))
	END
}

# not_adopted PATTERN OPTION...: the process $pid
not_adopted() {
	local pattern=$1
	shift
	run adopt "$pid" --yes "$@"
	[ "$status" = 1 ] && grep -q -- "$pattern" "$home/err" || fail "adopt $*: status $status, $(<"$home/err")"
	kill -0 "$pid" || fail "adopt $*: the process was ended"
}

# demo_conversation ID: one of the demo agent in $home/work, an hour old; $folder has it
demo_conversation() {
	folder=$home/user/.local/share/agentdeck-demo-agent/projects/${home//[^A-Za-z0-9-]/-}-work
	mkdir -p "$folder"
	printf '{"type":"user","cwd":"%s","message":{"role":"user","content":"hello"}}\n' "$home/work" >"$folder/$1.jsonl"
	touch -d '1 hour ago' "$folder/$1.jsonl"
}

# launcher: an agentdeck-demo-agent in $home/bin that is a script, and has the real one below it
launcher() {
	mkdir "$home/bin"
	printf '#!/usr/bin/env python3\nimport subprocess, sys\nsys.exit(subprocess.call(["%s"] + sys.argv[1:]))\n' \
		"$(command -v agentdeck-demo-agent)" >"$home/bin/agentdeck-demo-agent"
	chmod +x "$home/bin/agentdeck-demo-agent"
}

# child PID [NAME]: the first process that this one has started
child() {
	until_done pgrep -o -P "$1" "${2-.}"
}

case_adopt_is_sure_of_the_conversation() {
	local id other=55555555-5555-4555-8555-555555555555 pid folder owned
	id=$(</proc/sys/kernel/random/uuid)
	demo_conversation "$id"
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d "exec agentdeck-demo-agent --resume $id"
	"${deck[@]}" tmux -S "$home/tmp/tmux" new-window -d "exec agentdeck-demo-agent --resume $id"
	pid=$(tmux -S "$home/tmp/tmux" list-panes -F '#{pane_pid}')

	# Two processes have it: the other one would write beside the session.
	until_found "process $pid has the same conversation"
	[ "$(grep -c 'has the same conversation: end one of them first' "$home/out")" = 2 ] || fail "$(<"$home/out")"
	not_adopted 'has the same conversation' --session-id "$id"
	# A copy of it is another one.
	"${deck[@]}" tmux -S "$home/tmp/tmux" new-window -d "exec agentdeck-demo-agent --resume $id --fork-session"
	until_found '"--fork-session"'
	grep -q '"session_id": null' "$home/out" || fail "the copy: $(<"$home/out")"
	[ "$(grep -c 'has the same conversation' "$home/out")" = 2 ] || fail "$(<"$home/out")"
	tmux -S "$home/tmp/tmux" kill-window -t :2
	tmux -S "$home/tmp/tmux" kill-window -t :1
	until_found '"doubt": null'

	# A take-over that was killed counts while its session still has what it was to take.
	must add . -t s --agent demo
	owned=$(value s session_id)
	taken_from "$pid" "$other"
	finds
	grep -q "\"session_id\": \"$id\"" "$home/out" || fail "an old intent counts: $(<"$home/out")"
	taken_from "$pid" "$owned"
	finds
	grep -q "\"session_id\": \"$owned\"" "$home/out" && grep -q '"session_id_source": "session"' "$home/out" ||
		fail "the intent does not count: $(<"$home/out")"
	not_adopted 'omit --title, --session-id and --fresh' --fresh
	# What the agent writes is later than the intent.
	touch "$folder/$id.jsonl"
	until_found "began with $owned, but the newest conversation"
	tmux -S "$home/tmp/tmux" kill-server
	settle
}

# Its files are where its HOME says, which may be another one than that of the command.
case_adopt_takes_the_home_of_the_process() {
	local pid
	mkdir "$home/other"
	"${deck[@]}" "HOME=$home/other" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d 'exec agentdeck-demo-agent'
	pid=$(tmux -S "$home/tmp/tmux" list-panes -F '#{pane_pid}')
	until_found "\"pid\": $pid"
	grep -q "\"config_home\": \"$home/other/.local/share/agentdeck-demo-agent\"" "$home/out" || fail "its home: $(<"$home/out")"
	must adopt "$pid" --yes --fresh -t s --no-supervise
	must send s --wait hello
	grep -rqs hello "$home/other/.local/share/agentdeck-demo-agent/projects" || fail "the conversation is elsewhere"
	must stop s
	tmux -S "$home/tmp/tmux" kill-server 2>/dev/null
	settle
}

case_a_process_with_the_conversation_is_taken_over_by_an_answer() {
	local id pid
	must add . -t s --agent demo
	must start s --no-supervise
	must send s --wait hello
	must stop s
	id=$(value s session_id)
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d "exec agentdeck-demo-agent --resume $id"
	pid=$(tmux -S "$home/tmp/tmux" list-panes -F '#{pane_pid}')
	until_found '"session": "'
	taken_from "$pid" "$id"
	refused 1 "open in process $pid" start s
	must settle --json start s
	settled "o['about'] == 'conflict' and kinds == ['keep', 'fork', 'take']"
	settled "any(line.startswith('process $pid, in terminal /dev/pts/') for line in lines) and 'directory $home/work' in lines"
	settled "'command agentdeck-demo-agent --resume $id' in lines and any(line.startswith('since 20') for line in lines)"
	# nobody can attach to that
	refused 1 'attach cannot be done here' settle --answer attach --seen "$(seen)" start s
	must settle --json start s
	must settle --answer take --seen "$(seen)" start s
	! lives "$pid" || fail "process $pid still has the conversation"
	[ "$(value s status) $(value s session_id)" = "running $id" ] || fail "$(value s status): $(<"$home/out")"
	must stop s
	tmux -S "$home/tmp/tmux" kill-server 2>/dev/null
	settle
}

# lives PID: it has not ended; who started it may not have asked yet how
lives() { grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null; }

# The find is the script, and the agent below it has the conversation.
case_an_agent_that_a_script_launched_is_taken_over_by_an_answer() {
	local agent id script
	must add . -t s --agent demo
	must start s --no-supervise
	must send s --wait hello
	must stop s
	id=$(value s session_id)
	launcher
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d "exec $home/bin/agentdeck-demo-agent --resume $id"
	until_found '"session": "'
	script=$(tmux -S "$home/tmp/tmux" list-panes -F '#{pane_pid}')
	agent=$(child "$script" agentdeck-demo)
	taken_from "$agent" "$id"
	must settle --json start s
	settled "o['about'] == 'conflict' and kinds == ['keep', 'fork', 'take']"
	settled "any(line.startswith('process $agent, in terminal /dev/pts/') for line in lines)"
	must settle --answer take --seen "$(seen)" start s
	! lives "$agent" || fail "process $agent still has the conversation"
	[ "$(value s status) $(value s session_id)" = "running $id" ] || fail "$(value s status): $(<"$home/out")"
	must stop s
	tmux -S "$home/tmp/tmux" kill-server 2>/dev/null
	settle
}

# The command that takes it over is killed, and the script is, but not the agent below it.
case_an_agent_that_outlives_its_launcher_has_no_second_one_beside_it() {
	local agent command deadline id script
	# adopt sees every process of this user, also those of another run of this test
	id=$(</proc/sys/kernel/random/uuid)
	demo_conversation "$id"
	launcher
	# below a shell, whose end would end all of its terminal
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d -c "$home/work" \
		"$home/bin/agentdeck-demo-agent --resume $id; read -r answer"
	script=$(child "$(tmux -S "$home/tmp/tmux" list-panes -F '#{pane_pid}')")
	agent=$(child "$script" agentdeck-demo)
	until_found "\"pid\": $script"
	# stopped, it cannot end, so the command waits for it
	kill -STOP "$script"
	printf '[stop]\ntimeout = 600\n' >>"$home/deck/config.toml"
	deadline=$((SECONDS + 120))
	"${deck[@]}" agentdeck adopt "$script" --yes -t s --no-supervise >"$home/adopting" 2>&1 &
	command=$!
	until grep -qs '"launched"' "$home"/deck/default/*/instance.json || [ "$SECONDS" -ge "$deadline" ]; do sleep 0.1; done
	kill -KILL "$command" "$script"
	wait "$command" || true
	lives "$agent" || fail "the agent ended with its script: $(<"$home/adopting")"
	refused 1 "open in process $agent" start s
	until_found '"session": "'
	sed -i 's/^timeout = 600$/timeout = 5/' "$home/deck/config.toml"
	must adopt "$agent" --yes --no-supervise
	! lives "$agent" || fail "process $agent still has the conversation"
	[ "$(value s status) $(value s session_id)" = "running $id" ] || fail "$(value s status): $(<"$home/out")"
	must stop s
	tmux -S "$home/tmp/tmux" kill-server 2>/dev/null
	settle
}

case_adopt_asks_first() {
	local pid
	"${deck[@]}" tmux -S "$home/tmp/tmux" -f /dev/null new-session -d 'exec agentdeck-demo-agent'
	pid=$(tmux -S "$home/tmp/tmux" list-panes -F '#{pane_pid}')
	until_found "\"pid\": $pid"
	asked n adopt "$pid" --fresh -t taken
	[ "$status" = 1 ] || fail "n: status $status"
	grep -q 'A turn that it works on is lost' "$home/out" && grep -q 'Nothing was done' "$home/out" || fail "n: $(<"$home/out")"
	kill -0 "$pid" || fail "n: the process was ended"
	asked y adopt "$pid" --fresh -t taken
	[ "$status" = 0 ] && grep -q '^Work in it with: agentdeck attach taken' "$home/out" || fail "y: status $status, $(<"$home/out")"
	must stop taken
	settle
}

type_in() {
	"${deck[@]}" tmux -S "$terminal" send-keys -l -- "$1"
	"${deck[@]}" tmux -S "$terminal" send-keys Enter
}

case_discover_asks_for_numbers() {
	local slug=${home//[^A-Za-z0-9-]/-}-work number
	for number in 1 2 3 4; do
		conversation "$slug" "$number$number$number$number$number$number$number$number-1111-4111-8111-111111111111" "task $number"
		touch -d "$number days ago" "$home/user/.claude/projects/$slug/$number$number$number$number"*
	done
	on_terminal 80 agentdeck discover
	until_screen 'Which become sessions'
	# Where it was says more than the id, which nobody types here.
	grep -q "claude .*$home.* task 1" <<<"$(screen)" || fail "does not show where: $(screen)"
	type_in '2 five'
	until_screen 'Type numbers from 1 to 4'
	type_in '1, 3-4'
	until_screen '^ended with 0$'
	grep -qx 3 <<<"$(screen | grep -c '^Added ')" || fail "$(screen)"
	"${deck[@]}" tmux -S "$terminal" kill-server
	must list --json
	[ "$(grep -o '"session_id": "[0-9]' "$home/out" | grep -o '.$' | sort | tr -d '\n')" = 134 ] || fail "added $(<"$home/out")"

	# "q" cancels, and an empty line adds nothing
	for number in q ''; do
		on_terminal 120 agentdeck discover
		until_screen 'Which become sessions'
		type_in "$number"
		until_screen "^ended with $([ "$number" ] && echo 1 || echo 0)\$"
		grep -q '^Added' <<<"$(screen)" && fail "$(screen)"
		"${deck[@]}" tmux -S "$terminal" kill-server
	done
}

# --- history -----------------------------------------------------------------------------------------

case_history_searches_all_conversations() {
	local slug=${home//[^A-Za-z0-9-]/-}-work first=11111111-1111-4111-8111-111111111111
	local second=22222222-2222-4222-8222-222222222222 file
	must history anything
	grep -qx 'No conversation on disk has this text.' "$home/out" || fail "finds $(<"$home/out")"
	must history any thing
	grep -q 'its words were searched for as one phrase' "$home/out" || fail "finds $(<"$home/out")"
	hostile_files
	conversation "$slug" "$first" 'Why does the \u001b[31mCache\u0007 grow?'
	file=$home/user/.claude/projects/$slug/$first.jsonl
	printf '%s\n' '{"type":"assistant","message":{"content":[{"type":"text","text":"It has\nno limit: the cache keeps \"all\"."}]}}' \
		'{"type":"user","message":{"content":[{"type":"tool_result","content":"cache of a tool"}]}}' \
		'{"type":"user","isMeta":true,"message":{"content":"cache of a note"}}' '{"type":"user","message":{"content":"cache' >>"$file"
	conversation "$slug" "$second" 'the second'
	must discover "$first" --add
	must history CACHE
	LC_ALL=C grep -q $'[\001-\010\013-\037\177]' "$home/out" && fail "control characters"
	grep -q "^work (claude, .*$home/work)" "$home/out" || fail "says $(<"$home/out")"
	grep -q '^    claude: It has no limit: the cache' "$home/out" || fail "shows $(<"$home/out")"
	grep -q 'and 1 more' "$home/out" || fail "counts $(<"$home/out")"
	must history 'keeps "all"' --json
	grep -q '"matches": 1,' "$home/out" && grep -q '"bond": "current"' "$home/out" || fail "$(<"$home/out")"
	must history the second
	grep -q '^no session (claude' "$home/out" && grep -q "discover $second --add" "$home/out" || fail "$(<"$home/out")"
	must history --directory "$home/user" second
	grep -q 'No conversation on disk' "$home/out" || fail "elsewhere: $(<"$home/out")"
	must history -n 1 e --json
	grep -q '"has_more": true' "$home/out" || fail "$(<"$home/out")"
	must remove work
	must history grow
	grep -q '^the removed session work (' "$home/out" || fail "removed: $(<"$home/out")"
	refused 64 'is empty' history ' '
	refused 64 'invalid age' history --since soon x
	refused 64 '' history
}

# Where agentdeck cannot keep the point at which a copy is made.
case_fork_says_that_it_is_open() {
	local slug=${home//[^A-Za-z0-9-]/-}-work id=11111111-1111-4111-8111-111111111111
	must add . -t one --agent codex --session-id "$id"
	must session fork one --no-start
	grep -q 'one-fork is open until its first message' "$home/err" || fail "says $(<"$home/err")"
	conversation "$slug" "$id" 'a question'
	must add . -t two --agent claude --session-id "$id"
	must session fork two --no-start
	grep -q 'open until' "$home/err" && fail "says $(<"$home/err")"
}

# --- logs --------------------------------------------------------------------------------------------

case_logs_of_one_session() {
	local id
	must add . -t api --agent demo
	must add . -t web --agent demo
	must start api
	must stop api
	id=$(value api id)
	run logs api
	[ "$status" = 0 ] && [ -s "$home/out" ] && ! grep -qv "instance=$id " "$home/out" || fail "logs api: $(<"$home/out")"
	cp "$home/out" "$home/all"
	run logs api -n 1
	[ "$(<"$home/out")" = "$(tail -n 1 "$home/all")" ] || fail "logs api -n 1: $(<"$home/out")"
	run logs -n 0
	[ "$status" = 0 ] && [ ! -s "$home/out" ] || fail "logs -n 0: $(<"$home/out")"
	run logs -n 1000000
	[ "$(wc -l <"$home/out")" = "$(wc -l <"$home/deck/logs/agentdeck.log")" ] || fail "not all: $(<"$home/out")"
	must remove api
	run logs "$id"
	grep -q "instance=$id .*" "$home/out" || fail "of a removed session: $(<"$home/out") $(<"$home/err")"
	refused 2 'no session' logs api
	refused 64 'name the session once' logs web -i web
	refused 64 'from 0 to 1000000' logs -n -1
	id=$(value web id)
	on_terminal 200 agentdeck logs web -f
	until_screen "instance=$id added"
	must remove web
	until_screen "instance=$id removed"
	"${deck[@]}" tmux -S "$terminal" kill-server
}

# --- session set -------------------------------------------------------------------------------------

# move_home: the user's home directory has another name from now on
move_home() {
	mv "$home/user" "$home/moved"
	deck=("${deck[@]/#HOME=*/HOME=$home/moved}")
}

# A default home of the agent is below whatever the home directory is now.
case_a_moved_home_keeps_its_conversation() {
	local one two
	mkdir "$home/user/work"
	must add . -t one --agent demo
	must add "$home/user/work" -t two --agent demo
	for name in one two; do
		must session start "$name"
		must send "$name" --wait hello
		must session stop "$name"
	done
	one=$(value one session_id) two=$(value two session_id)
	# as a version left it that wrote no more than the path
	sed -i '/config_home_is_default/d' "$home/deck/default/$(value one id)/instance.json"
	move_home
	# before its first start there, too
	must session output one
	grep -q hello "$home/out" || fail "output: $(<"$home/out")"
	must session export one "$home/one.tar"
	must backup "$home/backup.tar"
	grep -q '2 sessions with 2 conversations' "$home/out" || fail "backup: $(<"$home/out")"
	must session start one
	grep -q "resumed conversation $one" "$home/out" || fail "one: $(<"$home/out")"
	grep -q "\"$home/moved/.local/share/agentdeck-demo-agent\"" "$home/deck/default/$(value one id)/instance.json" ||
		fail "its home is not the one of today"
	refused 2 'session set two path' session start two
	must session set two path "$home/moved/work" --copy-transcript
	grep -q "was copied to $home/moved" "$home/out" || fail "path: $(<"$home/out")"
	must session start two
	grep -q "resumed conversation $two" "$home/out" || fail "two: $(<"$home/out")"
	must session stop one two
}

# The one that is begun while resuming is off is empty, and hides the one before.
case_a_conversation_that_is_left_is_offered() {
	local before
	must add . -t api --agent demo
	must session start api
	must send api --wait hello
	must session stop api
	before=$(value api session_id)
	sed -i '1i resume_agents = false' "$home/deck/config.toml"
	for _ in 1 2; do
		must session start api
		grep -q "resume_agents is off; conversation $before is kept" "$home/out" || fail "off: $(<"$home/out")"
		must session stop api
	done
	sed -i '/resume_agents/d' "$home/deck/config.toml"
	must session start api
	grep -q "nothing was said .*; conversation $before is kept.*agentdeck session set api session-id $before" "$home/out" ||
		fail "on: $(<"$home/out")"
	must session stop api
	must session set api session-id "$before"
	must session start api
	grep -q "resumed conversation $before" "$home/out" || fail "back: $(<"$home/out")"
	! grep -q 'is kept' "$home/out" || fail "back: $(<"$home/out")"
	# who begins another one in so many words is told nothing
	must session stop api
	must session start api --fresh
	! grep -q 'is kept' "$home/out" || fail "fresh: $(<"$home/out")"
	must session stop api
}

case_session_set_home() {
	local before
	deck+=("AGENTDECK_DEMO_CONFIG_DIR=$home/files")
	must add . -t api --agent demo
	must session start api
	refused 1 'is running' session set api home "$home/user"
	must send api --wait hello
	must session stop api
	before=$(value api session_id)
	mv "$home/files" "$home/elsewhere"
	mkdir "$home/files"
	refused 2 "has no conversation $before" session set api home "$home/user"
	refused 2 'is not an existing directory' session set api home "$home/none"
	# a mount point without its disk: nothing may begin there
	refused 2 'is missing or empty: mount its disk' session start api
	rmdir "$home/files"
	refused 2 "$home/files, which is missing or empty" session restart api
	must session set api home "$home/elsewhere"
	must session start api
	grep -q "resumed conversation $before" "$home/out" || fail "$(<"$home/out")"
	mv "$home/elsewhere" "$home/files"
	refused 2 "$home/elsewhere, which is missing" session restart api
	[ "$(value api status)" = running ] || fail 'it was ended before the refusal'
	must session stop api
	must session start api --fresh
	must session stop api
	must add . -t sh --agent shell
	refused 1 'no variable' session set sh home "$home/files"
}

case_session_set() {
	local id before
	must add . -t a --agent claude
	id=$(value a id) before=$(value a session_id)
	sed -i 's/"title"/"future": {"x": 1}, "title"/' "$home/deck/default/$id/instance.json"
	must session set a group work/api
	[ "$(value a group)" = work/api ] || fail "group $(value a group)"
	refused 64 'group' session set a group 'a//b'
	must session set a group ''
	[ "$(value a group)" = '' ] || fail "group $(value a group)"
	must session set a notes 'ask Ann'
	[ "$(value a notes)" = 'ask Ann' ] || fail "notes $(value a notes)"
	must list --json
	grep -q '"notes": *"ask Ann"' "$home/out" || fail "$(<"$home/out")"
	must session show a
	grep -q '^ *Notes.*ask Ann' "$home/out" || fail "$(<"$home/out")"
	refused 64 'at most 4096 bytes' session set a notes "$(printf 'x%.0s' {1..4097})"
	must session set a notes ''
	! grep -q notes "$home/deck/default/$id/instance.json" || fail "notes are left"
	must session set a command "claude --model 'opus x'"
	grep -q 'next start' "$home/out" || fail "$(<"$home/out")"
	grep -q '"opus x"' "$home/deck/default/$id/instance.json" || fail "the command"
	[ "$(value a session_id)" = "$before" ] || fail "the conversation changed"
	refused 64 'command: ' session set a command 'claude | tee'
	refused 64 'the command is empty' session set a command ''
	refused 64 'runs codex, and the session.s agent is claude' session set a command codex
	refused 64 "omit '--continue'" session set a command 'claude --continue'
	refused 64 "omit '-p'" session set a command 'claude -p'
	refused 64 'names conversation' session set a command 'claude --resume 00000000-0000-4000-8000-000000000000'
	refused 64 'only works with agent' session set a group x --drop-conversation
	refused 64 'fields: session-id' session set a colour red
	grep -q '"future": *{' "$home/deck/default/$id/instance.json" || fail "an unknown key is lost"
}

# The ids of what is listed are in the order of their creation; their titles, on one line.
titles() {
	must list --format 'table title' "$@"
	grep -vx 'TITLE *' "$home/out" | tr -s '\n ' ' '
}

case_session_tags() {
	local id name many=''
	must launch . -t a --agent demo --tag urgent --tag api,urgent
	must add . -t b --agent claude --tag api
	must add . -t c --agent claude
	id=$(value a id)
	must session show a
	grep -q '^ *Tags *api,urgent$' "$home/out" || fail "show: $(<"$home/out")"
	must list --json
	grep -qF '"tags":["api","urgent"]' <<<"$(tr -d ' \n' <"$home/out")" || fail "list: $(<"$home/out")"
	[ "$(titles --tag api)" = 'a b ' ] || fail "api: $(<"$home/out")"
	[ "$(titles --tag api --tag urgent)" = 'a ' ] || fail "both: $(<"$home/out")"
	refused 64 "'Api' is no tag" list --tag Api
	must session set b tags +x,-api
	grep -q 'All of its tags: x' "$home/out" || fail "set: $(<"$home/out")"
	[ "$(titles --tag api)" = 'a ' ] || fail "b has kept a tag: $(<"$home/out")"
	must session set b tags -- -x
	! grep -q '"tags"' "$home/deck/default/$(value b id)/instance.json" || fail 'tags are left'
	refused 64 'is no tag' list --tag ''
	refused 64 'is no tag' list --tag=-x
	for name in '' Api 'a b' 'ä' ,a 'a,' -- "$(printf 'x%.0s' {1..33})" 'a,+b' '+a,b' + +-; do
		[ -z "$name" ] || refused 64 'is no tag' session set a tags -- "$name"
	done
	for name in {1..17}; do many+=,t$name; done
	refused 64 'at most 16 tags, not 17' session set a tags "${many#,}"
	refused 64 'at most 16 tags' launch . -t d --agent demo --tag "${many#,}"
	refused 2 'no session has the title' session set nosuch tags a
	[ "$(titles --tag api)" = 'a ' ] || fail "a refusal has changed the tags: $(<"$home/out")"
	# What another program has written: only tags count, and the session can be used.
	must session stop a
	sed -i 's/"urgent"/7, "<b>", "..", "urgent", "urgent"/' "$home/deck/default/$id/instance.json"
	[ "$(titles --tag urgent)" = 'a ' ] || fail "$(<"$home/out")"
	must list --json
	grep -qF '"tags":["api","urgent"]' <<<"$(tr -d ' \n' <"$home/out")" || fail "damaged: $(<"$home/out")"
	must session set a pinned yes
	[ "$(value a is_pinned)" = true ] || fail "pinned: $(value a is_pinned)"
	refused 64 'pinned must be yes or no' session set a pinned maybe
	must session set a pinned no
	[ "$(value a is_pinned)" = false ] || fail "pinned: $(value a is_pinned)"
}

case_session_queue() {
	local manifest waits='{"id": "0000aaaa", "text": "first\\nline", "at": "2026-04-14T09:08:07.000Z", "state": "queued"}'
	must add . -t a --agent demo
	must add . -t b --agent demo
	refused 1 'a is not running: start it with agentdeck session start a' send a --when-idle hello
	refused 64 'none of --wait' send a --when-idle --wait hello
	refused 64 'none of --wait' send a --when-idle --timeout 9 hello
	refused 64 'omit --replace-draft' send a --when-idle --replace-draft hello
	refused 64 'a queued one may have 16384: put it' send a --when-idle "$(head -c 16385 /dev/zero | tr '\0' x)"
	must queue a
	grep -qx 'a: nothing is queued' "$home/out" || fail "queue: $(<"$home/out")"
	# As one that was ended while it typed has left it.
	manifest=$home/deck/default/$(value a id)/instance.json
	sed -i "0,/{/s//{\"queue\": [${waits/queued/typing}, ${waits/0000aaaa/0000bbbb}],/" "$manifest"
	must queue a
	grep -Eq '^0000aaaa .* unknown +first \.\.\.$' "$home/out" && grep -Eq '^0000bbbb .* queued +first \.\.\.$' "$home/out" &&
		grep -q '^0000aaaa may have been typed, so it is not typed again.* queue a --cancel 0000aaaa\.$' "$home/out" ||
		fail "queue: $(<"$home/out")"
	must list
	grep -q 'stopped, 2 queued' "$home/out" || fail "list: $(<"$home/out")"
	must show a
	grep -Eq '^Queued +2: the first message may have been typed already$' "$home/out" || fail "show: $(<"$home/out")"
	refused 1 'has 2 queued messages' session move a --step leave --id 11111111-2222-4333-8444-555555555555 --to other
	refused 2 "no queued message has the id 'nosuch'" queue a --cancel nosuch
	refused 1 '2 messages wait in its queue, which the file does not have' export a --remove "$home/a.export"
	[[ ! -e $home/a.export ]] || fail "it was exported"
	must remove a
	grep -q 'Its queue of 2 messages goes with it\.' "$home/out" || fail "remove: $(<"$home/out")"
	must undo
	refused 64 'the id of a message, or all' queue a --cancel ''
	must queue a --cancel 0000aaaa
	must queue a
	grep -qx 'Waits: its agent does not run\.' "$home/out" || fail "queue: $(<"$home/out")"
	must queue a --cancel all
	grep -qx 'a: 1 cancelled' "$home/out" || fail "cancel: $(<"$home/out")"
	grep -q '"queue"' "$manifest" && fail "it is in the manifest"
	[ "$(stat -c %a "$manifest")" = 600 ] || fail "others may read the manifest"
	must queue a --cancel all
}

case_session_archive() {
	local id
	must launch . -t a --agent demo
	must add . -t b --agent claude
	id=$(value a id)
	refused 1 'a was not archived: it is running. Stop it first with agentdeck stop a, or use --stop' archive a
	refused 2 'no session has the title' archive nosuch
	must archive a --stop
	grep -qx 'a: archived' "$home/out" || fail "$(<"$home/out")"
	none_left || fail "processes left: $left"
	must archive a --json
	grep -q '"was_archived": *true' "$home/out" || fail "$(<"$home/out")"
	[ "$(titles)" = 'b ' ] || fail "it is listed: $(<"$home/out")"
	[ "$(titles --archived)" = 'a ' ] || fail "it is not in the archive: $(<"$home/out")"
	[ "$(titles --status archived)" = 'a ' ] || fail "no status: $(<"$home/out")"
	[ "$(titles --status archived,stopped)" = 'a b ' ] || fail "two: $(<"$home/out")"
	must status
	grep -qx '1 stopped, 1 in all' "$home/out" || fail "it is counted: $(<"$home/out")"
	[ -n "$(value a archived_at)" ] && [ -n "$(value "$id" archived_at)" ] || fail 'it is not found by its name'
	must session show a
	grep -q '^ *Archived ' "$home/out" || fail "$(<"$home/out")"
	must session show "${id:0:5}"
	grep -q '^ *Archived ' "$home/out" || fail "its id is cut, and it is not found: $(<"$home/out")"
	must set a group old
	must group list
	grep -Eqx 'old +0 +0' "$home/out" || fail "it is counted in its group: $(<"$home/out")"
	must recover
	none_left || fail 'recover has started it'
	must remove --all --force
	grep -qx 'agentdeck: 1 archived session is left alone: agentdeck list --archived' "$home/err" || fail "it does not say so: $(<"$home/err")"
	[ "$(titles --archived)" = 'a ' ] || fail "--all has removed it: $(<"$home/out")"
	must remove --all --force --json
	! grep -q 'left alone' "$home/err" || fail "it says so to a program: $(<"$home/err")"
	must list
	grep -q 'agentdeck list --archived' "$home/out" || fail "no hint: $(<"$home/out")"
	must help --complete -- session stop ''
	! grep -qx $'a\t.*' "$home/out" || fail "it is offered: $(<"$home/out")"
	must help --complete -- session show ''
	grep -q '^a\b' "$home/out" || fail "show is not offered it: $(<"$home/out")"
	must help --complete -- session unarchive ''
	grep -q '^a\b' "$home/out" || fail "it is not offered: $(<"$home/out")"
	must start a
	grep -q '^agentdeck: a: it is out of the archive now$' "$home/err" || fail "$(<"$home/err")"
	[ "$(titles)" = 'a ' ] || fail "$(<"$home/out")"
	must stop a
	must archive --all
	must unarchive --all
	[ "$(titles)" = 'a ' ] || fail "$(<"$home/out")"
	must unarchive a
	grep -qx 'a: is already out of the archive' "$home/out" || fail "$(<"$home/out")"
	# A version that knows no archive starts it, and keeps the key.
	must archive a
	sed -i 's/"desired": *"stopped"/"desired": "running"/' "$home/deck/default/$id/instance.json"
	[ "$(titles)" = 'a ' ] || fail "it should run, and is out of sight: $(<"$home/out")"
	must stop a
	[ "$(titles)" = 'a ' ] || fail "a stop has archived it: $(<"$home/out")"
	must archive a
	must remove a
	must undo a
	[ "$(titles --archived)" = 'a ' ] || fail "$(<"$home/out")"
}

case_session_set_agent_loses_no_conversation() {
	local id before manifest
	must add . -t a --agent claude
	id=$(value a id) before=$(value a session_id) manifest=$home/deck/default/$id/instance.json
	# Never started: there is nothing to lose, and the id is kept all the same.
	must session set a agent demo
	grep -q 'Its command is now: ' "$home/out" || fail "$(<"$home/out")"
	[ "$(value a agent)" = demo ] || fail "agent $(value a agent)"
	grep -q "\"previous\":\[\"$before\"" <<<"$(tr -d ' \n' <"$manifest")" || fail "$before is lost: $(<"$manifest")"
	must session start a
	refused 1 'stop it first' session set a agent claude
	before=$(value a session_id)
	must session stop a
	refused 1 "conversation $before belongs to demo" session set a agent claude
	refused 2 'nosuch' session set a agent nosuch
	must session set a agent claude --drop-conversation
	grep -qF "\"$before\"" "$manifest" || fail "$before is lost"
	[ "$(value a session_id)" != "$before" ] || fail "claude has the conversation of demo"
	must remove a
}

# --- groups and profiles -----------------------------------------------------------------------------

# Of a session on this host; tests/persistence tries them in a container.
case_a_command_beside_the_agent() {
	must add . -t a --agent demo
	run exec a -- pwd
	[ "$status" = 0 ] && grep -qx "$(pwd -P)" "$home/out" || fail "exec: $status, $(<"$home/out")"
	run exec a -- sh -c 'exit 3'
	[ "$status" = 3 ] || fail "exec: the command's status was lost: $status"
	refused 2 'no-such-program is not installed' exec a -- no-such-program
	refused 64 'which command\?.*session exec a -- COMMAND' exec a
	refused 1 'a runs on this host: it has no container' eject a
	must eject --all
	grep -qx 'No session there is in a container: nothing to do.' "$home/out" || fail "eject --all: $(<"$home/out")"
	refused_json 1 INVALID_OPERATION eject a
}

case_groups() {
	run group list
	[ "$(<"$home/out")" = 'No groups. Put a session into one with: agentdeck session set SESSION group GROUP' ] || fail "$(<"$home/out")"
	must add . -t a -g work --agent demo
	must add . -t b -g work/api --agent demo
	must add . -t c -g workshop --agent demo
	printf '[groups.work.limits]\ntasks_max = 100\n' >>"$home/deck/config.toml"
	must group list
	grep -Eqx 'work +2 +0' "$home/out" && grep -Eqx 'work/api +1 +0' "$home/out" || fail "$(<"$home/out")"
	refused 1 'has 2 sessions: --move takes them out of it' group remove work
	refused 2 "no session is in a group 'none'" group rename none other
	refused 64 'choose a name outside' group rename work work/sub
	refused 64 '' group rename work 'x//y'
	printf '[groups.empty.limits]\ntasks_max = 100\n' >>"$home/deck/config.toml"
	refused 2 "group 'empty' has no session; config.toml names it: agentdeck config edit" group remove empty
	must group rename work job/x
	grep -q "still has limits for the group 'work'" "$home/err" || fail "$(<"$home/err")"
	[ "$(value a group) $(value b group) $(value c group)" = 'job/x job/x/api workshop' ] || fail "renamed to $(value a group) $(value b group) $(value c group)"
	must group remove job/x --move --json
	grep -q '"sessions": *2' "$home/out" || fail "$(<"$home/out")"
	[ "$(value a group) $(value b group)" = 'job job/api' ] || fail "moved to $(value a group) $(value b group)"
	must group remove job --move
	[ "$(value a group) $(value b group)" = ' api' ] || fail "moved to $(value a group) $(value b group)"
}

case_the_status_line_has_the_group() {
	in_line() { env -u TMUX tmux -S "$(value a socket)" show-options -gqv @agentdeck_group; }
	must add . -t a -g work --agent demo
	must start a
	[ "$(in_line)" = work ] || fail "after the start: $(in_line)"
	must set a group work/api
	[ "$(in_line)" = work/api ] || fail "after set: $(in_line)"
	must group rename work job
	[ "$(in_line)" = job/api ] || fail "after group rename: $(in_line)"
	must set a group ''
	[ -z "$(in_line)" ] || fail "without a group: $(in_line)"
	must stop a
}

case_another_profile_has_it() {
	mkdir one two
	must add one -t one --agent demo
	must -p work add two -t two --agent demo
	refused 2 "profile default has no session 'two', but profile work has one: add -p work" show two
	refused 2 "but profile work has one: add -p work" stop one two
	refused 2 "profile work has no session 'one', but profile default has one" -p work show one
	refused 2 'no session has the title' show three
}

case_profiles() {
	must -p other add . -t a --agent demo
	must profile list
	grep -Eqx 'other +1 +0' "$home/out" || fail "$(<"$home/out")"
	refused 1 "profile 'other' has 1 session: remove it first" profile remove other
	refused 2 "no profile 'none'" profile remove none
	must -p other remove a
	must -p other list
	grep -q 'agentdeck launch -p other DIRECTORY -t TITLE$' "$home/out" || fail "$(<"$home/out")"
	refused 1 "the trash of profile 'other' has 1 session: .*agentdeck -p other prune" profile remove other
	must -p other prune --force
	mkdir "$home/deck/other/.trash/mine"
	refused 1 '/other/.trash holds files' profile remove other
	rmdir "$home/deck/other/.trash/mine"
	touch "$home/deck/other/mine"
	refused 1 "holds 'mine'" profile remove other
	rm "$home/deck/other/mine"
	must profile remove other
	[ ! -e "$home/deck/other" ] || fail "it is there: $(ls "$home/deck/other")"
	must profile list --json
	! grep -q other "$home/out" || fail "$(<"$home/out")"
}

# The table is in docs/how-to.md, and the keys are in a golden screen of the deck.
case_each_command_for_a_session_has_a_key_in_the_deck() {
	local name rest row key keys table lines
	table=$(sed -nE 's/^\| `([a-z -]+)` \| (.*) \|$/\1|\2/p' "$tree/docs/how-to.md")
	# two columns; what follows "In a line ..." and "While you ..." are no keys of the list
	mapfile -t lines <"$tree/tests/unit/draw/help-120x112.txt"
	keys=$( (printf '%s\n' "${lines[@]:1}" | sed -E 's/^(.{60}).*/\1/'; printf '%s\n' "${lines[@]:1}" | sed -E 's/^.{0,61}//') |
		awk '/^(In|While) /{ other = 1 } /^(Signs|Move|Talk|Look|Manage|Many|Deck)/{ other = 0 } !other' | sed -nE 's/^([^ ]+(, [^ ]+)*)  .*/\1/p' | sed 's/, /\n/g')
	must help --all
	while IFS= read -r name; do
		# shellcheck disable=SC2086
		must help $name
		[[ $(head -n 1 "$home/out") == *SESSION* ]] || continue
		row=$(grep -F -- "$name|" <<<"$table" | head -n 1)
		[[ $row == "$name|"?* ]] || fail "docs/how-to.md does not say which key of the deck does '$name'"
	done < <(sed -nE '/^Called by/q; s/^  ([a-z-]+( [a-z-]+)?)  .*/\1/p' "$home/out")
	while IFS='|' read -r name rest; do
		# shellcheck disable=SC2086
		must help $name
		for key in $(grep -oE '`[^`]+`' <<<"$rest" | tr -d '`'); do
			grep -qxF -- "$key" <<<"$keys" || fail "docs/how-to.md: '$name' has the key $key, which is not in the deck's help"
		done
	done <<<"$table"
}

case_doctor_finds_a_program_of_another_version() {
	local from helper
	from=$(dirname "$(command -v agentdeck)")
	[[ -x $from/agentdeck-gate ]] || from=$from/../libexec/agentdeck
	mkdir "$home/bin" && cp "$(command -v agentdeck)" "$home/bin"
	for helper in "$from"/agentdeck-*; do
		[[ ! -f $helper || ! -x $helper ]] || cp "$helper" "$home/bin"
	done
	env "AGENTDECK_HOME=$home/deck" "$home/bin/agentdeck" doctor >"$home/out" 2>&1
	grep -q "^helpers  *ok" "$home/out" || fail "doctor: $(<"$home/out")"
	sed -i 's/agentdeck-version=/agentdeck-version=9/' "$home/bin/agentdeck-gate"
	env "AGENTDECK_HOME=$home/deck" "$home/bin/agentdeck" doctor >"$home/out" 2>&1 && fail 'doctor is content'
	grep -q "^helpers  *error .*/agentdeck-gate" "$home/out" || fail "doctor: $(<"$home/out")"
}

# An installation of its own that was configured for another place, as after a second scripts/quickstart.
case_the_programs_of_the_same_installation_run() {
	local from prefix=$home/prefix helper
	from=$(dirname "$(command -v agentdeck)")
	mkdir -p "$prefix/bin" "$prefix/libexec/agentdeck"
	cp "$(command -v agentdeck)" "$prefix/bin"
	[[ -x $from/agentdeck-gate ]] || from=$from/../libexec/agentdeck
	for helper in gate watch bell view; do
		cp "$from/agentdeck-$helper" "$prefix/libexec/agentdeck"
	done
	printf '#!/bin/sh\necho "$0" >"%s"\nexit 1\n' "$home/ran" >"$prefix/libexec/agentdeck/agentdeck-assess"
	chmod 755 "$prefix/libexec/agentdeck/agentdeck-assess"
	git init -q . && git -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	"${deck[@]}" "$prefix/bin/agentdeck" add . -t api --agent demo --worktree >"$home/out" 2>&1
	[[ -e $home/ran && $(<"$home/ran") == "$prefix/libexec/agentdeck/agentdeck-assess" ]] ||
		fail "the agentdeck-assess of another installation ran: $(<"$home/out")"
	# others could put something into its place
	rm -f "$home/ran"
	chmod 777 "$prefix/libexec/agentdeck/agentdeck-assess"
	"${deck[@]}" "$prefix/bin/agentdeck" add . -t web --agent demo --worktree >"$home/out" 2>&1
	[[ ! -e $home/ran ]] || fail 'a program that everybody may write ran'
	install -m 777 "$from/agentdeck-capsule" "$prefix/libexec/agentdeck"
	"${deck[@]}" "$prefix/bin/agentdeck" doctor >"$home/out" 2>&1
	grep -Eq '^helpers +error +every user can write .*/agentdeck-capsule, ' "$home/out" || fail "doctor: $(<"$home/out")"
	chmod 777 "$prefix/libexec/agentdeck"
	"${deck[@]}" "$prefix/bin/agentdeck" list >"$home/out" 2>"$home/err" && fail 'it uses a directory that everybody may write'
	grep -q "every user can write $prefix/libexec/agentdeck, and so run commands as you: chmod o-w " "$home/err" || fail "$(<"$home/err")"
}

case_doctor_report_has_no_secret() {
	must add . -t classified --agent demo
	printf '[notify]\ncommand = ["curl", "https://s3cret@example.org"]\n[container]\nimage = "s3cret/image"\n' >>"$home/deck/config.toml"
	must doctor --report
	grep -Fqx -- '- notify.command = (set)' "$home/out" && grep -Fqx -- '- container.image = (set)' "$home/out" &&
		grep -Fqx -- '- tmux.linger = false' "$home/out" && grep -Eqx -- '- [0-9a-z]{8}: demo, stopped, host' "$home/out" ||
		fail "$(<"$home/out")"
	! grep -E "s3cret|classified|$home/user" "$home/out" || fail "it tells too much"
	echo 'stop_timeout = "s3cret"' >>"$home/deck/config.toml"
	run doctor --report
	! grep s3cret "$home/out" || fail "it quotes config.toml"
	grep -Eq -- '^- config: error' "$home/out" || fail "$(<"$home/out")"
	refused 64 '--report is a text by itself' doctor --report --fix
}

case_up_and_down() {
	mkdir -p src/api && git init -q . && git -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	refused 2 'there is no agentdeck.toml: agentdeck up --help' up
	echo 'group = "work"' >agentdeck.toml
	refused 1 'agentdeck.toml names no session' up
	printf '%s\n' '[session.api]' 'path = "src/api"' 'agent = "demo"' 'message = "hello there"' \
		'[session.docs]' 'agent = "demo"' 'group = "play"' 'worktree = true' 'args = ["--model=small"]' >>agentdeck.toml
	run diff
	[ "$status" = 1 ] || fail "diff: status $status"
	grep -Eq '^api +missing +agentdeck launch .*/src/api --title=api --agent=demo .*--group=work' "$home/out" || fail "$(<"$home/out")"
	grep -Eq '^docs +missing .* --group=play --worktree -- --model=small$' "$home/out" || fail "$(<"$home/out")"
	must up
	grep -q '^api: message submitted' "$home/out" || fail "$(<"$home/out")"
	must diff
	must up
	[ "$(sort "$home/out")" = $'api: already running\ndocs: already running' ] || fail "$(<"$home/out")"
	must down
	[ "$(sort "$home/out")" = $'api: stopped\ndocs: stopped' ] || fail "$(<"$home/out")"
	# what is at rest needs no process: none has written a line into the log
	must down
	[ "$(sort "$home/out")" = $'api: was not running\ndocs: was not running' ] || fail "$(<"$home/out")"
	! grep -r 'was not running' "$home/deck/logs" || fail "down ran a stop for a session at rest"
	must list -q
	[ "$(wc -l <"$home/out")" = 2 ] || fail "made twice: $(<"$home/out")"
	# what differs is told, and stays
	sed -i 's/"play"/"other"/' agentdeck.toml
	run diff
	grep -Eq '^docs +stopped +group: it has play, the file says other$' "$home/out" || fail "$(<"$home/out")"
	must up
	grep -q 'docs: group: it has play, the file says other$' "$home/err" && [ "$(grep -c '^agentdeck: up changes nothing' "$home/err")" = 1 ] || fail "$(<"$home/err")"
	sed -i 's/^worktree/memory_max = "2048M"\n&/' agentdeck.toml
	run diff
	grep -Eq '^docs +running +.*; memory_max: it has none, the file says 2G' "$home/out" || fail "$(<"$home/out")"
	must session limit docs --memory-max 2G
	run diff
	! grep -q memory_max "$home/out" || fail "$(<"$home/out")"
	# a session of another directory is not touched
	sed -i 's,"src/api","src",' agentdeck.toml
	refused 1 'api: another session has this title, in .*/src/api. Rename one of them; nothing was done' down
	for mistake in 'worktre = true|unknown key "worktre": did you mean "worktree"' 'title = "x"|unknown key "title"' \
		'worktree = "yes"|session.docs.worktree must be true or false' 'attach = true|unknown key' \
		'mount = "x"|session.docs.mount must be an array'; do
		{ sed '/^worktree/d' agentdeck.toml && echo "${mistake%%|*}"; } >wrong.toml
		refused 1 "wrong.toml:[0-9]+:[0-9]+: ${mistake#*|}" up wrong.toml
	done
	echo 'x = 1' >wrong.toml
	refused 1 'unknown key "x": the file has group' up wrong.toml
	must stop --all
}

# Nor does one that runs get a process: it would wait for the session's lock.
case_up_leaves_what_runs() {
	command -v python3 >/dev/null || return 0
	printf '[session.api]\nagent = "demo"\n' >agentdeck.toml
	must up
	coproc holder {
		exec python3 -c 'if True:
			import fcntl, sys
			held = [open(path, "r+") for path in sys.argv[1:]]
			for file in held: fcntl.lockf(file, fcntl.LOCK_EX)
			print("held", flush=True)
			sys.stdin.read()' "$home"/deck/default/*.lock
	}
	# shellcheck disable=SC2154  # coproc sets it
	local keys=${holder[1]} pid=$holder_PID said
	read -r said <&"${holder[0]}"
	[ "$said" = held ] || fail 'the lock is not held'
	must up --json
	exec {keys}>&-
	wait "$pid"
	grep -q '"already_running": *true' "$home/out" || fail "$(<"$home/out")"
	must stop api
}

case_up_says_where_a_mistake_is() {
	local fine=$'[session.web]\nagent = "demo"\n[session.api]' mistake
	mkdir "$home/user/src"
	# each makes none of them: the last lines of the file, and what is said of its fourth line
	for mistake in 'path = "gone"|4:1: .*/gone is not an existing directory: create it, or correct path' \
		'agent = "dmeo"|4:1: unknown agent .dmeo.; did you mean .demo.' 'agent = 3|4:1: session.api.agent must be a string' \
		'group = "a//b"|4:1: invalid group "a//b"' '[session.""]|4:10: invalid title "": it is empty' \
		'[session.api]|4:1: .*redefine' 'message = ["a"]|4:1: session.api.message must be a string' \
		'instead = "web"|4:1: unknown key "instead"' \
		"memory_max = \"1X\"|4:1: session.api.memory_max: invalid size '1X'"; do
		printf '%s\n' "$fine" "${mistake%%|*}" >agentdeck.toml
		refused 1 "agentdeck.toml:${mistake#*|}" up
		must list -q
		[ ! -s "$home/out" ] || fail "$mistake: made $(<"$home/out")"
	done
	# what only launch knows concerns one of them
	printf '%s\n' "$fine" 'agent = "demo"' 'worktree = true' >agentdeck.toml
	run up
	[ "$status" = 1 ] || fail "status $status"
	grep -q "^agentdeck: agentdeck.toml:3:10: api: .*git" "$home/err" || fail "$(<"$home/err")"
	run up --json
	grep -q '"error":"agentdeck.toml:3:10: api: .*git' "$home/out" || fail "$(<"$home/out")"
	must list -q
	[ "$(wc -l <"$home/out")" = 1 ] || fail "made $(<"$home/out")"
	# "~" is the home, also for who has no shell; and a session that the file does not name is left alone
	printf '%s\n' '[session.home]' 'path = "~/src"' 'agent = "demo"' >agentdeck.toml
	must up
	[ "$(value home path)" = "$(realpath "$home/user/src")" ] || fail "path: $(value home path)"
	must diff --json
	grep -q '"as_declared": true' "$home/out" || fail "$(<"$home/out")"
	must down
	[ "$(<"$home/out")" = 'home: stopped' ] || fail "$(<"$home/out")"
	[ "$(value web status)" = running ] || fail "down stopped another session"
	must stop --all
}

# What is not as the file says: those that up --update changes, and those that it does not.
case_up_of_another_user() {
	printf '%s\n' '[session.api]' 'cmd = "cat"' >agentdeck.toml
	run diff
	[ "$status" = 1 ] || fail "status $status"
	[ "$(id -u)" = 0 ] || return 0
	chown 12345 agentdeck.toml
	for command in up diff down; do
		refused 1 'agentdeck.toml belongs to user 12345, who could use it to run commands as you' "$command"
	done
}

case_up_changes_the_tags_that_the_file_says() {
	printf '%s\n' '[session.api]' 'agent = "demo"' 'tag = ["urgent", "api"]' >agentdeck.toml
	must up
	[ "$(tags_of api)" = api,urgent ] || fail "made with: $(tags_of api)"
	must set api tags +mine,-api
	run diff
	[ "$status" = 1 ] && grep -q '^api .*tags: it has mine,urgent, the file says api,urgent$' "$home/out" || fail "$(<"$home/out")"
	must up --update
	grep -q '^api: tags is now api,urgent\. All of its tags: api,urgent$' "$home/out" && [ "$(tags_of api)" = api,urgent ] || fail "$(<"$home/out")"
	must diff
	# a file that says nothing of them leaves them alone
	sed -i 's/^tag.*/group = "work"/' agentdeck.toml
	must up --update
	[ "$(tags_of api)" = api,urgent ] || fail "they are gone: $(tags_of api)"
	sed -i 's/^group.*/tag = []/' agentdeck.toml
	run diff
	grep -q '^api .*tags: it has api,urgent, the file says none$' "$home/out" || fail "$(<"$home/out")"
	must up --update
	[ -z "$(tags_of api)" ] || fail "they are there: $(tags_of api)"
	sed -i 's/^tag.*/tag = ["two words"]/' agentdeck.toml
	refused 1 'agentdeck\.toml:3:[0-9]+: session\.api\.tag: ' up --update
	must stop --all
}
tags_of() { "${deck[@]}" agentdeck show "$1" --json | python3 -c 'import json, sys; print(",".join(json.load(sys.stdin).get("tags") or []))'; }

case_up_update() {
	local conversation server
	printf '%s\n' '[session.api]' 'agent = "demo"' 'args = ["--model=small"]' '[session.web]' 'agent = "demo"' 'path = "web"' >agentdeck.toml
	mkdir web && must up
	must send api hello
	must stop web
	conversation=$(value api session_id) server=$(value api server_pid)
	printf '%s\n' 'group = "work"' '[session.api]' 'agent = "demo"' "args = [\"--model=it's large\", \"\"]" 'resume = "auto"' \
		'restart = "always"' 'keep = true' 'memory_max = "2048M"' 'tasks_max = 100' \
		'[session.web]' 'agent = "shell"' 'path = "web"' 'worktree = true' '[session.new]' 'agent = "demo"' >agentdeck.toml
	run diff
	grep -Eq "^api +running +group: [^;]*; command: [^;]*--model=small, [^;]*large' ''; resume: [^;]*; restart: [^;]*; on-end: [^;]*; memory_max: [^;]*2G; tasks_max: it has none, the file says 100$" "$home/out" ||
		fail "$(<"$home/out")"
	grep -Eq '^web +stopped +group: it has none, the file says work; agent: it has demo, the file says shell \(not by up --update\); tree: .* worktree \(not by up --update\)$' "$home/out" ||
		fail "$(<"$home/out")"
	# without the option nothing changes, and both kinds are told
	must up
	grep -q '^agentdeck: api: restart: it has default, the file says always$' "$home/err" &&
		[ "$(grep -c '^agentdeck: up changes nothing of a session that exists; up --update does$' "$home/err")" = 1 ] ||
		fail "$(<"$home/err")"
	grep -q '^agentdeck: web: agent: .*does not change this: use agentdeck session set web agent shell, with --drop-conversation' "$home/err" || fail "$(<"$home/err")"
	[ -z "$(value api group)" ] || fail 'up changed the group'
	must stop web new
	must up --update
	[ "$(grep -c ' is now ' "$home/out")" = 8 ] || fail "$(<"$home/out")"
	grep -q "^api: command is now .*'--model=it'.*It applies from the next start$" "$home/out" || fail "$(<"$home/out")"
	grep -q '^api: memory_max is now 2G$' "$home/out" && grep -q '^api: tasks_max is now 100. The limits ' "$home/out" || fail "$(<"$home/out")"
	grep -q '^web: group is now work$' "$home/out" || fail "$(<"$home/out")"
	grep -q '^agentdeck: web: tree: .*rename the session (agentdeck rename web NEW)' "$home/err" || fail "$(<"$home/err")"
	! grep -q 'changes nothing' "$home/err" || fail "$(<"$home/err")"
	# the session that ran is the same
	[ "$(value api server_pid)" = "$server" ] && [ "$(value api session_id)" = "$conversation" ] || fail 'api was touched'
	[ "$(value web path)" = "$(realpath web)" ] && [ "$(value web agent)" = demo ] || fail 'web has moved'
	[ "$(value web status)" = running ] || fail 'web was not started'
	# and there is nothing left to change
	must up --update
	! grep -q ' is now ' "$home/out" || fail "changed again: $(<"$home/out")"
	grep -q '^agentdeck: web: agent: .*: use agentdeck stop web, then agentdeck session set web agent shell, with' "$home/err" || fail "$(<"$home/err")"
	run diff
	grep -Eq '^api +running *$' "$home/out" || fail "$(<"$home/out")"
	sed -i '/"shell"/d; /worktree/d' agentdeck.toml
	must diff
	# the next start has the command, and the conversation
	must restart api
	grep -q "resumed conversation $conversation" "$home/out" || fail "$(<"$home/out")"
	must show api --json
	grep -q "it's large" "$home/out" || fail 'it does not run with the new arguments'
	[ "$(value api session_id)" = "$conversation" ] || fail 'another conversation'
	must stop --all
}

case_up_update_changes_nothing_after_a_mistake() {
	local mistake
	must add . -t api --agent demo
	must add . -t web --agent demo
	for mistake in 'restart = "never"|session.web.restart must be no, on-failure, always or default, not "never"' \
		'resume = "no"|session.web.resume must be auto, confirm, never or default, not "no"' \
		'tasks_max = "1K"|session.web.tasks_max: invalid number' 'cmd = "demo; ls"|session.web.cmd: ' 'cmd = ""|session.web.cmd is empty' \
		'agent = "dmeo"|unknown agent .dmeo.; did you mean' 'group = "a//b"|invalid group' 'path = "gone"|another session has this title'; do
		printf '%s\n' '[session.api]' 'group = "work"' '[session.web]' "${mistake%%|*}" >agentdeck.toml
		refused 1 "agentdeck.toml:[34]:[0-9]+: .*${mistake#*|}" up --update
	done
	printf '%s\n' '[session.api]' 'group = "work"' '[session.web]' 'keep = true' 'clean = true' >agentdeck.toml
	refused 1 'agentdeck.toml:3:10: keep and clean exclude each other' up --update
	printf '%s\n' '[session.api]' 'group = "work"' '[session.web]' '[session.new]' 'path = "gone"' >agentdeck.toml
	refused 1 'agentdeck.toml:5:1: .*gone is not an existing directory' up --update
}

# One that cannot be changed holds up no other.
case_up_update_goes_on_after_a_failure() {
	local id lock
	must add . -t api --agent demo
	must add . -t web --agent demo
	id=$(value api id)
	lock=$(find "$home/deck" -name "*$id*.lock")
	[ -f "$lock" ] || fail "the lock of api: '$lock'"
	rm "$lock" && mkdir "$lock"
	printf '%s\n' '[session.api]' 'agent = "demo"' 'group = "work"' '[session.web]' 'agent = "demo"' 'group = "work"' '[session.new]' 'agent = "demo"' >agentdeck.toml
	run up --update
	[ "$status" = 1 ] || fail "status $status"
	grep -q '^agentdeck: agentdeck.toml:1:10: api: group: ' "$home/err" || fail "$(<"$home/err")"
	grep -q '^web: group is now work$' "$home/out" || fail "$(<"$home/out")"
	[ "$(value web status)" = running ] && [ "$(value new status)" = running ] || fail 'the others were not started'
	must stop --all
	run up --update --json
	[ "$status" = 1 ] || fail "status $status"
	grep -q "\"success\":false,.*\"error\":\"agentdeck.toml:1:10: api: group: .*\"id\":\"$id\",\"title\":\"api\",\"updated\":\[\],\"kept\":\[\]" "$home/out" ||
		fail "$(<"$home/out")"
	[ "$(grep -c '"success":true' "$home/out")" = 2 ] || fail "$(<"$home/out")"
	rmdir "$lock"
	# a limit that is taken away
	must session limit web --memory-max 2G
	sed -i 's/^group.*/memory_max = 0/' agentdeck.toml
	run diff
	grep -q 'memory_max: it has 2G, the file says none$' "$home/out" || fail "$(<"$home/out")"
	must up --update
	grep -q '^web: memory_max is now none. The limits ' "$home/out" || fail "$(<"$home/out")"
	must stop --all
}

case_up_update_takes_no_command_that_session_set_refuses() {
	local words
	must launch . -t api --agent demo
	for words in 'cmd = "claude"|this command runs claude, .*use agentdeck session set api agent claude first' 'args = ["--continue"]|omit .--continue.'; do
		printf '%s\n' '[session.api]' "${words%%|*}" >agentdeck.toml
		must up --update
		grep -q "^agentdeck: api: command: .*does not change this: ${words#*|}" "$home/err" || fail "$words: $(<"$home/err")"
		! grep -q 'is now' "$home/out" || fail "$words: $(<"$home/out")"
	done
	must stop --all
}

# As other tools take it; and what the tree lacks is said.
case_a_worktree_by_its_name() {
	git init -q -b main . && touch .gitmodules .worktreeinclude && git add . &&
		git -c user.name=a -c user.email=a@b commit -qm one
	must launch --worktree fix-login --agent shell --no-supervise
	grep -Eq '^Its worktree is /.*, on branch fix-login\.$' "$home/out" || fail "$(<"$home/out")"
	grep -q 'submodule update --init' "$home/err" && grep -q 'does not read .worktreeinclude' "$home/err" || fail "$(<"$home/err")"
	[ "$(git branch --list --format='%(refname:short)' fix-login)" = fix-login ] || fail 'no branch fix-login'
	[ "$(value fix-login title)" = fix-login ] || fail 'another title'
	refused 2 'no/such is no|no/such: ' add --worktree no/such --agent shell
	# What may be a directory with a typing error is no branch.
	mkdir service
	refused 2 "servize is not an existing directory: did you mean 'service'\? .*--branch servize" launch servize --worktree --agent shell
	[ -z "$(git branch --list servize)" ] || fail 'it became a branch'
	must add serv --worktree --agent shell
	grep -q 'serv is no directory here: it names the branch' "$home/err" || fail "$(<"$home/err")"
	must add --clone other --agent shell -t mine
	grep -q 'on branch other\.$' "$home/out" || fail "$(<"$home/out")"
	must stop --all
}

case_a_word_for_the_command_alone_reaches_nothing_that_it_starts() {
	local form
	git init -q -b main . && git -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	printf '[workspace]\nsetup = ["sh", "-c", "env >%s/started"]\n' "$home" >>"$home/deck/config.toml"
	for form in --no-supervise --quiet --json; do
		must add . --worktree -t "a$form" --agent demo
		AGENTDECK_STAGES=1 must start "a$form" --no-supervise "$form"
		grep -q '^HOME=' "$home/started" || fail "$form: no setup ran"
		grep -q '^AGENTDECK_STAGES' "$home/started" && fail "$form: its setup has it"
		must stop "a$form"
		rm "$home/started"
	done
}

# Its user has chosen that session on the terminal.
case_a_launch_that_resumes_leaves_the_setup_out() {
	git init -q -b main . && git -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	printf '[workspace]\nsetup = ["false"]\n' >>"$home/deck/config.toml"
	must add . --worktree -t a --agent demo
	run start a
	[ "$status" = 1 ] && grep -q -e '--no-setup' "$home/err" || fail "$status: $(<"$home/err")"
	must launch . --no-setup --instead a --no-supervise
	must stop a
}

# To set on-end also decides about an end that is undecided: here it would delete the session.
case_up_update_decides_about_no_end() {
	local tree id
	git init -q -b main repo && git -C repo -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	must launch repo -t api --agent demo --worktree --no-supervise
	id=$(value api id) tree=$(value api path)
	echo work >"$tree/file"
	must send api /exit --no-wait
	must status --wait stopped --timeout 30 api
	must recover
	grep -q undecided <("${deck[@]}" agentdeck show api --json) || fail 'its end is not undecided'
	rm "$tree/file"
	printf '%s\n' '[session.api]' 'path = "repo"' 'worktree = true' 'clean = true' >agentdeck.toml
	must up --update
	grep -q '^agentdeck: api: on-end: .*does not change this: its agent has ended, .*agentdeck session set api on-end clean' "$home/err" || fail "$(<"$home/err")"
	[ "$(value api id)" = "$id" ] && [ -d "$tree" ] && [ "$(value api status)" = running ] || fail 'the session is not as it was'
	# its start has ended that
	must up --update
	grep -q '^api: on-end is now clean$' "$home/out" || fail "$(<"$home/out")"
	must diff
	must stop --all
}

# What the verdict calls safe, and once more when that is answered.
case_a_merge_offers_to_remove_the_session() {
	local tree asker words
	local -a own=(git -c user.name=a -c user.email=a@b)
	git init -q -b main repo && "${own[@]}" -C repo commit -qm one --allow-empty
	must add repo -t api --agent demo --worktree
	tree=$(value api path)
	echo b >"$tree/b" && git -C "$tree" add b && "${own[@]}" -C "$tree" commit -qm b
	words=$("${deck[@]}" script -qefc 'agentdeck merge api' /dev/null <<<n 2>&1)
	[[ $words = *'Merged agentdeck/api into main:'*'Remove api? After that, agentdeck prune --branches deletes its worktree and the branch agentdeck/api;'*'It stays.'* ]] || fail "it asks: $words"
	mkfifo "$home/answer"
	: >"$home/asked"
	"${deck[@]}" script -qefc 'agentdeck merge api' /dev/null <>"$home/answer" >"$home/asked" 2>&1 &
	asker=$!
	until_done grep -q 'Remove api' "$home/asked" || fail "it does not ask: $(<"$home/asked")"
	echo new >"$tree/new"
	echo y >"$home/answer"
	wait "$asker"
	[[ $(<"$home/asked") = *'api was not removed, because its tree'* ]] || fail "it says: $(<"$home/asked")"
	words=$("${deck[@]}" script -qefc 'agentdeck merge api' /dev/null </dev/null 2>&1)
	[[ $words = *'has all of agentdeck/api already.'*'agentdeck check api says which'* ]] || fail "with a new file: $words"
	rm "$tree/new"
	words=$("${deck[@]}" script -qefc 'agentdeck merge api' /dev/null <<<y 2>&1)
	[[ $words = *'Removed api ('*'). '*'Its worktree is kept until agentdeck prune. To restore the session: agentdeck undo'* ]] || fail "it says: $words"
	[ -e "$tree/b" ] || fail 'its worktree is gone'
	must undo
	[ -e "$tree/b" ] || fail 'undo brings no tree back'
	must remove api
	must prune --force --branches
	[ ! -e "$tree" ] && ! git -C repo rev-parse -q --verify agentdeck/api && git -C repo cat-file -e main:b || fail "left: $(ls -R "$tree" repo)"
}

# It says so, and which command deletes the rest.
case_a_branch_that_stays_after_a_merge_is_named() {
	local kind tree words
	local -a own=(git -c user.name=a -c user.email=a@b)
	git init -q -b main repo && "${own[@]}" -C repo commit -qm one --allow-empty
	git -C repo config user.name a && git -C repo config user.email a@b
	for kind in worktree clone; do
		must add repo -t "$kind" --agent demo "--$kind"
		tree=$(value "$kind" path)
		echo b >"$tree/$kind" && git -C "$tree" add . && "${own[@]}" -C "$tree" commit -qm b
		"${own[@]}" -C repo commit -qm other --allow-empty
		words=$("${deck[@]}" script -qefc "agentdeck merge $kind --squash" /dev/null <<<y 2>&1)
		[[ $words = *"After that, agentdeck prune deletes its $kind, the branch agentdeck/$kind stays;"*"Its $kind is kept until agentdeck prune."* ]] || fail "$kind: $words"
		must prune --force
		[ ! -e "$tree" ] && git -C repo rev-parse -q --verify "agentdeck/$kind" >/dev/null || fail "$kind: tree or branch"
	done
}

# --- all of them --------------------------------------------------------------------------------------

if run_cases "$@"; then
	rm -rf "$root"
	exit 0
fi
echo "what was made is in $root"
exit 1
