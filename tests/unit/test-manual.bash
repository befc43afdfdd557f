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
export LC_ALL=C.UTF-8

root=$(mktemp -d "${TMPDIR:-/tmp}/agentdeck-manual-XXXXXX")
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
names() { agentdeck help --all | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\( [a-z]\{1,\}\)\{0,1\}\)  .*/\1/p'; }
candidates() { agentdeck help --complete -- "$@" | tail -n +2 | cut -f 1; }
# The long options in a command's help.
options() { agentdeck help "$@" | sed -n '/^Options:/,$s/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'; }

case_commands_are_listed() {
	local count name
	count=$(names | wc -l)
	[ "$count" -gt 10 ] || fail "the help lists $count commands"
	while read -r name; do
		case $name in
		'session '*) name=${name#session } ;;
		*' '*) agentdeck help | grep -Eq "^  ${name% *} .*\b${name#* }\b" || fail "the short help lacks $name"
			continue ;;
		esac
		agentdeck help | grep -Eq "^  $name(, [a-z]+)*  " || fail "the short help lacks $name"
	done < <(names)
}

# One screen, in groups; what agentdeck itself calls is not in it.
case_the_help_is_short() {
	local group name
	agentdeck help >"$root/help"
	[ "$(wc -l <"$root/help")" -le 45 ] || fail "$(wc -l <"$root/help") lines"
	[ "$(awk 'length($0) > 80' "$root/help")" = "" ] || fail "lines of more than 80 columns"
	for group in 'start and find sessions' 'talk to an agent' look recover administer; do
		grep -qx "$group" "$root/help" || fail "no group $group"
	done
	grep -q '^  list, ls  ' "$root/help" || fail "no alias"
	for name in hook pane revive; do
		! grep -q "^  $name " "$root/help" || fail "$name is not hidden"
		agentdeck help --all | grep -q "^  $name  " || fail "--all lacks $name"
	done
	agentdeck --help | diff "$root/help" - || fail "agentdeck --help"
}

case_every_command_has_examples() {
	local name line
	local -a words
	while read -r name; do
		read -ra words <<<"$name"
		agentdeck help "${words[@]}" | grep -qx 'Examples:' || fail "the help of $name has none"
		agentdeck help --man "${words[@]}" | sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' | grep -q '^\.TP' || fail "the page of $name has none"
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
	AGENTDECK_HOME=$root/empty agentdeck | grep -q 'agentdeck help' || fail "no hint where there are no sessions"
}

case_the_manual_has_every_command_and_option() {
	local name option
	agentdeck help --man >"$root/agentdeck.1" || fail "status $?"
	while read -r name; do
		grep -qxF ".SS \"$name\"" "$root/agentdeck.1" || fail "no section about $name"
		# shellcheck disable=SC2086  # one or two words
		for option in $(options $name); do
			[[ $option == --@(help|profile) ]] || sed -n "/^\.SS \"$name\"$/,/^\.S[SH] /p" "$root/agentdeck.1" |
				grep -qF -e "\\fB${option//-/\\-}\\fR" || fail "nothing about $option of $name"
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
		grep -qF "agentdeck\\-${name// /\\-} \\- " "$root/$page" || fail "the name of $name"
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
			$0 == "## `[groups]`" { print "groups" }
			/^### / {
				for (i = 2; i <= NF; i += 2)
					if ($i ~ /^\[/) { gsub(/[][]/, "", $i); print $i }
					else print (table ? table "." : "") $i
			}' "$document" | sort) || fail "keys and headings of docs/configuration.md"
}

case_session_commands_work_without_the_word() {
	local name short
	while read -r name; do
		[[ $name == 'session '* ]] || continue
		short_forms | grep -qxF "${name#session } $name" || fail "no short form of $name"
	done < <(names)
	while read -r short name; do
		# shellcheck disable=SC2086  # one or two words
		diff <(agentdeck "$short" --help) <(agentdeck help $name) >/dev/null || fail "$short --help"
	done < <(short_forms)
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

case_the_manual_is_well_formed() {
	local name page
	agentdeck help --man >"$root/agentdeck.1"
	while read -r name; do
		# shellcheck disable=SC2086
		agentdeck help --man $name >"$root/agentdeck-${name// /-}.1"
	done < <(names)
	for page in "$root"/agentdeck*.1; do
		if has mandoc; then
			mandoc -T lint -W warning "$page" || fail "mandoc: $page"
		fi
		if command -v groff >/dev/null; then
			[ -z "$(groff -man -ww -z "$page" 2>&1)" ] || fail "groff: $page"
		fi
	done
}

case_completion_has_every_command() {
	local name
	while read -r name; do
		if [[ $name == *' '* ]]; then
			candidates "${name% *}" '' | grep -qx "${name#* }" || fail "not $name"
		else
			candidates '' | grep -qx "$name" || fail "not $name"
		fi
	done < <(names)
	candidates '' | grep -qx ls || fail "a short form"
	candidates '' | grep -qx pane && fail "a hidden command"
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
	candidates add --agent '' | grep -qx claude || fail "agents"
	candidates add --agent= | grep -qx -e --agent=claude || fail "agents behind ="
	[ "$(candidates -p '')" = default ] || fail "profiles"
	[ "$(candidates add --resume '' | paste -sd ' ')" = "auto confirm never" ] || fail "policies"
	[ "$(agentdeck help --complete -- add '')" = directories ] || fail "directories"
	[ "$(agentdeck help --complete -- add . -- '')" = files ] || fail "words for the agent"
	[ "$(candidates rename x '')" = "" ] || fail "a title to be is nobody's"
	[ "$(candidates nonsense '')" = "" ] || fail "nonsense"
	candidates help session '' | grep -qx start || fail "help of a family"
}

# Fill COMPREPLY as bash does when Tab is pressed after these words.
press_tab() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_agentdeck
}

