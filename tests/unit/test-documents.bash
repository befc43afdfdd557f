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
# the lines in the other documents and in README.md it lets agentdeck check the command line. Each link,
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
trap 'agentdeck stop --all -q >/dev/null 2>&1; agentdeck -p private stop --all -q >/dev/null 2>&1; rm -rf "$root"' EXIT

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
	*' attach '*) why='needs a terminal: test-dashboard.bash, tests/persistence' ;;
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

# --- pages ----------------------------------------------------------------------------------------------

# The headings of a document, as links name them.
anchors_of() {	# FILE
	sed -nE 's/^#+ //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

every_page_exists() {
	local before=$failures pages=0 file link page
	while IFS=: read -r file link; do
		# the forge has those, beside the files
		[[ $link != ../../issues ]] || continue
		page=$file
		[[ $link == '#'* ]] || page=$(dirname "$file")/${link%%#*}
		pages=$((pages + 1))
		if [[ ! -e $page ]]; then
			fail "every_page_exists: ${file#"$tree"/} leads to $link"
		elif [[ $link == *'#'* ]] && ! grep -qxF -- "${link#*#}" <(anchors_of "$page"); then
			fail "every_page_exists: ${file#"$tree"/} leads to $link, and there is no such heading"
		fi
	done < <(grep -oHE '\]\([^):]+\)' "$tree"/{README,CLAUDE,CHANGELOG}.md "$tree"/docs/*.md "$tree"/docs/rfc/*.md |
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
