#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-export.bash - a session goes to another account in a file, with its conversation
#
# USAGE
#   test-export.bash [NAME...]    only these cases; agentdeck is found in PATH
#
# Each account has its own home and deck. The agent is the one for demonstrations; nothing starts it.
#
# EXIT STATUS
#   0 all passed; 1 some failed
#
# The cases are called by their names, which shellcheck does not see.
# shellcheck disable=SC2317
set -uo pipefail
export LC_ALL=C.UTF-8

readonly id=11111111-2222-4333-8444-555555555555 canary=canary-5f1d90
# shellcheck source=tests/unit/cases.bash
source "${top_srcdir:-$(dirname "$0")/../..}/tests/unit/cases.bash"
# What runs agentdeck; nothing: it runs itself.
under=()

set_up() { root=$(mktemp -d /tmp/agentdeck-export-test-XXXXXX) || exit; }
tear_down() { rm -rf "$root"; }

# as ACCOUNT COMMAND...: its status is in $status, its output in $root/out and $root/err
as() {
	local home=$root/$1
	shift
	mkdir -p "$home"
	if [ ! -e "$home/deck" ]; then
		mkdir -m 700 "$home/deck"
		printf '[tmux]\nlaunch_in_user_scope = false\nlinger = false\n' >"$home/deck/config.toml"
	fi
	env -i "PATH=$PATH" "HOME=$home" "AGENTDECK_HOME=$home/deck" "TMPDIR=$root" SHELL=/bin/sh LC_ALL=C.UTF-8 \
		"SECRET_TOKEN=$canary" "AGENTDECK_DEMO_TOKEN=$canary" \
		"${under[@]}" agentdeck "$@" >"$root/out" 2>"$root/err" < <(cat "${input:-/dev/null}")
	status=$?
}

must() {
	as "$@"
	[ "$status" = 0 ] || fail "$*: status $status, $(<"$root/err")"
}

# refused ACCOUNT WORDS COMMAND...: it fails, and says these words
refused() {
	local account=$1 words=$2
	shift 2
	as "$account" "$@"
	[ "$status" != 0 ] || fail "$*: was not refused"
	grep -qF -- "$words" "$root/err" || fail "$*: does not say '$words': $(<"$root/err")"
}

# Where ACCOUNT has the conversations of the directory PATH.
folder() {
	echo "$root/$1/.local/share/agentdeck-demo-agent/projects/${2//[^A-Za-z0-9]/-}"
}

