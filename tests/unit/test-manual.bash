#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test-manual.bash - help, the manual page and completion say the same about every command
#
# USAGE
#   test-manual.bash [NAME...]    only these cases; agentdeck is found in PATH
#
# EXIT STATUS
#   0 all passed; 1 some failed
#
set -uo pipefail
shopt -s extglob
export LC_ALL=C.UTF-8

root=$(mktemp -d "${TMPDIR:-/tmp}/agentdeck-manual-XXXXXX") || exit
trap 'rm -rf "$root"' EXIT
mkdir -m 700 "$root/deck" "$root/directory"
export AGENTDECK_HOME=$root/deck HOME=$root
unset AGENTDECK_PROFILE
failures=0 case_name=""

fail() {
	echo "FAILED $case_name: $*"
	failures=$((failures + 1))
}

# With AGENTDECK_TEST_STRICT=1 it is a failure when something cannot be checked.
missing() {
	if [ "${AGENTDECK_TEST_STRICT-}" = 1 ]; then fail "$1 is not installed"; else echo "no $1: not checked with it"; fi
}
has() { command -v "$1" >/dev/null || { missing "$1"; return 1; }; }

# The full names of all commands in the help.
names() { agentdeck help --all | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\( [a-z-]\{1,\}\)\{0,1\}\)  .*/\1/p'; }
candidates() { agentdeck help --complete -- "$@" | tail -n +2 | cut -f 1; }
# The long options in a command's help.
options() { agentdeck help "$@" | sed -n '/^Options:/,$s/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'; }

case_commands_are_listed() {
	local count name
	count=$(names | wc -l)
	[ "$count" -gt 10 ] || fail "the help lists $count commands"
	agentdeck help | sed -n '/^Usage/d; /^  /p' | tr -s ' ,()' '\n' | sort -u >"$root/words"
	while read -r name; do
		case $name in
		# for other programs: there is no room for it
		'session address' | once | mcp | skill) continue ;;
		'session '*) name=${name#session } ;;
		*' '*) name=${name% *} ;;
		esac
		grep -qx -e "$name" "$root/words" || fail "the short help lacks $name"
	done < <(names)
}

case_summaries_fit_a_line() {
	[ -z "$(agentdeck help --all | sed -n '/^Commands:/,/^$/{/^ \{10,\}/p}')" ] || fail "a summary has two lines"
}

# One screen of 80x24, with a line for the next prompt, in groups; what agentdeck itself calls is
# not in it.
case_the_help_is_short() {
	local group name
	agentdeck help >"$root/help"
	[ "$(wc -l <"$root/help")" -le 23 ] || fail "$(wc -l <"$root/help") lines"
	[ "$(awk 'length($0) > 80' "$root/help")" = "" ] || fail "lines of more than 80 columns"
	for group in 'start and find sessions' 'talk to an agent' look recover administer; do
		grep -qx "$group" "$root/help" || fail "no group $group"
	done
	grep -q '^  list, ls  ' "$root/help" || fail "no alias"
	grep -qw 'remove (rm)' "$root/help" || fail "no alias of a command that is only named"
	for name in hook pane revive notice with-session serve; do
		! grep -qw "$name" "$root/help" || fail "$name is not hidden"
		agentdeck help --all | grep "^  $name  " >/dev/null || fail "--all lacks $name"
	done
	grep -q 'help --all' "$root/help" || fail "nothing about --all"
	agentdeck --help | diff "$root/help" - || fail "agentdeck --help"
}

