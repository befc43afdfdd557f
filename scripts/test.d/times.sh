# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# times.sh - how long scripts/test takes; sourced, never run
#
# Sets TOOK to the seconds that these steps will take: as long as last time, or as in ABOUT.
announce() {	# LABEL STEP...
	local step seconds line=
	TOOK=0
	for step in "${@:2}"; do
		seconds=${ABOUT[$step]-0}
		[[ ! -s $TIMES/$step ]] || seconds=$(<"$TIMES/$step")
		TOOK=$((TOOK + seconds))
		line+=", $step $seconds s"
	done
	[[ -z $line ]] || printf '  %-20s%s\n' "$1" "${line#, }"
}

announce_all() {
	local seconds lane
	echo "What will run, and about how many seconds each step takes:"
	pick "${FIRST[@]}"; announce first "${PICKED[@]}"; seconds=$TOOK
	pick "${PROCESSOR_LANE[@]}"; announce "then" "${PICKED[@]}"; lane=$TOOK
	pick "${HOST_LANE[@]}"; announce 'at the same time' "${PICKED[@]}"
	seconds=$((seconds + (lane > TOOK ? lane : TOOK)))
	pick "${SEARCH[@]}"; announce "last${END:+, until ${MINUTES} min}" "${PICKED[@]}"
	seconds=$((END && END > seconds ? END : seconds + TOOK))
	pick "${NAMED[@]}"; announce 'at the end' "${PICKED[@]}"; seconds=$((seconds + TOOK))
	# a part of a step takes less
	((${#NAMES[@]})) || printf 'Together: about %d min\n' $(((seconds + 59) / 60))
	if { is_in agents "${CHOSEN[@]}" || is_in more-agents "${CHOSEN[@]}"; } && [[ ! -d /var/cache/agentdeck-tests ]]; then
		echo "The steps with real agents download 450 MB from the npm registry, once."
	fi
	echo
}