case_bash_completes() {
	# shellcheck disable=SC2317  # the script calls it; bash's own works only while readline completes
	compopt() { :; }
	# shellcheck disable=SC1090
	source <(agentdeck help --completion bash) || fail "source"
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
	unset -f compopt
}

# What every shell offers after a line; the function prints that.
offers() {	# FUNCTION
	local name line
	diff <(candidates '' | sort) <("$1" 'agentdeck ' | sort) || fail "commands"
	diff <(candidates session '' | sort) <("$1" 'agentdeck session ' | sort) || fail "second words"
	[ "$("$1" 'agentdeck sess')" = session ] || fail "a command"
	[ "$("$1" 'agentdeck session li')" = limit ] || fail "a second word"
	[ "$("$1" 'agentdeck "session" li')" = limit ] || fail "a second word behind one in quotes"
	while read -r name; do
		# shellcheck disable=SC2086  # one or two words
		diff <(candidates $name - | sort) <("$1" "agentdeck $name -" | sort) || fail "options of $name"
	done < <(names)
	for line in '' it "it\\'s\\ a:" "it\\'s\\ a:\\ " '"it' "\"it's a: " "'it"; do
		[ "$("$1" "agentdeck start $line")" = "it's a: b" ] || fail "a title behind $line"
	done
	[ "$("$1" 'agentdeck -p other start ')" = "" ] || fail "another profile's titles"
	[ "$("$1" 'agentdeck add -g wo')" = work/api ] || fail "a group"
	[ "$("$1" 'agentdeck add --agent dem')" = demo ] || fail "an agent"
	[ "$("$1" 'agentdeck add --agent=dem')" = --agent=demo ] || fail "behind an equals sign"
	[ "$("$1" 'agentdeck nonsense ')" = "" ] || fail "behind nonsense"
}

# shellcheck disable=SC2016,SC1003  # nothing may be expanded
HOSTILE='x$(touch ran)`touch ran`"\'"'"'end*?~ [z]'

in_fish() { fish --no-config -c "source $root/fish; $1" -- "${@:2}"; }
offered_by_fish() { in_fish "complete -C \$argv[1]" "$1" | cut -f 1; }

case_fish_completes() {
	local quoted
	has fish || return 0
	agentdeck help --completion fish >"$root/fish"
	offers offered_by_fish
	in_fish "complete -C 'agentdeck status --wa'" |
		grep -qxF -e "$(agentdeck help --complete -- status - | grep '^--wait')" || fail "an explanation"
	[ "$(offered_by_fish "agentdeck add $root/d")" = "$(printf '%s/\n' "$root/deck" "$root/directory")" ] || fail "directories"
	[ "$(offered_by_fish "agentdeck add $root/fis")" = "" ] || fail "a file as a directory"
	[ "$(offered_by_fish "agentdeck start $root/dir")" = "$root/directory/" ] || fail "a session's directory"
	[ "$(offered_by_fish "agentdeck add . -- $root/fis")" = "$root/fish" ] || fail "files"
	[ "$(offered_by_fish 'agentdeck add --cmd agentdeck-dem')" = agentdeck-demo-agent ] || fail "programs"
	agentdeck add . -t "$HOSTILE" --agent demo >/dev/null || fail "add"
	quoted=$(in_fish "complete --escape -C 'agentdeck start x'" | cut -f 1)
	[ "$(in_fish "printf %s $quoted")" = "$HOSTILE" ] || fail "a title became $quoted"
	[ ! -e ran ] || fail "a title was run"
	agentdeck remove "$HOSTILE" >/dev/null || fail "remove"
}

