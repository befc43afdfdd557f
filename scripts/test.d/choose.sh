# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# choose.sh - what scripts/test runs: what covers some files, and shares; sourced, never run
#
# shellcheck disable=SC2153 # scripts/test has the lists of names

declare -A NAMES=()	# of a step: the tests to run; all of them if there is no entry

# Put those of these steps that are in CHOSEN into PICKED.
pick() {	# STEP...
	local step
	PICKED=()
	for step; do
		! is_in "$step" "${CHOSEN[@]}" || PICKED+=("$step")
	done
}

# ---- what covers some files ----------------------------------------------------------------------

# Adds what covers these files to CHOSEN and NAMES. A step that is there as a whole stays whole.
add_tests_of() {	# FILE...
	local answer step rest whole=("${CHOSEN[@]}")
	answer=$("$TOP/scripts/tests-for" "$@") || exit 2
	NOTES=()
	while read -r step rest; do
		if [[ $step == note ]]; then
			NOTES+=("$rest")
		elif [[ $step ]] && ! is_in "$step" "${whole[@]}"; then
			is_in "$step" "${CHOSEN[@]}" || CHOSEN+=("$step")
			# a line without a name is the whole step, and comes before those with names
			if [[ ! $rest ]]; then
				NAMES[$step]=
			elif [[ ! -v NAMES[$step] || ${NAMES[$step]} ]]; then
				NAMES[$step]+=" $rest"
			fi
		fi
	done <<<"$answer"
}