# A conversation in the home of one, and its session.
begin() {
	rm -rf "${root:?}"/*
	mkdir -p "$root/work" "$root/elsewhere" "$(folder one "$root/work")"
	printf '%s\n' \
		"{\"type\":\"user\",\"cwd\":\"$root/work\",\"sessionId\":\"$id\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}" \
		"{\"type\":\"assistant\",\"cwd\":\"$root/work\",\"sessionId\":\"$id\",\"message\":{\"role\":\"assistant\",\"content\":\"hi\"}}" \
		>"$(folder one "$root/work")/$id.jsonl"
	must one add "$root/work" -t work -g some/group --agent demo --session-id "$id"
	must one session set work notes "mine"
	must one session export work "$root/file"
}

sessions() {
	find "$root/$1/deck" -name instance.json | wc -l
}

# --- cases -----------------------------------------------------------------------------------------

case_a_conversation_goes_to_another_account() {
	begin
	[ "$(stat -c %a "$root/file")" = 600 ] || fail "others can read the file"
	must two session import "$root/file"
	cmp "$(folder one "$root/work")/$id.jsonl" "$(folder two "$root/work")/$id.jsonl" || fail "the conversation differs"
	must two session show work --json
	for word in "\"session_id\": \"$id\"" '"group": "some/group"' '"notes": "mine"'; do
		grep -qF "$word" "$root/out" || fail "not there: $word"
	done
	must two session check work
}

case_a_conversation_goes_through_a_pipe() {
	begin
	refused one "--remove needs a file" session export work - --remove
	must one session export work -
	cp "$root/out" "$root/piped"
	tar -tf "$root/piped" | cmp - <(tar -tf "$root/file") || fail "standard output is another file"
	[ ! -e - ] || fail "there is a file with the name -"
	head -c 2000 "$root/piped" >"$root/half"
	input=$root/half refused two "standard input is not a whole file" session import -
	[ ! -e "$root/two/.local" ] || fail "a refused import has written something"
	input=$root/piped must two session import -
	cmp "$(folder one "$root/work")/$id.jsonl" "$(folder two "$root/work")/$id.jsonl" || fail "the conversation differs"
	refused one "a backup needs a file" backup -
}

case_it_can_work_in_another_directory() {
	begin
	rmdir "$root/work"
	refused two "--directory" session import "$root/file"
	[ ! -e "$root/two/.local" ] || fail "a refused import has written something"
	must two session import "$root/file" --directory "$root/elsewhere" -t other
	[ -s "$(folder two "$root/elsewhere")/$id.jsonl" ] || fail "the conversation is not there"
}

case_no_secret_is_in_the_file() {
	begin
	grep -qaF "$canary" "$root/file" && fail "the file has a secret"
	grep -qaF "$root/one" "$root/file" && fail "the file names the home"
	return 0
}

case_no_conversation_is_there_twice() {
	begin
	refused one "is here already" session import "$root/file" -t again
	must one rename work before
	must one remove before
	refused one "in the trash of profile default" session import "$root/file"
	grep -q "agentdeck undo [a-z0-9]*$" "$root/err" || fail "no way back: $(<"$root/err")"
	must two session import "$root/file"
	refused two "is here already" session import "$root/file" -t again
	# in another home of the same user
	must two profile list
	env -i "PATH=$PATH" "HOME=$root/two" "AGENTDECK_HOME=$root/two/deck" "AGENTDECK_DEMO_CONFIG_DIR=$root/other" \
		agentdeck -p more session import "$root/file" 2>"$root/err" && fail "it is there in two homes"
	[ "$(sessions two)" = 1 ] || fail "$(sessions two) sessions, and not one"
	# no session of it, and a conversation that has gone on since
	mkdir -p "$(folder three "$root/work")"
	echo '{}' >"$(folder three "$root/work")/$id.jsonl"
	refused three "on this machine already" session import "$root/file"
}

case_a_session_that_cannot_be_read_may_have_it() {
	local manifest
	begin
	must two add "$root/elsewhere" -t other --agent demo
	manifest=$(find "$root/two/deck" -name instance.json)
	echo '{' >"$manifest"
	refused two "cannot be read" session import "$root/file"
	cp -R "$root/one/.local" "$root/two/"
	refused two "remove that session first" discover --add "$id"
	[ "$(sessions two)" -le 1 ] || fail "$(sessions two) sessions"
}

case_a_home_may_be_on_another_disk() {
	begin
	mkdir -p "$root/two/.local/share/agentdeck-demo-agent" "$root/disk"
	chmod 775 "$root/two/.local/share/agentdeck-demo-agent" "$root/disk"
	ln -s "$root/disk" "$root/two/.local/share/agentdeck-demo-agent/projects"
	must two session import "$root/file"
	[ -s "$(folder two "$root/work")/$id.jsonl" ] || fail "the conversation is not there"
}

case_what_was_cut_off_can_be_repeated() {
	begin
	mkdir -p "$(folder two "$root/work")"
	cp "$(folder one "$root/work")/$id.jsonl" "$(folder two "$root/work")/"
	must two session import "$root/file"
	[ "$(sessions two)" = 1 ] || fail "$(sessions two) sessions, and not one"
}

case_the_file_is_named_from_the_root() {
	begin
	cd "$root/work" || return
	must one session export work here --json
	grep -qF "\"file\": \"$(realpath "$root")/work/here\"" "$root/out" || fail "$(<"$root/out")"
	cd "$root" || return
}

case_no_file_is_overwritten() {
	begin
	refused one "exists already" session export work "$root/file"
	[ -z "$(find "$root" -name '.file.*')" ] || fail "a temporary file is left"
}

case_what_was_changed_is_refused() {
	begin
	sed 's/hello/HELLO/' "$root/file" >"$root/changed"
	refused two "was changed" session import "$root/changed"
	head -c 3000 "$root/file" >"$root/cut"
	refused two "not a whole file" session import "$root/cut"
	tar -C / -cf "$root/foreign" "${root#/}/work"
	refused two "name one that 'agentdeck backup'" session import "$root/foreign"
	[ "$(sessions two)" = 0 ] || fail "a refused import made a session"
	[ ! -e "$root/two/.local" ] || fail "a refused import has written something"
}

readonly rollout=.codex/sessions/2026/11/25/rollout-2026-11-25T19-55-04-$id.jsonl

# The chat of qwen in ACCOUNT.
chat() {
	echo "$root/$1/.qwen/projects/${root//[^A-Za-z0-9]/-}-work/chats/$id.jsonl"
}

# Conversations of codex and qwen, each with its session.
begin_others() {
	begin
	mkdir -p "$root/one/${rollout%/*}" "$(dirname "$(chat one)")"
	printf '{"type":"session_meta","payload":{"id":"%s","cwd":"%s"}}\n' "$id" "$root/work" >"$root/one/$rollout"
	printf '{"type":"user","cwd":"%s","sessionId":"%s","message":{"parts":[{"text":"hello"}]}}\n' \
		"$root/work" "$id" >"$(chat one)"
	must one add "$root/work" -t codex --agent codex --session-id "$id"
	must one add "$root/work" -t qwen --agent qwen --session-id "$id"
	echo '{"token":"'$canary'"}' | tee "$root/one/.codex/auth.json" >"$root/one/.qwen/oauth_creds.json"
}

case_conversations_of_other_agents_come_along() {
	local agent
	begin_others
	for agent in codex qwen; do
		must one session export "$agent" "$root/$agent"
		grep -qaF "$canary" "$root/$agent" && fail "$agent: the file has a secret"
		must two session import "$root/$agent"
		refused one "is here already" session import "$root/$agent" -t again
		refused two "is here already" session import "$root/$agent" -t again
	done
	cmp "$root/one/$rollout" "$root/two/$rollout" || fail "codex: the conversation differs"
	cmp "$(chat one)" "$(chat two)" || fail "qwen: the conversation differs"
	must one backup "$root/all"
	grep -qaF "$canary" "$root/all" && fail "the backup has a secret"
	input=$root/all must three restore - --apply
	cmp "$root/one/$rollout" "$root/three/$rollout" || fail "codex: the conversation differs after a restore"
	cmp "$(chat one)" "$(chat three)" || fail "qwen: the conversation differs after a restore"
	[ "$(sessions three)" = 3 ] || fail "$(sessions three) sessions, and not three"
}

# What cannot be read may have the conversation.
case_a_directory_that_cannot_be_read_is_told() {
	begin_others
	must one session export codex "$root/codex"
	mkdir -p "$root/two/.codex/sessions/2026"
	ln -s 12 "$root/two/.codex/sessions/2026/12"
	refused two "sessions/2026/12" session import "$root/codex"
	[ "$(sessions two)" = 0 ] || fail "a refused import made a session"
	[ ! -e "$root/two/$rollout" ] || fail "a second copy is there"
	rm -r "$root/one/$rollout"
	ln -s 12 "$root/one/.codex/sessions/2026/12"
	refused one "sessions/2026/12" session export codex "$root/again"
}

# Its user continues it in another terminal.
case_a_conversation_that_is_open_elsewhere_does_not_move() {
	local pid start held
	begin
	held=$root/one/.claude/projects/${root//[^A-Za-z0-9]/-}-work
	mkdir -p "$held" "$root/one/.claude/sessions"
	cp "$(folder one "$root/work")/$id.jsonl" "$held/"
	must one add "$root/work" -t held --agent claude --session-id "$id"
	sleep 600 &
	pid=$!
	start=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 20)
	echo "{\"pid\":$pid,\"procStart\":\"$start\",\"sessionId\":\"$id\"}" >"$root/one/.claude/sessions/$pid.json"
	refused one "process $pid" session export held "$root/moved" --remove
	refused one "process $pid" session export held "$root/moved"
	[ ! -e "$root/moved" ] || fail "a refused export has made a file"
	must one show held
	must one session export held "$root/copied" --running
	grep -qF "may be missing" "$root/out" || fail "nothing is told: $(<"$root/out")"
	kill "$pid"
	wait "$pid" 2>/dev/null
	must one session export held "$root/moved" --remove
}

# qwen refuses an id that began in another directory; codex does not.
case_a_conversation_that_is_bound_to_its_directory_stays_there() {
	begin_others
	must one session export codex "$root/codex"
	must one session export qwen "$root/qwen"
	must two session import "$root/codex" --directory "$root/elsewhere"
	[ -s "$root/two/$rollout" ] || fail "codex: the conversation is not there"
	refused two "continues this conversation only in $root/work" session import "$root/qwen" --directory "$root/elsewhere"
	[ ! -e "$root/two/.qwen" ] || fail "a refused import has written something"
	must one backup "$root/all"
	must three restore "$root/all" --map "$root/work=$root/elsewhere"
	grep -qF "continues this conversation only in" "$root/out" || fail "nothing is told: $(<"$root/out")"
}

# forged AS FROM TO: the file of codex, with TO, which is as long as FROM, in its description
forged() {
	sed "s|$2|$3|" "$root/codex" >"$root/$1"
	cmp -s "$root/codex" "$root/$1" && fail "$2 is not in the file"
	[ "$(stat -c %s "$root/codex")" = "$(stat -c %s "$root/$1")" ] || fail "$1 has another size"
}

case_no_file_says_where_else_it_goes() {
	begin_others
	must one session export codex "$root/codex"
	forged up '"sessions/2026' '"../../../2026'
	forged root '"sessions/2026' '"/tmp/ses/2026'
	forged other '"sessions/2026' '"projects/2026'
	forged hidden 'T19-55-04-' 'T19/./04--'
	for file in up root other hidden; do
		as two session import "$root/$file"
		[ "$status" != 0 ] || fail "$file was imported"
	done
	[ "$(sessions two)" = 0 ] || fail "a refused import made a session"
	[ ! -e "$root/two/.codex" ] || fail "a refused import has written something"
	# A day that leads out of the home.
	mkdir -p "$root/two/.codex/sessions/2026" "$root/trap/25"
	ln -s "$root/trap" "$root/two/.codex/sessions/2026/11"
	as two session import "$root/codex"
	[ "$status" != 0 ] || fail "a link was followed"
	[ -z "$(ls "$root/trap/25")" ] || fail "it wrote through a link"
}

case_a_session_that_moves_goes_to_the_trash() {
	begin
	refused one "exclude each other" session export work "$root/moved" --remove --running
	refused one "exists already" session export work "$root/file" --remove
	must one show work
	must one session export work "$root/moved" --remove --json
	grep -qF '"was_removed": true' "$root/out" || fail "$(<"$root/out")"
	[ "$(find "$root/one/deck" -path '*/.trash/*' -name instance.json | wc -l)" = 1 ] || fail "it is not in the trash"
	refused one "no session" show work
	[ -s "$(folder one "$root/work")/$id.jsonl" ] || fail "the agent's own file is gone"
	refused one "in the trash" session import "$root/moved"
	must two session import "$root/moved"
	must two session show work --json
	grep -qF "\"session_id\": \"$id\"" "$root/out" || fail "no conversation: $(<"$root/out")"
	must one undo
	must one show work
}

# The state of the session TITLE in ACCOUNT.
place() {
	local file
	file=$(manifest "$1" "$2")
	file=${file%/instance.json}
	echo "${file%/*}/conversations/${file##*/}"
}