# The answer of tests/helper/press-tab.zsh.
press_tab_in_zsh() {	# LINE
	local answer=''
	printf '%s\n' "$1" >&"$to_zsh"
	# otherwise we would wait for a hanging one at every line
	IFS= read -r -t 30 -u "$from_zsh" answer || kill "$zsh" 2>/dev/null
	printf '%s\n' "$answer"
}
became_in_zsh() { press_tab_in_zsh "$1" | cut -f 2; }
offered_by_zsh() { press_tab_in_zsh "$1" | cut -s -f 3- | tr '\t' '\n'; }

in_zsh() {	# COMMAND_THAT_STARTS_COMPLETION FUNCTION
	local zsh to_zsh from_zsh
	printf '%s\n' "zstyle ':completion:*' matcher-list '' 'm:{A-Z}={a-z}'; autoload -Uz compinit; $1" >"$root/setup"
	mkfifo "$root/to" "$root/from"
	TMPDIR=$root zsh -f "${top_srcdir:-$(dirname "$0")/../..}/tests/helper/press-tab.zsh" "$root/setup" <"$root/to" >"$root/from" &
	zsh=$!
	exec {to_zsh}>"$root/to" {from_zsh}<"$root/from"
	"$2"
	exec {to_zsh}>&- {from_zsh}<&-
	wait "$zsh"
	rm "$root/to" "$root/from"
}

zsh_offers() {
	local quote line
	offers offered_by_zsh
	[ "$(became_in_zsh 'agentdeck status --wa')" = 'agentdeck status --wait ' ] || fail "what an option became"
	[ "$(became_in_zsh 'agentdeck start IT')" = "agentdeck start it\\'s\\ a:\\ b " ] || fail "a title by the user's own matcher"
	[ "$(became_in_zsh "agentdeck add $root/dir")" = "agentdeck add $root/directory/" ] || fail "directories"
	[ "$(became_in_zsh "agentdeck add $root/zs")" = "agentdeck add $root/zs" ] || fail "a file as a directory"
	[ "$(became_in_zsh "agentdeck start $root/dir")" = "agentdeck start $root/directory/" ] || fail "a session's directory"
	[ "$(became_in_zsh "agentdeck add . -- $root/zs")" = "agentdeck add . -- $root/zsh " ] || fail "files"
	[ "$(became_in_zsh 'agentdeck add --cmd agentdeck-dem')" = 'agentdeck add --cmd agentdeck-demo-agent ' ] || fail "programs"
	agentdeck add . -t "$HOSTILE" --agent demo >/dev/null || fail "add"
	for quote in '"' "'" ''; do
		line=$(became_in_zsh "agentdeck start ${quote}x")
		[ "$(zsh -fc "print -rn -- ${line#agentdeck start }")" = "$HOSTILE" ] || fail "behind $quote a title became $line"
	done
	[ ! -e ran ] || fail "a title was run"
	agentdeck remove "$HOSTILE" >/dev/null || fail "remove"
}

zsh_offers_a_command() { [ "$(became_in_zsh 'agentdeck sess')" = 'agentdeck session ' ] || fail "from a directory of \$fpath"; }

case_zsh_completes() {
	has zsh || return 0
	agentdeck help --completion zsh >"$root/zsh"
	in_zsh "compinit -D -u; source $root/zsh" zsh_offers
	# as it is installed
	mkdir "$root/fpath"
	cp "$root/zsh" "$root/fpath/_agentdeck"
	in_zsh "fpath=($root/fpath \$fpath); compinit -D -u" zsh_offers_a_command
}

case_scripts_are_well_formed() {
	local shell
	for shell in bash zsh fish; do
		agentdeck help --completion "$shell" >"$root/$shell" || fail "$shell: status $?"
		! has "$shell" || "$shell" -n "$root/$shell" || fail "$shell -n"
	done
	! has shellcheck || shellcheck -s bash "$root/bash" || fail "shellcheck"
	for shell in bash zsh fish; do
		diff <(agentdeck completion "$shell") "$root/$shell" >/dev/null || fail "completion $shell"
	done
	agentdeck completion csh >/dev/null 2>&1
	[ $? = 64 ] || fail "completion csh"
	agentdeck help --completion csh >/dev/null 2>&1
	[ $? = 64 ] || fail "csh"
}

case_families_are_explained() {
	agentdeck help session | grep -q '^  session start  ' || fail "session"
	agentdeck help agents | grep -q '^  session start  ' && fail "agents"
	agentdeck help nonsense >/dev/null 2>&1
	[ $? = 2 ] || fail "nonsense"
	agentdeck help --man nonsense >/dev/null 2>&1
	[ $? = 2 ] || fail "a page of nonsense"
	agentdeck help --completion bash add >/dev/null 2>&1
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
