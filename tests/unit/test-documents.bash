#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-documents.bash - the commands in the documents are true
#
# USAGE
#   test-documents.bash     agentdeck and its helpers are found in PATH
#
# It runs those of docs/tutorial.md and docs/how-to.md in their order, in a scratch home, the latter with
# the demo agent in place of claude. It names the lines that it leaves out, and what runs them instead. Of
# the lines in the other documents and in README.md it lets agentdeck check the command line. What docs/how-to.md
# gives to prompts, tmux and VS Code runs without starship, powerlevel10k and VS Code. Each link,
# and each document that our files name, is there.
#
# EXIT STATUS
#   0 all passed; 1 some failed; 77 there is no tmux, no git, or no agentdeck-assess (built without libgit2)
#
set -uo pipefail
export LC_ALL=C.UTF-8

command -v tmux >/dev/null || { echo "skipped: no tmux"; exit 77; }
command -v git >/dev/null || { echo "skipped: no git"; exit 77; }
tree=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
programs=$(dirname "$(command -v agentdeck)")
[[ -x $programs/agentdeck-assess ]] || { echo "skipped: no agentdeck-assess"; exit 77; }
root=$(mktemp -d /tmp/agentdeck-documents-XXXXXX) || exit
failures=0 count=0
trap 'tmux -S "$root/tmux" kill-server 2>/dev/null; agentdeck stop --all -q >/dev/null 2>&1; agentdeck -p private stop --all -q >/dev/null 2>&1; rm -rf "$root"' EXIT

fail() {
	echo "FAILED $*"
	failures=$((failures + 1))
}

unset TMUX XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME AGENTDECK_PROFILE AGENTDECK_INSTANCE AGENTDECK_INSTANCE_ID AGENTDECK_DEMO_CONFIG_DIR
export HOME=$root/user TMPDIR=$root/tmp AGENTDECK_HOME=$root/deck SHELL=/bin/sh
mkdir -p "$HOME/src" "$TMPDIR"
mkdir -m 700 "$AGENTDECK_HOME"
printf '[tmux]\nlaunch_in_user_scope = false\nlinger = false\n' >"$AGENTDECK_HOME/config.toml"
for name in api web; do
	git init -q -b main "$HOME/src/$name"
	git -C "$HOME/src/$name" -c user.name=a -c user.email=a@b commit -qm one --allow-empty
done

# The lines of the code blocks, which four spaces begin, without what follows as a remark.
commands_in() {	# FILE
	sed -nE 's/^    (agentdeck .*|cd "\$\(agentdeck .*)$/\1/p' "$1" | sed -E 's/(  +|  *# ).*$//'
}

# What a test without a terminal, a container engine or systemd cannot do, and what does it instead. Each
# is noted with its reason.
needs_more() {	# COMMAND
	local why
	case $1 in
	*' attach '*) why='needs a terminal: test-attach.bash, tests/persistence' ;;
	*' image '* | *--container* | *' shell '*) why='needs a container engine: tests/persistence' ;;
	*' -H '* | *' forward gpu1:'* | *' -A' | *' host check'* | *' host add'*) why='needs another host: test-hosts.py' ;;
	*'session move '*) why='needs another host: test-move.py' ;;
	*'session import '*) why='needs another machine: test-export.bash' ;;
	*'supervise --install'*) why='needs systemd: tests/persistence' ;;
	*) return 1 ;;
	esac
	echo "left out: $1 ($why)" >>"$root/left-out"
}

# 1 where the text says so: the machine is not as it should be, or the sessions are not as declared.
may_fail() {	# COMMAND
	[[ $1 == 'agentdeck doctor' || $1 == 'agentdeck diff' ]]
}

# The conversation that docs/how-to.md makes a session of.
id=0a1b2c3d-1111-4222-8333-444455556666
mkdir -p "$HOME/.claude/projects/x"
printf '{"type":"user","sessionId":"%s","cwd":"%s/src/api","message":{"role":"user","content":"hello"}}\n' "$id" "$HOME" \
	>"$HOME/.claude/projects/x/$id.jsonl"

# --- docs/tutorial.md --------------------------------------------------------------------------------