# used TITLE: a session of pi, whose conversations have no ids
used() {
	must one add "$root/work" -t "$1" --agent pi
	sed -i "1a \"last_used_at\": \"2026-04-14T09:08:01.000Z\"," "$(manifest one "$1")"
	mkdir -p "$(dirname "$(place one "$1")")"
	chmod 700 "$(dirname "$(place one "$1")")"
	mkdir -m 700 "$(place one "$1")"
	echo "{\"said\":\"in $1\"}" >"$(place one "$1")/2026-11-25_new.jsonl"
	echo '{"said":"before"}' >"$(place one "$1")/2026-11-26_old.jsonl"
	touch -d 2026-01-01 "$(place one "$1")/2026-11-26_old.jsonl"
	echo "$canary" >"$(place one "$1")/auth.json"
}

case_a_conversation_in_the_place_of_its_session_comes_along() {
	local title
	begin
	used first
	used second
	must one session export first "$root/first"
	grep -qaF "$canary" "$root/first" && fail "the file has a secret"
	refused one "is here already" session import "$root/first" -t again
	must two session import "$root/first" --directory "$root/elsewhere"
	cmp "$(place one first)/2026-11-25_new.jsonl" "$(place two first)/2026-11-25_new.jsonl" || fail "the conversation differs"
	[ "$(ls "$(place two first)")" = 2026-11-25_new.jsonl ] || fail "$(ls "$(place two first)"): not one file"
	refused two "is here already" session import "$root/first" -t again
	must one backup "$root/all"
	grep -qaF "$canary" "$root/all" && fail "the backup has a secret"
	must three restore "$root/all" --apply
	for title in first second; do
		grep -qF "in $title" "$(place three "$title")/2026-11-25_new.jsonl" || fail "$title has another conversation"
	done
	must three restore "$root/all" --apply
	[ "$(sessions three)" = 3 ] || fail "$(sessions three) sessions, and not three"
	[ "$(find "$root/three/deck/default/conversations" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ] || fail "there are other places"
}

# A backup in "$root/all": the second profile fails, when the sessions of the first are there.
backup_whose_second_profile_fails() {
	begin
	used first
	mkdir -p "$(folder one "$root/elsewhere")"
	cp "$(folder one "$root/work")/$id.jsonl" "$(folder one "$root/elsewhere")/$second.jsonl"
	must one -p other add "$root/elsewhere" -t more --agent demo --session-id "$second"
	must one backup "$root/all"
	mkdir -p "$(dirname "$(folder two "$root/elsewhere")")"
	touch "$(folder two "$root/elsewhere")"
}

case_what_a_failed_restore_put_into_places_is_gone() {
	backup_whose_second_profile_fails
	# a profile of the command's own would go, too
	(umask 077 && mkdir -p "$root/two/deck/default")
	as two restore "$root/all" --apply
	[ "$status" != 0 ] || fail "it did not fail"
	grep -qF "remain in" "$root/err" && fail "it warns of what it has removed: $(<"$root/err")"
	[ -d "$root/two/deck/default/conversations" ] || fail "nothing was put there"
	[ -z "$(find "$root/two/deck/default/conversations" -mindepth 1)" ] || fail "a conversation of no session is left"
	[ "$(sessions two)" = 0 ] || fail "$(sessions two) sessions, and not none"
	rm "$(folder two "$root/elsewhere")"
	must two restore "$root/all" --apply
	[ "$(sessions two)" = 3 ] || fail "$(sessions two) sessions, and not three"
}

# No session can be removed when its hint cannot be.
case_a_session_that_stays_keeps_its_conversation() {
	backup_whose_second_profile_fails
	must two list
	rm -rf "$root/two/deck/hooks"
	touch "$root/two/deck/hooks"
	refused two "is still there" restore "$root/all" --apply
	[ -s "$(place two first)/2026-11-25_new.jsonl" ] || fail "the session has lost its conversation"
}

# The last of three sessions cannot be made, and the others cannot be removed.
# can_trace: "${traced[@]}" runs a command with strace, below which nobody can look for leaks
can_trace() {
	traced=(env ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o "$root/trace")
	command -v strace >/dev/null || { echo "left out: ${FUNCNAME[1]}: no strace"; return 1; }
}

case_a_session_of_a_failed_batch_keeps_its_conversation() {
	local last
	can_trace || return
	begin
	used first
	used second
	must one backup "$root/all"
	must two list
	must three list
	under=("${traced[@]}" -e trace=renameat)
	must three restore "$root/all" --apply
	last=$(grep -n '"\.new-' "$root/trace" | tail -n 1)
	under=("${traced[@]}" -e trace=renameat -e "inject=renameat:error=EIO:when=${last%%:*}+")
	refused two "is still there" restore "$root/all" --apply
	under=()
	[ "$(sessions two)" = 2 ] || fail "$(sessions two) sessions, and not two: $(<"$root/err")"
	[ -s "$(place two first)/2026-11-25_new.jsonl" ] || fail "the session has lost its conversation"
	[ "$(find "$root/two/deck/default/conversations" -mindepth 1 -maxdepth 1 | wc -l)" = 1 ] || fail "a conversation of no session is left"
}

case_a_failed_import_leaves_no_place() {
	can_trace || return
	begin
	used first
	must one session export first "$root/first"
	must two list
	under=("${traced[@]}" -e trace=linkat -e inject=linkat:error=EIO)
	refused two "make a copy" session import "$root/first"
	under=()
	[ -d "$root/two/deck/default/conversations" ] || fail "nothing was put there"
	[ -z "$(find "$root/two/deck/default/conversations" -mindepth 1)" ] || fail "the place of no session is left"
	must two session import "$root/first"
}

# A name that the agent does not give, and one that leads elsewhere.
case_no_file_says_which_file_of_the_session_it_is() {
	begin
	used first
	must one session export first "$root/codex"
	forged name '2026-11-25_new.jsonl' '2026-11-25_new.jsonx'
	forged up '2026-11-25_new.jsonl' '../../../work_.jsonl'
	forged down '2026-11-25_new.jsonl' '2026/11/25_new.jsonl'
	for file in name up down; do
		as two session import "$root/$file"
		[ "$status" != 0 ] || fail "$file was imported"
	done
	[ -z "$(find "$root/two/deck" -path '*/conversations/*')" ] || fail "a refused import has written something"
}

case_an_agent_whose_place_may_have_a_login_is_refused() {
	begin
	must one add "$root/work" -t opencode --agent opencode
	sed -i "1a \"last_used_at\": \"2026-04-14T09:08:01.000Z\"," "$(manifest one opencode)"
	refused one "and no login" session export opencode "$root/opencode"
	must one backup "$root/all"
	grep -qF "and no login" "$root/out" || fail "nothing is told: $(<"$root/out")"
}

# What the file cannot have stays.
case_a_session_without_its_conversation_does_not_move() {
	begin
	must one add "$root/work" -t codex --agent codex
	sed -i "1a \"last_used_at\": \"2026-04-14T09:08:01.000Z\"," "$(manifest one codex)"
	refused one "it is not known which conversation it has" session export codex "$root/codex" --remove
	[ ! -e "$root/codex" ] || fail "a refused export has made a file"
	must one show codex
	must one session export codex "$root/codex"
}

# agentdeck cannot copy what it does not find.
case_an_agent_of_another_layout_is_refused() {
	local agent
	begin
	for agent in gemini copilot; do
		must one add "$root/work" -t "$agent" --agent "$agent" --session-id "$id"
		refused one "does not know where" session export "$agent" "$root/$agent"
		[ ! -e "$root/$agent" ] || fail "$agent: a refused export has made a file"
	done
	must one add "$root/work" -t codex --agent codex --session-id "$id"
	refused one "no conversation $id on this machine" session export codex "$root/codex"
	[ -z "$(find "$root" -maxdepth 1 -name '.*.tmp')" ] || fail "a temporary file is left"
}

# --- the whole deck --------------------------------------------------------------------------------

readonly second=22222222-2222-4333-8444-555555555555

# Three sessions in two profiles, one without a conversation, and settings.
begin_deck() {
	begin
	mkdir -p "$root/more" "$(folder one "$root/more")" "$root/one/deck/agents"
	printf '{"type":"user","cwd":"%s","sessionId":"%s","message":{"role":"user","content":"second"}}\n' \
		"$root/more" "$second" >"$(folder one "$root/more")/$second.jsonl"
	printf 'command = ["sh"]\n' >"$root/one/deck/agents/mine.toml"
	printf 'command = ["sh"]\n[start]\nenvironment = ["KEY=%s"]\n' "$canary" >"$root/one/deck/agents/keyed.toml"
	must one -p other add "$root/more" -t more --agent demo --session-id "$second" --restart no
	must one add "$root/elsewhere" -t plain --agent mine
	must one backup "$root/all"
}

# restored ACCOUNT: all of it is there
restored() {
	must "$1" show work --json
	for word in "\"session_id\": \"$id\"" '"group": "some/group"' '"notes": "mine"'; do
		grep -qF "$word" "$root/out" || fail "not there: $word"
	done
	must "$1" -p other show more --json
	grep -qF "\"session_id\": \"$second\"" "$root/out" || fail "no conversation: $(<"$root/out")"
	grep -qF '"policy": "no"' "$root/out" || fail "no restart policy: $(<"$root/out")"
	must "$1" show plain --json
	grep -qF '"agent": "mine"' "$root/out" || fail "another agent: $(<"$root/out")"
	for of in "$root/work/$id" "$root/more/$second"; do
		cmp "$(folder one "${of%/*}")/${of##*/}.jsonl" "$(folder "$1" "${of%/*}")/${of##*/}.jsonl" || fail "the conversation differs"
	done
	[ "$(sessions "$1")" = 3 ] || fail "$(sessions "$1") sessions, and not three"
}

case_a_deck_comes_back_in_another_account() {
	begin_deck
	[ "$(stat -c %a "$root/all")" = 600 ] || fail "others can read the file"
	grep -qaF "$canary" "$root/all" && fail "the file has a secret"
	mkdir "$root/two" && mkdir -m 700 "$root/two/deck"
	must two restore "$root/all"
	grep -qF "Nothing was changed" "$root/out" || fail "$(<"$root/out")"
	[ "$(sessions two)" = 0 ] || fail "a look has made a session"
	[ ! -e "$root/two/.local" ] || fail "a look has written a conversation"
	[ ! -e "$root/two/deck/agents" ] || fail "a look has written an agent"
	must two restore "$root/all" --apply
	restored two
	cmp "$root/one/deck/config.toml" "$root/two/deck/config.toml" || fail "config.toml differs"
	cmp "$root/one/deck/agents/mine.toml" "$root/two/deck/agents/mine.toml" || fail "the agent differs"
	must two restore "$root/all" --apply
	grep -qF "There is no session to restore" "$root/out" || fail "$(<"$root/out")"
	mv "$root/two/deck/config.toml" "$root/config.toml"
	must two restore "$root/all"
	grep -qx 'There is no session to restore. Restore the settings with --apply.' "$root/out" ||
		fail "only settings: $(<"$root/out")"
	mv "$root/config.toml" "$root/two/deck/config.toml"
	restored two
}

case_a_lost_deck_finds_what_went_on_since() {
	begin_deck
	rm -rf "$root/one/deck/default" "$root/one/deck/other"
	echo '{"type":"user","message":{"role":"user","content":"since then"}}' >>"$(folder one "$root/work")/$id.jsonl"
	cp -R "$root/one/.local" "$root/before"
	must one restore "$root/all" --apply
	restored one
	diff -r "$root/before" "$root/one/.local" || fail "the conversations were changed"
}

case_what_is_here_stays() {
	begin_deck
	mkdir -p "$(folder two "$root/work")"
	echo '{"other":1}' >"$(folder two "$root/work")/$id.jsonl"
	must two add "$root/more" -t plain --agent demo
	echo "# mine" >>"$root/two/deck/config.toml"
	cp "$root/two/deck/config.toml" "$root/before"
	must two restore "$root/all" --apply
	grep -qF "on this machine already" "$root/out" || fail "$(<"$root/out")"
	grep -qF "differs from the one in the file, and stays" "$root/out" || fail "$(<"$root/out")"
	cmp "$root/before" "$root/two/deck/config.toml" || fail "config.toml was changed"
	[ "$(<"$(folder two "$root/work")/$id.jsonl")" = '{"other":1}' ] || fail "a conversation was changed"
	must two show "plain (2)"
	[ "$(sessions two)" = 3 ] || fail "$(sessions two) sessions, and not three"
	must two remove "plain (2)" --force
	must two restore "$root/all"
	grep -qF "in the trash" "$root/out" || fail "it is made beside the one in the trash: $(<"$root/out")"
}

case_what_does_not_come_along_is_told() {
	local manifest
	begin_deck
	must one add "$root/more" -t gemini --agent gemini --session-id "$second"
	manifest=$(grep -l '"more"' "$root"/one/deck/other/*/instance.json)
	echo '{' >"$manifest"
	must one backup "$root/less" --json
	grep -qF "does not know where" "$root/out" || fail "nothing is told of gemini: $(<"$root/out")"
	grep -qF '"is_packed": false' "$root/out" || fail "nothing is told of the damaged one: $(<"$root/out")"
	must two restore "$root/less" --apply
	must two show gemini --json
	grep -qF "\"session_id\": \"$second\"" "$root/out" || fail "its id is lost: $(<"$root/out")"
	grep -qaF "$canary" "$root/less" && fail "the file has a secret"
	return 0
}

case_directories_may_be_elsewhere() {
	begin_deck
	mkdir "$root/new"
	mv "$root/work" "$root/more" "$root/elsewhere" "$root/new/"
	must two restore "$root/all" --apply
	grep -qF -- "--map OLD=NEW" "$root/out" || fail "no advice: $(<"$root/out")"
	[ "$(sessions two)" = 0 ] || fail "$(sessions two) sessions without their directories"
	refused two "invalid --map" restore "$root/all" --map work
	must two restore "$root/all" --apply --map "$root=$root/new"
	[ "$(sessions two)" = 3 ] || fail "$(sessions two) sessions, and not three"
	[ -s "$(folder two "$root/new/work")/$id.jsonl" ] || fail "the conversation is not there"
}

case_a_tree_is_replaced_by_its_repository() {
	local path
	begin
	git -C "$root/work" init -q
	git -C "$root/work" -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
	must one add "$root/work" -t tree --agent demo --worktree
	must one session path tree
	path=$(<"$root/out")
	must one backup "$root/all"
	mv "$path" "$root/gone"
	must two restore "$root/all" --apply
	grep -qF "it works in the repository" "$root/out" || fail "$(<"$root/out")"
	must two session path tree
	[ "$(<"$root/out")" = "$(realpath "$root/work")" ] || fail "it works in $(<"$root/out")"
}

case_many_need_no_more_descriptors() {
	local i one
	begin
	for i in {100..129}; do
		one=11111111-2222-4333-8444-555555555$i
		printf '{"type":"user","cwd":"%s","message":{"role":"user","content":"x"}}\n' "$root/work" >"$(folder one "$root/work")/$one.jsonl"
		must one add "$root/work" -t "t$i" --agent demo --session-id "$one"
	done
	(ulimit -Sn 32 && as one backup "$root/all" && exit "$status") || fail "$(<"$root/err")"
	must two restore "$root/all" --apply
	[ "$(sessions two)" = 31 ] || fail "$(sessions two) sessions, and not 31"
}

# The second profile fails, when the sessions of the first are there.
case_a_restore_that_failed_made_nothing() {
	begin_deck
	mkdir -p "$(dirname "$(folder two "$root/more")")"
	touch "$(folder two "$root/more")"
	as two restore "$root/all" --apply
	[ "$status" != 0 ] || fail "it did not fail"
	[ "$(sessions two)" = 0 ] || fail "$(sessions two) sessions, and not none"
	rm "$(folder two "$root/more")"
	must two restore "$root/all" --apply
	restored two
}

# manifest ACCOUNT TITLE: the file of the session
manifest() {
	grep -l "\"title\": *\"$2\"" "$root/$1"/deck/*/*/instance.json
}

# set_member ACCOUNT TITLE MEMBER JSON: edit a manifest by hand, which has a line for each member
set_member() {
	local file
	file=$(manifest "$1" "$2") || fail "no manifest of $2"
	sed -i "/^  \"$3\":/d" "$file"
	sed -i "1a \"$3\": $4," "$file"
}

case_what_a_restore_would_refuse_is_left_out() {
	local long
	begin_deck
	printf 'command = ["sh"]\n[session]\nid = "path"\nassign = ["--at", "{session_id}"]\nresume = ["--at", "{session_id}"]\n' \
		>"$root/one/deck/agents/pathy.toml"
	printf 'command = ["sh"]\n' >"$root/one/deck/agents/my agent.toml"
	must one add "$root/elsewhere" -t pathy --agent pathy --session-id "$root/elsewhere/it.jsonl"
	must one add "$root/elsewhere" -t noted --agent mine
	must one add "$root/elsewhere" -t grouped --agent mine
	must one add "$root/elsewhere" -t titled --agent mine
	printf -v long '%5000s' x
	set_member one noted notes "\"$long\""
	set_member one grouped group '"a//b"'
	set_member one titled title '" x"'
	must one backup "$root/less" --json
	grep -qF "the member notes of its manifest is not valid, and is left out" "$root/out" || fail "nothing is told of the notes: $(<"$root/out")"
	grep -qF "the member title of its manifest is not valid" "$root/out" || fail "nothing is told of the title: $(<"$root/out")"
	must two restore "$root/less" --apply
	must two show pathy --json
	grep -qF "\"session_id\": \"$root/elsewhere/it.jsonl\"" "$root/out" || fail "its id is lost: $(<"$root/out")"
	must two show noted
	must two show grouped
	[ "$(sessions two)" = 6 ] || fail "$(sessions two) sessions, and not six"
}

case_a_conversation_of_two_sessions_comes_back_once() {
	begin_deck
	must one add "$root/elsewhere" -t first --agent codex --session-id "$second"
	must one add "$root/elsewhere" -t other --agent codex --session-id "$id"
	sed -i "s/$id/$second/" "$(manifest one other)"
	must one backup "$root/twice"
	must two restore "$root/twice"
	grep -qF "another session of the file has its conversation" "$root/out" || fail "$(<"$root/out")"
	must two restore "$root/twice" --apply
	[ "$(sessions two)" = 4 ] || fail "$(sessions two) sessions, and not four"
}

case_a_link_in_the_place_of_one_conversation_stops_no_other() {
	begin_deck
	mkdir -p "$(folder two "$root/work")"
	ln -s "$root/all" "$(folder two "$root/work")/$id.jsonl"
	must two restore "$root/all" --apply
	[ "$(sessions two)" = 2 ] || fail "$(sessions two) sessions, and not two"
	[ -L "$(folder two "$root/work")/$id.jsonl" ] || fail "the link is gone"
}

case_the_users_agents_may_be_links() {
	begin_deck
	mkdir "$root/collection"
	mv "$root/one/deck/agents/mine.toml" "$root/collection/"
	ln -s "$root/collection/mine.toml" "$root/one/deck/agents/mine.toml"
	ln -s "$root/nothing" "$root/one/deck/agents/gone.toml"
	must one backup "$root/linked"
	grep -qF "gone.toml is not in the file" "$root/out" || fail "nothing is told: $(<"$root/out")"
	mkdir -p "$root/two/linked"
	chmod 775 "$root/two/linked"
	mkdir -m 700 "$root/two/deck"
	ln -s "$root/two/linked" "$root/two/deck/agents"
	ln -s "$root/nothing" "$root/two/linked/absent.toml"
	must two restore "$root/linked" --apply
	cmp "$root/collection/mine.toml" "$root/two/linked/mine.toml" || fail "the agent differs"
	[ -z "$(find "$root/two/linked" -name '.*')" ] || fail "a temporary file is left"
	must two show plain
}

case_a_conversation_without_an_id_is_told() {
	begin
	must one add "$root/work" -t open --agent opencode
	must one backup "$root/unused" --json
	grep -qF "cannot pack" "$root/out" && fail "a session that was never used has a conversation: $(<"$root/out")"
	set_member one open last_used_at '"2026-04-14T09:08:01.000Z"'
	must one backup "$root/all" --json
	grep -qF "agentdeck cannot pack the conversations of OpenCode" "$root/out" || fail "$(<"$root/out")"
	refused one "agentdeck cannot pack the conversations of OpenCode" session export open "$root/open"
}

case_a_long_title_gets_a_number() {
	local long
	begin
	printf -v long '%0245d' 0
	must one rename work "${long}äxx"
	must one backup "$root/all"
	must two add "$root/elsewhere" -t "${long}äxx" --agent demo
	must two restore "$root/all" --apply
	[ "$(sessions two)" = 2 ] || fail "$(sessions two) sessions, and not two: $(<"$root/out")"
	must two show "$long (2)"
}

case_a_title_is_taken_by_what_is_made() {
	begin_deck
	must one -p default add "$root/more" -t gone --agent demo
	set_member one gone title '"plain"'
	must one backup "$root/same"
	rmdir "$root/elsewhere"
	must two restore "$root/same" --apply
	must two show plain
}

case_what_is_here_needs_no_directory() {
	begin_deck
	rmdir "$root/elsewhere"
	must one restore "$root/all" --json
	grep -qF '"refused"' "$root/out" && fail "it is refused, and here: $(<"$root/out")"
	cp "$(folder one "$root/work")/$id.jsonl" "$(folder one "$root/work")/33333333-2222-4333-8444-555555555555.jsonl"
	must one session set work session-id 33333333-2222-4333-8444-555555555555
	must one restore "$root/all"
	grep -qF "and has another conversation now" "$root/out" || fail "$(<"$root/out")"
}

# An agent may have a home for each of several accounts.
case_a_session_comes_back_in_its_own_home_of_the_agent() {
	local file=$root/one/second/projects/${root//[^A-Za-z0-9]/-}-work/$id.jsonl
	begin
	must one remove work
	must one prune --force
	mkdir -p "${file%/*}" "$root/two/second"
	mv "$(folder one "$root/work")/$id.jsonl" "$file"
	under=(env "AGENTDECK_DEMO_CONFIG_DIR=$root/one/second")
	must one add "$root/work" -t work --agent demo --session-id "$id"
	under=()
	must one backup "$root/all"
	must one export work "$root/file2"
	grep -qaF "$root/one" "$root/all" && fail "the file names the home"
	rm -r "$root/one/deck/default"
	echo '{"type":"user","message":{"role":"user","content":"since then"}}' >>"$file"
	cp "$file" "$root/before"
	must one restore "$root/all" --apply
	cmp "$file" "$root/before" || fail "the conversation was changed"
	[ -z "$(find "$root/one/.local" -name '*.jsonl')" ] || fail "there is a copy of it in another home"
	grep -qF "\"config_home\": \"$root/one/second\"" "$root"/one/deck/default/*/instance.json || fail "another home"
	# A file that is imported chooses no home.
	must two session import "$root/file2"
	[ -s "$(folder two "$root/work")/$id.jsonl" ] || fail "two: the conversation is elsewhere: $(find "$root/two" -name '*.jsonl')"
	must three restore "$root/all" --apply
	[ -s "$(folder three "$root/work")/$id.jsonl" ] || fail "three: the conversation is elsewhere"
	grep -qF "its agent's home ~/second cannot be used here" "$root/out" || fail "three: does not say so: $(<"$root/out")"
}

case_an_imported_session_that_comes_back_is_not_imported_again() {
	begin
	printf '%s\n' "$root/elsewhere" >"$root/list"
	must one config set default_agent demo
	must one import directories --from "$root/list" --apply
	must one backup "$root/all"
	rm -r "$root/one/deck/default" "$root/one/deck/imports.json"
	must one restore "$root/all" --apply
	must one import directories --from "$root/list" --apply
	grep -q 'There is nothing to import' "$root/out" || fail "$(<"$root/out")"
	must one restore "$root/all" --apply
	[ "$(sessions one)" = 2 ] || fail "$(sessions one) sessions, and not two"
}

case_a_map_takes_slashes_and_is_told_if_it_moves_nothing() {
	begin_deck
	mkdir -p "$root/new$root"
	mv "$root/work" "$root/more" "$root/elsewhere" "$root/new$root/"
	must two restore "$root/all" --map "$root/=$root/new$root/" --map /nowhere=/x
	grep -qF "$root/new$root/work" "$root/out" || fail "the old directory is shown: $(<"$root/out")"
	grep -qF -- "--map /nowhere=/x" "$root/out" || fail "a map that moves nothing is not told: $(<"$root/out")"
	must two restore "$root/all" --json --map "/=$root/new"
	grep -qF "\"path\": \"$root/new$root/work\"" "$root/out" || fail "another path: $(<"$root/out")"
	must two restore "$root/all" --apply --map "/=$root/new"
	[ "$(sessions two)" = 3 ] || fail "$(sessions two) sessions, and not three"
}

case_settings_that_are_not_valid_cost_no_session() {
	begin_deck
	mkdir "$root/two" && mkdir -m 700 "$root/two/deck"
	must two restore "$root/all"
	grep -qF "config.toml: will be restored" "$root/out" || fail "$(<"$root/out")"
	grep -qF "agents/mine.toml: will be restored" "$root/out" || fail "$(<"$root/out")"
	printf 'no = [\n' >"$root/one/deck/config.toml"
	must one backup "$root/bad"
	must two restore "$root/bad" --apply
	grep -qF "the config.toml in the file is left out" "$root/out" || fail "$(<"$root/out")"
	[ ! -e "$root/two/deck/config.toml" ] || fail "it was written"
	restored two
}

run_cases "$@"