choose_for() {	# FILE...
	local step left_out=()
	add_tests_of "$@"
	((!${#NOTES[@]})) || printf '%s\n' "${NOTES[@]}"
	for step in "${CHOSEN[@]}"; do
		if is_in "$step" "${LONG[@]}"; then
			left_out+=("$step: it takes minutes (scripts/test $step)")
		elif is_in "$step" "${NEED_ROOT[@]}" && ! can_be_root; then
			left_out+=("$step${NAMES[$step]:+:${NAMES[$step]}}: it needs root, or sudo")
		else
			PICKED+=("$step")
		fi
	done
	CHOSEN=("${PICKED[@]}")
	((!${#left_out[@]})) || printf 'Left out: %s\n' "${left_out[@]}"
	echo
	print_all_names
}

print_all_names() {
	local step
	for step in "${ALL[@]}"; do
		! is_in "$step" "${CHOSEN[@]}" || [[ ! ${NAMES[$step]-} ]] || print_names "$step"
	done
}

print_names() {	# STEP
	echo "$1:"
	# shellcheck disable=SC2086 # names
	printf '%s\n' ${NAMES[$1]} | fmt -w 98 | sed 's/^/  /'
	echo
}

# ---- what passed here ----------------------------------------------------------------------------

# A run of other files than those of the commit says nothing about the commit.
PASSED_AT=${XDG_CACHE_HOME:-${HOME-}/.cache}/agentdeck-tests/green

# Root may look into a checkout that belongs to a user, and writes nothing there.
repository() { git --no-optional-locks -c safe.directory="$TOP" -C "$TOP" "$@" 2>/dev/null; }

# The newest commit at which this passed, and from which this checkout comes.
last_green() {	# ci|share-K
	local commit
	[[ -e $PASSED_AT/$1 ]] || return 1
	while IFS= read -r commit; do
		! repository merge-base --is-ancestor "$commit" HEAD || { echo "$commit"; return 0; }
	done < <(tac "$PASSED_AT/$1")
	return 1
}

record_green() {	# ci|share-K
	local kept
	[[ $COMMIT && $(repository rev-parse HEAD) == "$COMMIT" && ! $(repository status --porcelain) ]] || return 0
	mkdir -p "$PASSED_AT" 2>/dev/null || return 0
	kept=$(tail -n 199 "$PASSED_AT/$1" 2>/dev/null | grep -vx "$COMMIT" || :)
	printf '%s\n' ${kept:+"$kept"} "$COMMIT" >"$PASSED_AT/$1"
}

# ---- shares --------------------------------------------------------------------------------------

SHARE_NUMBER=	# the share that runs
COMMIT=		# of the checkout; empty if git does not say

choose_share() {	# NUMBER|auto
	local step
	COMMIT=$(repository rev-parse -q --verify HEAD || :)
	SHARE_NUMBER=$1
	if [[ $1 != auto ]]; then
		[[ $1 =~ ^[0-9]$ && $1 -ge 1 && $1 -le $SHARES ]] || die "--share takes a number from 1 to $SHARES, or auto"
		echo "Share $1 of $SHARES, as asked."
	elif [[ $COMMIT ]]; then
		SHARE_NUMBER=$((16#${COMMIT::7} % SHARES + 1))
		echo "Share $SHARE_NUMBER of $SHARES: the commit ${COMMIT::9} chooses it (scripts/test --share K runs another one)."
	else
		SHARE_NUMBER=1
		echo "Share 1 of $SHARES: git names no commit here, which would choose one."
	fi
	while IFS= read -r step; do
		is_in "$step" "${CHOSEN[@]}" || CHOSEN+=("$step")
	done < <(steps_in '[a-z]+' "/$SHARE_NUMBER")
}

# Sets BASE and WHY: with what to compare the checkout.
find_base() {
	if BASE=$(last_green ci); then
		WHY="the last commit that passed here"
	elif BASE=$(repository merge-base HEAD '@{upstream}') && [[ $BASE != "$COMMIT" ]]; then
		WHY="the newest commit of the upstream branch in this one"
	else
		BASE=$(repository rev-parse -q --verify HEAD^) || return 1
		WHY="the parent: no commit before it is known to have passed here"
	fi
}

# The files that differ from BASE and exist.
changed_files() { repository diff --name-only --diff-filter=d "$BASE"; }

# The step checks has all of them.
leave_out_checks() {
	[[ ${NAMES[unit]-} ]] || return 0
	NAMES[unit]=$(tr ' ' '\n' <<<"${NAMES[unit]}" | grep -v '^tests/check-' | paste -s -d ' ')
	[[ ${NAMES[unit]} ]] || mapfile -t CHOSEN < <(printf '%s\n' "${CHOSEN[@]}" | grep -vx unit)
}

# Adds what covers the files that changed, and is not in CHOSEN: the other shares, and what is named.
readonly CHANGED_S=480	# seconds for all of it
choose_changed() {
	local files step seconds left=$CHANGED_S fits=("${CHOSEN[@]}") left_out=()
	if ! find_base; then
		echo "Changed files: not known, since git has no earlier commit here."
		return 0
	fi
	mapfile -t files < <(changed_files)
	echo "Changed files: ${#files[@]} since ${BASE::9} ($WHY)."
	((${#files[@]})) || return 0
	add_tests_of "${files[@]/#/$TOP/}"
	leave_out_checks
	for step in "${CHOSEN[@]:${#fits[@]}}"; do
		seconds=$(seconds_of "$step")
		if ((seconds <= left)); then
			left=$((left - seconds)) fits+=("$step")
		else
			left_out+=("$step")
		fi
	done
	CHOSEN=("${fits[@]}")
	((!${#left_out[@]})) || echo "They concern these, too, for which there is no time: scripts/test ${left_out[*]}"
	print_all_names
}

# After the table: a share that failed has the change to blame since it passed last.
report_share() {
	local step green
	[[ $SHARE_NUMBER ]] || return 0
	while IFS= read -r step; do
		[[ $(head -n 1 "$RESULTS/$step") == FAIL ]] || continue
		green=$(last_green "share-$SHARE_NUMBER") || green=
		printf '\nShare %d failed. It passed last at %s.\n' "$SHARE_NUMBER" "${green:-a commit that is not known on this machine}"
		return 0
	done < <(steps_in '[a-z]+' "/$SHARE_NUMBER")
	record_green "share-$SHARE_NUMBER"
	[[ $MODE != ci ]] || ((FAILED)) || record_green ci
}