case_every_command_has_examples() {
	local name line
	local -a words
	while read -r name; do
		read -ra words <<<"$name"
		agentdeck help "${words[@]}" | grep -x 'Examples:' >/dev/null || fail "the help of $name has none"
		agentdeck help --man "${words[@]}" | sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' | grep '^\.TP' >/dev/null || fail "the page of $name has none"
		# They use commands and options that exist.  --help ends the reading before anything is done.
		while read -r line; do
			line=${line##*| }
			eval "set -- ${line/ -- / --help -- }"
			"$@" --help >/dev/null 2>"$root/said" || fail "an example of $name: $line: $(<"$root/said")"
		done < <(agentdeck help "${words[@]}" | sed -n '/^Examples:/,/^$/s/^  \([^ ]\)/\1/p')
	done < <(names)
}

case_the_manual_begins_with_recipes() {
	agentdeck help --man >"$root/agentdeck.1"
	[ "$(grep '^\.SH' "$root/agentdeck.1" | sed -n 3p)" = '.SH RECIPES' ] || fail "the third section"
	[ "$(sed -n '/^\.SH RECIPES/,/^\.SH DESC/p' "$root/agentdeck.1" | grep -c '^\.TP')" = 6 ] || fail "not six"
}

case_without_a_command_it_lists() {
	agentdeck >"$root/alone" || fail "status $?"
	diff "$root/alone" <(agentdeck list) || fail "not the list"
	AGENTDECK_HOME=$root/empty agentdeck | grep >/dev/null 'agentdeck help' || fail "no hint where there are no sessions"
}

case_the_manual_has_every_command_and_option() {
	local name option section
	agentdeck help --man >"$root/agentdeck.1" || fail "status $?"
	while read -r name; do
		section=$(sed -n "/^\.SS \"$name\"$/,/^\.S[SH] /p" "$root/agentdeck.1")
		[[ $section ]] || fail "no section about $name"
		# shellcheck disable=SC2086  # one or two words
		for option in $(options $name); do
			[[ $option == --@(help|profile) || $section == *"\\fB${option//-/\\-}\\fR"* ]] || fail "nothing about $option of $name"
		done
	done < <(names)
}

# The usage lines, with the short forms.
case_the_manual_has_the_synopsis_of_the_help() {
	local name
	agentdeck help --man >"$root/agentdeck.1"
	while read -r name; do
		# shellcheck disable=SC2086  # one or two words
		agentdeck $name --help | diff - <(agentdeck help $name) >/dev/null || fail "$name --help is not help $name"
		# shellcheck disable=SC2086
		diff <(agentdeck help $name | sed -nE 's/^(Usage:|   or:) +//p') \
			<(sed -n "/^\.SS \"$name\"$/,/^\.PP/p" "$root/agentdeck.1" | sed -E '/^\./d; s/\\f[A-Z]//g; s/\\-/-/g') ||
			fail "synopsis of $name"
	done < <(names)
}

# Each command has its own page: its options and usage lines are those of the help, and it is
# installed.
case_every_command_has_its_page() {
	local name page
	while read -r name; do
		page=agentdeck-${name// /-}.1
		# shellcheck disable=SC2086  # one or two words
		agentdeck help --man $name >"$root/$page" || fail "help --man $name"
		grep -qF "agentdeck\\-${name//[ -]/\\-} \\- " "$root/$page" || fail "the name of $name"
		# shellcheck disable=SC2086
		diff <(agentdeck help $name | sed -nE 's/^(Usage:|   or:) +//p') \
			<(sed -n '/^\.SH SYNOPSIS$/,/^\.SH DESCRIPTION/p' "$root/$page" | sed -E '/^\.(SH|br)/d; s/\\f[A-Z]//g; s/\\-/-/g') ||
			fail "synopsis of $name"
		# shellcheck disable=SC2086
		diff <(options $name | sort) \
			<(sed -n '/^\.SH OPTIONS$/,/^\.SH EXAMPLES/p' "$root/$page" | sed -nE 's/^(\\fB\\-.\\fR, )?\\fB(\\-\\-[a-z\\-]*)\\fR.*/\2/p' | sed 's/\\-/-/g' | sort) ||
			fail "options of $name"
		grep -qwF "$page" "${top_srcdir:-$(dirname "$0")/../..}/Makefile.am" || fail "$page is not in Makefile.am"
	done < <(names)
	agentdeck help --man session >/dev/null 2>&1 && fail "a family of commands has a page"
	return 0
}

# The short forms of all commands, each with the name of its command: "start session start".
short_forms() {
	local name
	while read -r name; do
		# shellcheck disable=SC2086  # one or two words
		agentdeck help $name | sed -nE "s/^   or: agentdeck ([a-z-]+)( .*|$)/\\1 $name/p"
	done < <(names)
}

# One heading for each key of config.toml, and each in the complete example.
case_the_configuration_document_has_every_key() {
	local document=${top_srcdir:-$(dirname "$0")/../..}/docs/configuration.md
	diff <(agentdeck config get --json | sed -n 's/^ *"key": *"\(.*\)",$/\1/p' | sort) \
		<(awk -F '`' '
			/^## / { table = $2; gsub(/[][]/, "", table) }
			/^## `\[(groups|roles|hosts)\]`$/ { print table }
			/^### / {
				for (i = 2; i <= NF; i += 2)
					if ($i ~ /^\[/) { gsub(/[][]/, "", $i); print $i }
					else print (table ? table "." : "") $i
			}' "$document" | sort) || fail "keys and headings of docs/configuration.md"
	# shellcheck disable=SC2016 # the quoted backticks are those of the document
	diff <(agentdeck config get --json | sed -n 's/^ *"key": *"\(.*\)",$/\1/p' | sort) \
		<(sed -n '/^```toml/,/^```$/p' "$document" | awk '
			/^\[/ { table = $1; gsub(/[][]/, "", table); if (table ~ /^(resume.agents|tmux.options|roles|hosts|groups)$/) print table; next }
			match($0, /^(# )?[a-z_]+ = /) { key = $0; sub(/^# /, "", key); sub(/ .*/, "", key); print (table ? table "." : "") key }' |
			grep -Ev '^(resume.agents|tmux.options|roles|hosts|groups)\.' | sort) || fail "keys of the complete example"
}

# What the help of these commands lists: the fields, and the agents whose questions are known.
case_lists_in_the_help_are_whole() {
	local file text word
	text=$(agentdeck help session set)
	for word in $(candidates session set x ''); do
		[[ $text =~ (^|$'\n')"  $word"($|\ |$'\n') ]] || fail "session set: $word is missing"
	done
	[[ $text == *recipe.mount* ]] || fail "session set has no fields"
	text=$(agentdeck help session approve)
	for file in "${top_srcdir:-$(dirname "$0")/../..}"/data/agents/*.toml; do
		grep -q '^\[question' "$file" || continue
		word=$(basename "$file" .toml)
		[[ $word = demo || $text == *$word* ]] || fail "session approve: $word is missing"
	done
	! grep -q STRATEGY <<<"$(agentdeck help agents list)" || fail "agents list has no such column"
}

case_session_commands_work_without_the_word() {
	local name short all forms
	all=$'\n'$(names)$'\n' forms=$'\n'$(short_forms)$'\n'
	while read -r name; do
		[[ $name == 'session '* ]] || continue
		# another command has that name
		[[ $all != *$'\n'"${name#session }"$'\n'* ]] || continue
		[[ $forms == *$'\n'"${name#session } $name"$'\n'* ]] || fail "no short form of $name"
	done <<<"$all"
	while read -r short name; do
		# shellcheck disable=SC2086  # one or two words
		diff <(agentdeck "$short" --help) <(agentdeck help $name) >/dev/null || fail "$short --help"
	done < <(sed '/^$/d' <<<"$forms")
}

case_every_short_form_has_a_page() {
	local short name makefile=${top_srcdir:-$(dirname "$0")/../..}/Makefile.am
	diff <(short_forms | cut -d ' ' -f 1 | sort) \
		<(sed -n '/^SHORT_SESSION_MANS =/,/^nodist_man1_MANS/p' "$makefile" | grep -o 'agentdeck-[a-z]*\.1' | sed 's/agentdeck-//; s/\.1//' | sort) ||
		fail "short forms and pages in Makefile.am"
	while read -r short name; do
		[ ! -e "agentdeck-$short.1" ] || [ "$(cat "agentdeck-$short.1")" = ".so man1/agentdeck-${name// /-}.1" ] || fail "the page of $short"
	done < <(short_forms)
}

# A text under a wrong name would be lost in silence.
case_every_description_belongs_to_a_command() {
	local name texts=${top_srcdir:-$(dirname "$0")/../..}/data/texts/commands.txt
	[ "$(grep -c '^\[.*\]$' "$texts")" -gt 10 ] || fail "no descriptions in $texts"
	while read -r name; do
		# shellcheck disable=SC2086  # one or two words
		agentdeck help --man $name >/dev/null || fail "there is no command $name"
	done < <(sed -n 's/^\[\(.*\)\]$/\1/p' "$texts")
}

# The date of the manual is that of the newest release, and the texts have the width of the sources.
case_the_texts_are_kept() {
	local page top=${top_srcdir:-$(dirname "$0")/../..} date
	date=$(sed -nE 's/^## \[[0-9.]+\] - ([0-9-]+)$/\1/p' "$top/CHANGELOG.md" | head -n 1)
	for page in agentdeck.1 command.1; do
		grep -q "^\.TH .* \"$date\" " "$top/data/texts/$page" || fail "$page is not of $date"
	done
	[ -z "$(awk 'length($0) > 100 { print FILENAME ":" FNR }' "$top"/data/texts/*)" ] || fail "lines of more than 100 columns"
}

case_the_manual_is_well_formed() {
	local name page top=${top_srcdir:-$(dirname "$0")/../..}
	agentdeck help --man >"$root/agentdeck.1"
	while read -r name; do
		# shellcheck disable=SC2086
		agentdeck help --man $name >"$root/agentdeck-${name// /-}.1"
	done < <(names)
	"$top/scripts/embed-manual" "$top/docs/configuration.md" 1 2026-01-01 >"$root/agentdeck-config.5"
	sed 's/\\-/-/g' "$root/agentdeck-config.5" >"$root/headings"
	# shellcheck disable=SC2016  # the document's quotes
	for name in $(sed -nE 's/^##+ `([^`]+)`$/\1/p' "$top/docs/configuration.md" | tr -d '[]'); do
		grep -Eq "^\.S[SH] \"\[?$name\]?\"" "$root/headings" || fail "no $name in agentdeck-config(5)"
	done
	for page in "$root"/agentdeck*.[15]; do
		if has mandoc; then
			mandoc -T lint -W warning "$page" || fail "mandoc: $page"
		fi
		if command -v groff >/dev/null; then
			[ -z "$(groff -k -Tutf8 -man -ww -z "$page" 2>&1)" ] || fail "groff: $page"
		fi
	done
}

case_completion_has_every_command() {
	local name
	while read -r name; do
		if [[ $name == *' '* ]]; then
			grep -qx "${name#* }" <<<"$(candidates "${name% *}" '')" || fail "not $name"
		else
			grep -qx "$name" <<<"$(candidates '')" || fail "not $name"
		fi
	done < <(names)
	grep -qx ls <<<"$(candidates '')" || fail "a short form"
	grep -qx pane <<<"$(candidates '')" && fail "a hidden command"
}

# Each first word that is offered is a command, short forms too.
case_what_is_offered_works() {
	local word
	for word in $(candidates ''); do
		agentdeck help "$word" >/dev/null || fail "help $word"
		case $word in
		session | agents) ;; # families
		*) agentdeck "$word" --help | diff - <(agentdeck help "$word") >/dev/null || fail "$word --help" ;;
		esac
	done
}

case_completion_has_every_option() {
	local name
	while read -r name; do
		# shellcheck disable=SC2086
		diff <(candidates $name - | sort) <(options $name | sort) >/dev/null || fail "$name"
	done < <(names)
}

case_completion_knows_names() {
	[ "$(candidates start '')" = "it's a: b" ] || fail "sessions"
	[ "$(candidates -p other start '')" = "" ] || fail "another profile's sessions"
	[ ! -e "$AGENTDECK_HOME/other" ] || fail "looking made a profile"
	[ "$(candidates add -g '')" = work/api ] || fail "groups"
	grep -qx claude <<<"$(candidates add --agent '')" || fail "agents"
	grep -qx -e --agent=claude <<<"$(candidates add --agent=)" || fail "agents behind ="
	[ "$(candidates -p '')" = default ] || fail "profiles"
	[ "$(candidates add --resume '' | paste -sd ' ')" = "auto confirm never" ] || fail "policies"
	[ "$(agentdeck help --complete -- add '')" = directories ] || fail "directories"
	[ "$(agentdeck help --complete -- add . -- '')" = files ] || fail "words for the agent"
	[ "$(candidates rename x '')" = "" ] || fail "a title to be is nobody's"
	[ "$(candidates nonsense '')" = "" ] || fail "nonsense"
	grep -qx start <<<"$(candidates help session '')" || fail "help of a family"
	[ "$(candidates logs '')" = "it's a: b" ] || fail "the session of a log"
	git init -q "$AGENTDECK_HOME/repo" && git -C "$AGENTDECK_HOME/repo" -c user.name=a -c user.email=a@b commit -qm one --allow-empty
	git -C "$AGENTDECK_HOME/repo" branch -q -m main && git -C "$AGENTDECK_HOME/repo" branch fix/a
	[ "$(candidates launch "$AGENTDECK_HOME/repo" --branch '' | paste -sd ' ')" = 'fix/a main' ] || fail "branches of a directory"
	[ "$(cd "$AGENTDECK_HOME/repo" && candidates add --branch '' | paste -sd ' ')" = 'fix/a main' ] || fail "branches of this directory"
	[ "$(candidates launch / --branch '')" = '' ] || fail "branches where there is no repository"
	agentdeck add . -t gone --agent demo >/dev/null || fail "add"
	agentdeck remove gone >/dev/null || fail "remove"
	grep -qx gone <<<"$(candidates undo '')" || fail "removed sessions"
	agentdeck prune --force >/dev/null || fail "prune"
}

# What one word of a value decides about the next one.
case_completion_knows_values() {
	local field word
	[ "$(candidates status --wait '' | paste -sd ' ')" = "waiting idle busy error stopped" ] || fail "states to wait for"
	[ "$(candidates status --wait idle,e | paste -sd ' ')" = "idle,waiting idle,busy idle,error idle,stopped" ] || fail "a list of states"
	[ "$(candidates list --status=idle, | head -n 1)" = --status=idle,waiting ] || fail "a list behind ="
	grep -qx json <<<"$(candidates list --format '')" || fail "formats"
	grep -qx 'table title' <<<"$(candidates list --format '')" || fail "a column"
	grep -qx 'table id,path' <<<"$(candidates list --format 'table id,pa')" || fail "a list of columns"
	! grep -q ',id' <<<"$(candidates list --format 'table id,pa')" || fail "a column twice"
	[ "$(candidates completion '' | paste -sd ' ')" = "bash zsh fish" ] || fail "shells"
	# a role, and a value that may be left out
	printf '[roles.web]\nsource = "~/web"\n' >>"$AGENTDECK_HOME/config.toml"
	for word in 'launch --role' 'role check' 'fork x --role'; do
		# shellcheck disable=SC2086  # words
		[ "$(agentdeck help --complete -- $word '' | paste -sd ' ')" = $'directories web\t~/web' ] || fail "roles of $word"
	done
	[ "$(agentdeck help --complete -- launch --devcontainer=)" = files ] || fail "files of --devcontainer="
	[ "$(agentdeck help --complete -- launch --container=)" = none ] || fail "files of --container="
	# session set
	for field in $(candidates session set "it's a: b" ''); do
		case $field in
		resume) word=never ;;
		restart) word=always ;;
		on-end) word=keep ;;
		sleep-after) word=off ;;
		group) word=work/api ;;
		agent) word=claude ;;
		recipe.network) word=internal ;;
		recipe.docker) word=rootless ;;
		path | home | recipe.mount) [ "$(agentdeck help --complete -- set x "$field" '')" = directories ] || fail "values of $field"; continue ;;
		command) [ "$(agentdeck help --complete -- set x "$field" '')" = programs ] || fail "values of $field"; continue ;;
		pinned) word=yes ;;
		title | notes | tags | session-id | recipe.image | recipe.secret) continue ;; # a text; one that never had another conversation
		*) fail "what are the values of $field?"; continue ;;
		esac
		grep -qx -e "$word" <<<"$(candidates set "it's a: b" "$field" '')" || fail "values of $field"
	done
	for field in resume restart; do
		for word in $(candidates set "it's a: b" $field ''); do
			agentdeck set "it's a: b" $field "$word" >/dev/null || fail "$field $word"
		done
	done
	agentdeck set "it's a: b" session-id 3f2b8c1e-0000-4000-8000-000000000001 >/dev/null || fail "another conversation"
	[ "$(candidates set "it's a: b" session-id '' | wc -l)" = 1 ] || fail "earlier conversations"
	# the flags of the agent that it will be
	grep -qx -e --model <<<"$(candidates launch . --agent claude -- -)" || fail "the flags of claude"
	grep -qx -e --sandbox <<<"$(candidates add . -c 'codex -m x' -- -)" || fail "the flags of codex"
	! grep -qx -e --resume <<<"$(candidates launch . --agent claude -- -)" || fail "a flag that agentdeck gives"
}

# Every key can be named, and whoever has a set of values has them offered, each of which is valid.
case_completion_knows_the_configuration() {
	local key word words
	diff <(candidates config get '' | sort) <(agentdeck config get --json | sed -n 's/^ *"key": *"\(.*\)",$/\1/p' | sort) || fail "keys"
	diff <(candidates config set --unset '' | sort) <(candidates config set '' | sort) || fail "keys to unset"
	grep -qx 'groups."work/api".limits.memory_max' <<<"$(candidates config set groups.)" || fail "the limits of a group"
	grep -qx resume.agents.claude <<<"$(candidates config set resume.agents.)" || fail "the policy of an agent"
	[ "$(candidates config set resume.agents.claude '' | paste -sd ' ')" = "auto confirm never" ] || fail "its values"
	for key in $(candidates config set ''); do
		words=$(candidates config set "$key" '')
		case $key in
		*.policy) [ "$(wc -l <<<"$words")" = 3 ] || fail "policies of $key" ;;
		notify.on) [ "$(wc -l <<<"$words")" = 7 ] || fail "occasions" ;;
		notify.osc) [ "$(wc -l <<<"$words")" = 3 ] || fail "sequences" ;;
		default_agent) grep -qx claude <<<"$words" || fail "agents" ;;
		*)
			grep -Eq '"(value|default)": *(true|false)' <<<"$(agentdeck config get "$key" --json)" || [[ $key == tmux.l* ]] || continue
			[ "$(paste -sd ' ' <<<"$words")" = "true false" ] || fail "$key has two values, not ${words//$'\n'/ }"
			;;
		esac
		for word in $words; do
			agentdeck config set "$key" "$word" >/dev/null || fail "$key $word"
		done
		agentdeck config set --unset "$key" >/dev/null || fail "--unset $key"
	done
	rm -f "$AGENTDECK_HOME/config.toml"
}

# Each place of a value on the command line of each command: the words that lead there, and behind a
# tab what the help calls it.
places() {
	local name word words line
	while read -r name; do
		# shellcheck disable=SC2086  # one or two words
		agentdeck help $name >"$root/places"
		sed -nE "/^Options:/,\$s/^  (-., |    )(--[a-z-]+) ([A-Z]+).*/$name \2 \t\3/p" "$root/places"
		words=$(sed -nE "1s/^Usage: agentdeck $name( \[OPTION\.\.\.\])?//p" "$root/places") line=$name
		for word in ${words%%?(\[)--*}; do
			word=${word//[![:upper:]|]/}
			printf '%s \t%s\n' "$line" "$word"
			line+=" it\\'s\\ a:\\ b"
		done
		[[ $words != *'--'* ]] || printf '%s \tAGENT_WORD\n' "$line --"
	done < <(names)
}
# A text, a number or a size: what nobody can list.  VALUE depends on the word before it.
NOT_LISTED='DESTINATION PARTITION ACCOUNT TIME CONTEXT NAMESPACE USER WORD DIGEST TEXT TITLE TAG OLD N S SIZE PORT SECONDS DAYS AGE ID PANE|PID VALUE URL IMAGE SOURCE NAME CAPABILITY'

# A COMMAND while config.toml has a host.
with_host() {
	local status=0
	printf '[hosts.gpu1]\n' >>"$AGENTDECK_HOME/config.toml"
	"$@" || status=$?
	sed -i '$d' "$AGENTDECK_HOME/config.toml"
	return "$status"
}

every_place_has_an_answer() {
	local line placeholder count=0
	while IFS=$'\t' read -r line placeholder; do
		count=$((count + 1))
		[[ " $NOT_LISTED " != *" $placeholder "* ]] || continue
		eval "set -- $line"
		[ "$(agentdeck help --complete -- "$@" '')" != none ] || fail "no answer for $placeholder of $line"
	done < <(places)
	((count > 80)) || fail "$count places"
}

case_completion_knows_every_place() { with_host every_place_has_an_answer; }

# Fill COMPREPLY as bash does when Tab is pressed after these words.
press_tab() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_agentdeck
}

case_bash_completes() {
	local nospace=''
	# shellcheck disable=SC2317  # the script calls it; bash's own works only while readline completes
	compopt() { :; }
	# shellcheck disable=SC1090
	source <(agentdeck completion bash) || fail "source"
	press_tab agentdeck sess
	[ "${COMPREPLY[*]}" = session ] || fail "a command: ${COMPREPLY[*]}"
	press_tab agentdeck start 'it'
	[ "${COMPREPLY[*]}" = "it\\'s\\ a:\\ b" ] || fail "a title: ${COMPREPLY[*]}"
	press_tab agentdeck start '"it'
	[ "${COMPREPLY[*]}" = "it's a: b" ] || fail "a title in quotes: ${COMPREPLY[*]}"
	press_tab agentdeck start "it\\'s\\ a" : ''
	[ "${COMPREPLY[*]}" = '\ b' ] || fail "behind a colon: ${COMPREPLY[*]}"
	press_tab agentdeck add --agent = dem
	[ "${COMPREPLY[*]}" = demo ] || fail "behind an equals sign: ${COMPREPLY[*]}"
	# shellcheck disable=SC2016
	press_tab agentdeck start '$(touch '"$root"'/ran)'
	[ ! -e "$root/ran" ] || fail "what is typed was run"
	# A title is completed to the same text, whatever quote it follows.
	# shellcheck disable=SC2016,SC1003
	local quote title='x$(touch ran)`touch ran`"\\'"'"'end'
	agentdeck add . -t "$title" --agent demo >/dev/null || fail "add"
	for quote in '"' "'" ''; do
		press_tab agentdeck start "${quote}x"
		((${#COMPREPLY[@]} == 1)) || fail "behind $quote: ${COMPREPLY[*]}"
		eval "set -- $quote${COMPREPLY[0]}$quote"
		[ "$1" = "$title" ] || fail "behind $quote it became $1"
	done
	[ ! -e ran ] || fail "a title was run"
	agentdeck remove "$title" >/dev/null || fail "remove"
	# shellcheck disable=SC2317  # as above
	compopt() { nospace=$2; }
	with_host press_tab agentdeck attach gp
	[ "${COMPREPLY[*]} $nospace" = 'gpu1: nospace' ] || fail "a host: ${COMPREPLY[*]}"
	unset -f compopt
}

# What every shell offers after a line, for every command; the function prints that.
offers() {	# FUNCTION
	local name line placeholder offered=$1
	diff <(candidates '' | sort) <("$1" 'agentdeck ' | sort) || fail "commands"
	diff <(candidates session '' | sort) <("$1" 'agentdeck session ' | sort) || fail "second words"
	[ "$("$1" 'agentdeck sess')" = session ] || fail "a command"
	[ "$("$1" 'agentdeck session li')" = limit ] || fail "a second word"
	[ "$("$1" 'agentdeck "session" li')" = limit ] || fail "a second word behind one in quotes"
	while read -r name; do
		# shellcheck disable=SC2086  # one or two words
		diff <(candidates $name - | sort) <("$1" "agentdeck $name -" | sort) || fail "options of $name"
	done < <(names)
	while IFS=$'\t' read -r line placeholder; do
		eval "set -- $line"
		[ "$(agentdeck help --complete -- "$@" '' | head -n 1)" = none ] || continue # files, which are not ours
		diff <(candidates "$@" '' | sort) <("$offered" "agentdeck $line" | sort) || fail "$placeholder behind $line"
	done < <(places)
	set -- "$offered"
	for line in '' it "it\\'s\\ a:" "it\\'s\\ a:\\ " '"it' "\"it's a: " "'it"; do
		[ "$("$1" "agentdeck start $line")" = "it's a: b" ] || fail "a title behind $line"
	done
	[ "$("$1" 'agentdeck -p other start ')" = "" ] || fail "another profile's titles"
	[ "$("$1" 'agentdeck add -g wo')" = work/api ] || fail "a group"
	[ "$("$1" 'agentdeck add --agent dem')" = demo ] || fail "an agent"
	[ "$("$1" 'agentdeck add --agent=dem')" = --agent=demo ] || fail "behind an equals sign"
	[ "$("$1" 'agentdeck status --wait idle,bu')" = idle,busy ] || fail "a list"
	[ "$("$1" "agentdeck list --format 'table id,ti")" = 'table id,title' ] || fail "a column in quotes"
	[ "$("$1" 'agentdeck config set groups.')" = 'groups."work/api".limits.memory_high' ] && fail "only one limit"
	[ "$("$1" 'agentdeck set x resume au')" = auto ] || fail "a value of session set"
	[ "$("$1" 'agentdeck launch . --agent claude -- --mod')" = --model ] || fail "a flag of the agent"
	[ "$("$1" 'agentdeck nonsense ')" = "" ] || fail "behind nonsense"
}

# shellcheck disable=SC2016,SC1003  # nothing may be expanded
HOSTILE='x$(touch ran)`touch ran`"\'"'"'end*?~ [z]'

in_fish() { fish --no-config -c "source $root/fish; $1" -- "${@:2}"; }

# A helper that answers as those of the other shells; fish itself says what a Tab offers.
fish_helper() {
	fish --no-config -c "source $root/fish
		while read -l line
			printf '%s\t' \$line \$line
			echo (string join \t -- (complete -C \$line | string replace -r '\t.*' ''))
		end"
}

offered_by_fish() { in_fish "complete -C \$argv[1]" "$1" | cut -f 1; }
fish_offers() { offers offered; }

case_fish_completes() {
	local quoted
	has fish || return 0
	agentdeck completion fish >"$root/fish"
	with_shell fish_offers fish_helper
	in_fish "complete -C 'agentdeck status --wa'" |
		grep -qxF -e "$(agentdeck help --complete -- status - | grep '^--wait')" || fail "an explanation"
	[ "$(offered_by_fish "agentdeck add $root/d")" = "$(printf '%s/\n' "$root/deck" "$root/directory")" ] || fail "directories"
	[ "$(offered_by_fish "agentdeck add $root/fis")" = "" ] || fail "a file as a directory"
	[ "$(with_host offered_by_fish 'agentdeck attach gp')" = gpu1: ] || fail "a host"
	[ "$(offered_by_fish "agentdeck start $root/dir")" = "$root/directory/" ] || fail "a session's directory"
	[ "$(offered_by_fish "agentdeck add . -- $root/fis")" = "$root/fish" ] || fail "files"
	[ "$(offered_by_fish 'agentdeck add --cmd agentdeck-dem')" = agentdeck-demo-agent ] || fail "programs"
	agentdeck add . -t "$HOSTILE" --agent demo >/dev/null || fail "add"
	quoted=$(in_fish "complete --escape -C 'agentdeck start x'" | cut -f 1)
	[ "$(in_fish "printf %s $quoted")" = "$HOSTILE" ] || fail "a title became $quoted"
	[ ! -e ran ] || fail "a title was run"
	agentdeck remove "$HOSTILE" >/dev/null || fail "remove"
}

# A login over SSH sets no XDG_DATA_DIRS, and fish looks nowhere in /usr/local.  The line that doctor
# advises is enough.
case_fish_completes_over_ssh() {
	local -a login=(env -i "HOME=$root" "PATH=$PATH" "AGENTDECK_HOME=$AGENTDECK_HOME" SHELL=/usr/bin/fish LC_ALL=C.UTF-8)
	local advice
	has fish || return 0
	[ ! -e /usr/share/fish/vendor_completions.d/agentdeck.fish ] && [ ! -e /etc/fish/completions/agentdeck.fish ] || return 0
	! "${login[@]}" fish -c "complete -C 'agentdeck sess'" | grep -q '^session' || fail "it completes already"
	advice=$("${login[@]}" agentdeck doctor | grep -o 'mkdir .* agentdeck completion fish .*') || fail "doctor does not advise it"
	"${login[@]}" sh -c "$advice" || fail "$advice"
	"${login[@]}" fish -c "complete -C 'agentdeck sess'" | grep >/dev/null '^session' || fail "it does not complete"
	"${login[@]}" agentdeck doctor | grep >/dev/null 'fish finds the completion' || fail "doctor does not see it"
	rm -r "$root/.config/fish"
}

# The answer of the helper that runs.
press_tab_in_shell() {	# LINE
	local answer=''
	printf '%s\n' "$1" >&"$to_shell"
	# otherwise we would wait for a hanging one at every line
	IFS= read -r -t 30 -u "$from_shell" answer || kill "$shell" 2>/dev/null
	printf '%s\n' "$answer"
}
became() { press_tab_in_shell "$1" | cut -f 2; }
offered() { press_tab_in_shell "$1" | cut -s -f 3- | tr '\t' '\n' | sed '/^$/d'; }

# Run the function while a helper presses Tab in its shell.
with_shell() {	# FUNCTION HELPER...
	local shell to_shell from_shell function=$1
	shift
	mkfifo "$root/to" "$root/from"
	TMPDIR=$root "$@" <"$root/to" >"$root/from" &
	shell=$!
	exec {to_shell}>"$root/to" {from_shell}<"$root/from"
	"$function"
	exec {to_shell}>&- {from_shell}<&-
	wait "$shell"
	rm "$root/to" "$root/from"
}
helper() { echo "${top_srcdir:-$(dirname "$0")/../..}/tests/helper/$1"; }

# bash offers only the rest of a word that it splits: so look what a single one became.
offered_by_bash() {	# LINE
	local answer
	answer=$(press_tab_in_shell "$1")
	case $(cut -s -f 3- <<<"$answer") in
	'') ;;
	*$'\t'*) cut -s -f 3- <<<"$answer" | tr '\t' '\n' ;;
	*) eval "set -- $(cut -f 2 <<<"$answer")" && printf '%s\n' "${!#}" ;;
	esac
}

bash_offers() {
	offers offered_by_bash
	[ "$(became 'agentdeck status --wa')" = 'agentdeck status --wait ' ] || fail "what an option became"
	[ "$(with_host became 'agentdeck attach gp')" = 'agentdeck attach gpu1:' ] || fail "a host"
	[ "$(became "agentdeck add $root/dir")" = "agentdeck add $root/directory/" ] || fail "directories"
	[ "$(became "agentdeck add $root/bas")" = "agentdeck add $root/bas" ] || fail "a file as a directory"
	[ "$(became "agentdeck add . -- $root/bas")" = "agentdeck add . -- $root/bash " ] || fail "files"
	[ "$(became 'agentdeck add --cmd agentdeck-dem')" = 'agentdeck add --cmd agentdeck-demo-agent ' ] || fail "programs"
}

case_bash_completes_every_command() {
	has script || return 0
	agentdeck completion bash >"$root/bash"
	with_shell bash_offers "$(helper press-tab.bash)" "$root/bash"
}

in_zsh() {	# COMMAND_THAT_STARTS_COMPLETION FUNCTION
	printf '%s\n' "zstyle ':completion:*' matcher-list '' 'm:{A-Z}={a-z}'; autoload -Uz compinit; $1" >"$root/setup"
	with_shell "$2" zsh -f "$(helper press-tab.zsh)" "$root/setup"
}

zsh_offers() {
	local quote line
	offers offered
	[ "$(became 'agentdeck status --wa')" = 'agentdeck status --wait ' ] || fail "what an option became"
	[ "$(became 'agentdeck start IT')" = "agentdeck start it\\'s\\ a:\\ b " ] || fail "a title by the user's own matcher"
	[ "$(became "agentdeck add $root/dir")" = "agentdeck add $root/directory/" ] || fail "directories"
	[ "$(became "agentdeck add $root/zs")" = "agentdeck add $root/zs" ] || fail "a file as a directory"
	[ "$(became "agentdeck start $root/dir")" = "agentdeck start $root/directory/" ] || fail "a session's directory"
	[ "$(became "agentdeck add . -- $root/zs")" = "agentdeck add . -- $root/zsh " ] || fail "files"
	[ "$(became 'agentdeck add --cmd agentdeck-dem')" = 'agentdeck add --cmd agentdeck-demo-agent ' ] || fail "programs"
	agentdeck add . -t "$HOSTILE" --agent demo >/dev/null || fail "add"
	for quote in '"' "'" ''; do
		line=$(became "agentdeck start ${quote}x")
		[ "$(zsh -fc "print -rn -- ${line#agentdeck start }")" = "$HOSTILE" ] || fail "behind $quote a title became $line"
	done
	[ ! -e ran ] || fail "a title was run"
	agentdeck remove "$HOSTILE" >/dev/null || fail "remove"
}

zsh_offers_a_command() { [ "$(became 'agentdeck sess')" = 'agentdeck session ' ] || fail "from a directory of \$fpath"; }

case_zsh_completes() {
	has zsh || return 0
	agentdeck completion zsh >"$root/zsh"
	in_zsh "compinit -D -u; source $root/zsh" zsh_offers
	# as it is installed
	mkdir "$root/fpath"
	cp "$root/zsh" "$root/fpath/_agentdeck"
	in_zsh "fpath=($root/fpath \$fpath); compinit -D -u" zsh_offers_a_command
}

case_scripts_are_well_formed() {
	local shell
	for shell in bash zsh fish; do
		agentdeck completion "$shell" >"$root/$shell" || fail "$shell: status $?"
		! has "$shell" || "$shell" -n "$root/$shell" || fail "$shell -n"
	done
	! has shellcheck || shellcheck -s bash "$root/bash" || fail "shellcheck"
	agentdeck completion csh >/dev/null 2>&1
	[ $? = 64 ] || fail "completion csh"
}

case_families_are_explained() {
	agentdeck help session | grep >/dev/null '^  session start  ' || fail "session"
	agentdeck help agents | grep >/dev/null '^  session start  ' && fail "agents"
	agentdeck help nonsense >/dev/null 2>&1
	[ $? = 2 ] || fail "nonsense"
	agentdeck help --man nonsense >/dev/null 2>&1
	[ $? = 2 ] || fail "a page of nonsense"
	agentdeck help --man --all >/dev/null 2>&1
	[ $? = 64 ] || fail "two wishes"
}

case_help_fits_the_terminal() {
	local name
	# The lines of a command's own tables and of its synopsis are not wrapped.
	while read -r name; do
		# shellcheck disable=SC2086
		agentdeck help $name | awk -v name="$name" 'length($0) > 80 && !/^(Usage:|   or:)/ { print name ": " $0; bad = 1 } END { exit bad }' ||
			fail "lines of more than 80 columns"
	done < <(names)
}

agentdeck add "$root/directory" -t "it's a: b" --agent demo -g work/api >/dev/null || exit 1
cases=("$@")
((${#cases[@]})) || mapfile -t cases < <(declare -F | sed -n 's/^declare -f case_//p')
for case_name in "${cases[@]}"; do
	"case_$case_name"
done
echo "${#cases[@]} cases, $failures failures"
((failures == 0))
