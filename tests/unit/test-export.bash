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
root=$(mktemp -d /tmp/agentdeck-export-test-XXXXXX) || exit
trap 'rm -rf "$root"' EXIT
failures=0 case_name=""

fail() {
	echo "FAILED $case_name: $*"
	failures=$((failures + 1))
}

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
		agentdeck "$@" >"$root/out" 2>"$root/err" </dev/null
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

a_conversation_goes_to_another_account() {
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

it_can_work_in_another_directory() {
	begin
	rmdir "$root/work"
	refused two "--directory" session import "$root/file"
	[ ! -e "$root/two/.local" ] || fail "a refused import has written something"
	must two session import "$root/file" --directory "$root/elsewhere" -t other
	[ -s "$(folder two "$root/elsewhere")/$id.jsonl" ] || fail "the conversation is not there"
}

no_secret_is_in_the_file() {
	begin
	grep -qaF "$canary" "$root/file" && fail "the file has a secret"
	grep -qaF "$root/one" "$root/file" && fail "the file names the home"
	return 0
}

no_conversation_is_there_twice() {
	begin
	refused one "is here already" session import "$root/file" -t again
	must one rename work before
	must one remove before
	refused one "in the trash" session import "$root/file"
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

a_session_that_cannot_be_read_may_have_it() {
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

a_home_may_be_on_another_disk() {
	begin
	mkdir -p "$root/two/.local/share/agentdeck-demo-agent" "$root/disk"
	chmod 775 "$root/two/.local/share/agentdeck-demo-agent" "$root/disk"
	ln -s "$root/disk" "$root/two/.local/share/agentdeck-demo-agent/projects"
	must two session import "$root/file"
	[ -s "$(folder two "$root/work")/$id.jsonl" ] || fail "the conversation is not there"
}

what_was_cut_off_can_be_repeated() {
	begin
	mkdir -p "$(folder two "$root/work")"
	cp "$(folder one "$root/work")/$id.jsonl" "$(folder two "$root/work")/"
	must two session import "$root/file"
	[ "$(sessions two)" = 1 ] || fail "$(sessions two) sessions, and not one"
}

the_file_is_named_from_the_root() {
	begin
	cd "$root/work" || return
	must one session export work here --json
	grep -qF "\"file\": \"$(realpath "$root")/work/here\"" "$root/out" || fail "$(<"$root/out")"
	cd "$root" || return
}

no_file_is_overwritten() {
	begin
	refused one "exists already" session export work "$root/file"
	[ -z "$(find "$root" -name '.file.*')" ] || fail "a temporary file is left"
}

what_was_changed_is_refused() {
	begin
	sed 's/hello/HELLO/' "$root/file" >"$root/changed"
	refused two "was changed" session import "$root/changed"
	head -c 3000 "$root/file" >"$root/cut"
	refused two "not a whole file" session import "$root/cut"
	tar -C / -cf "$root/foreign" "${root#/}/work"
	refused two "not a whole file" session import "$root/foreign"
	[ "$(sessions two)" = 0 ] || fail "a refused import made a session"
	[ ! -e "$root/two/.local" ] || fail "a refused import has written something"
}

# agentdeck cannot copy what it does not find.
an_agent_of_another_layout_is_refused() {
	local agent
	begin
	for agent in codex gemini qwen; do
		must one add "$root/work" -t "$agent" --agent "$agent" --session-id "$id"
		refused one "does not know where" session export "$agent" "$root/$agent"
		[ ! -e "$root/$agent" ] || fail "$agent: a refused export has made a file"
	done
	[ -z "$(find "$root" -maxdepth 1 -name '.*.tmp')" ] || fail "a temporary file is left"
}

mapfile -t CASES < <(declare -F | awk '{ print $3 }' | grep -vxE 'fail|as|must|refused|folder|begin|sessions')
(($#)) || set -- "${CASES[@]}"
for case_name in "$@"; do
	"$case_name"
done
((failures == 0)) || exit 1
