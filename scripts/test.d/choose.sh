# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# choose.sh - which tests cover some files; sourced, never run
#
# Put those of these steps that are in CHOSEN into PICKED.
pick() {	# STEP...
	local step
	PICKED=()
	for step; do
		! is_in "$step" "${CHOSEN[@]}" || PICKED+=("$step")
	done
}

# Sets CHOSEN and NAMES to what covers these files, and prints what that is.
choose_for() {	# FILE...
	local answer step rest left_out=()
	answer=$("$TOP/scripts/tests-for" "$@") || exit 2
	while read -r step rest; do
		case $step in
		note) echo "$rest" ;;
		*)
			is_in "$step" "${CHOSEN[@]}" || CHOSEN+=("$step")
			# a line without a name is the whole step, and comes before those with names
			if [[ ! $rest ]]; then
				NAMES[$step]=
			elif [[ ! -v NAMES[$step] || ${NAMES[$step]} ]]; then
				NAMES[$step]+=" $rest"
			fi ;;
		esac
	done <<<"$answer"
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

declare -A NAMES=()	# of a step: the tests to run; all of them if there is no entry