# One shell runs all lines, as a reader's does. The file tells the lines that ran.
run_tutorial() {
	local line status
	cd "$HOME" || return
	while read -r line; do
		echo "$line"
		needs_more "$line" && continue
		eval "$line" >"$root/out" 2>&1 </dev/null
		status=$?
		[[ $status == 0 ]] || echo "FAILED $line: status $status: $(<"$root/out")"
		case $line in
		*'What do you remember?"' | *'the till opens?"')
			grep -q 'the first was "The till opens at nine."' "$root/out" || echo "FAILED $line: $(<"$root/out")" ;;
		'agentdeck start shop')
			grep -q 'resumed conversation' "$root/out" || echo "FAILED $line: $(<"$root/out")" ;;
		'agentdeck check prices'*)
			grep -q 'not safe to delete' "$root/out" || echo "FAILED $line: $(<"$root/out")" ;;
		'rm -rf '*)
			[[ -z $(agentdeck list -q) ]] || echo "FAILED: sessions are left: $(agentdeck list)" ;;
		esac
	done < <(sed -n 's/^    //p' "$tree/docs/tutorial.md")
}
run_tutorial >"$root/tutorial"
if grep -A 20 FAILED "$root/tutorial"; then fail "tutorial"; fi
tutorial=$(grep -c . "$root/tutorial")
((tutorial >= 28)) || fail "tutorial: only $tutorial lines"

# --- docs/how-to.md ----------------------------------------------------------------------------------

# shellcheck disable=SC2016 # of Markdown
sed -n '/^```toml$/,/^```$/p' "$tree/docs/how-to.md" | sed '/^```/d; s/"claude"/"demo"/' >"$HOME/src/agentdeck.toml"
cd "$HOME/src" || exit 1
while read -r line; do
	count=$((count + 1))
	needs_more "$line" && continue
	# The sessions of the recipe before are in the way of nothing but its titles.
	[[ $line != *' up' && $line != *'groups.work.limits.memory'* && $line != *' -t ci '* ]] || {
		agentdeck stop --all -q >/dev/null 2>&1
		agentdeck remove --all -f >/dev/null 2>&1
	}
	(eval "${line//--agent claude/--agent demo}") >"$root/out" 2>&1 </dev/null
	status=$?
	[[ $status == 0 ]] || { [[ $status == 1 ]] && may_fail "$line"; } || fail "how-to: $line: status $status: $(<"$root/out")"
done < <(commands_in "$tree/docs/how-to.md" | sed 's/ && git log.*$/ \&\& git log --oneline -1/')
((count >= 35)) || fail "how-to: only $count commands"

# --- the others --------------------------------------------------------------------------------------

