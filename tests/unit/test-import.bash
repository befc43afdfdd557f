#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-import.bash - agentdeck import, with files that other programs have left
#
# USAGE
#   test-import.bash [NAME...]    only these cases; agentdeck is found in PATH
#
# tests/fixtures has the files of a user whose home was /home/dev. Each case copies them to a home
# whose path has as many bytes, so that it can put its own path into the databases.
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no python3
#
# Without SQLite in agentdeck, the cases with a database are left out.
#
# The cases are called by their names, which shellcheck does not see.
# shellcheck disable=SC2317
set -uo pipefail
export LC_ALL=C.UTF-8

command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
tests=$(cd "${top_srcdir:-$(dirname "$0")/../..}/tests" && pwd)
# shellcheck source=tests/unit/cases.bash
source "$tests/unit/cases.bash"
fixtures=$tests/fixtures

set_up() {
	root=$(mktemp -d /tmp/agentdeck-import-test-XXXXXX) || exit
	homes=()
	# import looks at all processes of the user for the one with the id
	printf -v instance '%08x-1795308038' $SRANDOM
}
tear_down() { cd / && rm -rf "$root" "${homes[@]}"; }

# fresh FIXTURE: $home, a copy of its home/dev, and $deck
fresh() {
	local folder name
	home=$(mktemp -d /tmp/XXXX) || exit	# 9 bytes, as /home/dev
	homes+=("$home")
	deck=$(mktemp -d "$root/deck-XXXXXX") || exit
	cp -R "$fixtures/$1/." "$home"
	chmod -R u+w "$home"
	find "$home" -name '*.gz' -exec gunzip {} +
	# Not the logs of databases: SQLite has a checksum of each page in them.
	find "$home" -type f ! -name '*-wal' -exec sed -i "s|/home/dev|$home|g" {} +
	find "$home" -depth -type d -name '*-home-dev*' | while read -r folder; do
		name=${folder##*/}
		mv "$folder" "${folder%/*}/${name/-home-dev/${home//\//-}}"
	done
	mkdir -p "$home"/{proj,api,web,exp,"my docs"} "$home"/api/.worktrees/feature-{login,fork-exp}
	printf 'default_agent = "claude"\n[tmux]\nlaunch_in_user_scope = false\nlinger = false\n' >"$deck/config.toml"
	cd "$home" || exit 1
	tree >"$deck.before"
}

run() {
	env -i "PATH=$PATH" "HOME=$home" "AGENTDECK_HOME=$deck" "TMPDIR=$root" SHELL=/bin/sh LC_ALL=C.UTF-8 \
		agentdeck "$@" >"$root/out" 2>"$root/err" </dev/null
	status=$?
}

must() {
	run "$@"
	[ "$status" = 0 ] || fail "$*: status $status, $(<"$root/err")"
}

# Everything in the home: names, times and contents.
tree() {
	(cd "$home" && find . -printf '%p %y %T@\n' | sort && find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

untouched() {
	tree | diff "$deck.before" - || fail "something of the other program has changed"
	compgen -G "$root/agentdeck-import-??????" >/dev/null && fail "a copy of the database is left"
}

# Members of each session of the plan in $root/out, a line for each; null is "-".
plan() {
	python3 - "$root/out" "$@" <<-'END'
		import json, sys
		for session in json.load(open(sys.argv[1]))["sessions"]:
		    print("\t".join("-" if session[key] is None else str(session[key]) for key in sys.argv[2:]))
	END
}

# expect FIXTURE: what its expected.tsv says
expect() {
	plan profile their_title decision session_id |
		diff - <(tail -n +2 "$fixtures/$1/expected.tsv") || fail "the plan differs"
}

# The manifest of the session with this title.
manifest_of() {
	grep -lF "\"title\": \"$1\"" "$deck"/*/*/instance.json | xargs cat
}

# count DECISION NUMBER
count() {
	local found
	found=$(plan decision | grep -cx "$1")
	[ "$found" = "$2" ] || fail "$found sessions are '$1', not $2"
}

manifests() {
	find "$deck" -name instance.json | wc -l
}

# --- cases -----------------------------------------------------------------------------------------

each_row_becomes_what_was_decided() {
	fresh agent-deck-1.14.0/xdg/home/dev
	must import agent-deck --json
	expect agent-deck-1.14.0/xdg
	[ "$(manifests)" = 0 ] || fail "a dry run made sessions"
	untouched
}

nothing_is_imported_twice() {
	fresh agent-deck-1.14.0/xdg/home/dev
	must import agent-deck --apply --json
	[ "$(manifests)" = 16 ] || fail "$(manifests) sessions, not 16"
	must rename plain other
	must import agent-deck --apply --json
	count "done" 16
	[ "$(manifests)" = 16 ] || fail "the second import made sessions: $(manifests)"
	untouched
}

# What a kill leaves: some of the sessions, and no journal.
an_import_that_was_killed_goes_on() {
	local id
	fresh agent-deck-1.14.0/xdg/home/dev
	must import agent-deck --apply --json
	for id in $(plan id | grep -v -- - | head -n 5); do
		rm -r "${deck:?}"/*/"$id" "${deck:?}"/*/"$id.lock"
	done
	rm "$deck/imports.json"
	must import agent-deck --apply --json
	count "done" 11
	[ "$(manifests)" = 16 ] || fail "$(manifests) sessions, not 16"
	must import agent-deck --json
	count "done" 16
}

what_was_removed_stays_away() {
	fresh agent-deck-1.14.0/xdg/home/dev
	must import agent-deck --apply
	must remove child --force
	must import agent-deck --apply --json
	count removed 1
	must import agent-deck --apply --again --json
	must show child
}

sessions_have_what_they_had() {
	fresh agent-deck-1.14.0/xdg/home/dev
	must import agent-deck --apply
	must show plain --json
	python3 - "$root/out" <<-'END' || fail "plain: $(<"$root/out")"
		import json, sys
		it = json.load(open(sys.argv[1]))
		assert it["notes"] == "remember: the second turn\nhas two lines — ünicode", it["notes"]
		assert it["group"] == "play" and it["agent"] == "claude" and it["status"] == "stopped"
	END
	[[ $(manifest_of office) == *"$home/.claude-work"* ]] || fail "office has another home"
	[[ $(manifest_of to-archive) == *'"restart": "no"'* ]] || fail "to-archive is restarted automatically"
	must show child --json
	python3 - "$root/out" <<-'END' || fail "child: $(<"$root/out")"
		import json, sys
		argv = json.load(open(sys.argv[1]))["command"]
		assert argv == ["claude", "--model", "opus", "--verbose"], argv
	END
	must show custom-cmd --json
	grep -qF '"a b"' "$root/out" || fail "custom-cmd lost its quotes: $(<"$root/out")"
}

dangerous_modes_need_consent() {
	fresh agent-deck-1.14.0/xdg/home/dev
	must import agent-deck --apply
	grep -rlF dangerously-skip "$deck" && fail "an agent asks for no permission"
	must remove child --force
	must import agent-deck --apply --again --dangerous
	grep -rqlF dangerously-skip "$deck/default" || fail "--dangerous is ignored"
}

the_log_of_a_database_counts() {
	fresh agent-deck-1.14.0/wal-only
	mkdir -p "$home/.local/share/agent-deck/profiles/default"
	mv "$home"/state.db* "$home/.local/share/agent-deck/profiles/default/"
	tree >"$deck.before"
	must import agent-deck --json
	[ "$(plan decision | wc -l)" = 3 ] || fail "not three rows: $(<"$root/out")"
	untouched
}

files_may_be_in_the_old_place() {
	fresh agent-deck-1.14.0/legacy/home/dev
	must import agent-deck --json
	[ "$(plan their_title | grep -cx added-while-open)" = 1 ] || fail "the row in the log is missing"
	[ "$(plan their_title | wc -l)" -ge 4 ] || fail "rows are missing: $(<"$root/out")"
	untouched
}

titles_become_unique() {
	fresh agent-deck-1.14.0/xdg/home/dev
	must add "$home/web" -t plain --agent shell
	must import agent-deck --apply --json
	[ "$(plan their_title title | grep -cx "plain	plain (2)")" = 1 ] || fail "$(plan their_title title)"
}

a_place_can_be_named() {
	fresh agent-deck-1.14.0/xdg/home/dev
	mv "$home/.local/share/agent-deck" "$home/elsewhere"
	run import
	[ "$status" = 2 ] || fail "status $status: $(<"$root/out")"
	must import agent-deck --from "$home/elsewhere" --json
	expect agent-deck-1.14.0/xdg
	run import --from "$home/elsewhere"
	[ "$status" = 64 ] || fail "--from without a source: status $status"
	run import nothing
	[ "$status" = 64 ] || fail "an unknown source: status $status"
}

a_damaged_database_is_refused() {
	fresh agent-deck-1.14.0/xdg/home/dev
	head -c 40000 /dev/zero >"$home/.local/share/agent-deck/profiles/default/state.db"
	run import agent-deck --apply
	[ "$status" = 1 ] || fail "status $status"
	[ "$(manifests)" = 0 ] || fail "it made sessions"
}

# --- saves of tmux ---------------------------------------------------------------------------------

saves=tmux-assistant-resurrect-a7691f3/home/dev

# save_fresh: the saves of tmux, with their symbolic links
save_fresh() {
	local last
	fresh "$saves"
	for last in "$home"/.tmux/resurrect/last "$home"/.local/share/tmux/resurrect/last; do
		ln -sf "$(<"$last")" "$last"
	done
	tree >"$deck.before"
}

a_save_gives_back_what_it_knows() {
	save_fresh
	must import tmux-assistant-resurrect --json
	plan their_title group decision session_id | diff - <(printf '%s\t%s\t%s\t%s\n' \
		main:0 main import ac313423-98ff-48e3-a74c-d1c7388e27d8 \
		main:1 main import 8cb27eab-b98d-499d-8994-3aa0a1346725 \
		other:0 - ask - \
		other:1 other fresh -) || fail "the plan differs"
	grep -qF 'their quotes, and are not taken: --add-dir' "$root/out" || fail "lost quotes are not told"
	must import tmux-assistant-resurrect --guess --json
	[ "$(plan decision session_id | sed -n 3p)" = "import	01a200be-35bb-78b3-94ae-2133a018c442" ] ||
		fail "--guess is ignored: $(plan decision session_id)"
	must import tmux-assistant-resurrect --apply
	must show main:0 --json
	grep -qF '"--model"' "$root/out" || fail "main:0 lost its arguments: $(<"$root/out")"
	grep -rqF ANTHROPIC_BASE_URL "$deck" && fail "a value of a variable was taken"
	must import tmux-assistant-resurrect --apply --json
	count "done" 3
	[ "$(manifests)" = 3 ] || fail "$(manifests) sessions, not 3"
	untouched
}

# It knows no conversation, so the only one of a directory counts.
a_save_of_panes_gives_back_its_agents() {
	save_fresh
	touch -d 2020-01-01 "$home"/.local/share/tmux/resurrect/*.txt
	tree >"$deck.before"
	must import tmux-resurrect --json
	plan their_title decision session_id agent | diff - <(printf '%s\t%s\t%s\t%s\n' \
		main:0 import ac313423-98ff-48e3-a74c-d1c7388e27d8 claude \
		main:0 refuse - - \
		main:1 import 8cb27eab-b98d-499d-8994-3aa0a1346725 claude \
		other:0 import 01a200be-35bb-78b3-94ae-2133a018c442 codex \
		other:1 fresh - claude) || fail "the plan differs"
	must import tmux-resurrect --apply
	must show main:0 --json
	grep -qF '"--model"' "$root/out" || fail "main:0 lost its arguments: $(<"$root/out")"
	untouched
	# The next save has another name, and the newer place counts.
	mv "$home"/.tmux/resurrect/tmux_resurrect_{20261122T005324,20261123T000000}.txt
	ln -sf tmux_resurrect_20261123T000000.txt "$home/.tmux/resurrect/last"
	must import tmux-resurrect --apply --json
	count "done" 4
	touch -d 2040-01-01 "$home"/.local/share/tmux/resurrect/*.txt
	must import tmux-resurrect --json
	count conflict 3
}

panes_that_could_be_meant_as_well_are_asked_about() {
	local projects
	save_fresh
	projects=$(echo "$home"/.claude/projects/*proj)
	sed s/ac313423/bd313423/ "$projects"/ac313423*.jsonl >"$projects/bd313423-98ff-48e3-a74c-d1c7388e27d8.jsonl"
	sed -n "3{s/^pane\tmain\t1/pane\tmain\t2/p}" "$home/.tmux/resurrect/last" >"$root/line"
	cat "$root/line" >>"$home/.tmux/resurrect/last"
	must import tmux-resurrect --from "$home/.tmux/resurrect" --json
	plan their_title decision | grep -v refuse | diff - <(printf '%s\t%s\n' \
		main:0 ask main:1 ask other:0 import other:1 fresh main:2 ask) || fail "the plan differs"
	grep -qF 'the newest of 2 in its directory' "$root/out" || fail "two conversations: $(<"$root/out")"
	grep -qF 'several sessions share its directory' "$root/out" || fail "two panes: $(<"$root/out")"
	printf 'pane\tmain\n' >>"$home/.tmux/resurrect/last"
	must import tmux-resurrect --from "$home/.tmux/resurrect" --json
	grep -qF 'it has other fields' "$root/out" || fail "a line with other fields is not told"
	echo nothing >"$home/.tmux/resurrect/last"
	run import tmux-resurrect --from "$home/.tmux/resurrect"
	[ "$status" = 1 ] || fail "no save: status $status"
}

# Each worktree is one agent's, so its newest conversation is, too.
a_squad_comes_with_its_worktrees() {
	fresh claude-squad-1.0.17/home/dev
	mkdir -p "$home"/.claude-squad/worktrees/dev/{fix-login_18ea37df25a998e8,paused-.x_18ea37ecf0006c93}
	tree >"$deck.before"
	must import claude-squad --json
	plan their_title decision session_id | diff - <(printf '%s\t%s\t%s\n' \
		"fix login" import 421b09a3-c0a8-422f-8116-3845aee54eb4 \
		"paused ü.x" import 898e221f-e066-4067-a27f-a0845c091614 \
		"pause me" refuse -) || fail "the plan differs"
	grep -qF "git -C $home/web worktree add $home/.claude-squad" "$root/out" || fail "the remedy is not told"
	must import claude-squad --apply
	must import claude-squad --apply --json
	count "done" 2
	[ "$(manifests)" = 2 ] || fail "$(manifests) sessions, not 2"
	untouched
}

empires_come_with_their_profiles() {
	fresh agent-of-empires-1.9.5/home/dev
	mkdir -p "$home/.worktrees/feature" "$home/.claude/projects/x"
	printf '{"type":"user","cwd":"%s/api","message":{"role":"user","content":"hello"}}\n' "$home" \
		>"$home/.claude/projects/x/f0c59453-3141-416c-b9e6-d19eb9a21310.jsonl"
	ln -s default "$home/.config/agent-of-empires/profiles/alias"
	tree >"$deck.before"
	must import agent-of-empires --json
	plan profile their_title group decision session_id | diff - <(printf '%s\t%s\t%s\t%s\t%s\n' \
		default "api work" work/api import f0c59453-3141-416c-b9e6-d19eb9a21310 \
		default Zoë "" fresh - default boxed - refuse -) || fail "the plan differs"
	must import agent-of-empires --apply
	[[ $(manifest_of Zoë) == *'"restart": "no"'* ]] || fail "an archived session is restarted"
	must import agent-of-empires --apply --json
	count "done" 2
	untouched
}

# aoe_row TITLE TOOL COMMAND ARGUMENTS
aoe_row() {
	printf '{"id":"%s","title":"%s","project_path":"%s/api","tool":"%s","command":"%s","extra_args":"%s","yolo_mode":true,"created_at":"2026-05-30T10:00:00.5+02:00"}' \
		"$1" "$1" "$home" "$2" "$3" "$4"
}

every_spelling_of_a_dangerous_mode_needs_consent() {
	local kept
	fresh agent-of-empires-1.9.5/home/dev
	{
		printf '[%s,' "$(aoe_row one gemini "" -y)"
		printf '%s,' "$(aoe_row two qwen "" "--approval-mode yolo -m big")"
		printf '%s,' "$(aoe_row three codex "codex --ask-for-approval never" --sandbox=danger-full-access)"
		printf '%s]' "$(aoe_row four claude "cd . && claude --dangerously-skip-permissions" "")"
	} >"$home/.config/agent-of-empires/profiles/default/sessions.json"
	must import agent-of-empires --apply --json
	plan their_title decision | diff - <(printf '%s\t%s\n' one fresh two fresh three fresh four refuse) ||
		fail "the plan differs"
	grep -qF -- '--dangerous imports it as it is' "$root/out" || fail "the refusal does not say how"
	for kept in -y yolo never danger; do
		grep -rqF -- "\"$kept" "$deck/default" && fail "$kept was taken"
	done
	[[ $(manifest_of two) == *'"big"'* ]] || fail "another argument is lost"
	[[ $(manifest_of one) == *2026-05-30T08:00:00* ]] || fail "the time has lost its zone: $(manifest_of one)"
	must import agent-of-empires --apply --dangerous
	[[ $(manifest_of four) == *dangerously-skip* ]] || fail "--dangerous is ignored: $(<"$root/out")"
}

a_damaged_save_is_refused() {
	save_fresh
	echo '{"sessions": [{' >"$home/.tmux/resurrect/assistant-sessions.json"
	run import tmux-assistant-resurrect --apply
	[ "$status" = 1 ] || fail "status $status"
	echo '{"sessions": 1}' >"$home/.tmux/resurrect/assistant-sessions.json"
	run import tmux-assistant-resurrect --apply
	[ "$status" = 1 ] || fail "no list: status $status"
	[ "$(manifests)" = 0 ] || fail "it made sessions"
}

# --- what runs there ---------------------------------------------------------------------------------

# marked DIRECTORY ID: an agent with this conversation, in a pane of agent-deck's
marked() {
	local slug=${home//\//-}-$1
	mkdir -p "$home/.local/share/agentdeck-demo-agent/projects/$slug"
	printf '{"type":"user","cwd":"%s/%s","message":{"role":"user","content":"hello"}}\n' "$home" "$1" \
		>"$home/.local/share/agentdeck-demo-agent/projects/$slug/$2.jsonl"
	touch -d '1 hour ago' "$home/.local/share/agentdeck-demo-agent/projects/$slug/$2.jsonl"
	env -i "PATH=$PATH" "HOME=$home" TERM=xterm SHELL=/bin/sh LC_ALL=C.UTF-8 "AGENTDECK_INSTANCE_ID=$instance" \
		tmux -S "$deck.tmux" -f /dev/null new-session -d -c "$home/$1" "exec agentdeck-demo-agent --resume $2"
}

# decided DECISION TEXT
decided() {
	for _ in $(seq 200); do
		must import agent-deck --json
		[ "$(plan decision)" = "$1" ] && grep -q -- "$2" "$root/out" && return
		read -rt 0.1 <> <(:) || true
	done
	fail "it is never '$1', '$2': $(<"$root/out")"
}

all_panes_of_a_session_have_its_marker() {
	command -v tmux >/dev/null || return
	fresh "$saves"
	mkdir -p "$home/.agent-deck/profiles/default"
	printf '{"instances": [{"id": "%s", "title": "api", "project_path": "%s/api", "tool": "demo"}]}' \
		"$instance" "$home" >"$home/.agent-deck/profiles/default/sessions.json"
	decided fresh api
	marked web 11111111-1111-4111-8111-111111111111
	decided refuse 'it runs in .*end it there first'
	tmux -S "$deck.tmux" kill-server
	decided fresh api
	marked api 22222222-2222-4222-8222-222222222222
	decided runs 22222222-2222-4222-8222-222222222222
	marked api 33333333-3333-4333-8333-333333333333
	decided refuse 'it runs in .*end it there first'
	tmux -S "$deck.tmux" kill-server
	decided fresh api
}

# Two profiles may have a session of this title.  Which one was imported is a matter of its id.
a_take_over_joins_the_session_that_was_imported() {
	local id=22222222-2222-4222-8222-222222222222
	command -v tmux >/dev/null || return
	fresh "$saves"
	mkdir -p "$home/.agent-deck/profiles/default"
	printf '{"instances": [{"id": "%s", "title": "api", "project_path": "%s/api", "tool": "demo"}]}' \
		"$instance" "$home" >"$home/.agent-deck/profiles/default/sessions.json"
	must import agent-deck --apply
	must -p second add "$home/api" -t api --agent demo --session-id "$id"
	marked api "$id"
	decided "done" '"runs_in": "/'
	must import agent-deck
	grep -q 'RUNS THERE' "$root/out" && fail "it joins the session of the other profile: $(<"$root/out")"
	run import agent-deck --apply --adopt --yes --no-start
	tmux -S "$deck.tmux" list-panes >/dev/null || fail "the agent was ended"
	tmux -S "$deck.tmux" kill-server
}

# on_terminal ANSWER COMMAND...: its question, answered on a terminal of its own; what that shows is
# in $root/out
on_terminal() {
	env -i "PATH=$PATH" "HOME=$home" "AGENTDECK_HOME=$deck" "TMPDIR=$root" SHELL=/bin/sh LC_ALL=C.UTF-8 TERM=xterm \
		timeout 60 python3 - "$@" >"$root/out" <<-'END'
			import os, pty, sys
			pid, terminal = pty.fork()
			if pid == 0:
			    os.execvp("agentdeck", ["agentdeck"] + sys.argv[2:])
			shown = b""
			answered = False
			while True:
			    try:
			        more = os.read(terminal, 4096)
			    except OSError:
			        break
			    if not more:
			        break
			    shown += more
			    if b"(y/n)" in shown and not answered:
			        answered = True
			        os.write(terminal, sys.argv[1].encode() + (b"" if sys.argv[1] == "\x04" else b"\n"))
			sys.stdout.write(shown.decode())
			sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if answered else 99)
		END
	status=$?
}

the_question_before_a_take_over_takes_only_yes() {
	local answer id=22222222-2222-4222-8222-222222222222
	command -v tmux >/dev/null || return
	fresh "$saves"
	mkdir -p "$home/.agent-deck/profiles/default"
	printf '{"instances": [{"id": "%s", "title": "api", "project_path": "%s/api", "tool": "demo"}]}' \
		"$instance" "$home" >"$home/.agent-deck/profiles/default/sessions.json"
	marked api "$id"
	decided runs "$id"
	for answer in "" n nay "  y" $'\x04'; do
		on_terminal "$answer" import agent-deck --apply --adopt --no-start
		[ "$status" = 0 ] || fail "'$answer': status $status, $(<"$root/out")"
		grep -q 'End the 1 that runs there, and continue its conversation here? (y/n)' "$root/out" ||
			fail "'$answer': another question: $(<"$root/out")"
		grep -q 'They are left running' "$root/out" || fail "'$answer' is taken for a yes: $(<"$root/out")"
		tmux -S "$deck.tmux" list-panes >/dev/null || fail "'$answer' ended the agent"
		[ "$(manifests)" = 0 ] || fail "'$answer' made a session"
	done
	run import agent-deck --apply --adopt
	[ "$status" = 64 ] || fail "without a terminal: status $status"
	on_terminal y import agent-deck --apply --adopt --no-start
	[ "$status" = 0 ] || fail "y: status $status, $(<"$root/out")"
	tmux -S "$deck.tmux" list-panes >/dev/null 2>&1 && fail "the agent still runs"
	grep -qF "$id" "$deck"/default/*/instance.json || fail "the session has not its conversation"
}

# --- a list of directories -------------------------------------------------------------------------

a_list_makes_one_session_each() {
	fresh "$saves"
	printf '%s\n' '# mine' "$home/api" \~/web/ '' "  $home/my docs  " "$home/gone" "$home/web" exp >"$home/list"
	run import directories
	[ "$status" = 64 ] || fail "without a list: status $status"
	must import directories --from "$home/list" --json
	plan title decision path | diff - <(printf '%s\t%s\t%s\n' api fresh "$home/api" web fresh "$home/web" \
		"my docs" fresh "$home/my docs" - refuse "$home/gone" exp fresh "$home/exp") || fail "the plan differs"
	must import directories --from "$home/list" --apply
	must import directories --from "$home/list" --apply --json
	count "done" 4
	[ "$(manifests)" = 4 ] || fail "$(manifests) sessions, not 4"
}

# The directory counts: another list, another path to it, and what the first version had written.
a_directory_of_two_lists_makes_one_session() {
	fresh "$saves"
	ln -s api "$home/link"
	printf '%s\n' "$home/api" "$home/link" >"$home/list"
	printf '%s\n' "$home/web" "$home/link/" >"$home/other list"
	must import directories --from "$home/list" --apply --json
	plan decision | diff - <(echo fresh) || fail "two paths of one directory: $(<"$root/out")"
	sed -i "s|\"directories::|\"directories:$home/list:|" "$deck"/*/*/instance.json "$deck/imports.json"
	grep -rqF "directories:$home/list:$home/api" "$deck" || fail "the manifest has no origin"
	must import directories --from "$home/other list" --apply --json
	plan their_title decision | diff - <(printf '%s\t%s\n' web fresh link "done") || fail "the plan differs"
	[ "$(manifests)" = 2 ] || fail "$(manifests) sessions, not 2"
	must remove api --force
	must import directories --from "$home/other list" --json
	plan decision | diff - <(printf '%s\n' "done" removed) || fail "a removed one comes back: $(<"$root/out")"
}

# --- without a name --------------------------------------------------------------------------------

programs_are_listed() {
	local option
	save_fresh
	must import --json
	python3 - "$root/out" <<-'END' || fail "$(<"$root/out")"
		import json, sys
		plan = json.load(open(sys.argv[1]))
		names = {source["name"]: source["sessions"] for source in plan["sources"]}
		assert names["tmux-assistant-resurrect"] == 4, names
		assert "agent-deck" not in names and not plan["sessions"], plan
	END
	run import --apply
	[ "$status" = 64 ] || fail "--apply without a name: status $status"
	for option in --adopt "--apply --yes" "--apply --no-start"; do
		# shellcheck disable=SC2086
		run import tmux-assistant-resurrect $option
		[ "$status" = 64 ] || fail "$option: status $status"
	done
	[ "$(manifests)" = 0 ] || fail "it made sessions"
	rm -r "$home/.tmux" "$home/.local"
	run import
	[ "$status" = 2 ] || fail "with nothing there: status $status"
}

hooks_that_are_left_are_named() {
	fresh agent-deck-1.14.0/xdg/home/dev
	must import agent-deck --json
	python3 - "$root/out" "$home" <<-'END' || fail "the hooks are not in the plan: $(<"$root/out")"
		import json, sys
		told = json.load(open(sys.argv[1]))["told"]
		for start in (".claude/settings.json has hooks of agent-deck for 7 events",
		              ".gemini/settings.json has hooks of agent-deck for 4 events",
		              ".codex/config.toml calls agent-deck"):
		    assert sum(line.startswith(sys.argv[2] + "/" + start) for line in told) == 1, start
	END
	untouched
	# as later versions write them
	sed -i 's|agent-deck hook-handler|/usr/local/bin/&|' "$home"/.claude/settings.json "$home"/.gemini/settings.json
	sed -i 's|"agent-deck", "codex-notify"|"/usr/local/bin/agent-deck", "codex-notify"|' "$home/.codex/config.toml"
	must import agent-deck
	grep -q 'settings.json has hooks of agent-deck for 7 events' "$root/out" || fail "a path hides hooks: $(<"$root/out")"
	grep -q 'config.toml calls agent-deck' "$root/out" || fail "a path hides a notify line: $(<"$root/out")"
	sed -i 's|/usr/local/bin/agent-deck hook-handler|other/my-agent-deck hook-handler|' "$home"/.gemini/settings.json
	must import agent-deck
	grep -q '.gemini/settings.json has hooks' "$root/out" && fail "another program is named: $(<"$root/out")"
	sed -i 's/agent-deck hook-handler/& --other/' "$home"/.claude/settings.json
	sed -i 's/codex-notify"/&, "other"/' "$home/.codex/config.toml"
	echo '{' >"$home/.gemini/settings.json"
	must import agent-deck
	grep -qE 'has hooks of agent-deck|calls agent-deck' "$root/out" && fail "others are named: $(<"$root/out")"
	grep -qF '.gemini/settings.json may have hooks of agent-deck, but cannot be read' "$root/out" ||
		fail "a broken file is not named"
}

hooks_are_removed_on_request() {
	local file=.claude/settings.json
	fresh agent-deck-1.14.0/xdg/home/dev
	python3 - "$home/$file" <<-'END'
		import json, sys
		settings = json.load(open(sys.argv[1]))
		settings["mine"] = {"z": 1.50, "a": "ü/x"}
		settings["hooks"]["Stop"][0]["hooks"][0]["command"] = "/usr/local/bin/agent-deck hook-handler"
		settings["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
		settings["hooks"]["Other"] = [{"hooks": [{"type": "command", "command": "agent-deck hook-handler --other"}]}]
		json.dump(settings, open(sys.argv[1], "w"), indent=4, ensure_ascii=False)
	END
	chmod 640 "$home/$file"
	mv "$home/$file" "$home/elsewhere.json" && ln -s ../elsewhere.json "$home/$file"
	cp "$home/elsewhere.json" "$root/before" && cp "$home/.codex/config.toml" "$root/notify"
	tree >"$deck.before"
	must import agent-deck --remove-hooks
	grep -qF -- "--- $home/elsewhere.json" "$root/out" || fail "the file is not named: $(<"$root/out")"
	grep -qF -- '-notify = ["agent-deck", "codex-notify"]' "$root/out" || fail "the line is not shown: $(<"$root/out")"
	grep -q '"mine"\|say done' "$root/out" && fail "lines are shown that stay"
	grep -qF '3 files have hooks of agent-deck. Nothing was changed' <<<"$(grep -v '^[-@]' "$root/out")" ||
		fail "a dry run does not say so: $(<"$root/out")"
	untouched
	must import agent-deck --apply --remove-hooks --json
	python3 - "$root/out" "$home" "$root/before" <<-'END' || fail "$(<"$home/$file")"
		import json, sys
		home = sys.argv[2]
		removed = json.load(open(sys.argv[1]))["removed_hooks"]
		hooks = json.load(open(sys.argv[1]))["hooks"]
		assert [(it["path"][len(home):], it["events"], it["copy"]) for it in hooks] == [
			("/elsewhere.json", 7, "elsewhere.json.before-agentdeck"),
			("/.gemini/settings.json", 4, "settings.json.before-agentdeck"),
			("/.codex/config.toml", 1, "config.toml.before-agentdeck")], hooks
		# What is left is what was there, line for line, but for commas at the end of a list.
		then, left = open(sys.argv[3]).read().splitlines(), open(home + "/elsewhere.json").read().splitlines()
		rest = iter(then)
		assert all(any(line.rstrip(",") == other.rstrip(",") for other in rest) for line in left), left
		assert [line.split(":")[0][len(home):] for line in removed] == \
			["/elsewhere.json", "/.gemini/settings.json", "/.codex/config.toml"], removed
		was, now = json.load(open(sys.argv[3])), json.load(open(home + "/elsewhere.json"))
		assert [hook["command"] for hook in now["hooks"]["Stop"][0]["hooks"]] == ["say done"], now
		assert list(now["hooks"]) == [name for name in was["hooks"] if name in ("Stop", "Other")], now
		assert now["hooks"]["Other"] == was["hooks"]["Other"]
		del was["hooks"], now["hooks"]
		assert list(was.items()) == list(now.items()), now
	END
	[ -L "$home/$file" ] || fail "the link is gone"
	[ "$(stat -c %a "$home/elsewhere.json")" = 640 ] || fail "the mode is gone"
	cmp -s "$root/before" "$home/elsewhere.json.before-agentdeck" || fail "no copy of what was there"
	sed 's/^notify = /# &/' "$root/notify" | cmp -s - "$home/.codex/config.toml" ||
		fail "codex: $(<"$home/.codex/config.toml")"
	tree >"$deck.before"
	must import agent-deck --apply --remove-hooks
	untouched
	grep -qE 'has hooks of agent-deck|calls agent-deck|removed the hooks' "$root/out" && fail "still: $(<"$root/out")"
	echo '{' >"$home/.gemini/settings.json"
	run import agent-deck --apply --remove-hooks
	[ "$status" = 1 ] || fail "a broken file: status $status"
	[ "$(<"$home/.gemini/settings.json")" = '{' ] || fail "a broken file was changed"
	run import tmux-resurrect --remove-hooks
	[ "$status" = 64 ] || fail "--remove-hooks of another program: status $status"
}

hooks_in_the_homes_of_accounts_are_removed_too() {
	local deck_config name
	fresh agent-deck-1.14.0/xdg/home/dev
	deck_config=$home/.config/agent-deck/config.toml
	sed -i '/^config_dir/d' "$deck_config"
	cat >>"$deck_config" <<-END
		[profiles.work.codex]
		codex_home = "~/.codex-work"
		[profiles.x-linked.claude]
		config_dir = "~/.claude-linked"
		[profiles.usual.claude]
		config_dir = "~/.claude/"
		[profiles.gone.claude]
		config_dir = "~/.claude-gone"
		[profiles.relative.claude]
		config_dir = ".claude-relative"
		[groups."a/b".claude]
		config_dir = "$home/.claude-group"
		[conductors.main.claude]
		config_dir = "~/.claude-main"
	END
	sed -i "s|^\[profiles.work.claude\]|&\nconfig_dir = \"~/.claude-work\"|" "$deck_config"
	for name in work group main relative linked other; do
		mkdir -p "$home/.claude-$name"
		cp "$home/.claude/settings.json" "$home/.claude-$name/"
	done
	ln -sf ../.claude-work/settings.json "$home/.claude-linked/settings.json"
	mkdir "$home/.codex-work" && cp "$home/.codex/config.toml" "$home/.codex-work/"
	tree >"$deck.before"
	must import agent-deck
	for name in .claude .claude-work .claude-group .claude-main; do
		[ "$(grep -cF "$home/$name/settings.json has hooks of agent-deck for 7 events" "$root/out")" = 1 ] ||
			fail "$name: $(<"$root/out")"
	done
	grep -qF "$home/.codex-work/config.toml calls agent-deck" "$root/out" || fail "codex: $(<"$root/out")"
	untouched
	must import agent-deck --remove-hooks --apply --json
	python3 - "$root/out" "$home" <<-'END' || fail "$(<"$root/out")"
		import json, sys
		files = [hook["path"][len(sys.argv[2]):] for hook in json.load(open(sys.argv[1]))["hooks"]]
		assert sorted(files) == sorted("/" + name for name in (
			".claude/settings.json", ".claude-work/settings.json", ".claude-group/settings.json", ".claude-main/settings.json",
			".gemini/settings.json", ".codex/config.toml", ".codex-work/config.toml")), files
	END
	for name in work group main; do
		grep -q hook-handler "$home/.claude-$name/settings.json" && fail "$name has its hooks"
	done
	for name in relative other; do
		grep -q hook-handler "$home/.claude-$name/settings.json" || fail "$name is not its home, and was changed"
	done
	# Its sessions are gone, its settings are not; then these are broken.
	cp "$home/.claude-main/settings.json.before-agentdeck" "$home/.claude-main/settings.json"
	rm -r "$home/.local/share/agent-deck"
	must import agent-deck --remove-hooks --json
	grep -qF "$home/.claude-main/settings.json" "$root/out" || fail "without its sessions: $(<"$root/out")"
	echo '[' >>"$deck_config"
	run import agent-deck --remove-hooks
	[ "$status" = 1 ] || fail "broken settings: status $status"
	grep -qF "$deck_config" "$root/err" || fail "broken settings are not named: $(<"$root/err")"
	if [ "$(id -u)" = 0 ]; then
		sed -i '$d' "$deck_config"
		chown 65534 "$home/.claude-main"
		must import agent-deck --remove-hooks
		grep -qF "$home/.claude-main" "$root/out" && fail "another user's home: $(<"$root/out")"
	fi
}

a_removal_that_fails_says_what_it_did() {
	fresh agent-deck-1.14.0/xdg/home/dev
	echo '{' >"$home/.gemini/settings.json"
	run import agent-deck --apply --remove-hooks --json
	[ "$status" = 1 ] || fail "status $status"
	python3 - "$root/out" "$home" <<-'END' || fail "$(<"$root/out")"
		import json, sys
		it = json.load(open(sys.argv[1]))
		files = {hook["path"][len(sys.argv[2]):]: hook for hook in it["hooks"]}
		assert list(files) == ["/.claude/settings.json", "/.gemini/settings.json", "/.codex/config.toml"], files
		broken = files.pop("/.gemini/settings.json")
		assert broken["error"] and (broken["events"], broken["changes"], broken["copy"]) == (0, "", None), broken
		assert all(file["copy"] and file["error"] is None for file in files.values()), files
		assert len(it["removed_hooks"]) == 2, it["removed_hooks"]
		assert (it["success"], it["error"], it["code"]) == (False, broken["error"], "CORRUPT"), it
		assert it["applied"] and any(one["id"] for one in it["sessions"]), it
	END
	grep -q 'hook-handler' "$home/.claude/settings.json" && fail "the file before it was not changed"
	[ "$(<"$home/.gemini/settings.json")" = '{' ] || fail "a broken file was changed"
	mv "$home/.claude/settings.json.before-agentdeck" "$home/.claude/settings.json"
	for option in '' --apply; do
		# shellcheck disable=SC2086 # one word or none
		run import agent-deck --remove-hooks $option
		[ "$status" = 1 ] || fail "for people: status $status"
		grep -qF "agentdeck: $home/.gemini/settings.json" "$root/err" || fail "the broken file: $(<"$root/err")"
		grep -qF -- "--- $home/.claude/settings.json" "$root/out" || fail "the other file: $(<"$root/out")"
	done
	grep -qF "$home/.claude/settings.json: removed the hooks of agent-deck" "$root/out" ||
		fail "what was changed: $(<"$root/out")"
}

# left_hooks FILE COMMAND...: settings with these commands, on one line, and one of the user's
left_hooks() {
	mkdir -p "${1%/*}"
	python3 - "$@" <<-'END'
		import json, sys
		own = {"type": "command", "command": "echo claude-session-tracker /tmp/aoe-hooks/$AOE_INSTANCE_ID/x; exit 0"}
		groups = [{"matcher": "", "hooks": [{"type": "command", "command": it}]} for it in sys.argv[2:]]
		groups[0]["hooks"].append(own)
		json.dump({"apiKey": "secret", "hooks": {"SessionStart": groups}}, open(sys.argv[1], "w"))
	END
}

# Their exact forms are in the sources of the two programs.
hooks_of_other_programs_are_removed_on_request() {
	local plugin tracker file
	save_fresh
	plugin="$home/.tmux/plugins/tmux-assistant-resurrect/hooks" tracker=$home/.config/opencode/plugins/session-tracker.js
	file=$home/.claude/settings.json
	left_hooks "$file" "bash '$plugin/claude-session-track.sh'" \
		"bash \"\$HOME\"'/.tmux/plugins/tmux-assistant-resurrect/hooks/claude-session-cleanup.sh'"
	mkdir -p "${tracker%/*}" && ln -s "$plugin/opencode-session-track.js" "$tracker"
	cp "$file" "$root/before"
	tree >"$deck.before"
	must import tmux-assistant-resurrect
	grep -qF "$file has hooks of tmux-assistant-resurrect for 1 event" "$root/out" || fail "not named: $(<"$root/out")"
	grep -qF "$tracker is a plugin of tmux-assistant-resurrect" "$root/out" || fail "not named: $(<"$root/out")"
	must import agent-deck --remove-hooks --apply
	must import tmux-assistant-resurrect --remove-hooks
	grep -q '^-.*/claude-session-track.sh' "$root/out" || fail "not shown: $(<"$root/out")"
	grep -q 'secret' "$root/out" && fail "a line that stays is shown: $(<"$root/out")"
	untouched
	must import tmux-assistant-resurrect --apply --remove-hooks
	# shellcheck disable=SC2016
	[ "$(<"$file")" = '{"apiKey": "secret", "hooks": {"SessionStart": [{"matcher": "", "hooks": [{"type": "command", "command": "echo claude-session-tracker /tmp/aoe-hooks/$AOE_INSTANCE_ID/x; exit 0"}]}]}}' ] ||
		fail "left: $(<"$file")"
	if [ -L "$tracker" ] || [ ! -L "$tracker.before-agentdeck" ]; then fail "the link is still there"; fi
	cmp -s "$root/before" "$file.before-agentdeck" || fail "no copy of what was there"
	# The program is gone, and its hooks are not.
	rm -r "$home/.tmux"
	mkdir -p "$home/.codex"
	left_hooks "$home/.codex/hooks.json" \
		"sh -c '[ -n \"\$AOE_INSTANCE_ID\" ] || exit 0; mkdir -p /tmp/aoe-hooks/\$AOE_INSTANCE_ID && printf idle > /tmp/aoe-hooks/\$AOE_INSTANCE_ID/status'" \
		"sh -c '[ -n \"\$AOE_INSTANCE_ID\" ] || exit 0; aoe __extract-session-id 2>/dev/null; exit 0 # aoe-hooks'"
	ln -s "$home/elsewhere.js" "$tracker"
	tree >"$deck.before"
	must import tmux-assistant-resurrect --remove-hooks --apply
	untouched
	must import agent-of-empires --remove-hooks --json
	python3 - "$root/out" "$home" <<-'END' || fail "$(<"$root/out")"
		import json, sys
		it, = json.load(open(sys.argv[1]))["hooks"]
		assert it["path"] == sys.argv[2] + "/.codex/hooks.json" and it["copy"] is None, it
		assert it["changes"].count("\n-") == 2 and "echo" not in it["changes"], it
	END
	untouched
	must import agent-of-empires --remove-hooks --apply
	[ "$(<"$home/.codex/hooks.json")" = "$(<"$file")" ] || fail "left: $(<"$home/.codex/hooks.json")"
}

# as glibc and musl say it
loop='(Too many levels|Symbolic link loop)'

a_directory_that_cannot_be_looked_up_is_left_out() {
	fresh agent-of-empires-1.9.5/home/dev
	ln -s loop "$home/loop"
	printf 'loop/x\nproj\n' >"$home/list"
	must import directories --from "$home/list" --json
	count refuse 1
	count fresh 1
	grep -qE "loop/x cannot be looked up: $loop" "$root/out" || fail "no reason: $(<"$root/out")"
}

# What nobody can read is not "no sessions".
a_place_that_cannot_be_opened_is_an_error() {
	fresh agent-of-empires-1.9.5/home/dev
	mv "$home/.config/agent-of-empires/profiles" "$home/theirs"
	ln -s profiles "$home/.config/agent-of-empires/profiles"
	run import agent-of-empires
	[ "$status" = 1 ] || fail "agent-of-empires: status $status, $(<"$root/err")"
	grep -qE "agent-of-empires/profiles: $loop" "$root/err" || fail "another reason: $(<"$root/err")"
	run import
	grep -qE "agent-of-empires: .*$loop" "$root/err" || fail "the list does not say so: $(<"$root/err")"
	mkdir "$home/.agent-deck"
	ln -s profiles "$home/.agent-deck/profiles"
	run import agent-deck
	[ "$status" = 1 ] || fail "agent-deck: status $status, $(<"$root/err")"
	rm "$home/.agent-deck/profiles"
	mkdir "$home/.agent-deck/profiles"
	ln -s bad "$home/.agent-deck/profiles/bad"
	run import agent-deck
	[ "$status" = 1 ] || fail "a profile: status $status, $(<"$root/err")"
	grep -qE 'bad/(state.db|sessions.json)' "$root/err" || fail "a profile: $(<"$root/err")"
}

# Dotfiles are often links to files that are kept elsewhere.
files_may_be_links() {
	local sessions
	fresh agent-of-empires-1.9.5/home/dev
	sessions=$home/.config/agent-of-empires/profiles/default/sessions.json
	mkdir -p "$home/dotfiles" "$home/.config/agent-deck" "$home/.agent-deck/profiles/default"
	mv "$sessions" "$home/dotfiles"
	ln -s "$home/dotfiles/sessions.json" "$sessions"
	must import agent-of-empires --json
	count fresh 1
	printf '{"instances": [{"id": "a-1", "title": "api", "project_path": "%s/api", "tool": "shell"}]}' "$home" \
		>"$home/.agent-deck/profiles/default/sessions.json"
	printf 'default_tool = "codex"\n' >"$home/dotfiles/config.toml"
	ln -s "$home/dotfiles/config.toml" "$home/.config/agent-deck/config.toml"
	must import agent-deck
	grep -q 'default_agent codex' "$root/out" || fail "its settings are not read: $(<"$root/out")"
	# what they say is missed, but not their sessions
	ln -sf config.toml "$home/.config/agent-deck/config.toml"
	must import agent-deck
	grep -qE "its settings cannot be read: .*$loop" "$root/out" || fail "no word of the settings: $(<"$root/out")"
	grep -q api "$root/out" || fail "the sessions are missing: $(<"$root/out")"
	run import directories --from "$home"
	[ "$(<"$root/err")" = "agentdeck: $home is not a regular file" ] || fail "a directory: $(<"$root/err")"
}

# The sessions are where nobody looks who works in the usual profile.
sessions_of_other_profiles_are_announced() {
	local name
	fresh agent-of-empires-1.9.5/home/dev
	for name in side work; do
		mkdir -p "$home/.agent-deck/profiles/$name"
		printf '{"instances": [{"id": "%s-1", "title": "%s", "project_path": "%s", "tool": "shell"}%s]}' \
			$name $name "$home/api" "$([ $name = side ] ||
				printf ', {"id": "w-2", "title": "w2", "project_path": "%s", "tool": "shell"}' "$home/web")" \
			>"$home/.agent-deck/profiles/$name/sessions.json"
	done
	must import agent-deck --apply
	grep -qx 'Imported 1 session into profile side. It is stopped: agentdeck -p side start TITLE starts it.' "$root/out" ||
		fail "one session: $(<"$root/out")"
	grep -qx 'Imported 2 sessions into profile work. They are stopped: agentdeck -p work start --all, or one by one.' \
		"$root/out" || fail "two sessions: $(<"$root/out")"
	must list
	grep -qx 'No sessions in profile default. Others have some: agentdeck profile list' "$root/out" ||
		fail "the list: $(<"$root/out")"
	must -p side import agent-of-empires --apply
	grep -qx 'Imported 1 session into profile default. It is stopped: .*' "$root/out" || fail "default: $(<"$root/out")"
}

# The command line is agentdeck's, and the readers are another program's.
the_importer_is_a_program_of_its_own() {
	local offered taken main importer
	fresh claude-squad-1.0.17/home/dev
	run import nothing-of-this-name
	[ "$status" = 64 ] || fail "status $status"
	taken=$(sed -n 's/.* only from: //p' "$root/err" | tr -d ',' | tr ' ' '\n' | sort)
	offered=$(agentdeck help --complete -- import '' | tail -n +2 | cut -f 1 | sort)
	{ [ -n "$taken" ] && [ "$offered" = "$taken" ]; } || fail "completion offers $offered, import takes $taken"
	main=$(command -v agentdeck)
	importer=${main%/*}/agentdeck-import
	[ -e "$importer" ] || importer=${main%/*/*}/libexec/agentdeck/agentdeck-import
	grep -q 'No settings have hooks of' "$importer" || fail "$importer does not have a text of the importer"
	! grep -q 'No settings have hooks of' "$main" || fail "agentdeck has the importer, too"
	"$importer" import directories >"$root/out" 2>&1
	{ [ $? = 64 ] && grep -q 'not for people' "$root/out"; } || fail "called by people: $(<"$root/out")"
}

# --- the end ---------------------------------------------------------------------------------------

with_database=(each_row_becomes_what_was_decided nothing_is_imported_twice
	an_import_that_was_killed_goes_on what_was_removed_stays_away sessions_have_what_they_had
	dangerous_modes_need_consent every_spelling_of_a_dangerous_mode_needs_consent the_log_of_a_database_counts files_may_be_in_the_old_place
	titles_become_unique a_place_can_be_named a_damaged_database_is_refused
	hooks_that_are_left_are_named hooks_are_removed_on_request hooks_in_the_homes_of_accounts_are_removed_too a_removal_that_fails_says_what_it_did)
others=(a_save_gives_back_what_it_knows a_save_of_panes_gives_back_its_agents
	panes_that_could_be_meant_as_well_are_asked_about a_damaged_save_is_refused a_squad_comes_with_its_worktrees empires_come_with_their_profiles a_list_makes_one_session_each
	hooks_of_other_programs_are_removed_on_request
	a_directory_of_two_lists_makes_one_session programs_are_listed a_directory_that_cannot_be_looked_up_is_left_out
	the_importer_is_a_program_of_its_own a_place_that_cannot_be_opened_is_an_error sessions_of_other_profiles_are_announced files_may_be_links all_panes_of_a_session_have_its_marker
	a_take_over_joins_the_session_that_was_imported the_question_before_a_take_over_takes_only_yes)
if [ $# = 0 ]; then
	set -- "${others[@]}"
	set_up
	fresh agent-deck-1.14.0/xdg/home/dev
	run import agent-deck
	if grep -q 'built without SQLite' "$root/err"; then
		echo "left out: agent-deck's databases, since agentdeck was built without SQLite"
	else
		set -- "${with_database[@]}" "$@"
	fi
	tear_down
fi
run_cases "$@"