# Whether agentdeck takes such a line: with --help it does nothing else.
checked=0
check_line() {	# FILE LINE
	local words line=$2
	line=${line//[\[\]]/}
	line=${line%% -- *}
	read -ra words <<<"${line//\"/}"
	agentdeck "${words[@]:1}" --help >"$root/out" 2>&1 </dev/null || fail "$1: $2: $(<"$root/out")"
	checked=$((checked + 1))
}

while IFS=: read -r file line; do
	# "where" is the example of docs/adding-a-command.md
	[[ $line != *'...'* && $line != 'agentdeck where'* ]] || continue
	check_line "${file#"$tree"/}" "$line"
done < <(for file in "$tree"/README.md "$tree"/docs/*.md; do
	{
		commands_in "$file" | grep '^agentdeck' | sed -E 's/ *(&&|;|\|).*$//'
		# shellcheck disable=SC2016 # of Markdown
		grep -oE '`agentdeck [a-z-][^`]*`' "$file" | tr -d '`'
	} | sed "s|^|$file:|"
done)
((checked >= 80)) || fail "only $checked command lines"

# --- prompts and editors of docs/how-to.md -----------------------------------------------------------------

# What the text puts into a file, whose name follows the three signs.
recipe() {	# FILE
	sed -n "/^\`\`\`[a-z]* ${1//\//\\/}\$/,/^\`\`\`\$/p" "$tree/docs/how-to.md" | sed '/^```/d'
}

# What powerlevel10k would show: it defines p10k, and calls the function for each prompt.
powerlevel_shows() {
	local shell
	shell=$(command -v zsh bash | head -n 1)
	# shellcheck disable=SC2088 # the name is in the text so
	recipe '~/.p10k.zsh' >"$root/p10k"
	# shellcheck disable=SC2016 # the shell expands it
	"$shell" -c 'p10k() { printf "%s|" "$@"; }; . "$1"; prompt_agentdeck; echo "${POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS[@]}"' sh "$root/p10k"
}

starship() {	# KEY: its command
	# shellcheck disable=SC2088 # the name is in the text so
	recipe '~/.config/starship.toml' | sed -n "s/^$1 = \"\(.*\)\"\$/\1/p"
}

# What tmux runs for its status line, in the environment of its server. Only a terminal shows the line itself.
tmux_shows() {
	local line
	line=$(tmux -S "$root/tmux" show-options -gv status-right)
	[[ $line == *'#('*')'* ]] || return
	line=${line#*'#('}
	tmux -S "$root/tmux" run-shell "${line%%')'*} >'$root/shown'" && cat "$root/shown"
}

recipes_work() {
	local before=$failures
	agentdeck stop --all -q >/dev/null 2>&1
	agentdeck remove --all -f >/dev/null 2>&1
	sh -c "$(starship when)" >/dev/null 2>&1 && fail "recipes_work: starship shows a session where none waits"
	[[ $(powerlevel_shows) == agentdeck ]] || fail "recipes_work: powerlevel10k shows $(powerlevel_shows) where none waits"
	agentdeck launch "$HOME/src/api" -t asks --agent demo >"$root/out" 2>&1 || fail "recipes_work: $(<"$root/out")"
	agentdeck send asks '/run make' >"$root/out" 2>&1 || fail "recipes_work: $(<"$root/out")"
	agentdeck status --wait waiting --timeout 60 asks >"$root/out" 2>&1 || fail "recipes_work: $(<"$root/out")"
	sh -c "$(starship when)" >/dev/null 2>&1 || fail "recipes_work: starship shows nothing"
	[[ $(sh -c "$(starship command)") == '1 asks, 1 in all' ]] || fail "recipes_work: starship: $(sh -c "$(starship command)")"
	[[ $(powerlevel_shows) == 'segment|-f|magenta|-t|1 asks, 1 in all|agentdeck' ]] ||
		fail "recipes_work: powerlevel10k: $(powerlevel_shows)"

	# shellcheck disable=SC2088 # the name is in the text so
	recipe '~/.tmux.conf' >"$root/tmux.conf"
	tmux -S "$root/tmux" -f /dev/null new-session -d
	tmux -S "$root/tmux" source-file "$root/tmux.conf" || fail "recipes_work: tmux refuses it"
	[[ $(tmux_shows) == '1 asks, 1 in all' ]] || fail "recipes_work: tmux: $(tmux_shows)"
	tmux -S "$root/tmux" kill-server

	recipe .vscode/tasks.json | python3 -c 'import json, sys
for task in json.load(sys.stdin)["tasks"]:
    print(task["command"], *task["args"])' >"$root/tasks" || fail "recipes_work: tasks.json is not JSON"
	while read -r line; do
		check_line "docs/how-to.md, tasks.json" "$line"
	done <"$root/tasks"
	[[ $(wc -l <"$root/tasks") == 3 ]] || fail "recipes_work: tasks: $(<"$root/tasks")"
	[[ $failures != "$before" ]] || echo "ok recipes_work"
}
recipes_work

# --- pages ----------------------------------------------------------------------------------------------

# The headings of a document, as links name them.
anchors_of() {	# FILE
	sed -nE 's/^#+ //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

every_page_exists() {
	local before=$failures pages=0 file link page
	while IFS=: read -r file link; do
		# the forge has those, beside the files
		[[ $link != ../../issues && $link != ../../security/advisories/new ]] || continue
		page=$file
		[[ $link == '#'* ]] || page=$(dirname "$file")/${link%%#*}
		pages=$((pages + 1))
		if [[ ! -e $page ]]; then
			fail "every_page_exists: ${file#"$tree"/} leads to $link"
		elif [[ $link == *'#'* ]] && ! grep -qxF -- "${link#*#}" <(anchors_of "$page"); then
			fail "every_page_exists: ${file#"$tree"/} leads to $link, and there is no such heading"
		fi
	done < <(grep -oHE '\]\([^):]+\)' "$tree"/{README,CLAUDE,CHANGELOG,SECURITY}.md "$tree"/docs/*.md "$tree"/docs/rfc/*.md |
		sed -E 's/:\]\((.*)\)$/:\1/')
	while read -r page; do
		pages=$((pages + 1))
		[[ -e $tree/$page ]] || fail "every_page_exists: our files name $page"
	done < <(grep -rhoE --include='*.[ch]' --include='*.toml' --include='*.txt' '\bdocs/[a-z-]+\.md' "$tree"/{src,data} | sort -u)
	((pages >= 100)) || fail "every_page_exists: only $pages pages"
	[[ $failures != "$before" ]] || echo "ok every_page_exists: $pages"
}
every_page_exists

left=0
[[ ! -e $root/left-out ]] || { cat "$root/left-out" && left=$(wc -l <"$root/left-out"); }
[[ $failures == 0 ]] && echo "ok: $((tutorial + count - left)) commands run, $left left out, $checked checked"
[[ $failures == 0 ]]
